//! Sequences of desired states over the model server (the method of Acto, SOSP'23): fields of all sorts, drawn anew
//! for each chain, on an API of any make; every fifth state is one that cannot be.
//!
//! Each state that can be is reached and kept, the next run writes nothing, and what we own does not depend on the
//! way there: A→B is nothing→B, and A→B→A is A. A state that cannot be changes nothing and is left again.
//!
//! `TRUEUP_WIRE_CHAINS=N` runs N chains.

use std::sync::Arc;

use serde_json::json;

use super::api::{Api, PASSWORD};
use super::dice::Dice;
use super::line::Trouble;
use super::run::{Simulation, sim};
use super::scene::{Scene, document};
use super::world::{Manner, World};
use crate::core::diff::diff;
use crate::core::engine::Mode;
use crate::core::kind::Kind;
use crate::core::node::{Node, Pos, Secret, Want};
use crate::core::report::Outcome;
use crate::core::value::{Value, canonical_text};

/// The chains of an ordinary run of the tests, and the states of each.
const CHAINS: u64 = 60;
const STATES: usize = 10;

/// A sort of field: its name, what the backend says of it, and its values.
struct Sort {
    name: &'static str,
    words: &'static str,
    draw: fn(&mut Dice) -> Value,
    /// Whether what is stored is told by what is desired alone.
    owned: bool,
}

const SORTS: [Sort; 10] = [
    Sort { name: "number", words: "", draw: number, owned: true },
    Sort { name: "text", words: "default=\"\"", draw: text, owned: false },
    Sort { name: "tags", words: "set", draw: tags, owned: true },
    Sort { name: "order", words: "ordered", draw: order, owned: true },
    Sort { name: "ports", words: "key=name", draw: ports, owned: true },
    Sort { name: "limits", words: "closed", draw: limits, owned: true },
    Sort { name: "conf", words: "", draw: conf, owned: true },
    // An equal spelling stays, and so do elements of others; missing may be the same as a value.
    Sort { name: "ttl", words: "duration", draw: ttl, owned: false },
    Sort { name: "extra", words: "open", draw: tags, owned: false },
    Sort { name: "flag", words: "", draw: |dice| dice.percent(50).into(), owned: true },
];

fn number(dice: &mut Dice) -> Value {
    serde_json::from_str(dice.one(&["0", "1", "1.0", "-3", "1e2", "18446744073709551617"])).expect("a number")
}

fn text(dice: &mut Dice) -> Value {
    dice.one(&["", "x", "no", "1.0", "ä\n\u{1f600}", "~/"]).into()
}

fn tags(dice: &mut Dice) -> Value {
    (0..4).filter(|_| dice.percent(50)).map(|tag| Value::from(format!("t{tag}"))).collect()
}

fn order(dice: &mut Dice) -> Value {
    (0..dice.below(4)).map(|_| Value::from(dice.below(3))).collect()
}

fn ports(dice: &mut Dice) -> Value {
    let port = |name: &str, dice: &mut Dice| {
        let mut port = json!({"name": name, "to": dice.below(3)});
        if dice.percent(40) {
            port["deep"] = json!({"x": dice.below(2)});
        }
        port
    };
    let mut names = vec!["p", "q", "r"];
    names.retain(|_| dice.percent(50));
    names.into_iter().map(|name| port(name, dice)).collect()
}

fn limits(dice: &mut Dice) -> Value {
    let mut names = vec!["cpu", "mem", "a/b~c"];
    names.retain(|_| dice.percent(60));
    Value::Object(names.into_iter().map(|name| (name.to_owned(), dice.below(3).into())).collect())
}

fn conf(dice: &mut Dice) -> Value {
    json!({"deep": {"list": order(dice), "map": limits(dice)}, "n": dice.below(2)})
}

fn ttl(dice: &mut Dice) -> Value {
    dice.one(&["90s", "1m30s", "5m", "300s"]).into()
}

/// A desired state, and whether it can be.
#[derive(Clone)]
struct State {
    spec: Node,
    can_be: bool,
}

/// What the states of a chain have in common.
struct Schema {
    kind: Arc<Kind>,
    sorts: Vec<&'static Sort>,
    secret: bool,
}

impl Schema {
    fn draw(dice: &mut Dice, api: Api) -> Schema {
        let sorts: Vec<&Sort> = SORTS.iter().filter(|_| dice.percent(60)).collect();
        let words = sorts.iter().filter(|sort| !sort.words.is_empty());
        let mut words: Vec<String> = words.map(|sort| format!("{}: '{}'", sort.name, sort.words)).collect();
        words.extend(["token: write-only".into(), "fixed: immutable=refuse".into()]);
        Schema { kind: Arc::new(api.kind_with(&words.join(", "))), sorts, secret: dice.percent(40) }
    }

    fn state(&self, dice: &mut Dice, first: bool) -> State {
        let mut body = json!({"fixed": 1});
        for sort in &self.sorts {
            if dice.percent(75) {
                body[sort.name] = (sort.draw)(dice);
            }
        }
        // Of a first object any value is taken of a field that cannot be changed later.
        let can_be = first || !dice.percent(20);
        if !can_be {
            match dice.percent(50) {
                true => body["mode"] = "invalid".into(),
                false => body["fixed"] = 2.into(),
            }
        }
        let mut spec = Node::from_value(Pos { line: 2, column: 1 }, body);
        let Want::Map(members) = &mut spec.want else { unreachable!("it is a map") };
        let at = Pos { line: 3, column: 1 };
        if self.secret {
            let secret = Secret::new("env:PASSWORD", Some(PASSWORD.into()));
            members.insert("token", Node::new(at, Want::Secret(secret)));
        }
        for sort in &self.sorts {
            if dice.percent(8) {
                members.insert(sort.name, Node::new(at, Want::Unset));
            }
        }
        State { spec, can_be }
    }

    fn scene(&self, state: &State) -> Scene {
        let mut scene = Scene::of(
            self.kind.clone(),
            vec![document(&self.kind, "o", state.spec.clone())],
            vec!["o".into()],
        );
        scene.by_rules = true;
        scene
    }

    /// What is stored of what a state owns, told alike however it came there.
    fn owned(&self, state: &State, stored: &Value) -> String {
        let mut known = state.spec.known();
        let members = known.as_object_mut().expect("a map");
        members.retain(|name, _| self.sorts.iter().any(|sort| sort.name == name && sort.owned));
        canonical_text(&project(&known, Some(stored)))
    }
}

/// What stands where something is wanted; of lists the elements in the order of their text.
fn project(want: &Value, stored: Option<&Value>) -> Value {
    match (want, stored) {
        (_, None) => Value::Null,
        (Value::Object(want), Some(stored)) => {
            let member = |(name, want): (&String, &Value)| (name.clone(), project(want, stored.get(name)));
            Value::Object(want.iter().map(member).collect())
        }
        (Value::Array(want), Some(Value::Array(items))) => {
            let element = |item: &Value| {
                let named = want.iter().find(|want| want["name"].is_string() && want["name"] == item["name"]);
                named.map_or_else(|| item.clone(), |want| project(want, Some(item)))
            };
            let mut items: Vec<Value> = items.iter().map(element).collect();
            items.sort_by_key(canonical_text);
            items.into()
        }
        (_, Some(stored)) => stored.clone(),
    }
}

/// A server, and what is applied to it.
struct Server<'s> {
    schema: &'s Schema,
    simulation: Simulation,
}

impl<'s> Server<'s> {
    fn new(schema: &'s Schema, api: Api, manner: Manner, seed: u64, state: &State) -> Server<'s> {
        let mut world = World::new(api, manner);
        world.immutable = vec!["fixed".into()];
        let simulation = Simulation::new(sim(world, Dice::new(seed), schema.scene(state), false));
        Server { schema, simulation }
    }

    /// What is stored, whole.
    fn stored(&self) -> Option<Value> {
        let sim = self.simulation.line.sim();
        sim.world.of("o").next().map(|stored| Value::Object(stored.value.clone()))
    }

    /// Goes to a state, and stays there.
    fn apply(&self, state: &State) -> Result<(), Vec<String>> {
        self.simulation.line.sim().scene = Arc::new(self.schema.scene(state));
        let before = self.stored();
        let done = self.simulation.go(Mode::Apply, Trouble::default(), None)?;
        let result = &done.report.objects[0].result;
        let settled = matches!(result, Outcome::InSync | Outcome::Done);
        let stored = self.stored();
        let rest = |stored: &Value| diff(&state.spec, stored, &self.schema.kind.fields);
        let mut broken = Vec::new();
        match (state.can_be, &stored) {
            (true, Some(stored)) if settled && rest(stored).is_empty() => {}
            (false, _) if !settled && stored == before => {}
            _ => broken.push(format!("{result:?} at {stored:?}, from {before:?}")),
        }
        let again = self.simulation.go(Mode::Apply, Trouble::default(), None)?;
        if !again.written.is_empty() {
            broken.push(format!("a second run writes: {:?}", again.written));
        }
        if broken.is_empty() { Ok(()) } else { Err(broken) }
    }
}

/// One chain.
fn chain(seed: u64) -> Result<(), Vec<String>> {
    let mut dice = Dice::new(seed ^ 0xC4A1);
    let api = Api::draw(&mut dice);
    let manner = Manner { respells: dice.percent(30), empty_pages: dice.percent(30), ..Manner::default() };
    let schema = Schema::draw(&mut dice, api);
    let states: Vec<State> = (0..STATES).map(|at| schema.state(&mut dice, at == 0)).collect();
    let server = Server::new(&schema, api, manner, seed, &states[0]);
    let mut earlier: Option<(&State, String)> = None;
    for (at, state) in states.iter().enumerate() {
        let told = |broken: Vec<String>| {
            let of =
                |broken: String| format!("{api:?} {manner:?} state {at}, {:?}: {broken}", state.spec.known());
            broken.into_iter().map(of).collect::<Vec<_>>()
        };
        server.apply(state).map_err(told)?;
        if !state.can_be {
            continue;
        }
        let stored = server.stored().expect("it was made");
        let ours = schema.owned(state, &stored);
        let fresh = Server::new(&schema, api, manner, seed, state);
        fresh.apply(state).map_err(told)?;
        let theirs = schema.owned(state, &fresh.stored().expect("it was made"));
        if ours != theirs {
            return Err(told(vec![format!("by a chain {ours}, from nothing {theirs}")]));
        }
        if let Some((before, owned)) = &earlier {
            server.apply(before).map_err(told)?;
            let back = schema.owned(before, &server.stored().expect("it is there"));
            if back != *owned {
                return Err(told(vec![format!("{owned} is {back} after another state")]));
            }
            server.apply(state).map_err(told)?;
        }
        earlier = Some((state, ours));
    }
    Ok(())
}

#[test]
fn states_do_not_depend_on_the_way_there() {
    let chains = super::number("TRUEUP_WIRE_CHAINS").unwrap_or(CHAINS);
    for seed in 0..chains {
        if let Err(broken) = chain(seed) {
            panic!("chain {seed}:\n{}", broken.join("\n"));
        }
    }
    println!("{chains} chains of {STATES} states");
}

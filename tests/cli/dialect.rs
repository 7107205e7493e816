//! A small API of things with a name, whose verbs mean what a test says they mean.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Map, Value, json};

use crate::servers::{Raw, Say, Seen};

/// What a write to an item does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verb {
    /// Replaces it, or makes it.
    #[default]
    Upsert,
    /// Makes it; refuses when it is there.
    Create,
    /// Replaces it; 404 when it is not there.
    Update,
    /// Sets the members that are sent, or makes it; null removes one.
    Merge,
    /// As [`Verb::Merge`], but null is a value.
    MergeKeepingNull,
    /// Takes the operations of a JSON Patch.
    Operations,
    /// Takes `{"a.b": value}`: one leaf for each key.
    Dotted,
    /// 405.
    None,
}

/// How a missing thing is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    #[default]
    Status404,
    /// 200 with `null`.
    Null,
    /// 200 with `{}`, where a thing comes as `{"thing": …}`.
    NoMember,
}

/// What a deletion does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Removal {
    #[default]
    Gone,
    /// Sets this member to true or to a text, and keeps the thing.
    Marks(&'static str, &'static str),
    /// 409, unless the query says `cascade=true`.
    OnlyCascading,
}

/// How an API speaks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dialect {
    pub put: Verb,
    pub patch: Verb,
    /// POST on an item.
    pub post: Verb,
    pub missing: Missing,
    pub removal: Removal,
    /// Every answer is a 200: `{"ok": true, "result": …}`, or `{"ok": false, "code": …, "error": …}`.
    pub always_200: bool,
    /// The status and the body of "it exists".
    pub taken: Option<(u16, &'static str)>,
    /// Somebody else makes the thing just before our first POST.
    pub overtaken: bool,
    /// An id is the name and a dot.
    pub dotted_ids: bool,
}

/// A running API.
pub struct Api {
    raw: Raw,
    things: Arc<Mutex<Map<String, Value>>>,
}

impl Api {
    pub fn start(dialect: Dialect) -> Api {
        let things: Arc<Mutex<Map<String, Value>>> = Arc::default();
        let shared = things.clone();
        let raw = Raw::new(move |seen| {
            let mut things = shared.lock().expect("no thread panics with it");
            dialect.say(dialect.answer(&mut things, seen))
        });
        Api { raw, things }
    }

    pub fn url(&self) -> String {
        self.raw.url()
    }

    /// The things as they are stored, by their id.
    pub fn things(&self) -> MutexGuard<'_, Map<String, Value>> {
        self.things.lock().expect("no thread panics with it")
    }

    /// The requests that are no GET, in order.
    pub fn writes(&self) -> Vec<String> {
        self.raw.lines().into_iter().filter(|line| !line.starts_with("GET ")).collect()
    }
}

/// A status and a body.
type Told = (u16, Value);

impl Dialect {
    fn say(&self, (status, body): Told) -> Say {
        if self.always_200 {
            let told = match status {
                200 => json!({"ok": true, "result": body}),
                code => json!({"ok": false, "code": code, "error": body}),
            };
            return Say::json(&told.to_string());
        }
        match body {
            Value::String(text) if status >= 400 => {
                Say::answer(&format!("{status} No"), "content-type: text/plain\r\n", &text)
            }
            body => Say::answer(
                &format!("{status} Said"),
                "content-type: application/json\r\n",
                &body.to_string(),
            ),
        }
    }

    fn answer(&self, things: &mut Map<String, Value>, seen: &Seen) -> Told {
        let (method, url) = seen.line.split_once(' ').expect("a request line");
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let body = serde_json::from_str(&seen.body).unwrap_or(Value::Null);
        let id = path.strip_prefix("/things").expect("the one collection").trim_start_matches('/');
        match (method, id) {
            ("GET", "") => (200, things.values().cloned().collect()),
            ("GET", id) => self.shown(things.get(id)),
            ("POST", "") => self.made(things, body),
            ("POST", id) => self.written(self.post, things, id, body),
            ("PUT", id) => self.written(self.put, things, id, body),
            ("PATCH", id) => self.written(self.patch, things, id, body),
            ("DELETE", id) => self.removed(things, id, query),
            _ => (405, json!("what is that?")),
        }
    }

    fn shown(&self, thing: Option<&Value>) -> Told {
        match (thing, self.missing) {
            (Some(thing), Missing::NoMember) => (200, json!({"thing": thing})),
            (Some(thing), _) => (200, thing.clone()),
            (None, Missing::Status404) => (404, json!("no such thing")),
            (None, Missing::Null) => (200, Value::Null),
            (None, Missing::NoMember) => (200, json!({})),
        }
    }

    fn taken(&self) -> Told {
        let (status, body) = self.taken.unwrap_or((409, r#"{"message": "it exists"}"#));
        (status, serde_json::from_str(body).unwrap_or_else(|_| body.into()))
    }

    fn made(&self, things: &mut Map<String, Value>, mut body: Value) -> Told {
        let name = body["name"].as_str().expect("a name").to_owned();
        let id = if self.dotted_ids { format!("{name}.") } else { name };
        body["id"] = json!(id);
        if things.contains_key(&id) {
            return self.taken();
        }
        things.insert(id, body.clone());
        if self.overtaken { self.taken() } else { (200, body) }
    }

    fn written(&self, verb: Verb, things: &mut Map<String, Value>, id: &str, body: Value) -> Told {
        let old = things.get(id).cloned();
        let nothing = json!({"id": id, "name": id.trim_end_matches('.')});
        let mut new = match (verb, &old) {
            (Verb::None, _) => return (405, json!("not so")),
            (Verb::Create, Some(_)) => return self.taken(),
            (Verb::Update | Verb::Operations | Verb::Dotted, None) => return (404, json!("no such thing")),
            (Verb::Upsert | Verb::Create | Verb::Update, _) => nothing,
            (_, old) => old.clone().unwrap_or(nothing),
        };
        match verb {
            Verb::Operations => {
                body.as_array().expect("operations").iter().for_each(|o| operate(&mut new, o))
            }
            Verb::Dotted => {
                for (path, value) in body.as_object().expect("a map") {
                    new[path.split('.').next().expect("a name")] = value.clone();
                }
            }
            _ => {
                for (name, value) in body.as_object().expect("a map") {
                    match value {
                        Value::Null if verb == Verb::Merge => {
                            drop(new.as_object_mut().expect("a map").remove(name))
                        }
                        value => new[name.as_str()] = value.clone(),
                    }
                }
            }
        }
        things.insert(id.to_owned(), new.clone());
        (200, new)
    }

    fn removed(&self, things: &mut Map<String, Value>, id: &str, query: &str) -> Told {
        match (things.get_mut(id), self.removal) {
            (None, _) => (404, json!("no such thing")),
            (Some(thing), Removal::Marks(member, text)) => {
                thing[member] = json!(text);
                (200, Value::Null)
            }
            (Some(_), Removal::OnlyCascading) if query != "cascade=true" => (409, json!("it has children")),
            (Some(_), _) => {
                things.remove(id);
                (200, Value::Null)
            }
        }
    }
}

/// One operation of a JSON Patch on a member at the top.
fn operate(thing: &mut Value, operation: &Value) {
    let name = operation["path"].as_str().and_then(|path| path.strip_prefix('/')).expect("a pointer");
    match operation["op"].as_str() {
        Some("test") => assert_eq!(thing[name], operation["value"]),
        Some("add" | "replace") => thing[name] = operation["value"].clone(),
        Some("remove") => drop(thing.as_object_mut().expect("a map").remove(name)),
        other => panic!("{other:?}"),
    }
}

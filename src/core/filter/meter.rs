//! Bounds on a run. The parsed filter is rewritten before it is compiled: the results of every term that
//! builds or multiplies values go through a meter, which weighs them and spends a budget.
//!
//! A value on the way may have [`MAX_NODES`] nodes, [`MAX_BYTES`] bytes of text and a depth of [`MAX_DEPTH`];
//! a whole run may weigh [`BUDGET`] nodes, each step being worth [`STEP`] of them. As a term multiplies its input at most by the length of the
//! filter, this bounds time and memory together. The meter is transparent for paths and updates, so that
//! `(.a, .b) |= f` and `del(.a | .b)` mean what they mean in jq.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Pattern, Term};
use jaq_core::ops::Math;
use jaq_core::path::{Part, Path};
use jaq_core::{DataT, Error, Lut, data::HasLut};
use jaq_json::{Num, Val};

use super::library;
use super::regex::Search;

/// The name under which the meter is called; no filter can write it.
pub const METER: &str = "!meter";
/// The name of the bounded `*`.
pub const TIMES: &str = "!times";
/// The variable that holds the right side of `l *= r` and its like.
const RIGHT: &str = "$!right";

/// The most nodes of one value on the way.
pub const MAX_NODES: u64 = 4_000_000;
/// The most bytes of text in one value on the way.
pub const MAX_BYTES: usize = 16 << 20;
/// The deepest value; what `serde_json` reads at most.
pub const MAX_DEPTH: usize = 128;
/// The nodes that a run may weigh in all.
pub const BUDGET: u64 = 50_000_000;
/// What a step costs beside the nodes of its result.
const STEP: u64 = 32;
/// The largest whole number, in bits.
const MAX_BITS: u64 = 1 << 17;

/// The types of a run: `jaq`'s values, and the meter as the data that native functions see.
pub struct Jaq;

impl DataT for Jaq {
    type V<'a> = Val;
    type Data<'a> = Run<'a>;
}

/// What native functions see of the run that they are called in.
#[derive(Clone)]
pub struct Run<'a> {
    pub lut: &'a Lut<Jaq>,
    pub meter: &'a Meter,
}

impl<'a> HasLut<'a, Jaq> for Run<'a> {
    fn lut(&self) -> &'a Lut<Jaq> {
        self.lut
    }
}

impl Run<'_> {
    pub fn check(&self, val: &Val) -> Result<(), Error<Val>> {
        self.meter.check(val).map_err(Error::str)
    }
}

/// What is left of a run's budget, and whether a limit was met: a `try` in the filter cannot hide that.
pub struct Meter {
    left: Cell<u64>,
    pub exceeded: Cell<Option<&'static str>>,
    /// The last regular expressions, with their flags.
    searches: RefCell<Vec<(String, String, Rc<Search>)>>,
}

/// So many regular expressions are kept: a filter has few, and some make one of each value.
const MOST_SEARCHES: usize = 8;
const TOO_MUCH: &str = "it takes too long, or builds too many values";

impl Meter {
    pub fn new() -> Meter {
        Meter { left: Cell::new(BUDGET), exceeded: Cell::new(None), searches: RefCell::default() }
    }

    /// Weighs a value on the way.
    pub fn check(&self, val: &Val) -> Result<(), &'static str> {
        let left = self.left.get().saturating_sub(STEP);
        let mut weight = Weight { nodes: MAX_NODES.min(left), bytes: MAX_BYTES };
        let before = weight.nodes;
        let checked = match self.exceeded.get() {
            Some(limit) => Err(limit),
            None => weight.add(val, 0),
        };
        self.left.set(left - (before - weight.nodes));
        checked.inspect_err(|limit| self.exceeded.set(Some(limit)))
    }

    /// Ends the run with this limit.
    pub fn exceed(&self, limit: &'static str) -> &'static str {
        self.exceeded.set(Some(limit));
        limit
    }

    /// Whether so many nodes are left.
    pub fn affords(&self, nodes: u64) -> Result<(), &'static str> {
        if self.left.get() < nodes { Err(self.exceed(TOO_MUCH)) } else { Ok(()) }
    }

    /// Pays for work that is not a value on the way.
    pub fn spend(&self, nodes: u64) -> Result<(), &'static str> {
        self.affords(nodes)?;
        self.left.set(self.left.get() - nodes);
        Ok(())
    }

    /// The search with a regular expression, compiled once.
    pub fn search<E>(
        &self,
        pattern: &str,
        flags: &str,
        compile: impl FnOnce() -> Result<Search, E>,
    ) -> Result<Rc<Search>, E> {
        let known = |(p, f, _): &&(String, String, Rc<Search>)| p == pattern && f == flags;
        if let Some((.., search)) = self.searches.borrow().iter().find(known) {
            return Ok(search.clone());
        }
        let search = Rc::new(compile()?);
        let mut searches = self.searches.borrow_mut();
        if searches.len() >= MOST_SEARCHES {
            searches.remove(0);
        }
        searches.push((pattern.to_owned(), flags.to_owned(), search.clone()));
        Ok(search)
    }
}

/// What a value may still weigh.
struct Weight {
    nodes: u64,
    bytes: usize,
}

impl Weight {
    fn add(&mut self, val: &Val, depth: usize) -> Result<(), &'static str> {
        self.nodes = self.nodes.checked_sub(1).ok_or(TOO_MUCH)?;
        if depth > MAX_DEPTH {
            return Err("it builds a value that is nested too deep");
        }
        match val {
            Val::TStr(text) | Val::BStr(text) => self.text(text.len()),
            Val::Num(Num::Dec(digits)) => self.text(digits.len()),
            Val::Num(Num::BigInt(n)) if n.bits() > MAX_BITS => Err("it builds a number that is too large"),
            Val::Arr(items) => items.iter().try_for_each(|item| self.add(item, depth + 1)),
            Val::Obj(members) => members.iter().try_for_each(|(name, member)| {
                self.add(name, depth + 1)?;
                self.add(member, depth + 1)
            }),
            Val::Null | Val::Bool(_) | Val::Num(_) => Ok(()),
        }
    }

    fn text(&mut self, len: usize) -> Result<(), &'static str> {
        self.bytes = self.bytes.checked_sub(len).ok_or("it builds a value of more than 16 MB")?;
        Ok(())
    }
}

type Tm<'s> = Term<&'s str>;

/// The filter with its meters; `seen` is told of every variable.
///
/// # Errors
/// The first thing that a filter cannot do here, and the part of the text that does it.
pub fn metered<'s>(term: Tm<'s>, seen: &mut impl FnMut(&'s str)) -> Result<Tm<'s>, (&'s str, String)> {
    Rewriter { seen, updated: false }.term(term)
}

struct Rewriter<'f, F> {
    seen: &'f mut F,
    /// In the term that says what an update changes.
    updated: bool,
}

impl<'s, F: FnMut(&'s str)> Rewriter<'_, F> {
    fn term(&mut self, term: Tm<'s>) -> Result<Tm<'s>, (&'s str, String)> {
        Ok(match term {
            Term::Id | Term::Num(_) | Term::Break(_) => term,
            Term::Var(name) => {
                (self.seen)(name);
                term
            }
            Term::Def(defs, _) => {
                let name = defs.first().map_or("", |def| def.name);
                return Err((name, "`def` has no place in a filter; name a value with `as $x |`".into()));
            }
            Term::Path(head, path) => self.path(*head, path)?,
            Term::Str(format, parts) => {
                let plain = format.is_none() && parts.iter().all(|part| !matches!(part, StrPart::Term(_)));
                let text = Term::Str(format, self.parts(parts)?);
                if plain { text } else { through_meter(text) }
            }
            other => through_meter(self.compound(other)?),
        })
    }

    fn compound(&mut self, term: Tm<'s>) -> Result<Tm<'s>, (&'s str, String)> {
        Ok(match term {
            Term::Recurse => Term::Recurse,
            Term::Arr(inner) => Term::Arr(inner.map(|t| self.boxed(*t)).transpose()?),
            Term::Obj(members) => Term::Obj(
                members
                    .into_iter()
                    .map(|(name, value)| Ok((self.term(name)?, value.map(|t| self.term(t)).transpose()?)))
                    .collect::<Result<_, _>>()?,
            ),
            Term::Neg(t) => Term::Neg(self.boxed(*t)?),
            Term::BinOp(l, op, r) => self.operation(*l, op, *r)?,
            Term::Label(name, t) => Term::Label(name, self.boxed(*t)?),
            // The steps of a fold that is updated are nested in each other, as many as it has.
            Term::Fold(name, ..) if self.updated => {
                return Err((name, format!("`{name}` cannot say what an update changes")));
            }
            Term::Fold(name, over, pattern, bodies) => Term::Fold(
                name,
                self.boxed(*over)?,
                self.pattern(pattern)?,
                bodies.into_iter().map(|t| self.term(t)).collect::<Result<_, _>>()?,
            ),
            Term::TryCatch(t, catch) => {
                Term::TryCatch(self.boxed(*t)?, catch.map(|t| self.boxed(*t)).transpose()?)
            }
            Term::IfThenElse(branches, otherwise) => Term::IfThenElse(
                branches
                    .into_iter()
                    .map(|(test, then)| Ok((self.term(test)?, self.term(then)?)))
                    .collect::<Result<_, _>>()?,
                otherwise.map(|t| self.boxed(*t)).transpose()?,
            ),
            Term::Call(name, arguments) => {
                if let Some(refusal) = library::refusal(name, arguments.len()) {
                    return Err((name, refusal));
                }
                let updates = name == "del";
                Term::Call(
                    name,
                    arguments.into_iter().map(|t| self.target(t, updates)).collect::<Result<_, _>>()?,
                )
            }
            other => other,
        })
    }

    fn boxed(&mut self, term: Tm<'s>) -> Result<Box<Tm<'s>>, (&'s str, String)> {
        self.term(term).map(Box::new)
    }

    /// A term that says what an update changes, if `updates`.
    fn target(&mut self, term: Tm<'s>, updates: bool) -> Result<Tm<'s>, (&'s str, String)> {
        let around = self.updated;
        self.updated |= updates;
        let term = self.term(term);
        self.updated = around;
        term
    }

    /// `l op r`. A product is bounded before it is made; an update with arithmetic is spelled out, so that
    /// its results are metered too: `l += r` is `r as $x | l |= . + $x`.
    fn operation(
        &mut self,
        l: Tm<'s>,
        op: BinaryOp<&'s str>,
        r: Tm<'s>,
    ) -> Result<Tm<'s>, (&'s str, String)> {
        let updates =
            matches!(op, BinaryOp::Assign | BinaryOp::Update | BinaryOp::UpdateMath(_) | BinaryOp::UpdateAlt);
        let (l, r) = (self.target(l, updates)?, self.term(r)?);
        Ok(match op {
            BinaryOp::Math(Math::Mul) => pipe(l, None, Term::Call(TIMES, vec![r])),
            BinaryOp::UpdateMath(math) => {
                let right = Term::Var(RIGHT);
                let result = match math {
                    Math::Mul => Term::Call(TIMES, vec![right]),
                    _ => binary(Term::Id, BinaryOp::Math(math), right),
                };
                let update = binary(l, BinaryOp::Update, through_meter(result));
                pipe(r, Some(Pattern::Var(RIGHT)), update)
            }
            BinaryOp::Pipe(Some(pattern)) => pipe(l, Some(self.pattern(pattern)?), r),
            other => binary(l, other, r),
        })
    }

    /// A path that only indexes by constants gives one part of its input, and needs no meter.
    fn path(&mut self, head: Tm<'s>, path: Path<Tm<'s>>) -> Result<Tm<'s>, (&'s str, String)> {
        let is_simple = |term: &Tm<'s>| match term {
            Term::Id | Term::Var(_) | Term::Num(_) => true,
            Term::Str(None, parts) => parts.iter().all(|part| !matches!(part, StrPart::Term(_))),
            _ => false,
        };
        let simple = is_simple(&head)
            && path.0.iter().all(|(part, _)| matches!(part, Part::Index(at) if is_simple(at)));
        let parts = path.0.into_iter().map(|(part, opt)| {
            let part = match part {
                Part::Index(at) => Part::Index(self.term(at)?),
                Part::Range(from, to) => Part::Range(
                    from.map(|t| self.term(t)).transpose()?,
                    to.map(|t| self.term(t)).transpose()?,
                ),
            };
            Ok((part, opt))
        });
        let parts = parts.collect::<Result<_, _>>()?;
        let whole = Term::Path(Box::new(self.term(head)?), Path(parts));
        Ok(if simple { whole } else { through_meter(whole) })
    }

    fn parts(
        &mut self,
        parts: Vec<StrPart<&'s str, Tm<'s>>>,
    ) -> Result<Vec<StrPart<&'s str, Tm<'s>>>, (&'s str, String)> {
        let part = |part| match part {
            StrPart::Term(t) => self.term(t).map(StrPart::Term),
            other => Ok(other),
        };
        parts.into_iter().map(part).collect()
    }

    fn pattern(&mut self, pattern: Pattern<&'s str>) -> Result<Pattern<&'s str>, (&'s str, String)> {
        Ok(match pattern {
            Pattern::Var(name) => Pattern::Var(name),
            Pattern::Arr(inner) => {
                Pattern::Arr(inner.into_iter().map(|p| self.pattern(p)).collect::<Result<_, _>>()?)
            }
            Pattern::Obj(members) => Pattern::Obj(
                members
                    .into_iter()
                    .map(|(name, p)| Ok((self.term(name)?, self.pattern(p)?)))
                    .collect::<Result<_, _>>()?,
            ),
        })
    }
}

fn through_meter(term: Tm<'_>) -> Tm<'_> {
    pipe(term, None, Term::Call(METER, Vec::new()))
}

fn pipe<'s>(l: Tm<'s>, pattern: Option<Pattern<&'s str>>, r: Tm<'s>) -> Tm<'s> {
    binary(l, BinaryOp::Pipe(pattern), r)
}

fn binary<'s>(l: Tm<'s>, op: BinaryOp<&'s str>, r: Tm<'s>) -> Tm<'s> {
    Term::BinOp(Box::new(l), op, Box::new(r))
}

//! The functions on regular expressions, within the budget of a run: `test`, `sub`, and what `match`, `scan`,
//! `capture`, `split` and `gsub` are made of.
//!
//! `jaq`'s own build all matches of a text before the first is used, some hundred bytes each, and give them as
//! values that no meter has seen. Here each match is paid for as it is found, and a text that is put together is
//! weighed as it grows.

use std::rc::Rc;

use jaq_core::native::{Fun, bome, run, v};
use jaq_core::{Bind, Cv, Error, Exn, ValXs, box_iter::box_once};
use jaq_json::Val;
use jaq_std::ValT as _;
use regex_lite::{Captures, Regex, RegexBuilder};

use super::meter::{Jaq, MAX_BYTES, Run};

/// The largest program of an expression, in bytes: `a{1000}` has some fifty thousand.
const MAX_PROGRAM: usize = 1 << 17;
/// The most matches that are given as values.
const MAX_MATCHES: usize = 100_000;
/// The most texts that one `sub` makes, where what it puts in has more than one output.
const MAX_RESULTS: usize = 1_000;
/// What a match costs beside the bytes that were read for it, in nodes.
const MATCH: u64 = 8;
/// What a match costs that becomes a value, for each of its groups.
const GROUP: u64 = 64;
const TOO_LONG: &str = "it builds a value of more than 16 MB";

/// The native functions.
pub fn natives() -> Vec<Fun<Jaq>> {
    let replaced = || [Bind::Var(()), Bind::Fun(()), Bind::Var(())].into();
    vec![
        run(("matches", v(2), |cv| bome(matches(cv)))),
        run(("split_", v(2), |cv| bome(pieces(cv)))),
        run(("test", v(2), |cv| bome(test(cv)))),
        run(("sub", replaced(), |cv| sub(cv))),
    ]
}

/// An expression, and what a search with it costs.
pub struct Search {
    regex: Regex,
    global: bool,
    /// Matches of nothing do not count.
    no_empty: bool,
    /// Nodes for each byte that is read.
    weight: u64,
    /// Whether a search may read on to the end of the text, whatever match it gives then.
    far: bool,
}

impl Search {
    /// The search that the last two arguments ask for.
    fn of(run: &Run, pattern: &Val, flags: &Val) -> Result<Rc<Search>, Error<Val>> {
        let (pattern, flags) = (text(pattern)?, text(flags)?);
        run.meter.search(pattern, flags, || Search::new(run, pattern, flags))
    }

    fn new(run: &Run, pattern: &str, flags: &str) -> Result<Search, Error<Val>> {
        let counted = pattern.contains('{');
        spend(run, if counted { 20_000 } else { 64 * pattern.len() as u64 })?;
        let mut builder = RegexBuilder::new(pattern);
        builder.size_limit(MAX_PROGRAM);
        let (mut global, mut no_empty) = (false, false);
        for flag in flags.chars() {
            match flag {
                'g' => global = true,
                'n' => no_empty = true,
                'i' => _ = builder.case_insensitive(true),
                'm' => _ = builder.multi_line(true),
                's' => _ = builder.dot_matches_new_line(true),
                'p' => _ = builder.multi_line(true).dot_matches_new_line(true),
                'l' => _ = builder.swap_greed(true),
                'x' => _ = builder.ignore_whitespace(true),
                _ => return Err(Error::str("a text is no set of flags of a regular expression")),
            }
        }
        let regex =
            builder.build().map_err(|_| Error::str("a text is no regular expression, or a large one"))?;
        let weight = if counted { 64 } else { 1 + pattern.len() as u64 / 8 };
        Ok(Search { regex, global, no_empty, weight, far: reads_far(pattern) })
    }

    /// Tells of each match in order, and where the one before it ended.
    fn each<'h, 'e>(
        &self,
        run: &Run,
        haystack: &'h str,
        mut tell: impl FnMut(Captures<'h>, usize) -> Result<(), Exn<'e, Val>>,
    ) -> Result<(), Exn<'e, Val>> {
        let mut matches = self.regex.captures_iter(haystack);
        let (mut at, mut told) = (0, 0);
        loop {
            let left = (haystack.len() - at) as u64 * self.weight;
            run.meter.affords(left).map_err(Error::str)?;
            let found = matches.next();
            let whole = found.as_ref().and_then(|found| found.get(0));
            let read = whole.filter(|_| !self.far).map(|whole| (whole.end() - at) as u64 * self.weight);
            spend(run, MATCH + read.unwrap_or(left))?;
            let (Some(found), Some(whole)) = (found, whole) else { return Ok(()) };
            at = whole.end();
            if self.no_empty && whole.is_empty() {
                continue;
            }
            tell(found, told)?;
            told = at;
            if !self.global {
                return Ok(());
            }
        }
    }
}

/// Whether a search may have to read to the end before it knows its match: `x*y|x`. It has not where nothing is
/// repeated without a bound, or only the last character is. Escapes and classes are not looked into: what looks like
/// a repetition is one.
fn reads_far(pattern: &str) -> bool {
    const UNBOUNDED: [char; 3] = ['*', '+', '{'];
    let all_but_last = pattern.strip_suffix(['*', '+']).filter(|before| !before.contains(['|', '(', ')']));
    all_but_last.unwrap_or(pattern).contains(UNBOUNDED)
}

fn text(val: &Val) -> Result<&str, Error<Val>> {
    match val {
        Val::TStr(bytes) => std::str::from_utf8(bytes).map_err(|_| Error::typ(val.clone(), "string")),
        _ => Err(Error::typ(val.clone(), "string")),
    }
}

fn spend(run: &Run, nodes: u64) -> Result<(), Error<Val>> {
    run.meter.spend(nodes).map_err(Error::str)
}

/// What a function with the arguments `(re; flags)` works with.
fn search(cv: &mut Cv<'_, Jaq>) -> Result<Rc<Search>, Error<Val>> {
    let (flags, pattern) = (cv.0.pop_var(), cv.0.pop_var());
    Search::of(cv.0.data(), &pattern, &flags)
}

/// Whether there is a match.
fn test(mut cv: Cv<'_, Jaq>) -> Result<Val, Error<Val>> {
    let search = search(&mut cv)?;
    let (run, haystack) = (cv.0.data(), text(&cv.1)?);
    if !search.no_empty {
        spend(run, MATCH + haystack.len() as u64 * search.weight)?;
        return Ok(Val::Bool(search.regex.is_match(haystack)));
    }
    let mut found = false;
    let note = |_, _| {
        found = true;
        Ok(())
    };
    search.each(run, haystack, note).map_err(plain)?;
    Ok(Val::Bool(found))
}

/// All matches, each as a list of its groups.
fn matches(mut cv: Cv<'_, Jaq>) -> Result<Val, Error<Val>> {
    let search = search(&mut cv)?;
    let (run, haystack) = (cv.0.data(), text(&cv.1)?);
    let mut all: Vec<Val> = Vec::new();
    // The place up to which characters have been counted, in bytes and in characters.
    let (mut byte, mut char) = (0, 0);
    let each = |found: Captures, _| {
        if all.len() >= MAX_MATCHES {
            return Err(Exn::from(Error::str(run.meter.exceed("it finds more than 100000 matches"))));
        }
        spend(run, GROUP * found.len() as u64)?;
        let begin = found.get(0).map_or(0, |whole| whole.start());
        char += haystack[byte..begin].chars().count();
        byte = begin;
        let group = |(group, name): (Option<regex_lite::Match>, Option<&str>)| {
            let group = group?;
            let offset = char + haystack[begin..group.start()].chars().count();
            let name = name.map(|name| ("name", Val::utf8_str(name.to_owned())));
            let fields = [
                ("offset", Val::from(offset)),
                ("length", Val::from(group.as_str().chars().count())),
                ("string", cv.1.as_sub_str(group.as_str().as_bytes())),
            ];
            let fields = fields.into_iter().chain(name);
            Some(Val::obj(fields.map(|(key, val)| (Val::utf8_str(key), val)).collect()))
        };
        all.push(found.iter().zip(search.regex.capture_names()).filter_map(group).collect());
        Ok(())
    };
    search.each(run, haystack, each).map_err(plain)?;
    Ok(all.into_iter().collect())
}

/// What stands between the matches.
fn pieces(mut cv: Cv<'_, Jaq>) -> Result<Val, Error<Val>> {
    let search = search(&mut cv)?;
    let (run, haystack) = (cv.0.data(), text(&cv.1)?);
    let piece = |from: usize, to: usize| cv.1.as_sub_str(&haystack.as_bytes()[from..to]);
    let (mut all, mut end) = (Vec::new(), 0);
    let each = |found: Captures, told: usize| {
        spend(run, GROUP)?;
        if let Some(whole) = found.get(0) {
            all.push(piece(told, whole.start()));
            end = whole.end();
        }
        Ok(())
    };
    search.each(run, haystack, each).map_err(plain)?;
    all.push(piece(end, haystack.len()));
    Ok(all.into_iter().collect())
}

/// `sub(re; f; flags)`: one text for each way to choose among the outputs of `f`.
fn sub<'a>(mut cv: Cv<'a, Jaq>) -> ValXs<'a, Val> {
    let flags = cv.0.pop_var();
    let (f, context) = cv.0.pop_fun();
    let pattern = cv.0.pop_var();
    let run = cv.0.data();
    let replaced = || {
        let search = Search::of(run, &pattern, &flags)?;
        let haystack = text(&cv.1)?;
        let mut results = Results(vec![String::new()]);
        let mut end = 0;
        let each = |found: Captures, told: usize| {
            let Some(whole) = found.get(0) else { return Ok(()) };
            results.push(run, &haystack[told..whole.start()])?;
            end = whole.end();
            let outputs = f.run((context.clone(), groups(&search, &found)));
            results.choose(run, outputs)
        };
        search.each(run, haystack, each)?;
        results.push(run, &haystack[end..])?;
        Ok(results.0)
    };
    match replaced() {
        Ok(results) => Box::new(results.into_iter().map(|text| Ok(Val::utf8_str(text)))),
        Err(error) => box_once(Err(error)),
    }
}

/// The named groups of a match, by name.
fn groups(search: &Search, found: &Captures) -> Val {
    let named = search.regex.capture_names().zip(found.iter());
    let named = named.filter_map(|(name, group)| Some((name?, group?.as_str())));
    Val::obj(
        named.map(|(name, text)| (Val::utf8_str(name.to_owned()), Val::utf8_str(text.to_owned()))).collect(),
    )
}

/// The texts that grow while a text is searched.
struct Results(Vec<String>);

impl Results {
    /// Puts a piece at the end of each.
    fn push(&mut self, run: &Run, piece: &str) -> Result<(), Error<Val>> {
        let grown = self.0.len() * piece.len();
        spend(run, grown as u64 / 8)?;
        if self.0.iter().map(String::len).sum::<usize>() + grown > MAX_BYTES {
            return Err(Error::str(run.meter.exceed(TOO_LONG)));
        }
        self.0.iter_mut().for_each(|text| text.push_str(piece));
        Ok(())
    }

    /// Puts each of the outputs at the end of each.
    fn choose<'a>(&mut self, run: &Run, outputs: ValXs<'a, Val>) -> Result<(), Exn<'a, Val>> {
        let mut outputs = outputs.peekable();
        let Some(first) = outputs.next() else {
            self.0.clear();
            return Ok(());
        };
        let first = first?;
        if outputs.peek().is_none() {
            return Ok(self.push(run, added(&first)?)?);
        }
        let mut all = vec![first];
        for output in outputs {
            spend(run, GROUP)?;
            all.push(output?);
            if self.0.len() * all.len() > MAX_RESULTS {
                return Err(Error::str(run.meter.exceed("it makes more than 1000 texts of one")).into());
            }
        }
        let mut chosen = Results(Vec::new());
        for text in std::mem::take(&mut self.0) {
            for output in &all {
                let mut one = Results(vec![text.clone()]);
                spend(run, text.len() as u64 / 8)?;
                one.push(run, added(output)?)?;
                chosen.0.append(&mut one.0);
            }
        }
        *self = chosen;
        // Weighs them together.
        Ok(self.push(run, "")?)
    }
}

/// What is put in the place of a match: nothing for null, as in a sum.
fn added(val: &Val) -> Result<&str, Error<Val>> {
    if matches!(val, Val::Null) { Ok("") } else { text(val) }
}

/// The error of a search that runs no filter.
fn plain(error: Exn<'_, Val>) -> Error<Val> {
    error.get_err().unwrap_or_else(|_| Error::str("it fails on this input"))
}

//! A filter that `jaq` runs: from text to program, and from input to outputs.

use jaq_core::load::lex::{StrPart, Tok, Token};
use jaq_core::load::parse::{Def, Term};
use jaq_core::load::{Arena, File, Lexer, Loader, Parser};
use jaq_core::{Compiler, Ctx, Vars as Bindings, unwrap_valr};
use jaq_json::Val;

use super::meter::{Jaq, Meter, Run, metered};
use super::{MAX_CHARS, VARIABLES, Vars, convert, library};
use crate::core::value::Value;

/// How deep the terms of a filter may be nested: brackets, texts with `\(…)`, and chains of operators, which
/// `jaq` nests too. Its parser, compiler and interpreter are recursive; in a debug build one level takes up
/// to 20 KB of the 2 MB that a thread has.
pub const MAX_NESTING: usize = 64;
/// The most opening brackets; the lexer takes little of the stack for each.
const MAX_OPENINGS: usize = 500;
/// The most outputs of a run.
const MAX_OUTPUTS: usize = 100_000;

/// The definition that holds the filter itself.
const SELF: &str = "this_filter";

/// The names of [`VARIABLES`] as `jaq` wants them.
const DOLLAR_NAMES: [&str; 10] =
    ["$key", "$parent", "$id", "$observed", "$page", "$changed", "$version", "$status", "$headers", "$event"];

/// A compiled filter.
pub struct Program {
    filter: jaq_core::Filter<Jaq>,
    /// Which variables it names, in the order of [`VARIABLES`].
    uses: [bool; VARIABLES.len()],
    /// The text, to tell the filter's own words from the input's in an error.
    text: String,
}

impl Program {
    /// Compiles a filter. The error says what is wrong, and at which character.
    pub fn compile(text: &str) -> Result<Program, String> {
        check_size(text)?;
        let mut uses = [false; VARIABLES.len()];
        let term = metered(parse(text)?, &mut |name| {
            if let Some(at) = DOLLAR_NAMES.iter().position(|known| *known == name) {
                uses[at] = true;
            }
        })
        .map_err(|(part, problem)| format!("{problem}{}", place(text, part)))?;
        if text.contains(SELF) {
            return Err(format!("`{SELF}` is not a function here"));
        }
        let this = Def { name: SELF, args: Vec::new(), body: term };
        let loader = Loader::new(library::definitions().chain([this]));
        let arena = Arena::default();
        let modules = loader
            .load(&arena, File { code: SELF, path: () })
            .map_err(|_| "it cannot be loaded".to_owned())?;
        let filter = Compiler::default()
            .with_funs(library::natives())
            .with_global_vars(DOLLAR_NAMES)
            .compile(modules)
            .map_err(|errors| {
                let first = errors.into_iter().flat_map(|(_, errors)| errors).next();
                first.map_or_else(
                    || "it cannot be compiled".into(),
                    |(name, undefined)| {
                        format!("`{name}` is not a {} here{}", undefined.as_str(), place(text, name))
                    },
                )
            })?;
        Ok(Program { filter, uses, text: text.into() })
    }

    pub fn uses(&self, variable: &str) -> bool {
        VARIABLES.iter().zip(self.uses).any(|(name, uses)| uses && *name == variable)
    }

    /// All outputs, or the first alone.
    pub fn run(&self, input: &Value, vars: &Vars, first: bool) -> Result<Vec<Value>, String> {
        let meter = Meter::new();
        let run = Run { lut: &self.filter.lut, meter: &meter };
        let context = Ctx::<Jaq>::new(run, Bindings::new(self.bindings(vars)));
        let mut outputs = Vec::new();
        for output in self.filter.id.run((context, convert::to_val(input))).map(unwrap_valr) {
            let output = output.map_err(|e| self.explain(&meter, &e.to_string()))?;
            meter.check(&output)?;
            if outputs.len() >= MAX_OUTPUTS {
                return Err(format!("it has more than {MAX_OUTPUTS} outputs"));
            }
            outputs.push(convert::from_val(&output)?);
            if first {
                break;
            }
        }
        match meter.exceeded.get() {
            Some(limit) => Err(limit.into()),
            None => Ok(outputs),
        }
    }

    /// The variables' values; those that the filter does not name are not converted.
    fn bindings(&self, vars: &Vars) -> Vec<Val> {
        let value = |(name, used): (&&str, bool)| {
            let given = vars.0.iter().find(|(given, _)| used && given == name);
            given.map_or(Val::Null, |(_, value)| convert::to_val(value))
        };
        VARIABLES.iter().zip(self.uses).map(value).collect()
    }

    /// What a failed run says, without the values that `jaq`'s messages hold: they may be secret.
    fn explain(&self, meter: &Meter, message: &str) -> String {
        if let Some(limit) = meter.exceeded.get() {
            return limit.into();
        }
        let message = message.trim_matches('"');
        if message.starts_with("cannot use ")
            && let Some((_, wanted)) = message.rsplit_once(" as ")
        {
            return format!("something that is not of type {wanted} is used as one");
        }
        if message.starts_with("cannot index ") {
            return "something is indexed that has no such members".into();
        }
        if message.starts_with("cannot calculate ") {
            return "a calculation has operands of types that do not fit".into();
        }
        let known = [
            "`range` goes over",
            "a text would be",
            "a text is no",
            "a path of more",
            "cannot parse a text as JSON",
        ];
        if known.iter().any(|start| message.starts_with(start)) || self.text.contains(message) {
            return message.into();
        }
        "it fails on this input".into()
    }
}

/// Limits that hold before anything is read, as the lexer is recursive too.
fn check_size(text: &str) -> Result<(), String> {
    if text.chars().count() > MAX_CHARS {
        return Err(format!("it is longer than {MAX_CHARS} characters"));
    }
    let openings = text.bytes().filter(|b| matches!(b, b'(' | b'[' | b'{')).count();
    if openings > MAX_OPENINGS {
        return Err(format!("it has more than {MAX_OPENINGS} opening brackets"));
    }
    Ok(())
}

fn parse(text: &str) -> Result<Term<&str>, String> {
    let tokens = Lexer::new(text).lex().map_err(|errors| {
        let first = errors.into_iter().next();
        first.map_or_else(String::new, |(expected, at)| {
            format!("expected {}{}", expected.as_str(), place(text, at))
        })
    })?;
    if nesting(&tokens, false) > MAX_NESTING {
        return Err(format!(
            "its parts are nested deeper than {MAX_NESTING}; a chain of operators nests, too"
        ));
    }
    Parser::new(&tokens).parse(|p| p.term()).map_err(|errors| {
        let first = errors.into_iter().next();
        first.map_or_else(String::new, |(expected, found)| match found {
            Some(Token(found, _)) => {
                format!("expected {} before `{}`{}", expected.as_str(), head(found), place(text, found))
            }
            None => format!("expected {} at its end", expected.as_str()),
        })
    })
}

/// An upper bound of how deep the term of these tokens is nested: one for each operator and each word that
/// opens a term, and what is deepest in brackets. Semicolons, and the commas of a map, stand between terms
/// that are beside each other.
fn nesting(tokens: &[Token<&str>], in_map: bool) -> usize {
    let parts = tokens.split(|Token(text, _)| *text == ";" || (in_map && *text == ","));
    let depth = |part: &[Token<&str>]| {
        let chain = part.iter().filter(|Token(text, token)| nests(text, token)).count();
        1 + chain + part.iter().map(inner_nesting).max().unwrap_or(0)
    };
    parts.map(depth).max().unwrap_or(0)
}

/// Whether the token puts what follows one level deeper.
fn nests(text: &str, token: &Tok<&str>) -> bool {
    const WORDS: [&str; 10] = ["if", "try", "catch", "reduce", "foreach", "label", "def", "as", "and", "or"];
    const FLAT: [&str; 5] = [".", "..", "?", ":", ";"];
    match token {
        Tok::Word => WORDS.contains(&text),
        Tok::Sym => !FLAT.contains(&text),
        _ => false,
    }
}

fn inner_nesting(Token(text, token): &Token<&str>) -> usize {
    match token {
        Tok::Block(inner) => nesting(inner, text.starts_with('{')),
        Tok::Str(parts) => {
            let inner = parts.iter().filter_map(|part| match part {
                StrPart::Term(inner) => Some(1 + inner_nesting(inner)),
                _ => None,
            });
            inner.max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// The first characters of a token, which may be a whole block.
fn head(token: &str) -> String {
    token.chars().take(20).collect()
}

/// ` at character N`, where `part` is a piece of `text`.
fn place(text: &str, part: &str) -> String {
    let offset = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    match offset.and_then(|offset| text.get(..offset)) {
        Some(before) => format!(" at character {}", before.chars().count() + 1),
        None => String::new(),
    }
}

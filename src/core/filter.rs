//! jq filters, bounded, with a fast path for plain paths.
//!
//! A plain path (`.a.b`, `.["a b"].c`) is looked up where it stands and never builds a second tree. Every
//! other filter is compiled once by `jaq` and run on a copy of its input. A filter sees its input and ten
//! named variables; it has no environment, file, clock, log or way to stop the process.
//!
//! What bounds it:
//! - its text: [`MAX_CHARS`] characters, terms at most `program::MAX_NESTING` deep, no `def`, none of jq's
//!   unbounded generators (see `library`);
//! - its run: every step that builds or multiplies values is metered (see `meter`), so that time, the
//!   number of outputs, and the size and depth of every value on the way are limited, whatever the input;
//! - its regular expressions: each match is paid for as it is found (see `regex`).

mod convert;
mod library;
mod meter;
mod plain;
mod program;
mod regex;

use std::fmt;
use std::sync::Arc;

use self::program::Program;
use super::value::Value;

/// The longest filter text, in characters.
pub const MAX_CHARS: usize = 10_000;

/// The variables that a filter may name, without `$`. All are declared; one that is not given is null.
pub const VARIABLES: [&str; 10] =
    ["key", "parent", "id", "observed", "page", "changed", "version", "status", "headers", "event"];

/// A compiled filter. Cheap to clone, and shared between threads.
#[derive(Clone)]
pub struct Filter(Arc<Compiled>);

struct Compiled {
    text: String,
    form: Form,
}

enum Form {
    /// `.a.b`: found without running anything.
    Plain(Vec<String>),
    Program(Box<Program>),
}

/// The variables a filter may name, by name without `$`: see [`VARIABLES`].
#[derive(Clone, Debug, Default)]
pub struct Vars(pub Vec<(&'static str, Value)>);

/// Why a filter did not give a value. The message never holds a value that the filter worked on: it may be
/// a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("filter `{filter}`: {problem}")]
pub struct FilterError {
    pub filter: String,
    pub problem: String,
}

impl Filter {
    /// Compiles a filter.
    ///
    /// # Errors
    /// What is wrong with the text, with the character where it is: a syntax error, an unknown function or
    /// variable, something that filters here cannot do, a text over the limits.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        let form = match plain::names(text) {
            Some(names) => Form::Plain(names),
            None => Form::Program(Box::new(Program::compile(text).map_err(|problem| error(text, problem))?)),
        };
        Ok(Filter(Arc::new(Compiled { text: text.into(), form })))
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The field names of a plain path (`.`: none), which needs no run and no tree.
    pub fn plain(&self) -> Option<&[String]> {
        match &self.0.form {
            Form::Plain(names) => Some(names),
            Form::Program(_) => None,
        }
    }

    /// Whether the filter names the variable: one that it does not name need not be given.
    pub fn uses(&self, variable: &str) -> bool {
        match &self.0.form {
            Form::Plain(_) => false,
            Form::Program(program) => program.uses(variable),
        }
    }

    /// Whether the filter names a member of the variable: `$key.zone`, `$key["zone"]`.
    pub fn names(&self, variable: &str, member: &str) -> bool {
        self.uses(variable) && plain::has_member(self.text(), variable, member)
    }

    /// All outputs.
    ///
    /// # Errors
    /// The filter fails on this input, or goes over a limit.
    pub fn all(&self, input: &Value, vars: &Vars) -> Result<Vec<Value>, FilterError> {
        let outputs = match &self.0.form {
            Form::Plain(names) => {
                plain::get(names, input).map(|found| vec![found.cloned().unwrap_or(Value::Null)])
            }
            Form::Program(program) => program.run(input, vars, false),
        };
        outputs.map_err(|problem| error(&self.0.text, problem))
    }

    /// The first output; `None` for none, and for null where the filter is a plain path that is not there.
    ///
    /// # Errors
    /// The filter fails on this input before its first output, or goes over a limit.
    pub fn one(&self, input: &Value, vars: &Vars) -> Result<Option<Value>, FilterError> {
        let output = match &self.0.form {
            Form::Plain(names) => plain::get(names, input).map(Option::<&Value>::cloned),
            Form::Program(program) => program.run(input, vars, true).map(|mut outputs| outputs.pop()),
        };
        output.map_err(|problem| error(&self.0.text, problem))
    }

    /// Whether the first output is neither null nor false.
    ///
    /// # Errors
    /// As [`Filter::one`].
    pub fn holds(&self, input: &Value, vars: &Vars) -> Result<bool, FilterError> {
        Ok(!matches!(self.one(input, vars)?, None | Some(Value::Null | Value::Bool(false))))
    }
}

/// Filters of one text are the same.
impl PartialEq for Filter {
    fn eq(&self, other: &Filter) -> bool {
        self.text() == other.text()
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filter({})", self.0.text)
    }
}

/// The longest piece of a filter's text that an error repeats.
const SHOWN: usize = 200;

fn error(text: &str, problem: String) -> FilterError {
    let filter = match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.into(),
    };
    FilterError { filter, problem }
}

#[cfg(test)]
mod regex_tests;
#[cfg(test)]
mod tests;

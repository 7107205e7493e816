//! jq filters, bounded, with a fast path for plain paths.

use std::sync::Arc;

use super::value::Value;

/// A compiled filter.
#[derive(Clone, Debug)]
pub struct Filter {
    text: Arc<str>,
    /// `.a.b`: found without running anything.
    plain: Option<Arc<[String]>>,
}

/// The variables a filter may name, by name without `$`: key, parent, id, observed, page, changed, version, status, headers.
#[derive(Clone, Debug, Default)]
pub struct Vars(pub Vec<(&'static str, Value)>);

/// Why a filter did not give a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("filter `{filter}`: {problem}")]
pub struct FilterError {
    pub filter: String,
    pub problem: String,
}

impl Filter {
    /// Compiles a filter.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        let _ = text;
        todo!()
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The field names of a plain path (`.`: none), which needs no run and no tree.
    pub fn plain(&self) -> Option<&[String]> {
        self.plain.as_deref()
    }

    /// All outputs.
    pub fn all(&self, input: &Value, vars: &Vars) -> Result<Vec<Value>, FilterError> {
        let _ = (input, vars);
        todo!()
    }

    /// The first output; `None` for none, and for null where the filter is a plain path that is not there.
    pub fn one(&self, input: &Value, vars: &Vars) -> Result<Option<Value>, FilterError> {
        let _ = (input, vars);
        todo!()
    }

    /// Whether the first output is neither null nor false.
    pub fn holds(&self, input: &Value, vars: &Vars) -> Result<bool, FilterError> {
        Ok(!matches!(self.one(input, vars)?, None | Some(Value::Null | Value::Bool(false))))
    }
}

//! Something wrong with the input, with everything a person needs to mend it.

use std::fmt;

use super::excerpt::Excerpt;
use super::node::Origin;

/// One error in the input: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub origin: Option<Origin>,
    /// Lower case, what was being done, the thing in backticks.
    pub message: String,
    pub hint: Option<String>,
    /// The line of the file that `origin` points into, without its end.
    pub excerpt: Option<String>,
    /// The column of the excerpt that `origin` points at, where something before it is hidden.
    pub column: Option<u32>,
    /// A warning stops nothing.
    pub warning: bool,
}

impl Problem {
    pub fn new(message: impl Into<String>) -> Problem {
        Problem {
            origin: None,
            message: message.into(),
            hint: None,
            excerpt: None,
            column: None,
            warning: false,
        }
    }

    /// Gives it an excerpt: the line that `origin` points into.
    pub fn show(&mut self, excerpt: &Excerpt) {
        let column = self.origin.as_ref().map(|origin| origin.at.column);
        self.column = column.filter(|column| excerpt.column(*column) != *column).map(|c| excerpt.column(c));
        self.excerpt = Some(excerpt.text.clone());
    }

    pub fn at(mut self, origin: Origin) -> Problem {
        self.origin = Some(origin);
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    pub fn warning(mut self) -> Problem {
        self.warning = true;
        self
    }
}

/// `file:line:column: message`, without excerpt and hint; for logs and tests.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// What an operating system says, as it stands inside a message: without its number, and in lower case.
pub fn said_by_system(said: &str) -> String {
    let said = said.split_once(" (os error").map_or(said, |(what, _)| what);
    let mut letters = said.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_system_says_fits_into_a_sentence() {
        for (said, want) in [
            ("Connection refused (os error 111)", "connection refused"),
            ("No such file or directory (os error 2)", "no such file or directory"),
            ("invalid HTTP version parsed", "invalid HTTP version parsed"),
            ("", ""),
        ] {
            assert_eq!(said_by_system(said), want);
        }
    }
}

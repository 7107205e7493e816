//! The problems of one file while it is read.

use std::sync::Arc;

use crate::core::node::{Origin, Pos};
use crate::core::problem::Problem;
use crate::core::raw::Source;

/// A list of problems that knows the file they are in.
pub struct Problems {
    pub file: Arc<str>,
    /// Where it is known, a problem with a member's name is shown at the name.
    source: Option<Arc<Source>>,
    pub list: Vec<Problem>,
}

impl Problems {
    pub fn new(file: Arc<str>) -> Problems {
        Problems { file, source: None, list: Vec::new() }
    }

    /// The problems of a file whose text is at hand.
    pub fn of(source: &Arc<Source>) -> Problems {
        Problems { source: Some(source.clone()), ..Problems::new(source.file.clone()) }
    }

    /// Adds a problem with the name of a member, whose value stands at `at`.
    pub fn add_to_name(&mut self, name: &str, at: Pos, problem: Problem) {
        let at = self.source.as_ref().map_or(at, |source| source.place_of_name(name, at));
        self.add(at, problem);
    }

    pub fn add(&mut self, at: Pos, problem: Problem) {
        self.list.push(problem.at(Origin { file: self.file.clone(), at }));
    }

    /// The value of a result, or nothing and one problem more.
    pub fn ok<T>(&mut self, at: Pos, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add(at, problem)).ok()
    }

    /// Whether none of them is more than a warning.
    pub fn none(&self) -> bool {
        self.list.iter().all(|problem| problem.warning)
    }
}

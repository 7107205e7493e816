//! The problems of one file while it is read.

use std::sync::Arc;

use crate::core::node::{Origin, Pos};
use crate::core::problem::Problem;

/// A list of problems that knows the file they are in.
pub struct Problems {
    pub file: Arc<str>,
    pub list: Vec<Problem>,
}

impl Problems {
    pub fn new(file: Arc<str>) -> Problems {
        Problems { file, list: Vec::new() }
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

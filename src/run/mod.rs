//! Joins the core and the edges: loads the input, connects the backends, and drives the engine.

pub mod drive;

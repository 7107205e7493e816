//! What a running watch shows: a status document as JSON, as a page and as text, metrics, and lines of a log.
//!
//! JSON, page and text are made of one [`Document`], so that they cannot disagree.

pub mod document;
pub mod json;
pub mod log;
pub mod metrics;
pub mod page;
pub mod text;
pub mod time;
pub mod trouble;

#[cfg(test)]
pub mod sample;

pub use document::Document;

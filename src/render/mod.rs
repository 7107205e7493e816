//! What people and machines see. Everything here is text in, text out, but for the progress bars; what
//! leaves the program leaves it through [`out::Out`].
//!
//! Knows the core's report, problems and items; knows nothing of files, HTTP or flags.

pub mod change;
pub mod ci;
mod contest;
pub mod explained;
pub mod exported;
pub mod json;
pub mod kind;
pub mod longtext;
mod markup;
pub mod out;
pub mod paint;
pub mod probe;
pub mod probe_json;
pub mod problem;
pub mod progress;
pub mod saved;
mod server_only;
pub mod summary;
pub mod table;
pub mod text;
mod tolerated;
pub mod value;
pub mod watch;
pub mod words;

#[cfg(test)]
pub mod sample;

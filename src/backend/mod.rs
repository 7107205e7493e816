//! The backend language: an API as data. Pure: documents become kinds, operations become requests, answers
//! become what the engine understands. Nothing here sends anything.

pub mod answer;
pub mod assembly;
pub mod base;
pub mod base64;
pub mod body;
pub mod connection;
pub mod derived;
pub mod elements;
pub mod etag;
pub mod feed;
pub mod form;
pub mod item;
pub mod known;
pub mod language;
mod like;
pub mod link;
pub mod listing;
pub mod onward;
pub mod operation;
pub mod page;
pub mod path;
pub mod preset;
pub mod probe;
pub mod refusal;
pub mod request;
mod same;
pub mod scan;
pub mod signs;
pub mod token;
pub mod trouble;
pub mod twice;
pub mod wire;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod twice_tests;

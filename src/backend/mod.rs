//! The backend language: an API as data. Pure: documents become kinds, operations become requests, answers
//! become what the engine understands. Nothing here sends anything.

pub mod base;
pub mod body;
pub mod connection;
pub mod page;
pub mod path;
pub mod request;
pub mod wire;

#[cfg(test)]
pub(crate) mod testing;

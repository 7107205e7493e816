//! The backend language: an API as data. Pure: documents become kinds, operations become requests, answers
//! become what the engine understands. Nothing here sends anything.

pub mod base;
pub mod connection;
pub mod page;
pub mod path;
pub mod wire;

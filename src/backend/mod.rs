//! The backend language: an API as data. Pure: documents become kinds, operations become requests, answers
//! become what the engine understands. Nothing here sends anything.

pub mod connection;
pub mod language;
pub mod preset;
pub mod wire;

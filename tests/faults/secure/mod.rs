//! TLS and HTTP/2: a front before the built-in server (`front.rs`, `streams.rs`), and what may go wrong between the
//! binary and it that HTTP/1.1 in plain does not know.

mod authority;
mod between;
mod front;
mod handshake;
mod http2;
mod proxy;
mod streams;
mod upstream;

pub use front::{Front, Settings};

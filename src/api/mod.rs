//! HTTP for real: sockets, TLS, credentials, limits, and the client that the engine's questions go through.
//!
//! What requests look like and what answers mean is not decided here but in `backend`, without a socket.

pub mod auth;
mod broken;
pub mod client;
mod closed;
mod exchange;
pub mod exec;
pub mod exposed;
pub mod feed;
mod file;
pub mod http;
mod issuer;
mod latency;
pub mod limit;
mod list;
mod pin;
pub mod poll;
pub mod tls;
pub mod transport;

#[cfg(test)]
mod testing;

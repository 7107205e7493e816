//! RabbitMQ's management API.

use std::fmt::Write as _;

use reqwest::Method;

pub use crate::api::Api as Server;

/// The server that the environment names.
pub fn from_env() -> Option<Server> {
    Server::from_env("TRUEUP_TEST_RABBITMQ", "rabbitmq.sh", |request| {
        request.basic_auth("guest", Some("guest"))
    })
}

/// Whether a person can log in.
pub fn lets_in(server: &Server, user: &str, password: &str) -> bool {
    let (status, _) =
        server.request_as(|request| request.basic_auth(user, Some(password)), Method::GET, "/whoami", None);
    status == 200
}

/// A name as one segment of a path.
pub fn segment(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").expect("a string takes all");
        }
    }
    text
}

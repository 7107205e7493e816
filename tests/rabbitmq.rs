//! The preset `rabbitmq`, whole, against a real RabbitMQ: the binary on folders of manifests, and a person who
//! changes things by the server's own API.
//!
//! `tests/servers/rabbitmq.sh start` prints the URL that goes into `TRUEUP_TEST_RABBITMQ`. Without it these
//! tests say so and pass. Each has virtual hosts and users of its own, so they run beside each other.

#[path = "support/api.rs"]
mod api;
#[path = "rabbitmq/delete.rs"]
mod delete;
#[path = "rabbitmq/drift.rs"]
mod drift;
#[path = "rabbitmq/export.rs"]
mod export;
#[path = "rabbitmq/lifecycle.rs"]
mod lifecycle;
#[path = "rabbitmq/names.rs"]
mod names;
#[path = "rabbitmq/prune.rs"]
mod prune;
#[path = "rabbitmq/scale.rs"]
mod scale;
#[path = "rabbitmq/secrets.rs"]
mod secrets;
#[path = "rabbitmq/server.rs"]
mod server;
#[path = "rabbitmq/shop.rs"]
mod shop;
mod support;
#[path = "support/tool.rs"]
mod tool;
#[path = "rabbitmq/trouble.rs"]
mod trouble;
#[path = "rabbitmq/watch.rs"]
mod watch;
#[path = "support/watching.rs"]
mod watching;

//! The preset `caddy`, whole, against a real Caddy: the binary on folders of manifests, and a person who changes
//! the same tree by the server's own API.
//!
//! `tests/servers/caddy.sh start` prints the URL that goes into `TRUEUP_TEST_CADDY`. Without it these tests say
//! so and pass. They share one tree, and take turns.

#[path = "support/api.rs"]
mod api;
#[path = "caddy/between.rs"]
mod between;
#[path = "caddy/lifecycle.rs"]
mod lifecycle;
#[path = "caddy/others.rs"]
mod others;
#[path = "caddy/prune.rs"]
mod prune;
#[path = "caddy/race.rs"]
mod race;
mod support;
#[path = "caddy/tree.rs"]
mod tree;
#[path = "caddy/trouble.rs"]
mod trouble;

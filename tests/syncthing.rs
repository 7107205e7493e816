//! The preset `syncthing`, whole, against a real Syncthing: the binary on folders of manifests, and a person who
//! changes things by the server's own API.
//!
//! `tests/servers/syncthing.sh start` prints the URL that goes into `TRUEUP_TEST_SYNCTHING`. Without it these
//! tests say so and pass. Much of what Syncthing has there is one of, so they take turns.

#[path = "support/api.rs"]
mod api;
#[path = "syncthing/device.rs"]
mod device;
#[path = "syncthing/lifecycle.rs"]
mod lifecycle;
#[path = "syncthing/others.rs"]
mod others;
#[path = "syncthing/prune.rs"]
mod prune;
#[path = "syncthing/secrets.rs"]
mod secrets;
mod support;
#[path = "syncthing/trouble.rs"]
mod trouble;

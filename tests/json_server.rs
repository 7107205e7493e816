//! The preset `json-server`, whole, against a real json-server: the binary on a folder of manifests, and a person
//! who changes things by the server's own API.
//!
//! `tests/servers/json-server.sh start` prints the URL that goes into `TRUEUP_TEST_JSON_SERVER`. Without it these
//! tests say so and pass. The collections of the server are few and the same for all, so it is one test's at a
//! time.

#[path = "support/api.rs"]
mod api;
#[path = "json_server/drift.rs"]
mod drift;
#[path = "json_server/ids.rs"]
mod ids;
#[path = "json_server/lifecycle.rs"]
mod lifecycle;
#[path = "json_server/prune.rs"]
mod prune;
#[path = "json_server/site.rs"]
mod site;
mod support;

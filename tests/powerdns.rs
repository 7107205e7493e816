//! The preset `powerdns`, whole, against a real PowerDNS: the binary on folders of manifests, and a person who
//! changes things by the server's own API.
//!
//! `tests/servers/powerdns.sh start` prints the URL that goes into `TRUEUP_TEST_POWERDNS`. Without it these
//! tests say so and pass. Each has zones and keys of its own.

#[path = "support/api.rs"]
mod api;
#[path = "powerdns/delete.rs"]
mod delete;
#[path = "powerdns/drift.rs"]
mod drift;
#[path = "powerdns/export.rs"]
mod export;
#[path = "powerdns/lifecycle.rs"]
mod lifecycle;
#[path = "powerdns/prune.rs"]
mod prune;
#[path = "powerdns/scale.rs"]
mod scale;
#[path = "powerdns/secrets.rs"]
mod secrets;
#[path = "powerdns/shop.rs"]
mod shop;
#[path = "powerdns/spelling.rs"]
mod spelling;
mod support;
#[path = "support/tool.rs"]
mod tool;
#[path = "powerdns/trouble.rs"]
mod trouble;
#[path = "powerdns/watch.rs"]
mod watch;
#[path = "support/watching.rs"]
mod watching;

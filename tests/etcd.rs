//! `deploy/etcd/backend.yaml` against a real etcd, by its JSON gateway: instances that take turns by a lease there, and
//! its keys as objects.
//!
//! `tests/servers/etcd.sh start` prints the URL that goes into `TRUEUP_TEST_ETCD`. Without it these tests say so and
//! pass. Each has keys of its own, so they run beside each other.

#[expect(dead_code, reason = "shared with the tests of presets, which use more of it")]
#[path = "support/api.rs"]
mod api;
#[path = "etcd/gate.rs"]
mod gate;
#[path = "etcd/keys.rs"]
mod keys;
#[path = "etcd/lease.rs"]
mod lease;
#[path = "etcd/member.rs"]
mod member;
#[expect(dead_code, reason = "shared with the tests of presets, which use more of it")]
mod support;
#[path = "support/watching.rs"]
mod watching;

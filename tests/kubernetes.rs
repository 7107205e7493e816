//! The preset `kubernetes`, whole, against a real API server: the binary on folders of manifests, and a person
//! who changes things by the server's own API.
//!
//! `tests/servers/kubernetes.sh start` prints the URL, the token and the CA that go into
//! `TRUEUP_TEST_KUBERNETES`. Without them these tests say so and pass. Each has a namespace of its own, so they
//! run beside each other. No controllers run there: what Kubernetes does later is not seen.

#[path = "kubernetes/cluster.rs"]
mod cluster;
#[path = "kubernetes/custom.rs"]
mod custom;
#[path = "kubernetes/delete.rs"]
mod delete;
#[path = "kubernetes/deploy.rs"]
mod deploy;
#[path = "kubernetes/files.rs"]
mod files;
#[path = "kubernetes/lifecycle.rs"]
mod lifecycle;
#[path = "kubernetes/managers.rs"]
mod managers;
#[path = "kubernetes/opinion.rs"]
mod opinion;
#[path = "kubernetes/prune.rs"]
mod prune;
#[path = "kubernetes/scale.rs"]
mod scale;
#[path = "kubernetes/secrets.rs"]
mod secrets;
#[path = "kubernetes/server.rs"]
mod server;
mod support;
#[path = "kubernetes/watch.rs"]
mod watch;
#[path = "support/watching.rs"]
mod watching;

//! The image of `deploy/container`, run by podman: its files alone, read-only, without rights, against a server behind
//! TLS whose authority this test makes.
//!
//! `tests/servers/container.sh start` prints the name that goes into `TRUEUP_TEST_CONTAINER`. Without it, or where it is
//! empty since no container runs there, these tests say so and pass.

#[path = "container/front.rs"]
mod front;
#[path = "container/image.rs"]
mod image;
#[path = "container/names.rs"]
mod names;
#[path = "container/podman.rs"]
mod podman;
#[path = "container/work.rs"]
mod work;

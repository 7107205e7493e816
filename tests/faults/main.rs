//! The real binary over real HTTP while things go wrong: scripts of faults on the built-in server (layer L2), and
//! a process that dies at any of its requests (layer L4). `docs/reliability/processes.md` tells what is run.

#[expect(dead_code, reason = "shared with the tests of the command line, which use more of it")]
#[path = "../cli/servers.rs"]
mod servers;
#[expect(dead_code, reason = "shared with the tests of the command line, which use more of it")]
#[path = "../cli/support.rs"]
mod support;

#[expect(dead_code, reason = "shared with the tests of the command line, which use more of it")]
#[path = "../cli/watch/stage.rs"]
mod watch_stage;

mod crowd;
mod kills;
mod middle;
mod output;
mod pairs;
mod replicas;
mod rows;
mod saved;
mod scripts;
mod secure;
mod shared;
mod signals;
mod watch;
mod world;

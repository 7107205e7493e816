//! The program: everything is in the library.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A watch needs much for a moment, again and again: this gives it back, which the allocator of glibc does not, as it keeps
/// it once for each thread. For the many small values of a plan it is faster as well, and much faster than musl's.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(trueup::cli::run(std::env::args_os()).code())
}

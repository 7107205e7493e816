//! The program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(trueup::cli::run(std::env::args_os()).code())
}

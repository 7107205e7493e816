//! `trueup completions SHELL`: the script that the shell reads.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::args::Cli;
use crate::core::exit::Exit;
use crate::render::out::Out;

/// Prints the script.
pub fn run(shell: Shell, out: &mut Out) -> Exit {
    out.verbatim(&script(shell));
    Exit::Success
}

/// The script of a shell. Written to memory first: the generator panics where it cannot write.
fn script(shell: Shell) -> String {
    let mut bytes = Vec::new();
    generate(shell, &mut Cli::command(), "trueup", &mut bytes);
    String::from_utf8(bytes).expect("the generators write text")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use clap_complete::Generator;

    /// What stands in `completions/` is what the program prints. To refresh it:
    /// `TRUEUP_REFRESH=1 cargo test completions`.
    #[test]
    fn the_folder_is_fresh() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
        let refresh = std::env::var_os("TRUEUP_REFRESH").is_some();
        for shell in Shell::value_variants() {
            let file = folder.join(shell.file_name("trueup"));
            let script = script(*shell);
            if refresh {
                std::fs::create_dir_all(&folder).expect("a folder");
                std::fs::write(&file, &script).expect("a file");
            }
            let have = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(
                have == script,
                "{} is stale: run `TRUEUP_REFRESH=1 cargo test completions`",
                file.display()
            );
        }
    }

    #[test]
    fn each_script_knows_the_commands() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for word in ["plan", "drift", "apply", "validate", "get", "delete", "serve", "detailed-exitcode"]
            {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}

//! Whether to colour, decided once for each stream.
//!
//! The flag wins, then `NO_COLOR` (no-color.org), then `CLICOLOR_FORCE`, then whether the stream is a
//! terminal that knows colours. `colored`'s own guess is not asked: it looks at standard output for both
//! streams, and lets `CLICOLOR_FORCE` beat `NO_COLOR`.

use std::ffi::OsString;

/// `--color`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Whether a stream is coloured; `env` looks up a variable of the environment.
pub fn decide(choice: Color, is_terminal: bool, env: impl Fn(&str) -> Option<OsString>) -> bool {
    let set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto if env("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") => true,
        Color::Auto if env("CLICOLOR").is_some_and(|value| value == "0") => false,
        Color::Auto => is_terminal && env("TERM").is_none_or(|term| term != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_then_no_color_then_force_then_terminal() {
        use Color::{Always, Auto, Never};
        for (choice, terminal, env, want) in [
            (Auto, true, "", true),
            (Auto, false, "", false),
            (Auto, true, "TERM=dumb", false),
            (Auto, true, "TERM=xterm", true),
            (Auto, true, "CLICOLOR=0", false),
            (Auto, true, "NO_COLOR=1", false),
            (Auto, true, "NO_COLOR=", true),
            (Auto, false, "CLICOLOR_FORCE=1", true),
            (Auto, false, "CLICOLOR_FORCE=0", false),
            (Auto, true, "NO_COLOR=1 CLICOLOR_FORCE=1", false),
            (Always, false, "NO_COLOR=1", true),
            (Never, true, "CLICOLOR_FORCE=1", false),
        ] {
            let look = |name: &str| {
                let pair = env.split(' ').find_map(|pair| pair.split_once('=').filter(|(n, _)| *n == name));
                pair.map(|(_, value)| value.into())
            };
            assert_eq!(decide(choice, terminal, look), want, "{choice:?} {terminal} {env}");
        }
    }
}

//! A command that prints a credential: only those that the user's own environment allows, without a shell,
//! bounded in time and output.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;

/// Names the variable that holds the allowed commands, separated by `:`.
pub const ALLOW: &str = "TRUEUP_ALLOW_EXEC";

const PATIENCE: Duration = Duration::from_secs(60);
const LARGEST: u64 = 1024 * 1024;
/// So much of what a command says about its failure is kept. Secrets are taken out of it, and it is cut to a
/// line's length, where it is shown: to cut it here would leave halves of secrets, which nobody finds.
const KEPT: usize = 64 * 1024;

/// Why a command gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    #[error("the command is empty")]
    Empty,
    #[error("the command `{0}` is not allowed")]
    NotAllowed(String),
    #[error("cannot start the command `{command}`: {source}")]
    Start { command: String, source: std::io::Error },
    #[error("the command `{command}` did not end within {}", humantime::format_duration(*after))]
    TooSlow { command: String, after: Duration },
    #[error("the command `{command}` printed more than 1 MB")]
    TooMuch { command: String },
    #[error("the command `{command}` failed ({status}){said}")]
    Failed { command: String, status: std::process::ExitStatus, said: String },
    #[error("the command `{command}` printed something that is not text")]
    NotText { command: String },
}

/// Runs a command and gives what it printed.
///
/// # Errors
/// A command that `allowed` does not name, or that fails, hangs, or prints too much.
pub async fn run(command: &[String], allowed: Option<&str>) -> Result<String, ExecError> {
    run_within(command, allowed, PATIENCE).await
}

async fn run_within(
    command: &[String],
    allowed: Option<&str>,
    patience: Duration,
) -> Result<String, ExecError> {
    let (program, arguments) = command.split_first().ok_or(ExecError::Empty)?;
    if !is_allowed(program, allowed) {
        return Err(ExecError::NotAllowed(program.clone()));
    }
    let name = || program.clone();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| ExecError::Start { command: name(), source })?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let all = async { tokio::join!(read(stdout), read(stderr), child.wait()) };
    let ended = timeout(patience, all).await;
    let (printed, said, status) =
        ended.map_err(|_| ExecError::TooSlow { command: name(), after: patience })?;
    let status = status.map_err(|source| ExecError::Start { command: name(), source })?;
    if printed.len() as u64 > LARGEST {
        return Err(ExecError::TooMuch { command: name() });
    }
    if !status.success() {
        return Err(ExecError::Failed { command: name(), status, said: excerpt(&said) });
    }
    String::from_utf8(printed).map_err(|_| ExecError::NotText { command: name() })
}

/// A name without a slash, or an absolute path, exactly as the list has it. A relative path would be a file of
/// the project, which a pull request can change.
fn is_allowed(program: &str, allowed: Option<&str>) -> bool {
    let fit = !program.is_empty() && (!program.contains('/') || program.starts_with('/'));
    fit && allowed.is_some_and(|list| list.split(':').any(|entry| entry == program))
}

/// What a pipe gives, up to one byte over the limit. A pipe that is closed early stops its writer.
async fn read(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What could be read until an error is all there is.
        let _ = pipe.take(LARGEST + 1).read_to_end(&mut bytes).await;
    }
    bytes
}

fn excerpt(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().take(KEPT).collect();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sh(script: &str, patience: Duration) -> Result<String, ExecError> {
        let command = ["/bin/sh", "-c", script].map(String::from);
        run_within(&command, Some("gh:/bin/sh"), patience).await
    }

    #[test]
    fn only_what_the_list_names_is_allowed() {
        for (program, list, want) in [
            ("gh", Some("gh"), true),
            ("gh", Some("az:gh"), true),
            ("/usr/bin/gh", Some("/usr/bin/gh"), true),
            ("gh", None, false),
            ("gh", Some(""), false),
            ("gh", Some("ghx:xgh"), false),
            ("/usr/bin/gh", Some("gh"), false),
            ("./get-token.sh", Some("./get-token.sh"), false),
            ("bin/gh", Some("bin/gh"), false),
            ("", Some(""), false),
            ("sh", Some("1"), false),
        ] {
            assert_eq!(is_allowed(program, list), want, "{program} in {list:?}");
        }
    }

    /// What a shell would make something of is handed on as it is.
    #[tokio::test]
    async fn there_is_no_shell() {
        let words = ["/bin/echo", "-n", "$HOME; touch x `id` $(id) > y", "*"].map(String::from);
        let printed = run(&words, Some("/bin/echo")).await.expect("it prints");
        assert_eq!(printed, "$HOME; touch x `id` $(id) > y *");
    }

    #[tokio::test]
    async fn commands_print_and_fail() {
        let long = Duration::from_secs(30);
        assert_eq!(sh("printf 'a\\nb'", long).await.expect("it prints"), "a\nb");
        let failed = sh("printf 'no \\033[2J token' >&2; exit 3", long).await.expect_err("it fails");
        assert!(failed.to_string().ends_with("failed (exit status: 3): no \u{1b}[2J token"), "{failed}");
        let much = sh("exec head -c 3000000 /dev/zero", long).await.expect_err("it prints too much");
        assert!(matches!(much, ExecError::TooMuch { .. }), "{much}");
        let odd = sh("printf '\\377'", long).await.expect_err("no text");
        assert!(matches!(odd, ExecError::NotText { .. }), "{odd}");
        let slow = sh("exec sleep 600", Duration::from_millis(50)).await.expect_err("it hangs");
        assert_eq!(slow.to_string(), "the command `/bin/sh` did not end within 50ms");
        let missing = run(&["no-such-command".into()], Some("no-such-command")).await.expect_err("missing");
        assert!(missing.to_string().starts_with("cannot start the command `no-such-command`: "), "{missing}");
    }
}

//! `trueup status`: where a watch stands, from its status file or its port.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::options::{Effort, Output, Status, Watched};
use super::start;
use crate::core::exit::Exit;
use crate::core::problem::{Problem, said_by_system};
use crate::render::out::Out;
use crate::render::watch::Document;
use crate::render::watch::text::View;
use crate::render::watch::{json, trouble};
use crate::run::watch::ask;

/// A watch without a sign of life for so long seems dead; it gives one every 30 seconds.
const SILENCE: Duration = Duration::from_secs(2 * 60);
/// More than a hundred thousand objects need.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Shows it.
pub fn run(options: &Status, output: &Output, out: &mut Out) -> Exit {
    let told = match &options.from {
        Watched::File(path) => of_file(path).map_err(|problem| start::failed(&problem, out)),
        Watched::Url(url) => of_url(url, options.token_env.as_deref(), out),
    };
    let (document, silence) = match told {
        Ok(told) => told,
        Err(exit) => return exit,
    };
    let silent = silence.filter(|silence| *silence > SILENCE);
    let view = View { all: output.verbose > 0, silent, now: wall() };
    out.status(&document, &view);
    trouble::exit(&document, silent.is_none(), &options.fail_on)
}

/// The document and how long the watch has been silent.
type Told = (Document, Option<Duration>);

/// Of a file, the sign of life is the later of what stands in it and the time at which it was last touched.
fn of_file(path: &Path) -> Result<Told, Problem> {
    let bad = |why: &str| Problem::new(format!("reading the status file `{}`: {why}", path.display()));
    let by_system = |error: std::io::Error| {
        bad(&said_by_system(&error.to_string())).hint("`trueup watch --status-file PATH` keeps it")
    };
    // Looked at before it is opened: a named pipe waits for its writer.
    if !fs::metadata(path).map_err(by_system)?.is_file() {
        return Err(bad("it is not a regular file"));
    }
    let file = File::open(path).map_err(by_system)?;
    let touched = file.metadata().and_then(|metadata| metadata.modified()).map_err(by_system)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(by_system)?;
    if bytes.len() as u64 > LARGEST {
        return Err(bad(&format!("it is larger than {} MB", LARGEST / (1024 * 1024))));
    }
    let text = String::from_utf8(bytes).map_err(|_| bad("it is not UTF-8"))?;
    let document = json::read(&text).map_err(|error| bad(&error.to_string()))?;
    let touched = touched.duration_since(UNIX_EPOCH).unwrap_or_default();
    let alive = document.alive_at().map_or(touched, |alive| alive.max(touched));
    Ok((document, Some(wall().saturating_sub(alive))))
}

/// Of a port, both times are by its own clock. What went wrong has been said.
fn of_url(url: &str, token_env: Option<&str>, out: &mut Out) -> Result<Told, Exit> {
    let token = token_env.map(start::token).transpose().map_err(|problem| start::failed(&problem, out))?;
    out.secrets().learn(&token);
    let asked = start::block_on(start::one_thread(), Effort::default(), out, async |limits, _| {
        start::in_time(ask::status(url, token.as_deref()), limits).await
    });
    let answer = asked?.map_err(|ended| ended.told(out))?;
    let read = answer.and_then(|text| {
        json::read(&text).map_err(|error| Problem::new(format!("asking the watch at `{url}`: {error}")))
    });
    let document = read.map_err(|problem| start::failed(&problem, out))?;
    let silence = document.made_at().zip(document.alive_at()).map(|(made, alive)| made.saturating_sub(alive));
    Ok((document, silence))
}

fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

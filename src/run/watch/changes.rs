//! The writes of the last hour, from one process to the next by way of the status file: a limit of changes an hour
//! holds for a watch that is started again and again, too.
//!
//! Nothing is decided by it but whether there is to be a write now. What cannot be read counts as none.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Settings;
use super::say::Teller;
use crate::core::problem::said_by_system;
use crate::core::watch::{HOUR, Lately};
use crate::render::watch::json;
use crate::render::watch::log::Event;

/// No status is longer.
const LONGEST: u64 = 1 << 30;

impl Settings {
    /// What an earlier process wrote within the hour counts, where there is a limit.
    pub(super) fn count_earlier_changes(&mut self, teller: &mut Teller<'_>) {
        if let Some(path) =
            self.places.status_file.as_ref().filter(|_| self.machine.changes_an_hour.is_some())
        {
            let earlier = earlier(path);
            teller.say(&told(path, &earlier));
            self.machine.earlier_changes = earlier.unwrap_or_default();
        }
    }
}

/// The writes that an earlier process told of in its status file; none where there is no file.
///
/// # Errors
/// Why the file does not tell.
pub fn earlier(path: &Path) -> Result<Vec<Lately>, String> {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    read(path).map(|all| lately(&all, wall))
}

/// What is to be said of them in the log.
fn told(path: &Path, earlier: &Result<Vec<Lately>, String>) -> Event {
    let event = match earlier {
        Ok(all) => {
            let count = all.iter().fold(0, |sum: usize, (_, count)| sum.saturating_add(*count));
            Event::info("changes of the last hour count").with("changes", count)
        }
        Err(why) => Event::warn("changes of the last hour are not known").with("detail", why.as_str()),
    };
    event.with("file", path.display().to_string())
}

/// For how long writes of these times count from now on. A time that is to come was by another clock: it counts as now.
fn lately(all: &[(Duration, usize)], wall: Duration) -> Vec<Lately> {
    let left = |(at, count): &(Duration, usize)| {
        let left = (*at + HOUR).checked_sub(wall).filter(|left| !left.is_zero())?;
        Some((left.min(HOUR), *count))
    };
    all.iter().filter_map(left).collect()
}

fn read(path: &Path) -> Result<Vec<(Duration, usize)>, String> {
    let said = |error: std::io::Error| said_by_system(&error.to_string());
    // Looked at before it is opened: a named pipe waits for its writer.
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        metadata => metadata.map_err(said)?,
    };
    if !metadata.is_file() || metadata.len() > LONGEST {
        return Err("it is no status of a watch".into());
    }
    let text = fs::read_to_string(path).map_err(said)?;
    json::changes(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_counts_for_the_rest_of_its_hour() {
        let seconds = Duration::from_secs;
        let wall = seconds(1_000_000);
        let all = [(wall - seconds(3601), 1), (wall - seconds(3600), 2), (wall - seconds(600), 3), (wall, 4)];
        assert_eq!(lately(&all, wall), [(seconds(3000), 3), (HOUR, 4)]);
        assert_eq!(lately(&[(wall + seconds(86_400), 5)], wall), [(HOUR, 5)], "by another clock");
    }

    #[test]
    fn what_is_no_status_tells_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let told = |name: &str, text: Option<&str>| {
            let path = folder.path().join(name);
            text.into_iter().for_each(|text| fs::write(&path, text).expect("it is ours"));
            earlier(&path)
        };
        assert_eq!(told("none", None), Ok(Vec::new()), "the first process");
        for (name, text) in [("empty", ""), ("other", "{\"a\": 1}"), ("cut", "{\"schemaVersion\": 1, \"comm")]
        {
            assert!(told(name, Some(text)).is_err(), "{name}");
        }
        let of = |command: &str, changes: &str| {
            format!("{{\"schemaVersion\": 1, \"command\": \"{command}\"{changes}}}")
        };
        let changes = ", \"changes\": [{\"time\": \"9999-01-01T00:00:00Z\", \"count\": 2}]";
        assert!(told("plan", Some(&of("plan", changes))).is_err(), "of another command");
        assert_eq!(told("status", Some(&of("status", changes))), Ok(vec![(HOUR, 2)]));
        assert_eq!(told("old", Some(&of("status", ""))), Ok(Vec::new()), "an earlier version had none");
        for bad in ["9999-01-01", "yesterday", ""] {
            let changes = changes.replace("9999-01-01T00:00:00Z", bad);
            assert!(told("bad", Some(&of("status", &changes))).is_err(), "{bad}");
        }
    }
}

//! What a service manager is told: ready, stopping, and that the loop still turns. Without one it is told to nobody.

use std::time::Duration;

use tokio::time::Instant;

/// While it is not ready yet, the manager is asked for so much more time, again and again.
const MORE: Duration = Duration::from_secs(60);

/// The service manager.
pub struct Manager {
    /// The loop gives a sign of life this often, half of what the manager demands.
    beat: Option<Duration>,
    last: Instant,
    ready: bool,
}

impl Manager {
    pub fn new() -> Manager {
        Manager { beat: watchdog().map(|within| within / 2), last: Instant::now(), ready: false }
    }

    /// A pass has ended for every object. Whether that is new.
    pub fn ready(&mut self) -> bool {
        let first = !std::mem::replace(&mut self.ready, true);
        if first {
            tell(&[State::Ready]);
        }
        first
    }

    /// Gives the sign of life, where it is due. Called by the loop itself: where that hangs, nobody gives it.
    pub fn beat(&mut self) {
        if !self.ready {
            tell(&[State::MoreTime(MORE)]);
        }
        if self.beat.is_some_and(|beat| self.last.elapsed() >= beat) {
            self.last = Instant::now();
            tell(&[State::Alive]);
        }
    }

    pub fn stopping(&self) {
        tell(&[State::Stopping]);
    }
}

enum State {
    Ready,
    Stopping,
    Alive,
    MoreTime(Duration),
}

#[cfg(unix)]
fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled().filter(|within| !within.is_zero())
}

#[cfg(unix)]
fn tell(states: &[State]) {
    use sd_notify::NotifyState;
    let states: Vec<NotifyState> = states
        .iter()
        .map(|state| match state {
            State::Ready => NotifyState::Ready,
            State::Stopping => NotifyState::Stopping,
            State::Alive => NotifyState::Watchdog,
            State::MoreTime(time) => {
                NotifyState::ExtendTimeoutUsec(u32::try_from(time.as_micros()).unwrap_or(u32::MAX))
            }
        })
        .collect();
    // A manager that does not hear has its own ideas of what to do then.
    let _ = sd_notify::notify(&states);
}

#[cfg(not(unix))]
fn watchdog() -> Option<Duration> {
    None
}

#[cfg(not(unix))]
fn tell(_: &[State]) {}

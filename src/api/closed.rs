//! Refusals that hold for a time: a server that names a long wait in `Retry-After` is not asked the same again before
//! that is over. Reads and writes have limits of their own at many servers, so they are closed apart.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::exchange::now;
use crate::backend::wire::{HttpAnswer, Role};

/// What a backend refuses for now.
pub struct Closed {
    /// A server is obeyed for so long at most; `None`: for as long as it says.
    longest: Option<Duration>,
    writes: Mutex<Option<Refusal>>,
    reads: Mutex<Option<Refusal>>,
}

/// A refusal, and until when it holds.
struct Refusal {
    until: Instant,
    /// The same by the clock of the wall, since the beginning of 1970.
    wall: Duration,
    answer: HttpAnswer,
}

impl Closed {
    pub fn new(longest: Option<Duration>) -> Closed {
        Closed { longest, writes: Mutex::default(), reads: Mutex::default() }
    }

    /// Takes a refusal down for what is asked in this role.
    pub fn close(&self, role: Role, wait: Duration, answer: &HttpAnswer) {
        let wait = wait.min(self.longest.unwrap_or(Duration::MAX));
        let refusal = Refusal { until: Instant::now() + wait, wall: now() + wait, answer: answer.clone() };
        *self.of(role) = Some(refusal);
    }

    /// What the server would say: it said so before, and the time that it named is not over.
    pub fn answer(&self, role: Role) -> Option<HttpAnswer> {
        let refusal = self.of(role);
        let refusal = refusal.as_ref()?;
        let left = refusal.until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        let mut answer = refusal.answer.clone();
        if self.longest.is_some() {
            // Who hears it later, and waits for that, comes when the others do.
            let seconds = left.as_secs_f64().ceil();
            for (_, value) in answer.headers.iter_mut().filter(|(name, _)| name == "retry-after") {
                *value = seconds.to_string();
            }
        }
        Some(answer)
    }

    /// Somebody wants it asked all the same.
    pub fn open(&self) {
        *self.of(Role::List) = None;
        *self.of(Role::Update) = None;
    }

    /// Until when it is not asked something or other, since the beginning of 1970.
    pub fn until(&self) -> Option<Duration> {
        let left = |role: Role| {
            let refusal = self.of(role);
            refusal.as_ref().filter(|refusal| Instant::now() < refusal.until).map(|refusal| refusal.wall)
        };
        left(Role::List).max(left(Role::Update))
    }

    fn of(&self, role: Role) -> MutexGuard<'_, Option<Refusal>> {
        let closed = if role.is_read() { &self.reads } else { &self.writes };
        closed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(wait: &str) -> HttpAnswer {
        let headers = vec![("retry-after".into(), wait.into())];
        HttpAnswer { status: 429, headers, body: Vec::new() }
    }

    fn wait(closed: &Closed, role: Role) -> Option<String> {
        Some(closed.answer(role)?.header("retry-after")?.to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_obeyed_for_as_long_as_it_is_to_be() {
        let year = Duration::from_secs(31_536_000);
        let closed = Closed::new(Some(Duration::from_secs(900)));
        closed.close(Role::Read, year, &refusal("31536000"));
        assert_eq!(wait(&closed, Role::List).as_deref(), Some("900"), "all reads");
        assert!(closed.answer(Role::Create).is_none(), "a write has its own limit");
        assert!(closed.until().is_some_and(|until| until <= now() + Duration::from_secs(900)));
        tokio::time::advance(Duration::from_secs(600)).await;
        assert_eq!(wait(&closed, Role::List).as_deref(), Some("300"), "what is left of it");
        tokio::time::advance(Duration::from_secs(300)).await;
        assert!(closed.answer(Role::List).is_none() && closed.until().is_none());

        let forever = Closed::new(None);
        forever.close(Role::Read, year, &refusal("31536000"));
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(wait(&forever, Role::Read).as_deref(), Some("31536000"), "as it was said");
    }

    #[tokio::test(start_paused = true)]
    async fn who_wants_it_asked_all_the_same_may() {
        let closed = Closed::new(None);
        closed.close(Role::Read, Duration::from_secs(900), &refusal("900"));
        closed.close(Role::Create, Duration::from_secs(900), &refusal("900"));
        closed.open();
        assert!(closed.answer(Role::Read).is_none() && closed.answer(Role::Delete).is_none());
    }
}

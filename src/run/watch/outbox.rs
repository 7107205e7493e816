//! Hints on their way to the loop. The way is bounded: where it is full, hints melt together into one about a whole
//! backend, or about all, which is sent once there is room. So none is lost, and nothing grows.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use crate::core::watch::{About, Hint};

/// Copies are one.
#[derive(Clone)]
pub struct Outbox {
    loop_of_watch: Sender<Hint>,
    late: Arc<Mutex<Option<Hint>>>,
}

impl Outbox {
    pub fn new(loop_of_watch: Sender<Hint>) -> Outbox {
        Outbox { loop_of_watch, late: Arc::default() }
    }

    /// Sends a hint, now or later. Where the loop is gone, nothing is sent. Needs a runtime around it.
    pub fn send(&self, hint: Hint) {
        let Err(TrySendError::Full(hint)) = self.loop_of_watch.try_send(hint) else { return };
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = late.is_some();
        *late = Some(match late.take() {
            Some(other) => melted(other, &hint),
            None => wider(hint),
        });
        if !waits {
            tokio::spawn(self.clone().catch_up());
        }
    }

    async fn catch_up(self) {
        let Ok(room) = self.loop_of_watch.reserve().await else { return };
        let late = self.late.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(hint) = late {
            room.send(hint);
        }
    }
}

/// The hint about a whole backend; nothing is said of what was seen.
fn wider(hint: Hint) -> Hint {
    let about = match hint.about {
        About::Object(id) => About::Target(id.kind.backend.clone()),
        About::Group(_) => About::All,
        wide => wide,
    };
    Hint { about, observed: None, ..hint }
}

/// One hint for two; the more urgent origin stands.
fn melted(late: Hint, hint: &Hint) -> Hint {
    let hint = wider(hint.clone());
    let origin = match hint.origin.class() > late.origin.class() {
        true => hint.origin,
        false => late.origin,
    };
    let about = if late.about == hint.about { late.about } else { About::All };
    Hint { about, origin, observed: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::watch::Origin;

    fn hint(target: &str, origin: Origin) -> Hint {
        Hint { about: About::Target(target.into()), origin, observed: None }
    }

    /// The next hint; none where it does not come.
    async fn next(loop_of_watch: &mut tokio::sync::mpsc::Receiver<Hint>) -> Option<Hint> {
        let time = std::time::Duration::from_secs(10);
        tokio::time::timeout(time, loop_of_watch.recv()).await.unwrap_or_default()
    }

    #[tokio::test(start_paused = true)]
    async fn where_there_is_no_room_hints_melt_together_and_none_is_lost() {
        let (sender, mut loop_of_watch) = tokio::sync::mpsc::channel(1);
        let outbox = Outbox::new(sender);
        outbox.send(hint("a", Origin::Webhook));
        for _ in 0..1000 {
            outbox.send(hint("b", Origin::Webhook));
        }
        assert_eq!(next(&mut loop_of_watch).await, Some(hint("a", Origin::Webhook)));
        assert_eq!(next(&mut loop_of_watch).await, Some(hint("b", Origin::Webhook)), "a thousand are one");
        outbox.send(hint("a", Origin::Webhook));
        outbox.send(hint("b", Origin::Webhook));
        outbox.send(hint("c", Origin::Person));
        assert_eq!(next(&mut loop_of_watch).await, Some(hint("a", Origin::Webhook)));
        let all = Hint { about: About::All, origin: Origin::Person, observed: None };
        assert_eq!(next(&mut loop_of_watch).await, Some(all));
        outbox.send(hint("d", Origin::Webhook));
        assert_eq!(next(&mut loop_of_watch).await, Some(hint("d", Origin::Webhook)), "it is in order again");
    }
}

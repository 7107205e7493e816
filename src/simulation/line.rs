//! The way between the real client and the model server: a transport in virtual time, with delays that put requests
//! into any order, faults, other actors, and a point at which the process ends.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::api::{TOKEN, URL};
use super::dice::Dice;
use super::fate::{CIRCLE, Fate};
use super::scene::Scene;
use super::world::{NOTE, World, answer, header};
use crate::api::transport::{Transport, TransportError};
use crate::backend::wire::{HttpAnswer, HttpRequest};
use crate::core::value::Value;

/// How a run is disturbed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trouble {
    /// Hundredths of the requests that meet a fault.
    pub faults: u32,
    /// Hundredths of the requests beside which another actor does something.
    pub meddling: u32,
    /// The request at which the process ends, and whether the server has done it by then.
    pub crash: Option<(u32, bool)>,
}

/// More requests than any run needs.
const MOST_REQUESTS: u32 = 3_000;

/// Everything of a schedule.
pub struct Sim {
    pub world: World,
    pub dice: Dice,
    pub scene: Arc<Scene>,
    pub trouble: Trouble,
    /// Of this run.
    pub requests: u32,
    /// By document: whether its object was right at any time of this run.
    pub was_right: Vec<bool>,
    pub end: CancellationToken,
    /// What happened, where it is kept.
    pub log: Option<Vec<String>>,
    /// The faults that were met, with the role of their request.
    pub met: BTreeSet<(String, Fate)>,
}

/// The transport.
#[derive(Clone)]
pub struct Line(pub Arc<Mutex<Sim>>);

impl Line {
    pub fn sim(&self) -> MutexGuard<'_, Sim> {
        self.0.lock().expect("no one panics while it is held")
    }

    async fn exchange(&self, request: &HttpRequest) -> Result<HttpAnswer, TransportError> {
        let (there, back, fate, number) = self.sim().depart(request);
        tokio::time::sleep(there).await;
        let (told, ends) = self.sim().arrive(request, fate, number);
        if ends {
            return std::future::pending().await;
        }
        tokio::time::sleep(back).await;
        told
    }
}

impl Transport for Line {
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        Box::pin(self.exchange(request))
    }
}

impl Sim {
    /// Notes what happens, where that is kept.
    pub fn say(&mut self, what: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            log.push(what());
        }
    }

    fn depart(&mut self, request: &HttpRequest) -> (Duration, Duration, Fate, u32) {
        let number = self.requests;
        self.requests += 1;
        let mut delay = || Duration::from_millis(1 + self.dice.below(20) as u64);
        let (there, back) = (delay(), delay());
        let mut fate = Fate::Well;
        if self.dice.percent(self.trouble.faults) {
            let drawn = Fate::draw(&mut self.dice, request);
            fate = if drawn.fits(request, &self.world) { drawn } else { Fate::Well };
            self.met.insert((format!("{:?}", request.role), fate));
        }
        if request.url.contains(CIRCLE) {
            fate = Fate::RedirectLoop;
        }
        (there, back, fate, number)
    }

    /// What comes back, and whether the process ends here.
    fn arrive(
        &mut self,
        request: &HttpRequest,
        fate: Fate,
        number: u32,
    ) -> (Result<HttpAnswer, TransportError>, bool) {
        if self.dice.percent(self.trouble.meddling) {
            self.meddle();
        }
        let crash = self.trouble.crash.filter(|(at, _)| *at <= number);
        if crash.is_some_and(|(_, done)| !done) {
            self.say(|| format!("  {number} {request:?}: the process ends before"));
            self.end.cancel();
            return (Ok(answer(500, Value::Null)), true);
        }
        let told = match self.is_elsewhere(request) {
            true => Ok(answer(200, serde_json::json!({"items": [], "next": null}))),
            false => fate.meet(&mut self.world, request),
        };
        self.note();
        self.say(|| {
            let sent = request.body.as_deref().map(|body| String::from_utf8_lossy(body).into_owned());
            let guard: Vec<_> = request.headers.iter().filter(|(name, _)| name.starts_with("if-")).collect();
            let told =
                told.as_ref().map(|told| (told.status, String::from_utf8_lossy(&told.body).into_owned()));
            format!("  {number} {request:?} {guard:?} {} ({fate:?}): {told:?}", sent.unwrap_or_default())
        });
        if number > MOST_REQUESTS {
            self.world.broken.push("the requests do not end".into());
            self.end.cancel();
        }
        if crash.is_some() {
            self.say(|| "  the process ends".into());
            self.end.cancel();
        }
        (told, crash.is_some() || number > MOST_REQUESTS)
    }

    /// Whether a request goes to another origin: it must not, and never with a credential.
    fn is_elsewhere(&mut self, request: &HttpRequest) -> bool {
        if request.url.starts_with('/') {
            return false;
        }
        let (to, ours) = (Url::parse(&request.url), Url::parse(URL).expect("a URL"));
        if to.is_ok_and(|to| to.origin() == ours.origin()) {
            return false;
        }
        let with = header(request, "authorization").is_some_and(|value| value.contains(TOKEN));
        let what = if with { "the credential" } else { "a request" };
        self.world.broken.push(format!("{what} went to another origin: {request:?}"));
        true
    }

    /// Notes which objects are as their documents say.
    pub fn note(&mut self) {
        for at in 0..self.scene.documents.len() {
            self.was_right[at] |= self.scene.is_right(at, &self.world);
        }
    }

    /// Something that another actor does.
    fn meddle(&mut self) {
        let names = self.scene.names.len();
        let name = self.scene.names[self.dice.below(names)].clone();
        let number: Value = self.dice.below(90).into();
        let Some(at) = self.world.objects.iter().position(|stored| stored.name == name) else {
            if self.dice.percent(30) {
                self.say(|| format!("  another creates {name}"));
                self.world.store(&name, serde_json::json!({"size": 1, (NOTE): number}), true);
            }
            return;
        };
        match self.dice.below(10) {
            8 => {
                self.say(|| format!("  another deletes {name}"));
                self.world.objects.remove(at);
            }
            9 => {
                self.say(|| format!("  another changes the size of {name}"));
                let stored = &mut self.world.objects[at];
                stored.value.insert("size".into(), number);
                stored.rev += 1;
            }
            _ => {
                self.say(|| format!("  another changes the note of {name}"));
                let stored = &mut self.world.objects[at];
                stored.value.insert(NOTE.into(), number);
                stored.rev += 1;
            }
        }
        self.note();
    }
}

//! `trueup probe`: backends held against live answers, by a client that cannot write.

use super::options::{Consents, Probe};
use super::start;
use crate::core::exit::Exit;
use crate::core::identity::KindName;
use crate::core::kind::Kinds;
use crate::core::problem::Problem;
use crate::core::suggest;
use crate::render::out::Out;
use crate::run::input::Reach;

pub fn probe(options: &Probe, out: &mut Out) -> Exit {
    run(options, out).unwrap_or_else(|exit| exit)
}

/// `backend`, or `backend/Kind`.
struct Asked<'o> {
    backend: &'o str,
    kind: Option<&'o str>,
}

impl<'o> Asked<'o> {
    fn read(text: &'o str) -> Asked<'o> {
        match text.split_once('/') {
            Some((backend, kind)) => Asked { backend, kind: Some(kind) },
            None => Asked { backend: text, kind: None },
        }
    }

    fn takes(&self, name: &KindName) -> bool {
        *name.backend == *self.backend && self.kind.is_none_or(|kind| *name.kind == *kind)
    }

    /// What is wrong with it, where it names nothing.
    fn names_nothing(&self, kinds: &Kinds) -> Option<Problem> {
        if kinds.iter().any(|kind| self.takes(&kind.name)) {
            return None;
        }
        let of_backend = || kinds.iter().filter(|kind| *kind.name.backend == *self.backend);
        Some(match self.kind.filter(|_| of_backend().next().is_some()) {
            Some(kind) => {
                let hint = suggest::hint(kind, "the kinds are", of_backend().map(|kind| &*kind.name.kind));
                Problem::new(format!("the backend `{}` has no kind `{kind}`", self.backend)).hint(hint)
            }
            None => {
                let mut known: Vec<&str> = kinds.iter().map(|kind| &*kind.name.backend).collect();
                known.dedup();
                let hint = suggest::hint(self.backend, "the backends with kinds are", known);
                Problem::new(format!("there is no backend `{}`", self.backend)).hint(hint)
            }
        })
    }
}

fn run(options: &Probe, out: &mut Out) -> Result<Exit, Exit> {
    let asked: Vec<Asked> = options.kinds.iter().map(|text| Asked::read(text)).collect();
    let names = asked.iter().map(|one| one.backend.to_owned()).collect();
    let loaded = start::load("probe", &options.sources, Reach::Backends(names), out)?;
    let kinds = loaded.input.kinds.clone();
    if let Some(problem) = asked.iter().find_map(|one| one.names_nothing(&kinds)) {
        out.error(&problem);
        return Err(Exit::Usage);
    }
    if kinds.iter().next().is_none() {
        let hint = "a backend of the built-in server needs `kinds` here, or documents that name some";
        out.error(&Problem::new("there are no kinds to probe").hint(hint));
        return Err(Exit::Usage);
    }
    let runner = start::open("probe", loaded, options.effort, &Consents::default(), out)?;
    start::block_on(start::one_thread(), options.effort, out, async |limits, out| {
        let wants = |name: &KindName| asked.is_empty() || asked.iter().any(|one| one.takes(name));
        let probe = tokio::select! {
            probe = runner.probe(&wants, options.limit) => probe,
            () = limits.stop.cancelled() => return Exit::Interrupted,
            () = start::over(options.effort.timeout) => {
                let problem = Problem::new("probing took longer than `--timeout` allows");
                return start::failed(&problem, out);
            }
        };
        match probe {
            Ok(probe) => {
                out.probe(&probe);
                probe.exit()
            }
            Err(problem) => start::failed(&problem, out),
        }
    })
}

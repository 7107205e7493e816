//! `trueup get`: live objects, by a client that cannot write.

use std::sync::Arc;

use super::options::{Consents, Get};
use super::start;
use crate::core::exit::Exit;
use crate::core::identity::KindName;
use crate::core::problem::Problem;
use crate::core::suggest;
use crate::manifest::glob::Glob;
use crate::render::out::Out;
use crate::render::table::Listed;
use crate::run::input::Reach;
use crate::run::live::Found;

pub fn get(options: &Get, out: &mut Out) -> Exit {
    run(options, out).unwrap_or_else(|exit| exit)
}

/// `Kind`, or `Kind/part/part` with `*` and `?`.
struct Asked {
    text: String,
    kind: String,
    name: Option<Glob>,
}

fn run(options: &Get, out: &mut Out) -> Result<Exit, Exit> {
    let asked: Vec<Asked> = options.objects.iter().map(|text| Asked::read(text)).collect();
    let names = asked.iter().map(|one| one.kind.clone()).collect();
    let loaded = start::load("get", &options.sources, Reach::Kinds(names), out)?;
    let kinds = loaded.input.kinds.clone();
    let reached: Vec<Arc<str>> = loaded.input.connections.iter().map(|c| c.name.clone()).collect();
    for one in &asked {
        if !kinds.iter().any(|kind| *kind.name.kind == *one.kind) {
            let known = kinds.iter().map(|kind| &*kind.name.kind);
            let hint = suggest::hint(&one.kind, "the kinds are", known);
            out.error(&Problem::new(format!("there is no kind `{}`", one.kind)).hint(hint));
            return Err(Exit::Usage);
        }
    }
    let runner = start::open("get", loaded, options.effort, &Consents::default(), out)?;
    start::block_on(start::one_thread(), options.effort, out, async |limits, out| {
        let wants = |name: &KindName| {
            reached.contains(&name.backend)
                && (asked.is_empty() || asked.iter().any(|one| *one.kind == *name.kind))
        };
        let found = tokio::select! {
            found = runner.live(&wants) => found,
            () = limits.stop.cancelled() => return Exit::Interrupted,
            () = start::over(options.effort.timeout) => {
                let problem = Problem::new("listing took longer than `--timeout` allows");
                return start::failed(&problem, out);
            }
        };
        match found {
            Ok(found) => show(found, &asked, out),
            Err(problem) => start::failed(&problem, out),
        }
    })
}

fn show(found: Found, asked: &[Asked], out: &mut Out) -> Exit {
    for (_, failure) in &found.failures {
        let mut problem = Problem::new(failure.message.clone());
        problem.hint = failure.hint.clone();
        out.error(&problem);
    }
    let takes = |name: &str| asked.is_empty() || asked.iter().any(|one| one.takes(name));
    let listed = found.items.into_iter().filter(|(id, _)| takes(&id.slashed())).map(|(id, item)| {
        let value = Arc::unwrap_or_clone(item.value);
        Listed { id, server_id: item.server_id, value }
    });
    let listed: Vec<Listed> = listed.collect();
    out.items(&listed);
    let missing = asked.iter().filter(|one| one.name.is_some());
    let missing: Vec<&Asked> =
        missing.filter(|one| !listed.iter().any(|item| one.takes(&item.id.slashed()))).collect();
    if !found.failures.is_empty() {
        return Exit::Failed;
    }
    for one in &missing {
        out.error(&Problem::new(format!("no object matches `{}`", one.text)));
    }
    if missing.is_empty() { Exit::Success } else { Exit::Failed }
}

impl Asked {
    fn read(text: &str) -> Asked {
        match text.split_once('/') {
            Some((kind, _)) => Asked { text: text.into(), kind: kind.into(), name: Some(Glob::new(text)) },
            None => Asked { text: text.into(), kind: text.into(), name: None },
        }
    }

    fn takes(&self, slashed: &str) -> bool {
        match &self.name {
            Some(glob) => glob.matches(slashed),
            None => slashed.split('/').next() == Some(self.kind.as_str()),
        }
    }
}

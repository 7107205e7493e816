//! `trueup get`: live objects, by a client that cannot write.

use std::sync::Arc;

use super::asked::{self, Asked};
use super::options::{Consents, Get};
use super::start;
use crate::core::exit::Exit;
use crate::core::identity::KindName;
use crate::render::out::Out;
use crate::render::table::Listed;
use crate::run::input::Reach;
use crate::run::live::Found;

pub fn get(options: &Get, out: &mut Out) -> Exit {
    run(options, out).unwrap_or_else(|exit| exit)
}

fn run(options: &Get, out: &mut Out) -> Result<Exit, Exit> {
    let asked = Asked::all(&options.objects);
    let names = asked.iter().map(|one| one.kind.clone()).collect();
    let loaded = start::load("get", &options.sources, Reach::Kinds(names), out)?;
    asked::check(&asked, &loaded.input.kinds, out)?;
    let reached: Vec<Arc<str>> = loaded.input.connections.iter().map(|c| c.name.clone()).collect();
    let runner = start::open("get", loaded, options.effort, &Consents::default(), out)?;
    start::block_on(start::one_thread(), options.effort, out, async |limits, out| {
        let wants = |name: &KindName| reached.contains(&name.backend) && asked::wants(&asked, name);
        match start::in_time(runner.live(&wants), limits).await {
            Ok(Ok(found)) => show(found, &asked, out),
            Ok(Err(problem)) => start::failed(&problem, out),
            Err(ended) => ended.told(out),
        }
    })
}

fn show(found: Found, asked: &[Asked], out: &mut Out) -> Exit {
    asked::failures(&found.missed.failures, out);
    let listed = found.items.into_iter().filter(|(id, _)| asked::takes(asked, &id.slashed()));
    let listed: Vec<Listed> = listed
        .map(|(id, item)| {
            let value = Arc::unwrap_or_clone(item.value);
            Listed { id, server_id: item.server_id, value }
        })
        .collect();
    out.items(&listed);
    if !found.missed.failures.is_empty() {
        return Exit::Failed;
    }
    asked::missing(asked, |one| listed.iter().any(|item| one.takes(&item.id.slashed())), out)
}

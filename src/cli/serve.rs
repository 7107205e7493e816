//! `trueup serve`: the built-in server on a port, until a signal.

use std::path::Path;

use anyhow::Context as _;

use super::options::{Effort, Serve};
use super::start;
use crate::core::exit::Exit;
use crate::core::problem::{Problem, said_by_system};
use crate::render::out::Out;
use crate::render::paint::{Line, Style, Text};
use crate::server::{Durability, Faults, Rules, Server, Service, Store, serve};

pub fn run(options: &Serve, out: &mut Out) -> Exit {
    let service = match service(options) {
        Ok(service) => service,
        Err(problem) => return start::failed(&problem, out),
    };
    let done = start::block_on(start::all_threads(), Effort::default(), out, async |limits, out| {
        let listener = match tokio::net::TcpListener::bind(options.listen).await {
            Ok(listener) => listener,
            Err(error) => {
                let problem = Problem::new(format!(
                    "listening on `{}`: {}",
                    options.listen,
                    said_by_system(&error.to_string())
                ));
                return start::failed(&problem.hint("choose another port with `--listen`"), out);
            }
        };
        let address = listener.local_addr().unwrap_or(options.listen);
        let mut text = Text::new();
        text.push(Line::plain("serving ").with(Style::Aid, &format!("http://{address}")));
        out.result(&text);
        serve(listener, service, limits.stop.cancelled()).await;
        Exit::Success
    });
    done.unwrap_or_else(|exit| exit)
}

fn service(options: &Serve) -> Result<Service, Problem> {
    let durability = if options.no_sync { Durability::NoSync } else { Durability::Sync };
    let store = Store::open_with_status(&options.store, durability, &options.status_apart)
        .map_err(|error| Problem::new(error.to_string()).hint(error.hint()))?;
    let mut server = Server::new(store);
    if let Some(name) = &options.token_env {
        server = server.with_token(start::token(name)?);
    }
    if options.require_preconditions {
        server = server.with_preconditions();
    }
    let service = Service::new(server);
    let Some(file) = &options.faults else { return Ok(service) };
    let rules = rules(file).map_err(|error| Problem::new(said_by_system(&format!("{error:#}"))))?;
    Ok(service.with_faults(Faults::new(rules)))
}

/// The faults to inject. Nobody branches on what is wrong with them: a person reads it.
fn rules(file: &Path) -> anyhow::Result<Rules> {
    let doing = || format!("reading the faults `{}`", file.display());
    let text = std::fs::read_to_string(file).with_context(doing)?;
    // The error tells its cause itself; as a chain it would be told twice.
    Rules::parse(&text).map_err(|error| anyhow::anyhow!("{error}")).with_context(doing)
}

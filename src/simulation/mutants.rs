//! Faults planted at the edges, each with the test that finds it: a zero of the campaign says little unless such are
//! found within it.

use std::fs;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::dice::Dice;
use super::schedule;
use crate::core::exit::{Exit, Verb};
use crate::core::mutant::{Mutant, plant};
use crate::core::prune::Gates;
use crate::core::report::{Action, Report};
use crate::core::secrets::Secrets;
use crate::render::out::{Format, Out, Stream};
use crate::render::text::View;
use crate::run::input::{self, Reach, Sources};
use crate::run::runner::{Choices, Runner};
use crate::run::sweep::Through;

/// What finds a fault says what is wrong; `None` while all is well.
type Finder = fn() -> Option<String>;

const FOUND_BY: [(Mutant, &str, Finder); 6] = [
    (Mutant::M2, "random schedules: a second object of a name is created", schedules),
    (Mutant::M18, "random schedules: a second run writes", schedules),
    (Mutant::M19, "random schedules: no convergence behind a proxy", schedules),
    (Mutant::M24, "what a broken file says is not pruned", a_broken_file_is_pruned),
    (Mutant::M27, "random schedules: the credential at another origin", schedules),
    (Mutant::M30, "a full disk under the output is a failure", lost_output_is_a_success),
];

/// A tenth of the schedules of an ordinary run.
const SEEDS: u64 = 1_000;

/// The first schedule in which something breaks.
fn schedules() -> Option<String> {
    (0..SEEDS).find_map(|seed| {
        let broken = schedule(Dice::new(seed), false).broken;
        broken.first().map(|first| format!("seed {seed}: {first}"))
    })
}

/// Two documents of a Set are applied, then the file of one is broken: which object would be pruned?
fn a_broken_file_is_pruned() -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write(
        "backend.yaml",
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: b}\nspec: {url: 'embedded:store'}\n",
    );
    write(
        "set.yaml",
        "apiVersion: trueup/v1\nkind: Set\nmetadata: {name: s}\nspec: {scope: [{kind: Thing, exclusive: true}]}\n",
    );
    write("a.yaml", "apiVersion: b\nkind: Thing\nmetadata: {name: a}\nspec: {size: 1}\n");
    write("b.yaml", "apiVersion: b\nkind: Thing\nmetadata: {name: b}\nspec: {size: 1}\n");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut runner = open(folder.path()).expect("the files are whole");
        let plan = runner.plan(&Default::default(), &|_, _| {}).await.expect("a client");
        let report = runner.apply_once(&plan, &Default::default(), &|_, _| {}).await;
        assert_eq!(report.expect("a client").requests.create, 2, "both are made");
        drop(runner);
        write("b.yaml", "apiVersion: b\nkind: Thing\nmetadata: {name: b}\nspec: {size: [1\n");
        let mut runner = open(folder.path()).ok()?;
        runner
            .sweep(Through::All, &Gates { deletes: true, ..Gates::default() }, &|_, _| Ok(()))
            .await
            .expect("a client");
        let plan = runner.plan_once(&Default::default(), &|_, _| {}).await.expect("a client");
        let doomed = plan.objects.iter().find(|entry| entry.action == Action::Delete);
        doomed.map(|entry| format!("{} is {}", entry.id, entry.result.word()))
    })
}

fn open(folder: &Path) -> Result<Runner, ()> {
    let sources = Sources { files: vec![folder.to_owned()], ..Sources::default() };
    let input = input::load(sources, Reach::Used, &|_| None).input.map_err(drop)?;
    let choices = Choices { may_write: true, ..Choices::default() };
    Runner::open(input, Secrets::default(), choices).map_err(drop)
}

/// What the exit says when the disk is full.
fn lost_output_is_a_success() -> Option<String> {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(Error::from(ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut out = Out::new(Stream::new(Full, false), Stream::new(std::io::sink(), false), Format::Text);
    let view = View { verb: Verb::Plan, objects: true, fields: true, verbose: true, elapsed: None };
    out.report(&Report::default(), &view);
    (out.exit(Exit::Success) == Exit::Success).then(|| "nothing was written, and the run is a success".into())
}

#[test]
fn every_fault_at_the_edges_is_found() {
    for (mutant, what, find) in FOUND_BY {
        if find as *const () != schedules as *const () {
            assert_eq!(find(), None, "{what}");
        }
        let planted = plant(mutant);
        let found = find();
        drop(planted);
        println!("{mutant:?}: {what}: {found:?}");
        assert!(found.is_some(), "{mutant:?} is not found: {what}");
    }
}

/// All files of the sources.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources can be read") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, into),
            false => into.push(path),
        }
    }
}

/// The table in the documentation: thirty faults, each in the code, and with a test that plants it.
#[test]
fn each_mutant_is_planted_and_has_a_test_that_finds_it() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| (path.clone(), fs::read_to_string(path).expect("it can be read")))
        .collect();
    let table = include_str!("../../docs/reliability.md");
    for n in 1..=30 {
        let rows: Vec<&str> = table.lines().filter(|line| line.starts_with(&format!("| M{n} |"))).collect();
        let [row] = rows[..] else { panic!("M{n} has {} rows", rows.len()) };
        let test = row.rsplit('`').nth(1).expect("a test");
        let (module, name) = test.split_once("::").expect("a module and a function");
        let plants = |(path, text): &(PathBuf, String)| {
            let words = || text.split(|c: char| !c.is_ascii_alphanumeric());
            path.file_stem().is_some_and(|stem| stem == module)
                && text.contains(&format!("#[test]\nfn {name}()"))
                && words().any(|word| word == format!("M{n}"))
        };
        assert!(texts.iter().any(plants), "M{n}: no `{test}` that plants it");
        let planted = format!("planted!(M{n})");
        assert!(texts.iter().any(|(_, text)| text.contains(&planted)), "M{n} is planted nowhere");
    }
}

//! Before the first request, and after the last byte: handshakes that break, certificates that are wrong, answers whose
//! end nobody vouches for.

use super::authority::Shows;
use super::front::{Front, Greeting, Script, Settings, Trouble};
use crate::crowd;
use crate::middle::Moment;
use crate::rows::Comes;
use crate::scripts::{judge, reference};
use crate::support::Done;
use crate::world::{APPLY, Creates, Workload, World, of_others};

/// Never in anything that is said, nor in what an untrusted server hears.
const TOKEN: &str = "t0ken-that-nobody-sees";

/// Connections of a run that gets none: three questions, three times each, and each of those twice.
const MOST: usize = 3 * 3 * 2;

/// Runs against this listener, with a credential.
fn apply(settings: Settings, scripts: &[Script]) -> (World, Front, Done) {
    let world = World::new(Workload::CreateThree, Creates::Plain);
    let front = Front::before(&world.served, settings, scripts);
    world.secured(&front.url(), &front.trusted, Creates::Plain);
    let backend = std::fs::read_to_string(world.scratch.path("backend.yaml")).expect("it was written");
    let auth = "  auth: {bearer: !secret env:TOKEN}\n  kinds:\n";
    world.scratch.write("backend.yaml", backend.replace("  kinds:\n", auth));
    let done = world.scratch.trueup(APPLY).env("TOKEN", TOKEN).done();
    assert!(!done.told().contains(TOKEN), "{}", done.told());
    (world, front, done)
}

#[test]
fn certificates_that_are_wrong() {
    let cases = [
        (Shows::Expired, "its certificate has expired", "clock"),
        (Shows::NotYetValid, "its certificate is not valid yet", "clock"),
        (Shows::OtherName, "its certificate is for `elsewhere.example`, not for `127.0.0.1`", "`url`"),
        (Shows::OtherAuthority, "its certificate is of no authority that is trusted", "`tls.ca`"),
        (Shows::Authority, "its certificate is one of an authority, not of a server", "CA:FALSE"),
    ];
    crowd::each(&cases, 5, |(shows, said, hint)| {
        let settings = Settings { shows: *shows, ..Settings::new(Settings::HTTP2) };
        let (world, front, done) = apply(settings, &[]);
        let done = done.expect(1);
        assert!(done.out.contains(said) && done.out.contains(hint), "{shows:?}: {}", done.told());
        assert_eq!(front.came(), Vec::<String>::new(), "who is not trusted hears nothing");
        assert!(front.connections() <= MOST, "{shows:?}: {} connections", front.connections());
        assert!(world.written().is_empty());
    });
}

/// A certificate that is signed by itself is trusted where it is named.
#[test]
fn a_certificate_of_its_own() {
    let settings = Settings { shows: Shows::Itself, ..Settings::new(Settings::HTTP2) };
    let (_world, front, done) = apply(settings, &[]);
    done.expect(0);
    assert!(!front.came().is_empty());
}

#[test]
fn a_server_that_demands_a_certificate() {
    for protocols in [Settings::HTTP1, Settings::HTTP2] {
        let settings = Settings { mutual: true, ..Settings::new(protocols) };
        let (world, front, done) = apply(settings, &[]);
        let done = done.expect(1);
        assert!(done.out.contains("`tls.cert` and `tls.key` name ours"), "{}", done.told());
        assert_eq!(front.came(), Vec::<String>::new());
        let backend = std::fs::read_to_string(world.scratch.path("backend.yaml")).expect("it was written");
        let tls = "{ca: ca.pem, cert: us.pem, key: us.key}";
        world.scratch.write("backend.yaml", backend.replace("{ca: ca.pem}", tls));
        world.scratch.write("us.pem", &front.client.0);
        world.scratch.write("us.key", &front.client.1);
        world.scratch.trueup(APPLY).env("TOKEN", TOKEN).done().expect(0);
        assert_eq!(world.written().len(), 3);
    }
}

/// What is said names the pin of the key that is there, as it would be stated: with that it works.
#[test]
fn a_key_that_is_not_the_pinned_one() {
    for protocols in [Settings::HTTP1, Settings::HTTP2] {
        let (world, front, done) = apply(Settings::new(protocols), &[]);
        done.expect(0);
        let (came, backend) =
            (front.came().len(), std::fs::read_to_string(world.scratch.path("backend.yaml")));
        let backend = backend.expect("it was written");
        let run = |pin: &str| {
            let tls = format!("{{ca: ca.pem, pin: {pin}}}");
            world.scratch.write("backend.yaml", backend.replace("{ca: ca.pem}", &tls));
            world.scratch.trueup(APPLY).env("TOKEN", TOKEN).done()
        };
        let another = format!("sha256/{}=", "A".repeat(43));
        let done = run(&another).expect(1);
        let (_, told) =
            done.out.split_once("its key has the pin `").unwrap_or_else(|| panic!("{}", done.told()));
        let (seen, place) =
            told.split_once("`, which `tls.pin` does not name (backend.yaml:").expect("its place");
        assert!(place.starts_with(|c: char| c.is_ascii_digit()), "{place}");
        assert_eq!(front.came().len(), came, "who is not trusted hears nothing");
        run(&format!("[{another}, {seen}]")).expect(0);
        assert!(front.came().len() > came);
    }
}

#[test]
fn handshakes_that_are_broken_off() {
    let all = 100_000;
    let cases = [Greeting::Reset, Greeting::ResetAfterHello]
        .into_iter()
        .flat_map(|greeting| [(greeting, 1), (greeting, 2), (greeting, all)])
        .flat_map(|case| [(case, Settings::HTTP1), (case, Settings::HTTP2)]);
    crowd::each(&cases.collect::<Vec<_>>(), 4, |((greeting, count), protocols)| {
        let settings = Settings { greeting: Some((*greeting, *count)), ..Settings::new(protocols) };
        let (world, front, first) = apply(settings, &[]);
        let before = of_others(&world.state());
        if *count == all {
            assert!(first.out.contains("cannot connect to `https://"), "{}", first.told());
            assert!(first.out.contains("\"hint\""), "{}", first.told());
            assert!((2..=MOST).contains(&front.connections()), "{} connections", front.connections());
            assert_eq!(front.came(), Vec::<String>::new());
        }
        world.through(&world.served.url(), Creates::Plain);
        let comes = if *count == all { Comes::Ends("unknown", 0) } else { Comes::Right(0) };
        judge(&world, &before, comes, Workload::CreateThree, &reference(Workload::CreateThree), &first)
            .unwrap_or_else(|what| panic!("{greeting:?}, {count}: {what}"));
    });
}

/// HTTP where HTTPS is expected.
#[test]
fn a_server_that_speaks_no_tls() {
    let world = World::new(Workload::CreateThree, Creates::Plain);
    world.through(&world.served.url().replace("http:", "https:"), Creates::Plain);
    let done = world.apply().expect(1);
    assert!(done.out.contains("is the backend's `url` right, `https` and not `http`?"), "{}", done.told());
}

/// TLS says when all was said. Without that word an answer whose length nobody knows may be a part of one.
#[test]
fn an_answer_whose_end_nobody_vouches_for() {
    let answer = |body: &str| {
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{body}")
    };
    for (body, ends, code) in
        [("{\"items\": []}", true, 0), ("{\"items\": []}", false, 1), ("{\"items\": [", false, 1)]
    {
        let settings = Settings { says: Some((answer(body), ends)), ..Settings::new(Settings::HTTP1) };
        let world = World::new(Workload::CreateThree, Creates::Plain);
        let front = Front::before(&world.served, settings, &[]);
        world.secured(&front.url(), &front.trusted, Creates::Plain);
        world.scratch.write(
            "a.yaml",
            "apiVersion: demo\nkind: Team\nmetadata: {name: d1, annotations: {trueup/ensure: absent}}\nspec: {}\n",
        );
        let done = world.apply().expect(code);
        assert!(code == 0 || done.out.contains("ended too early"), "{}", done.told());
        assert!(code == 1 || front.came().len() == 1, "{:?}", front.came());
    }
}

#[test]
fn a_connection_that_is_cut_over_tls() {
    let workloads = [
        ("GET /teams?", Workload::CreateThree),
        ("POST /teams", Workload::CreateThree),
        ("PUT /spaces/", Workload::CreateThree),
        ("PATCH /", Workload::UpdateThree),
        ("DELETE /", Workload::DeleteTwo),
    ];
    let troubles = [Trouble::Cut(Moment::Before), Trouble::Cut(Moment::After), Trouble::CutInside];
    let cases: Vec<_> =
        workloads.into_iter().flat_map(|case| troubles.map(|trouble| (case, trouble))).collect();
    crowd::each(&cases, 8, |((on, workload), trouble)| {
        let world = World::new(*workload, Creates::Plain);
        let script = Script { on, count: 1, trouble: *trouble };
        let front = Front::before(&world.served, Settings::new(Settings::HTTP1), &[script]);
        world.secured(&front.url(), &front.trusted, Creates::Plain);
        let before = of_others(&world.state());
        let first = world.apply();
        judge(&world, &before, Comes::Right(0), *workload, &reference(*workload), &first)
            .unwrap_or_else(|what| panic!("{on}, {trouble:?}: {what}"));
    });
}

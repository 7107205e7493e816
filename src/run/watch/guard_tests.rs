use http::HeaderValue;

use super::*;

const HERE: &str = "127.0.0.1:4711";
const FAR: &str = "192.0.2.7:4711";

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let value = |text: &str| HeaderValue::from_str(text).expect("a header");
    pairs.iter().map(|(name, text)| (HeaderName::from_static(name), value(text))).collect()
}

fn peer(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

#[test]
fn without_a_token_all_may_look_and_only_this_machine_may_tell() {
    let guard = Guard::new(None);
    let plain = headers(&[("host", "127.0.0.1:8081")]);
    for (from, tells) in
        [(HERE, Ok(())), ("[::1]:1", Ok(())), ("[::ffff:127.0.0.1]:1", Ok(())), (FAR, Err(Barred::NotLocal))]
    {
        assert_eq!(guard.may_look(&plain, peer(from)), Ok(()), "{from}");
        assert_eq!(guard.may_tell(&plain, peer(from)), tells, "{from}");
    }
}

#[test]
fn a_token_is_a_bearer_token_or_a_password() {
    let guard = Guard::new(Some("t0ken:with colon"));
    let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
    for (sent, looks) in [
        ("Bearer t0ken:with colon".to_owned(), true),
        ("bearer t0ken:with colon".into(), true),
        (basic("anybody:t0ken:with colon"), true),
        (basic(":t0ken:with colon"), true),
        ("Bearer t0ken".into(), false),
        ("Bearer ".into(), false),
        ("Bearer".into(), false),
        ("t0ken:with colon".into(), false),
        (basic("t0ken"), false),
        (basic("t0ken:with colon"), false),
        ("Basic ~~~".into(), false),
        ("Digest t0ken:with colon".into(), false),
    ] {
        let headers = headers(&[("host", "watch.example.org"), ("authorization", &sent)]);
        for from in [HERE, FAR] {
            assert_eq!(guard.may_look(&headers, peer(from)).is_ok(), looks, "{sent} from {from}");
            assert_eq!(guard.may_tell(&headers, peer(from)).is_ok(), looks, "{sent} from {from}");
        }
    }
    assert_eq!(guard.may_look(&HeaderMap::new(), peer(HERE)), Err(Barred::NoToken));
    // An empty token would be none.
    assert_eq!(
        Guard::new(Some("x")).may_look(&headers(&[("authorization", "Bearer ")]), peer(HERE)),
        Err(Barred::NoToken)
    );
}

#[test]
fn a_site_with_the_address_of_this_machine_is_kept_out() {
    let guard = Guard::new(None);
    for (host, looks) in [
        ("127.0.0.1:8081", true),
        ("[::1]:8081", true),
        ("localhost", true),
        ("LOCALHOST:8081", true),
        ("evil.example:8081", false),
        ("localhost.evil.example", false),
        ("127.0.0.1.evil.example", false),
        ("", false),
    ] {
        let headers = headers(&[("host", host)]);
        assert_eq!(guard.may_look(&headers, peer(HERE)).is_ok(), looks, "{host}");
        assert_eq!(
            guard.may_look(&headers, peer(FAR)),
            Ok(()),
            "others came by a network that the port is open to"
        );
    }
}

#[test]
fn a_page_of_another_site_may_not_tell() {
    let host = ("host", "127.0.0.1:8081");
    for (more, tells) in [
        (&[][..], true),
        (&[("origin", "http://127.0.0.1:8081")], true),
        (&[("origin", "http://127.0.0.1:8081"), ("sec-fetch-site", "same-origin")], true),
        (&[("sec-fetch-site", "none")], true),
        (&[("origin", "http://127.0.0.1:3000")], false),
        (&[("origin", "https://evil.example")], false),
        (&[("origin", "null")], false),
        (&[("sec-fetch-site", "same-site")], false),
        (&[("sec-fetch-site", "cross-site"), ("origin", "http://127.0.0.1:8081")], false),
    ] {
        let pairs = [&[host], more].concat();
        assert_eq!(Guard::new(None).may_tell(&headers(&pairs), peer(HERE)).is_ok(), tells, "{more:?}");
        let known = [&pairs[..], &[("authorization", "Bearer t0ken")]].concat();
        assert_eq!(
            Guard::new(Some("t0ken")).may_tell(&headers(&known), peer(FAR)).is_ok(),
            tells,
            "{more:?}"
        );
    }
}

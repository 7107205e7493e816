//! The client against servers that refuse, hang, lie, redirect and end too early.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::super::testing::*;
use super::*;
use crate::backend::connection::{Auth, Credential, Limits, Text};
use crate::backend::testing::{filter, kind, op};
use crate::core::exchange::{FailureClass, Wanted};
use crate::core::kind::{Page, PageBy};
use crate::core::node::Secret;

const ITEM: &str = r#"{"name":"orders"}"#;

fn read() -> Ask {
    Ask::Read(target())
}

async fn ask(connection: &Connection, ask: &Ask) -> Answer {
    reader(connection).ask(&Arc::new(kind()), ask).await
}

fn patient_for(url: &str, milliseconds: u64) -> Connection {
    let timeout = Some(Duration::from_millis(milliseconds));
    Connection { limits: Limits { timeout, ..Limits::default() }, ..connection(url) }
}

fn secret(name: &str, value: &str) -> Text {
    Text::Secret(Secret::new(name, Some(value.into())))
}

fn bearer(token: &str) -> Auth {
    Auth::Bearer(Credential::Text(secret("env:TOKEN", token)))
}

#[tokio::test]
async fn an_address_that_refuses() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let client = reader(&connection(&format!("http://{free}")));
    let (said, hint) = failed(client.ask(&Arc::new(kind()), &list_ask()).await);
    let want = format!("NotSent: listing Queue of `/`: cannot connect to `http://{free}`: ");
    assert!(said.starts_with(&want) && said.contains("refused"), "{said}");
    assert_eq!(hint, "is the server running, and is the backend's `url` right?");
    assert_eq!(client.requests().total(), 0, "nothing was sent");
}

#[tokio::test]
async fn an_address_that_hangs() {
    let server = RawServer::start(|_, _| Reply::Hang).await;
    let (said, hint) = failed(ask(&patient_for(&server.url, 300), &read()).await);
    assert_eq!(said, format!("Lost: reading Queue //orders: no answer from `{}` within 300ms", server.url));
    assert!(hint.contains("limits.timeout"), "{hint}");
    let part = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec();
    let server = RawServer::start(move |_, _| Reply::Stall(part.clone())).await;
    let (said, _) = failed(ask(&patient_for(&server.url, 300), &read()).await);
    assert!(said.starts_with("Lost: "), "{said}");
    assert_eq!(server.requests().len(), 1, "what may have been done is not sent again");
}

#[tokio::test]
async fn answers_that_are_cut_off_or_too_much() {
    let huge = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "a".repeat(1 << 20));
    for (reply, want) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"name\":", "Lost: "),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"na", "Lost: "),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\n{\"name\":\"orders\"}", "Lost: "),
        ("HTTP/1.1 200 OK\r\ncontent-le", "Lost: "),
        ("", "Lost: "),
        ("SSH-2.0-OpenSSH_9\r\n", "Lost: "),
        (&huge, "Lost: "),
    ] {
        let bytes = reply.as_bytes().to_vec();
        let server = RawServer::start(move |_, _| Reply::Bytes(bytes.clone())).await;
        let (said, _) = failed(ask(&connection(&server.url), &read()).await);
        assert!(said.starts_with(want) && said.contains("reading Queue //orders"), "{reply:.60}: {said}");
    }
}

#[tokio::test]
async fn a_packed_bomb_is_not_unpacked() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![b' '; 1 << 20];
    (0..80).for_each(|_| packer.write_all(&zeros).expect("packed"));
    let packed = packer.finish().expect("packed");
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", packed.len());
    assert!(packed.len() < 200_000);
    let bomb = [head.into_bytes(), packed].concat();
    let server = RawServer::start(move |_, _| Reply::Bytes(bomb.clone())).await;
    let (said, hint) = failed(ask(&connection(&server.url), &list_ask()).await);
    assert_eq!(said, "NotTheApi: listing Queue of `/`: the answer is larger than 64 MB");
    assert!(hint.contains("paging"), "{hint}");
}

#[tokio::test]
async fn only_listings_are_asked_for_packed() {
    let server = RawServer::start(|_, _| http("200 OK", &[], "[]")).await;
    let client = reader(&connection(&server.url));
    client.ask(&Arc::new(kind()), &list_ask()).await;
    client.ask(&Arc::new(kind()), &read()).await;
    let requests = server.requests();
    assert!(requests[0].contains("accept-encoding: gzip"), "{}", requests[0]);
    assert!(requests[1].contains("accept-encoding: identity"), "{}", requests[1]);
    let agent = format!("user-agent: trueup/{}", env!("CARGO_PKG_VERSION"));
    assert!(requests[0].contains(&agent), "{}", requests[0]);
}

#[tokio::test]
async fn errors_are_explained() {
    for (status, body, want, hint) in [
        (
            "403 Forbidden",
            r#"{"message":"no access"}"#,
            "Status(403): listing Queue of `/`: the server answered 403 Forbidden: no access",
            "env:TOKEN",
        ),
        (
            "404 Not Found",
            "{}",
            "Status(404): listing Queue of `/`: the server answered 404 Not Found",
            "is the path right?",
        ),
        (
            "500 Internal Server Error",
            r#"{"error":"t0psecret leaked"}"#,
            "Status(500): listing Queue of `/`: the server answered 500 Internal Server Error: (redacted) leaked",
            "",
        ),
        (
            "200 OK",
            "<html>login</html>",
            "NotTheApi: listing Queue of `/`: the server answered 200 OK with something without a content type, not with JSON",
            "web page",
        ),
    ] {
        let server = RawServer::start(move |_, _| http(status, &[], body)).await;
        let (said, told) = failed(ask(&with_auth(&server.url, bearer("t0psecret")), &list_ask()).await);
        assert_eq!(said, want);
        assert!(told.contains(hint), "{told}");
    }
}

#[tokio::test]
async fn redirects_of_the_same_origin_are_followed() {
    let server = RawServer::start(|request, _| match request {
        r if r.starts_with("GET /moved/") => http("200 OK", &[], ITEM),
        r if r.starts_with("PUT /moved/") => http("201 Created", &[], ""),
        r if r.starts_with("PUT /queues/") => http("307 Temporary Redirect", &[("location", "/moved/x")], ""),
        _ => http("302 Found", &[("location", "/moved/orders")], ""),
    })
    .await;
    let connection = with_auth(&server.url, bearer("c4n4ry"));
    let client = writer(&connection);
    assert!(matches!(client.ask(&Arc::new(kind()), &read()).await, Answer::Found(_)));
    assert!(matches!(client.write(&Arc::new(kind()), &create()).await, Answer::Accepted { .. }));
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests.iter().all(|request| request.contains("authorization: Bearer c4n4ry")));
    assert!(requests[3].ends_with("\r\n\r\n{}"), "the body goes along: {}", requests[3]);
    assert_eq!((client.requests().read, client.requests().create), (2, 2));
}

#[tokio::test]
async fn redirects_elsewhere_are_not_followed() {
    let other = RawServer::start(|_, _| http("200 OK", &[], ITEM)).await;
    let target = format!("{}/stolen", other.url);
    let to = target.clone();
    let server = RawServer::start(move |_, _| http("302 Found", &[("location", &to)], "")).await;
    for auth in [
        bearer("c4n4ry"),
        Auth::Query { name: "key".into(), value: Credential::Text(secret("env:K", "c4n4ry")) },
    ] {
        let (said, hint) = failed(ask(&with_auth(&server.url, auth), &read()).await);
        let want = format!(
            "Refused: reading Queue //orders: a redirect is not followed: `{}` is not at the backend's origin `{}`",
            other.url, server.url
        );
        assert_eq!(said, want);
        assert!(hint.contains("credentials never go to another origin"), "{hint}");
    }
    assert_eq!(other.requests(), Vec::<String>::new(), "nobody called there");
    let server = RawServer::start(|_, _| http("302 Found", &[("location", "/x")], "")).await;
    let (said, _) = failed(writer(&connection(&server.url)).write(&Arc::new(kind()), &create()).await);
    assert!(said.ends_with("is not followed for PUT"), "{said}");
    let (said, _) = failed(ask(&connection(&server.url), &read()).await);
    assert_eq!(said, "Refused: reading Queue //orders: the server redirects more than 5 times");
    assert_eq!(server.requests().len(), 1 + 6);
}

#[tokio::test]
async fn a_next_page_elsewhere_gets_no_credential() {
    let other = RawServer::start(|_, _| http("200 OK", &[], "[]")).await;
    let link = format!("<{}/next>; rel=\"next\"", other.url);
    let server = RawServer::start(move |_, _| http("200 OK", &[("link", &link)], "[]")).await;
    let client = reader(&with_auth(&server.url, bearer("c4n4ry")));
    let (said, _) = failed(client.ask(&Arc::new(paged(PageBy::Link)), &list_ask()).await);
    assert!(said.starts_with("Refused: listing Queue of `/`: the next page is not followed"), "{said}");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("token");
    std::fs::write(&path, "old\n").expect("written");
    let newer = path.clone();
    let server = RawServer::start(move |request, _| {
        if request.contains("Bearer new") {
            return http("200 OK", &[], ITEM);
        }
        std::fs::write(&newer, "new\n").expect("written");
        http("401 Unauthorized", &[], r#"{"message":"token old expired"}"#)
    })
    .await;
    let client = reader(&with_auth(&server.url, Auth::Bearer(Credential::File(path.clone()))));
    for _ in 0..2 {
        assert!(matches!(client.ask(&Arc::new(kind()), &read()).await, Answer::Found(_)));
    }
    assert_eq!(server.requests().len(), 3, "one was refused, and the new token was kept");
    let server = RawServer::start(|_, _| http("401 Unauthorized", &[], "")).await;
    let (said, hint) =
        failed(ask(&with_auth(&server.url, Auth::Bearer(Credential::File(path.clone()))), &read()).await);
    assert!(said.starts_with("Status(401): "), "{said}");
    assert!(hint.contains(&format!("the file `{}`", path.display())), "{hint}");
    assert_eq!(server.requests().len(), 1, "the file has no other token");
}

#[tokio::test]
async fn a_credential_that_is_not_there_sends_nothing() {
    let server = RawServer::start(|_, _| http("200 OK", &[], "[]")).await;
    let missing = Auth::Bearer(Credential::Text(Text::Secret(Secret::new("env:TOKEN", None))));
    let (said, hint) = failed(ask(&with_auth(&server.url, missing), &list_ask()).await);
    assert_eq!(said, "Setup: listing Queue of `/`: the secret `env:TOKEN` is not set");
    assert_eq!(hint, "set the environment variable `TOKEN`");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn retry_after_is_told_and_pauses_the_backend() {
    let server = RawServer::start(|_, _| http("429 Too Many Requests", &[("retry-after", "60")], "")).await;
    let client = reader(&connection(&server.url));
    let Answer::Failed(failure) = client.ask(&Arc::new(kind()), &read()).await else { panic!("it fails") };
    assert_eq!(failure.class, FailureClass::Status(429));
    assert_eq!(failure.retry_after, Some(Duration::from_secs(60)));
    let kind = Arc::new(kind());
    let asked = read();
    let mut paused = Box::pin(client.ask(&kind, &asked));
    assert!(futures_util::poll!(&mut paused).is_pending());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_long_wait_is_not_slept_through() {
    let server = RawServer::start(|request, _| match request {
        r if r.starts_with("PUT") => http("201 Created", &[], ""),
        _ => http("429 Too Many Requests", &[("retry-after", "86400")], ""),
    })
    .await;
    let client = writer(&connection(&server.url));
    let kind = Arc::new(kind());
    for asked in [read(), read(), list_ask()] {
        let Answer::Failed(failure) = client.ask(&kind, &asked).await else { panic!("it fails") };
        assert_eq!(failure.retry_after, Some(Duration::from_secs(86_400)));
        assert!(
            failure.message.ends_with("429 Too Many Requests; it asks to wait 1day"),
            "{}",
            failure.message
        );
    }
    assert_eq!(server.requests().len(), 1, "the server said it once for all reads");
    assert!(
        matches!(client.write(&kind, &create()).await, Answer::Accepted { .. }),
        "a write has its own limit"
    );
}

#[tokio::test]
async fn who_may_not_write_does_not() {
    let server = RawServer::start(|_, _| http("204 No Content", &[], "")).await;
    let client = reader(&connection(&server.url));
    let request = HttpRequest {
        role: Role::Delete,
        method: crate::core::kind::Method::Get,
        url: "/queues/a".into(),
        headers: Vec::new(),
        body: None,
    };
    let error = client.line.exchange(request).await.expect_err("it is refused");
    assert_eq!(error.message, "this command never writes");
    assert!(server.requests().is_empty());
}

fn paged(by: PageBy) -> Kind {
    let mut kind = kind();
    let list = kind.list.as_mut().expect("a list");
    list.page = Some(Page {
        by,
        size: Some(2),
        param: "page".into(),
        size_param: "size".into(),
        first: 1,
        next: None,
        total: None,
    });
    kind
}

fn page_of(request: &str) -> usize {
    let (_, after) = request.split_once("page=").expect("a page");
    after.split(['&', ' ']).next().and_then(|number| number.parse().ok()).expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pages_that_are_known_are_fetched_together_and_kept_in_order() {
    // No answer to pages 2 to 4 before all three were asked for.
    let meeting = Arc::new(std::sync::Barrier::new(3));
    let server = RawServer::start(move |request, _| {
        let page = page_of(request);
        if page > 1 {
            tokio::task::block_in_place(|| meeting.wait());
        }
        let body = format!(r#"[{{"name":"{page}a"}},{{"name":"{page}b"}}]"#);
        http("200 OK", &[("x-total-count", "8")], &body)
    })
    .await;
    let client = reader(&connection(&server.url));
    let Answer::Listed(listing) = client.ask(&Arc::new(paged(PageBy::Page)), &list_ask()).await else {
        panic!("a listing")
    };
    let names: Vec<String> = listing.items.iter().map(|item| item.value["name"].to_string()).collect();
    assert_eq!(names.join(""), r#""1a""1b""2a""2b""3a""3b""4a""4b""#);
    assert_eq!((listing.seen, listing.incomplete, client.requests().list), (8, None, 4));
}

#[tokio::test]
async fn a_page_that_fails_makes_the_listing_incomplete() {
    let server = RawServer::start(|request, _| match page_of(request) {
        1 => http("200 OK", &[], r#"[{"name":"a"},{"name":"b"}]"#),
        _ => http("500 Internal Server Error", &[], ""),
    })
    .await;
    let answer = reader(&connection(&server.url)).ask(&Arc::new(paged(PageBy::Page)), &list_ask()).await;
    let Answer::Listed(listing) = answer else { panic!("a listing: {answer:?}") };
    assert_eq!(listing.items.len(), 2);
    let why = "listing Queue of `/`: the server answered 500 Internal Server Error";
    assert_eq!(listing.incomplete.expect("it is not whole").message, why);
}

#[tokio::test]
async fn a_page_is_asked_for_again_when_the_server_asks_for_patience() {
    let server = RawServer::start(|request, number| match (page_of(request), number) {
        (1, _) => http("200 OK", &[], r#"[{"name":"a"},{"name":"b"}]"#),
        (_, 1) => http("429 Too Many Requests", &[("retry-after", "0")], ""),
        _ => http("200 OK", &[], "[]"),
    })
    .await;
    let answer = reader(&connection(&server.url)).ask(&Arc::new(paged(PageBy::Page)), &list_ask()).await;
    let Answer::Listed(listing) = answer else { panic!("a listing: {answer:?}") };
    assert_eq!((listing.seen, listing.incomplete, server.requests().len()), (2, None, 3));
}

#[tokio::test]
async fn an_expired_cursor_begins_anew() {
    let mut kind = paged(PageBy::Cursor);
    let list = kind.list.as_mut().expect("a list");
    list.items = Some(filter(".items"));
    list.page.as_mut().expect("a page").next = Some(filter(".next"));
    let server = RawServer::start(|request, number| match (request.contains("page=c"), number) {
        (false, _) => http("200 OK", &[], r#"{"items":[{"name":"a"}],"next":"c"}"#),
        (true, 1) => http("410 Gone", &[], ""),
        (true, _) => http("200 OK", &[], r#"{"items":[{"name":"b"}]}"#),
    })
    .await;
    let answer = reader(&connection(&server.url)).ask(&Arc::new(kind), &list_ask()).await;
    let Answer::Listed(listing) = answer else { panic!("a listing: {answer:?}") };
    assert_eq!((listing.seen, listing.incomplete, server.requests().len()), (2, None, 4));
}

#[tokio::test]
async fn versions_of_their_own_request_come_first() {
    let mut kind = kind();
    kind.version = Version::Request(Box::new(op("GET /version")), filter(".v"));
    kind.create = Some(op("PUT /queues/{vhost}/{name}?version={version}"));
    let server = RawServer::start(|request, _| match request {
        r if r.starts_with("GET /version ") => http("200 OK", &[], r#"{"v":7}"#),
        r if r.starts_with("PUT") => http("201 Created", &[], ""),
        _ => http("200 OK", &[], ITEM),
    })
    .await;
    let kind = Arc::new(kind);
    let client = writer(&connection(&server.url));
    let Answer::Found(item) = client.ask(&kind, &read()).await else { panic!("it is there") };
    assert_eq!(item.version.map(|version| version.text), Some("7".into()));
    assert!(matches!(client.write(&kind, &create()).await, Answer::Accepted { .. }));
    let first: Vec<String> =
        server.requests().iter().map(|r| r.lines().next().unwrap_or_default().to_owned()).collect();
    assert_eq!(
        first,
        [
            "GET /version HTTP/1.1",
            "GET /queues/%2F/orders HTTP/1.1",
            "GET /version HTTP/1.1",
            "PUT /queues/%2F/orders?version=7 HTTP/1.1"
        ]
    );
}

#[tokio::test]
async fn headers_of_the_backend_go_with_every_request() {
    let server = RawServer::start(|_, _| http("200 OK", &[], "[]")).await;
    let mut connection = connection(&server.url);
    connection.headers.push(("X-Org".into(), secret("env:ORG", "acme")));
    let Ask::List(collection, _) = list_ask() else { panic!("a listing") };
    ask(&connection, &Ask::List(collection, Wanted::Keys(Arc::default()))).await;
    assert!(server.requests()[0].contains("x-org: acme"));
    connection.headers.push(("X-No".into(), Text::Secret(Secret::new("env:NO", None))));
    let (said, _) = failed(ask(&connection, &list_ask()).await);
    assert!(said.ends_with("the secret `env:NO` is not set, which the header `x-no` needs"), "{said}");
}

//! A folder with a secret in every place, and the server that it is for.

use std::sync::Arc;

use super::encodings::{Encode, Search};
use super::{BODY, HEADER, canary};
use crate::servers::{Raw, Say, Seen};
use crate::support::{Run, Scratch};

/// What the server does.
#[derive(Clone, Copy)]
pub enum Mood {
    Works,
    /// Writes are refused with a 422 that repeats the request.
    Refuses(Encode),
    /// Everything is answered by a 500 that repeats the request.
    Fails(Encode),
    /// Nobody is logged in, and the answer repeats the request.
    RefusesLogins(Encode),
    /// The request is repeated in headers and in the reason of a 400.
    Headers,
    /// A success whose body is no JSON, or half of one, or a page.
    NoJson,
    HalfJson,
    Page,
    /// Elsewhere, with the request in the address.
    Redirects,
    /// The next page is elsewhere, with the request in its address.
    NextPage,
}

pub struct Stage {
    pub scratch: Scratch,
    server: Raw,
    other: Raw,
    /// Names of variables, and what they hold.
    secrets: Arc<Vec<(&'static str, String)>>,
    search: Search,
}

const FIELDS: [&str; 10] =
    ["C_ENV", "C_HIDDEN", "C_MASKED", "C_PIN", "C_LIST", "C_MAP", "C_SENT", "C_TAGGED", "C_BASE", "C_FILE"];

const MANIFEST: &str = r#"apiVersion: demo
kind: Space
metadata:
  name: shop
  annotations: {trueup/values: '{"spec.tagged": "secret env:C_TAGGED"}'}
spec:
  description: The shop
  env: !secret env:C_ENV
  file: !secret file:secret.txt
  hidden: !secret env:C_HIDDEN
  masked: !secret env:C_MASKED
  pin: !secret env:C_PIN
  list: [{name: a, key: !secret env:C_LIST}]
  map: {k: !secret env:C_MAP}
  sent: !secret env:C_SENT
---
apiVersion: demo
kind: Space
metadata: {name: from, annotations: {trueup/ensure: exists}}
---
apiVersion: demo
kind: Space
metadata: {name: copy}
spec: {copy: !ref Space/from .pin}
"#;

const BASE: &str = "apiVersion: demo
kind: Space
metadata: {name: shop}
spec: {description: A shop, env: !secret env:C_BASE, pin: !secret env:C_BASE, gone: !secret env:C_BASE}
";

fn backend(url: &str, auth: &str) -> String {
    format!(
        r#"apiVersion: trueup/v1
kind: Backend
metadata: {{name: demo}}
spec:
  url: {url}
  auth: {auth}
  headers: {{X-Extra: !secret env:C_HEADER}}
  kinds:
    Space:
      key: {{name: .id}}
      list: {{request: GET /spaces, items: .items, page: {{by: url, next: .next}}}}
      read: GET /spaces/{{name}}
      create: {{request: "PUT /spaces/{{name}}", body: '.token = ("v1." + ((.sent // "") | ascii_downcase))'}}
      update: {{request: "PATCH /spaces/{{name}}", body: '.token = ("v1." + ((.sent // "") | ascii_downcase))'}}
      delete: DELETE /spaces/{{name}}
      fields:
        hidden: write-only
        masked: 'mask=^\*+$'
        pin: secret
        token: secret
"#
    )
}

impl Stage {
    pub fn new(auth: &str, mood: Mood) -> Stage {
        let mut secrets: Vec<_> = FIELDS.map(|name| (name, canary(name, BODY))).into();
        secrets.extend(
            ["C_AUTH", "C_HEADER", "C_TOKEN", "C_LISTEN", "C_HOOK"].map(|name| (name, canary(name, HEADER))),
        );
        // What only the server knows: in the place of a secret, and in a text beside it.
        secrets.push(("SERVER", canary("SERVER", BODY)));
        let password = canary("C_URL", "!+&=");
        secrets.push(("C_URL", format!("http://me:{password}@127.0.0.1:9")));
        let all: Vec<String> = secrets.iter().map(|(_, secret)| secret.clone()).collect();
        let hidden = all[..all.len() - 1].iter().chain([&password]);
        // As a filter of the backend makes it.
        let made = canary("C_SENT", BODY).to_lowercase();
        let search = Search::new(&hidden.cloned().chain([made]).collect::<Vec<_>>());
        let secrets = Arc::new(secrets);
        let other = Raw::new(|_| Say::json(r#"{"items": []}"#));
        let (known, elsewhere) = (secrets.clone(), other.url());
        let server = Raw::new(move |seen| answer(seen, mood, &known, &elsewhere));
        let stage = Stage { scratch: Scratch::new(), server, other, secrets, search };
        stage.scratch.write("backend.yaml", backend(&stage.server.url(), auth));
        stage.scratch.write("a.yaml", MANIFEST);
        stage.scratch.write("old/a.yaml", BASE);
        stage.scratch.write("secret.txt", format!("{}\n", stage.secret("C_FILE")));
        stage.scratch.write("token.txt", format!("{}\n", stage.secret("C_AUTH")));
        stage
    }

    pub fn secret(&self, name: &str) -> String {
        self.secrets.iter().find(|(known, _)| *known == name).expect(name).1.clone()
    }

    /// Runs a command, of which no piece of a secret may come out.
    pub fn silent(&self, line: &str) {
        let with = if line.contains("--show")
            || line.contains("-f backend")
            || line.contains("clear.yaml")
            || line.contains("--backends")
            || line.starts_with("status ")
        {
            ""
        } else {
            " --backends backend.yaml"
        };
        let done = self.run(&format!("{line}{with}")).done();
        self.holds_no_piece(&format!("`{line}`"), &done.told());
        assert!(done.code() != 64 && done.code() != 101, "`{line}`: {}", done.told());
    }

    /// A command line with all secrets in its environment.
    pub fn run(&self, line: &str) -> Run {
        let mut run = self.scratch.trueup(line).env("TRUEUP_ALLOW_EXEC", "/bin/cat");
        for (name, secret) in self.secrets.iter().filter(|(name, _)| name.starts_with("C_")) {
            run = run.env(name, secret);
        }
        run
    }

    /// No piece of a secret stands in what somebody shows.
    pub fn holds_no_piece(&self, who: &str, text: &str) {
        if let Some(piece) = self.search.found(text) {
            panic!("{who} shows `{piece}` of {}: {text}", self.owner(piece));
        }
    }

    /// How many requests have come.
    pub fn requests(&self) -> usize {
        self.server.lines().len()
    }

    pub fn was_asked(&self, request: &str) -> bool {
        self.server.lines().iter().any(|line| line.starts_with(request))
    }

    /// Which secret a piece in clear is of.
    fn owner(&self, piece: &str) -> &str {
        self.secrets
            .iter()
            .find(|(_, secret)| secret.contains(piece))
            .map_or("one, encoded", |(name, _)| name)
    }

    /// They were secrets that went there, and no masks: else nothing was tested.
    pub fn has_told_the_server(&self) {
        let seen = self.server.seen();
        let bodies: String = seen.iter().map(|seen| seen.body.as_str()).collect();
        for name in
            ["C_ENV", "C_HIDDEN", "C_MASKED", "C_PIN", "C_LIST", "C_MAP", "C_SENT", "C_TAGGED", "C_FILE"]
        {
            let start = &self.secret(name)[..18];
            assert!(bodies.contains(start), "{name} was not sent");
        }
        assert!(bodies.contains(&self.secret("SERVER")[..18]), "the reference was not sent");
        let extra = self.secret("C_HEADER");
        assert!(seen.iter().any(|seen| seen.header("x-extra") == Some(&extra)), "the header was not sent");
    }

    pub fn holds_none(&self, file: &str) {
        let text = std::fs::read_to_string(self.scratch.path(file)).expect("it was written");
        assert_eq!(self.search.found(&text), None, "{file}");
    }

    /// Nothing at all was asked of the other host.
    pub fn told_nobody_else(&self) {
        assert_eq!(self.other.lines(), [""; 0]);
    }
}

fn answer(seen: &Seen, mood: Mood, secrets: &[(&str, String)], elsewhere: &str) -> Say {
    let secret = |name: &str| &secrets.iter().find(|(known, _)| *known == name).expect("it is known").1;
    let request = || format!("{}{}", seen.head, seen.body);
    let whole = |status: &str, kind: &str, body: &str| {
        Say::answer(status, &format!("content-type: {kind}\r\n"), body)
    };
    let line = &*seen.line;
    let logs_in = line.starts_with("POST /token") || line.starts_with("POST /session");
    let reads = line.starts_with("GET ");
    const JSON: &str = "application/json";
    match mood {
        Mood::RefusesLogins(encode) if logs_in => return whole("400 Bad Request", JSON, &encode(&request())),
        _ if logs_in => {
            let token = secret("C_TOKEN");
            return Say::json(
                &serde_json::json!({"access_token": token, "sid": token, "token_type": "Bearer"}).to_string(),
            );
        }
        Mood::Refuses(encode) if !reads => {
            return whole("422 Unprocessable Content", JSON, &encode(&request()));
        }
        Mood::Fails(encode) => return whole("500 Internal Server Error", JSON, &encode(&request())),
        Mood::Headers => {
            let text = request().replace(['\r', '\n'], " ");
            let more = format!("x-echo: {text}\r\nwww-authenticate: Basic realm=\"{text}\"\r\n");
            return Say::answer(&format!("400 {}", text.replace(|c: char| !c.is_ascii(), "?")), &more, "");
        }
        Mood::NoJson => {
            return whole("200 OK", &format!("text/plain; x={}", percentless(&request())), &request());
        }
        Mood::HalfJson => {
            return whole("200 OK", JSON, &format!("{{\"items\": [{}", serde_json::json!(request())));
        }
        Mood::Page => return whole("200 OK", "text/html", &format!("<html>{}</html>", request())),
        Mood::Redirects => {
            let to = format!("location: {elsewhere}/?{}\r\n", percentless(&request()));
            return Say::answer("302 Found", &to, "");
        }
        _ => {}
    }
    let server = secret("SERVER");
    let item = |name: &str| {
        serde_json::json!({
            "id": name, "description": "Their shop", "pin": server, "env": "theirs", "masked": "****",
            "list": [{"name": "a", "key": format!("{server}-1")}], "map": {"k": 1, "other": true}, "gone": "x",
            "annotations": {"last-applied": serde_json::json!({"pin": server}).to_string()},
        })
    };
    let next = match mood {
        Mood::NextPage => Some(format!("{elsewhere}/?{}", percentless(&request()))),
        _ => None,
    };
    match line.split(['?', ' ']).nth(1).unwrap_or_default() {
        "/spaces" => {
            Say::json(&serde_json::json!({"items": [item("shop"), item("from")], "next": next}).to_string())
        }
        "/spaces/shop" => Say::json(&item("shop").to_string()),
        // Events in each form that name an object by what they were asked with.
        "/feed" => {
            let event = |name: &str| serde_json::json!({"name": name, "position": format!("{name}{server}")});
            let events = [event("shop"), event(server), event(&request())];
            let kind = seen.header("accept").unwrap_or(JSON).split(',').next().unwrap_or(JSON);
            let text: String = match kind {
                "text/event-stream" => events.iter().map(|event| format!("data: {event}\n\n")).collect(),
                _ => events.iter().map(|event| format!("{event}\n")).collect(),
            };
            whole("200 OK", kind, &text)
        }
        "/changes" => Say::json(
            &serde_json::json!([
                {"name": "shop", "position": server},
                {"name": request(), "position": format!("{server}2")},
            ])
            .to_string(),
        ),
        "/spaces/from" => Say::json(&item("from").to_string()),
        _ if reads => whole("404 Not Found", JSON, "{}"),
        path => Say::json(&item(path.rsplit('/').next().unwrap_or_default()).to_string()),
    }
}

/// What can stand in an address or a header as it is.
fn percentless(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_graphic() && *c != '#').collect()
}

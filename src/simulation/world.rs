//! The model server: objects, and HTTP requests answered as values, in the ways of one [`Api`].

use serde_json::json;
use url::Url;

use super::api::{Api, URL, Update, Versions};
use super::pages;
use crate::backend::wire::{HttpAnswer, HttpRequest, Role};
use crate::core::kind::Method;
use crate::core::patch::{Operation, apply_json, apply_merge};
use crate::core::value::{Map, Value, equal};

/// An object of the server.
#[derive(Clone, Debug)]
pub struct Stored {
    pub id: u64,
    pub name: String,
    /// Without `id` and `rev`; secrets among it.
    pub value: Map<String, Value>,
    pub rev: u64,
    /// Whether another actor made it.
    pub foreign: bool,
    /// The number of the run in which it was made.
    pub run: u32,
}

/// What the server does beyond what its kind says, in calm runs as well.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// A page of a cursor may be empty, with others after it.
    pub empty_pages: bool,
    /// Items of one page stand on the next as well.
    pub repeats_items: bool,
    /// Numbers come back as `1.0`.
    pub respells: bool,
    /// Requests are sent on to another path of the same origin.
    pub redirects: bool,
    /// Errors repeat the request.
    pub echoes: bool,
}

/// A write that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    Create(String),
    Update(String),
    Delete(String),
}

/// The server, and what it saw.
pub struct World {
    pub api: Api,
    pub manner: Manner,
    pub objects: Vec<Stored>,
    /// The writes that were accepted in this run.
    pub written: Vec<Written>,
    /// What must never be.
    pub broken: Vec<String>,
    pub run: u32,
    /// Names that a document wishes gone.
    pub doomed: Vec<String>,
    /// Fields that an update must not change.
    pub immutable: Vec<String>,
    /// Fields that are never shown.
    pub hidden: Vec<String>,
    next_id: u64,
}

/// A field that no document has: others write it.
pub const NOTE: &str = "note";

impl World {
    pub fn new(api: Api, manner: Manner) -> World {
        World {
            api,
            manner,
            objects: Vec::new(),
            written: Vec::new(),
            broken: Vec::new(),
            run: 0,
            doomed: Vec::new(),
            immutable: Vec::new(),
            hidden: vec!["token".into()],
            next_id: 100,
        }
    }

    pub fn begin_run(&mut self) {
        self.run += 1;
        self.written.clear();
    }

    /// The objects of a name, in the order of their making.
    pub fn of<'w>(&'w self, name: &'w str) -> impl Iterator<Item = &'w Stored> {
        self.objects.iter().filter(move |stored| stored.name == name)
    }

    /// Puts an object there.
    pub fn store(&mut self, name: &str, value: Value, foreign: bool) -> u64 {
        self.next_id += 1;
        let Value::Object(mut value) = value else { panic!("an object is a map") };
        value.retain(|name, _| name != "id" && name != "rev");
        value.insert("name".into(), name.into());
        if !value.contains_key(NOTE) {
            value.insert(NOTE.into(), 0.into());
        }
        // No version of an object is one of an earlier object of its name.
        let (id, rev) = (self.next_id, self.next_id << 16);
        self.objects.push(Stored { id, name: name.into(), value, rev, foreign, run: self.run });
        id
    }

    /// What an object looks like in answers.
    pub fn shown(&self, stored: &Stored) -> Value {
        let mut value = stored.value.clone();
        value.retain(|name, _| !self.hidden.contains(name));
        if self.manner.respells {
            value.values_mut().for_each(respell);
        }
        value.insert("id".into(), stored.id.into());
        value.insert("rev".into(), stored.rev.into());
        Value::Object(value)
    }

    /// Answers a request of our origin.
    pub fn answer(&mut self, request: &HttpRequest) -> HttpAnswer {
        let text = match request.url.strip_prefix('/') {
            Some(below) => format!("{URL}/{below}"),
            None => request.url.clone(),
        };
        let url = Url::parse(&text).expect("a URL that the client has built");
        let path = url.path().strip_prefix("/v1").unwrap_or_default();
        let path = match (path.strip_prefix("/moved"), self.manner.redirects) {
            (Some(path), _) => path,
            (None, true) => {
                let to = url.as_str().replacen("/v1/", "/v1/moved/", 1);
                return with_header(answer(308, Value::Null), "location", &to);
            }
            (None, false) => path,
        };
        let body = request.body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
        let name = match path.strip_prefix("/things") {
            Some("") => None,
            Some(rest) => rest.strip_prefix('/').map(decoded),
            None => return self.problem(404, "no such path", request),
        };
        match (request.method, name) {
            (Method::Get, None) => pages::page(self, &url),
            (Method::Post, None) => self.create(body.unwrap_or_default(), request),
            (Method::Get, Some(name)) => match self.find(&name) {
                Some(at) => self.whole(200, at),
                None => self.problem(404, "there is no such thing", request),
            },
            (Method::Put, Some(name)) if !self.api.ids && self.find(&name).is_none() => {
                if header(request, "if-match").is_some() {
                    return self.problem(412, "there is nothing to match", request);
                }
                let mut body = body.unwrap_or_default();
                body["name"] = name.into();
                self.create(body, request)
            }
            (Method::Put | Method::Patch, Some(name)) => match self.find(&name) {
                Some(at) => self.update(at, body.unwrap_or_default(), &url, request),
                None => self.problem(404, "there is no such thing", request),
            },
            (Method::Delete, Some(name)) => match self.find(&name) {
                Some(at) => self.delete(at, request),
                None => self.problem(404, "there is no such thing", request),
            },
            _ => self.problem(405, "not allowed", request),
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.objects.iter().position(|stored| match self.api.ids {
            true => stored.id.to_string() == name,
            false => stored.name == name,
        })
    }

    fn whole(&self, status: u16, at: usize) -> HttpAnswer {
        let stored = &self.objects[at];
        let told = answer(status, self.shown(stored));
        let tag = match self.api.versions {
            Versions::Strong => format!("\"{}\"", stored.rev),
            Versions::Weak => format!("W/\"{}\"", stored.rev),
            Versions::Proxied => format!("\"{}-gzip\"", stored.rev),
            _ => return told,
        };
        with_header(told, "etag", &tag)
    }

    fn create(&mut self, body: Value, request: &HttpRequest) -> HttpAnswer {
        let Some(name) = body["name"].as_str().map(str::to_owned) else {
            return self.problem(422, "`name` is missing", request);
        };
        let known = self.of(&name).find(|stored| !stored.foreign || stored.run < self.run);
        if let Some(foreign) = known.map(|stored| stored.foreign) {
            let whose = if foreign { "another's" } else { "ours" };
            self.broken.push(format!("a second object of the name {name} is created, beside {whose}"));
        }
        if invalid(&body) {
            return self.problem(422, "the value is not allowed", request);
        }
        self.store(&name, body, false);
        self.written.push(Written::Create(name));
        let at = self.objects.len() - 1;
        let location = format!("{URL}/things/{}", self.objects[at].id);
        with_header(self.whole(201, at), "location", &location)
    }

    fn update(&mut self, at: usize, body: Value, url: &Url, request: &HttpRequest) -> HttpAnswer {
        if let Some(refused) = self.refused(at, &body, url, request) {
            return refused;
        }
        let old = self.objects[at].value.clone();
        let new = match self.api.update {
            Update::Put => body,
            _ if request.method == Method::Put => body,
            Update::Merge => apply_merge(&Value::Object(old.clone()), &body),
            Update::JsonPatch => {
                let shown = self.shown(&self.objects[at]);
                let operations = body.as_array().into_iter().flatten().map(Operation::from_json);
                match operations.collect::<Result<Vec<_>, _>>().and_then(|all| apply_json(&shown, &all)) {
                    Ok(new) => new,
                    Err(error) => return self.problem(409, &error.to_string(), request),
                }
            }
        };
        let Value::Object(mut new) = new else { return self.problem(400, "a thing is a map", request) };
        new.retain(|name, _| name != "id" && name != "rev");
        let patched = request.method == Method::Patch;
        for name in self.hidden.iter().filter(|_| patched) {
            if let (false, Some(kept)) = (new.contains_key(name), old.get(name)) {
                new.insert(name.clone(), kept.clone());
            }
        }
        let name = self.objects[at].name.clone();
        if invalid(&Value::Object(new.clone())) {
            return self.problem(422, "the value is not allowed", request);
        }
        if self.immutable.iter().any(|field| !alike(old.get(field), new.get(field))) {
            return self.problem(422, "the field cannot be changed", request);
        }
        match request.role {
            Role::Create => self.judge_create(at),
            _ => self.judge(&name, &old, &new),
        }
        new.insert("name".into(), name.as_str().into());
        let stored = &mut self.objects[at];
        stored.value = new;
        stored.rev += 1;
        self.written.push(Written::Update(name));
        self.whole(200, at)
    }

    /// A create over an object that was there before the run: it was to be seen. Over one that came since, nothing
    /// guards an API without versions.
    fn judge_create(&mut self, at: usize) {
        let stored = &self.objects[at];
        if stored.run < self.run || self.api.versions != Versions::None {
            self.broken.push(format!("{} is created over a second object of its name", stored.name));
        }
    }

    /// Whether an update changes what nobody declared. Without versions one may bring back what was seen last.
    fn judge(&mut self, name: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let guarded = matches!(self.api.versions, Versions::Strong | Versions::InBody | Versions::InQuery);
        let patched = self.api.update != Update::Put;
        if (guarded || patched) && !alike(old.get(NOTE), new.get(NOTE)) {
            let (old, new) = (&old[NOTE], new.get(NOTE));
            self.broken.push(format!("an undeclared field of {name} was changed: {old} to {new:?}"));
        }
        if new.get(NOTE).is_none_or(|note| note.as_f64().is_none_or(|note| note < 0.0)) {
            self.broken.push(format!("an undeclared field of {name} was lost"));
        }
    }

    /// Whether the write is for another version than that of now.
    fn refused(&self, at: usize, body: &Value, url: &Url, request: &HttpRequest) -> Option<HttpAnswer> {
        let rev = self.objects[at].rev.to_string();
        let wrong = |given: Option<String>| given.is_some_and(|given| given != rev);
        if header(request, "if-none-match").is_some() {
            return Some(self.problem(412, "it is there", request));
        }
        // Strong comparison (RFC 9110, 13.1.1): a weak tag matches nothing.
        if header(request, "if-match").is_some_and(|tag| tag != format!("\"{rev}\"")) {
            return Some(self.problem(412, "the tag does not match", request));
        }
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let in_query = || url.query_pairs().find(|(name, _)| name == "rev").map(|(_, rev)| rev.into_owned());
        let missing = match self.api.versions {
            Versions::InBody => wrong(Some(plain(&body["rev"]))),
            Versions::InQuery => wrong(Some(in_query().unwrap_or_default())),
            _ => false,
        };
        missing.then(|| self.problem(409, "the revision is another", request))
    }

    fn delete(&mut self, at: usize, request: &HttpRequest) -> HttpAnswer {
        if header(request, "if-match").is_some_and(|tag| tag != format!("\"{}\"", self.objects[at].rev)) {
            return self.problem(412, "the tag does not match", request);
        }
        let stored = self.objects.remove(at);
        if !self.doomed.contains(&stored.name) {
            self.broken.push(format!("{} was deleted, and no document says so", stored.name));
        }
        self.written.push(Written::Delete(stored.name));
        HttpAnswer { status: 204, headers: Vec::new(), body: Vec::new() }
    }

    /// A problem document (RFC 9457). Some servers repeat the request in it.
    pub fn problem(&self, status: u16, detail: &str, request: &HttpRequest) -> HttpAnswer {
        let mut body = json!({"type": "about:blank", "title": "refused", "status": status, "detail": detail});
        if self.manner.echoes {
            let sent = request.body.as_deref().unwrap_or_default();
            let credential = header(request, "authorization").unwrap_or_default();
            body["detail"] = format!("{detail}: {credential} {}", String::from_utf8_lossy(sent)).into();
        }
        let told = answer(status, body);
        with_header(told, "content-type", "application/problem+json")
    }
}

/// A value that the server takes in no object.
fn invalid(value: &Value) -> bool {
    value.get("mode").is_some_and(|mode| *mode == "invalid")
}

fn alike(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => equal(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn respell(value: &mut Value) {
    match value {
        Value::Number(number) if !number.as_str().contains(['.', 'e']) => {
            *value = serde_json::from_str(&format!("{number}.0")).expect("a number");
        }
        Value::Array(items) => items.iter_mut().for_each(respell),
        Value::Object(map) => map.values_mut().for_each(respell),
        _ => {}
    }
}

fn decoded(segment: &str) -> String {
    crate::backend::path::unescape(segment)
}

pub fn header<'r>(request: &'r HttpRequest, name: &str) -> Option<&'r str> {
    request.headers.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
}

/// An answer with a JSON body.
pub fn answer(status: u16, body: Value) -> HttpAnswer {
    let headers = vec![("content-type".into(), "application/json".into())];
    HttpAnswer { status, headers, body: body.to_string().into_bytes() }
}

/// The answer with a header, which replaces one of its name.
pub fn with_header(mut answer: HttpAnswer, name: &str, value: &str) -> HttpAnswer {
    answer.headers.retain(|(have, _)| have != name);
    answer.headers.push((name.into(), value.into()));
    answer
}

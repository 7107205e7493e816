//! The request that gets a token, and what its answer says: OAuth2 client credentials and logins alike.
//!
//! Pure: when it is asked for, and by whom, is not known here. No message holds what was sent or what came.

use std::time::Duration;

use crate::core::compare;
use crate::core::exchange::{Failure, FailureClass};
use crate::core::filter::{Filter, Vars};
use crate::core::node::{Pos, Unavailable};
use crate::core::value::{Value, plain_text, type_name};

use super::answer::body_of;
use super::base64::basic;
use super::connection::{Carry, Expires, Text, TokenBody, TokenCall};
use super::item::{envelope, look};
use super::refusal::{Context, status_text};
use super::request::{backend_failure, filter_failure};
use super::wire::{HttpAnswer, HttpRequest, Role};

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

/// A number above this is a time since 1970, and not one from now: no token holds for thirty years.
const EPOCH: f64 = 1e9;

/// What an answer grants. It has no `Debug`: it is a credential.
pub struct Granted {
    /// The header that proves who asks.
    pub header: String,
    pub value: String,
    /// The texts that must never be printed.
    pub secrets: Vec<String>,
    /// For how long it holds, where that is known.
    pub lifetime: Option<Duration>,
}

/// The request that asks for a token.
///
/// # Errors
/// A secret that is not there.
pub fn request(call: &TokenCall) -> Result<HttpRequest, Unavailable> {
    let mut headers = vec![("accept".to_owned(), JSON.to_owned())];
    if let Some((id, secret)) = &call.client {
        // RFC 6749, 2.3.1: both are encoded as in a form before they are joined.
        let pair = basic(&form_text(reveal(id)?), &form_text(reveal(secret)?));
        headers.push(("authorization".into(), format!("Basic {pair}")));
    }
    let (media, body) = match &call.body {
        TokenBody::None => (None, None),
        TokenBody::Json(node) => (Some(JSON), Some(node.to_value()?.to_string().into_bytes())),
        TokenBody::Form(fields) => {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            for (name, value) in fields {
                form.append_pair(name, reveal(value)?);
            }
            (Some(FORM), Some(form.finish().into_bytes()))
        }
    };
    headers.extend(media.map(|media| ("content-type".into(), media.into())));
    Ok(HttpRequest { role: Role::Login, method: call.method, url: call.url.clone(), headers, body })
}

/// What the call sends that must never be printed, as far as it is there.
pub fn secrets(call: &TokenCall) -> Vec<String> {
    let mut secrets: Vec<String> = Vec::new();
    if let Some((id, secret)) = &call.client {
        secrets.extend(secret.reveal().map(str::to_owned));
        secrets.extend(id.reveal().zip(secret.reveal()).map(|(id, secret)| basic(id, secret)));
    }
    match &call.body {
        TokenBody::None => {}
        TokenBody::Json(node) => {
            node.each_secret(&mut |secret| secrets.extend(secret.value().map(plain_text)));
        }
        TokenBody::Form(fields) => {
            let hidden = |name: &str, text: &Text| matches!(text, Text::Secret(_)) || name == "client_secret";
            let fields = fields.iter().filter(|(name, text)| hidden(name, text));
            secrets.extend(fields.filter_map(|(_, text)| text.reveal().map(str::to_owned)));
        }
    }
    secrets
}

/// Reads the answer.
///
/// # Errors
/// A refusal, an answer without a token or with one that no header can hold. Trouble that may pass is
/// [`FailureClass::NotSent`]: the request that needed the token was not sent.
pub fn granted(context: &Context, call: &TokenCall, answer: &HttpAnswer) -> Result<Granted, Failure> {
    let redirects = matches!(call.carry, Carry::Cookies) && (300..400).contains(&answer.status);
    if !(200..300).contains(&answer.status) && !redirects {
        let passes = matches!(answer.status, 408 | 425 | 429) || answer.status >= 500;
        let class = if passes { FailureClass::NotSent } else { FailureClass::Backend };
        return Err(context.refused(class, answer));
    }
    let around = envelope(answer, body_of(answer));
    let told = Told { context, answer, around: &around };
    if let Some(filter) = &call.token_type
        && let Some(Value::String(kind)) = told.find(filter)?
        && !kind.eq_ignore_ascii_case("bearer")
    {
        let what = format!("its token is of the type `{kind}`, and only Bearer tokens can be sent");
        return Err(context.fail(FailureClass::Backend, &what, None));
    }
    let (header, value, secret) = match &call.carry {
        Carry::Bearer(filter) => {
            let token = told.token(filter)?;
            ("authorization".to_owned(), format!("Bearer {token}"), token)
        }
        Carry::Header(name, filter) => {
            let token = told.token(filter)?;
            (name.to_ascii_lowercase(), token.clone(), token)
        }
        Carry::Cookie(name, filter) => {
            let token = told.token(filter)?;
            ("cookie".to_owned(), format!("{name}={token}"), token)
        }
        Carry::Cookies => {
            let cookies = told.cookies()?;
            ("cookie".to_owned(), cookies.clone(), cookies)
        }
    };
    Ok(Granted { secrets: parts(&secret), header, value, lifetime: told.lifetime(call.expires.as_ref())? })
}

/// A token, and what of it could be printed alone: `Token abc` is `abc` as well, and a pair of cookies two.
fn parts(secret: &str) -> Vec<String> {
    let words = secret.split([' ', ';']).map(|word| word.split_once('=').map_or(word, |(_, value)| value));
    let words = words.filter(|word| word.len() > 8).map(str::to_owned);
    [secret.to_owned()].into_iter().chain(words).collect()
}

/// An answer that is being read.
struct Told<'a> {
    context: &'a Context<'a>,
    answer: &'a HttpAnswer,
    around: &'a Value,
}

impl Told<'_> {
    fn find(&self, filter: &Filter) -> Result<Option<Value>, Failure> {
        let found = look(filter, self.around, &Vars::default());
        let found = found.map_err(|error| match self.around["body"].is_string() {
            // What a filter for JSON makes of a web page is no fault of the filter.
            true => self.context.not_json(self.answer),
            false => self.context.wrap(filter_failure(error)),
        });
        found.map(|found| found.filter(|value| !value.is_null())).map_err(lasting)
    }

    fn token(&self, filter: &Filter) -> Result<String, Failure> {
        let text = match self.find(filter)? {
            Some(value @ (Value::String(_) | Value::Number(_))) => plain_text(&value),
            Some(other) => {
                let what = format!("its token at `{}` is {}, not a text", filter.text(), type_name(&other));
                return Err(self.unfit(&what));
            }
            None if self.around["body"].is_string() => {
                return Err(lasting(self.context.not_json(self.answer)));
            }
            None => {
                let status = status_text(self.answer.status);
                let what = format!("the server answered {status}, without a token at `{}`", filter.text());
                return Err(self.unfit(&what));
            }
        };
        match text.trim() {
            "" => Err(self.unfit(&format!("its token at `{}` is empty", filter.text()))),
            // It would end the header and start another (CWE-113).
            token if token.chars().any(char::is_control) => {
                Err(self.unfit(&format!("its token at `{}` holds a control character", filter.text())))
            }
            token => Ok(token.into()),
        }
    }

    /// The cookies as a browser would send them back (RFC 6265, 4.2.1). One that is set to nothing is a cookie
    /// that is taken away.
    fn cookies(&self) -> Result<String, Failure> {
        let set = self.answer.headers.iter().filter(|(name, _)| name == "set-cookie");
        let pairs = set.filter_map(|(_, text)| text.split(';').next()?.trim().split_once('='));
        let pairs =
            pairs.filter(|(name, value)| !name.is_empty() && !matches!(*value, "" | "\"\"" | "deleted"));
        let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
        match pairs.is_empty() {
            true => {
                let status = status_text(self.answer.status);
                Err(self.unfit(&format!("the server answered {status}, and set no cookie")))
            }
            false => Ok(pairs.join("; ")),
        }
    }

    /// A time that has passed already says nothing: the clock here may be wrong. A server that does not take
    /// the token says so.
    fn lifetime(&self, expires: Option<&Expires>) -> Result<Option<Duration>, Failure> {
        let filter = match expires {
            None => return Ok(None),
            Some(Expires::After(time)) => return Ok(Some(*time)),
            Some(Expires::Told(filter)) => filter,
        };
        let Some(value) = self.find(filter)? else { return Ok(None) };
        let now = self.context.now;
        let text = plain_text(&value);
        let time = match text.parse::<f64>() {
            Ok(seconds) if seconds > EPOCH => since_1970(seconds)?.checked_sub(now),
            Ok(seconds) if seconds > 0.0 => Some(since_1970(seconds)?),
            Ok(_) => None,
            Err(_) => {
                let utc = compare::utc(&text).as_ref().and_then(Value::as_str).map(humantime::parse_rfc3339);
                let Some(Ok(time)) = utc else {
                    let what = format!("`{}` is neither a number of seconds nor a time", filter.text());
                    return Err(self.unfit(&what));
                };
                let since = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                since.checked_sub(now)
            }
        };
        Ok(time.filter(|time| !time.is_zero()))
    }

    fn unfit(&self, what: &str) -> Failure {
        self.context.fail(FailureClass::Backend, what, Some("check `auth` in the backend".into()))
    }
}

fn since_1970(seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds).map_err(|error| backend_failure(error.to_string()))
}

/// What asking again would not mend.
fn lasting(failure: Failure) -> Failure {
    Failure { class: FailureClass::Backend, ..failure }
}

fn reveal(text: &Text) -> Result<&str, Unavailable> {
    match text {
        Text::Plain(text) => Ok(text),
        Text::Secret(secret) => secret
            .reveal()
            .ok_or_else(|| Unavailable::Secret { from: secret.source.clone(), at: Pos::default() }),
    }
}

fn form_text(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;

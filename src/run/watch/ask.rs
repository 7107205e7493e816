//! Asks a running watch how it is.

use std::time::Duration;

use crate::api::http::HttpTransport;
use crate::api::transport::Transport;
use crate::backend::base::Base;
use crate::backend::connection::{Limits, Tls};
use crate::backend::request;
use crate::core::problem::Problem;

/// How long the answer may take.
const TIME: Duration = Duration::from_secs(15);

/// The status document of the watch at this URL, as text.
///
/// # Errors
/// A URL that is none, a watch that cannot be reached or that answers with something else.
pub async fn status(url: &str, token: Option<&str>) -> Result<String, Problem> {
    let problem = |why: &str| Problem::new(format!("asking the watch at `{url}`: {why}"));
    let root = url.trim_end_matches('/');
    let base = Base::parse(root.strip_suffix("/status").unwrap_or(root));
    let base =
        base.map_err(|error| Problem::new(error.to_string()).hint("write it like http://127.0.0.1:8081"))?;
    let limits = Limits { timeout: Some(TIME), ..Limits::default() };
    let transport =
        HttpTransport::new(base, &Tls::default(), &limits).map_err(|error| problem(&error.to_string()))?;
    let mut question = request::plain_read("/status");
    question.headers.extend(token.map(|token| ("authorization".into(), format!("Bearer {token}"))));
    let answer = transport.send(&question).await.map_err(|error| {
        let problem = problem(&error.message);
        problem.hint(error.hint.unwrap_or_else(|| "`trueup watch --listen ADDRESS` opens it".into()))
    })?;
    match answer.status {
        200 => String::from_utf8(answer.body).map_err(|_| problem("the answer is not UTF-8")),
        401 => {
            Err(problem("it wants a token, or another one").hint("`--token-env` names the token's variable"))
        }
        status => {
            Err(problem(&format!("it answers with {status}")).hint("is it the port of a `trueup watch`?"))
        }
    }
}

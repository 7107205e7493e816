//! Asking for a token: from the backend itself, or from another origin that the backend's document states.
//!
//! What goes to another origin is the call and nothing else: no header, no credential and no client certificate
//! of the backend. The token goes to the backend alone.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::auth::{AuthError, Grants};
use super::client::ClientError;
use super::exchange::{Line, now};
use super::http::HttpTransport;
use super::transport::{Transport, TransportClass, TransportError};
use crate::backend::base::Base;
use crate::backend::connection::{Auth, Connection, Tls, TokenCall};
use crate::backend::refusal::Context;
use crate::backend::request::Site;
use crate::backend::token::{self, Granted};
use crate::backend::wire::{HttpAnswer, HttpRequest};
use crate::core::exchange::{Failure, FailureClass};
use crate::core::node::Unavailable;

/// Another origin that gives tokens.
pub struct Issuer {
    site: Site,
    transport: Arc<dyn Transport>,
}

impl Issuer {
    /// The issuer of a backend's tokens; `None` where it gives them itself, or takes none.
    ///
    /// # Errors
    /// A URL that is none; certificates that cannot be used.
    pub fn of(
        connection: &Connection,
        base: &Base,
        credential: Option<String>,
    ) -> Result<Option<Issuer>, ClientError> {
        let Some(Auth::Token(call)) = &connection.auth else { return Ok(None) };
        if base.locate(&call.url).is_ok() {
            return Ok(None);
        }
        let base = Base::of_origin(&call.url)?;
        let tls = Tls { ca: connection.tls.ca.clone(), ..Tls::default() };
        let transport = Arc::new(HttpTransport::new(base.clone(), &tls, &connection.limits)?);
        Ok(Some(Issuer { site: Site { base, owner: String::new(), credential }, transport }))
    }
}

impl Grants for Line {
    fn grant<'a>(&'a self, call: &'a TokenCall) -> BoxFuture<'a, Result<Granted, AuthError>> {
        Box::pin(self.get_token(call))
    }
}

impl Line {
    async fn get_token(&self, call: &TokenCall) -> Result<Granted, AuthError> {
        let request = token::request(call).map_err(|error| match error {
            Unavailable::Secret { from, .. } => AuthError::NotSet(from.to_string()),
            Unavailable::Reference { text, .. } => AuthError::NotSet(text.to_string()),
        })?;
        let site = self.issuer.as_ref().map_or(&self.site, |issuer| &issuer.site);
        let doing = match site.base.locate(&call.url) {
            Ok(url) => format!("getting a token by {} `{url}`", call.method.as_str()),
            Err(_) => "getting a token".to_owned(),
        };
        let redactor = self.redactor();
        let context = Context { site, doing: &doing, now: now(), redactor: &redactor };
        let told = match &self.issuer {
            Some(issuer) => self.apart(issuer, &request).await,
            None => self.limited(&request, None).await,
        };
        let answer = told.map_err(|error| {
            // Whatever became of this one, the request that needed the token was not sent.
            let class = match error.class {
                TransportClass::Refused | TransportClass::TooLarge | TransportClass::Setup => {
                    FailureClass::Backend
                }
                TransportClass::NotSent | TransportClass::Lost | TransportClass::TimedOut => {
                    FailureClass::NotSent
                }
            };
            no_token(context.fail(class, &error.message, error.hint))
        })?;
        Ok(token::granted(&context, call, &answer).map_err(no_token)?)
    }

    /// A request to the issuer. The backend's limits are not for it.
    async fn apart(&self, issuer: &Issuer, request: &HttpRequest) -> Result<HttpAnswer, TransportError> {
        let began = Instant::now();
        let told = issuer.transport.send(request).await;
        self.log(request, &told, began.elapsed());
        self.count(request.role);
        told
    }
}

fn no_token(failure: Failure) -> TransportError {
    let class = match failure.class {
        FailureClass::NotSent => TransportClass::NotSent,
        _ => TransportClass::Setup,
    };
    TransportError { class, message: failure.message, hint: failure.hint }
}

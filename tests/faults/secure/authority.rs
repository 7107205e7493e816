//! An authority, and certificates of it that are good or bad. All are made here, for this run alone.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::crypto::ring::default_provider;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

/// What a server shows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// For 127.0.0.1, and valid.
    Good,
    Expired,
    NotYetValid,
    /// For another name.
    OtherName,
    /// Of an authority that nobody named.
    OtherAuthority,
    /// Signed by itself.
    Itself,
    /// The same, and an authority, as `openssl req -x509` makes it.
    Authority,
}

/// What a listener and its clients need.
pub struct Made {
    pub config: Arc<ServerConfig>,
    /// The PEM text of what a client is told to trust.
    pub trusted: String,
    /// A certificate for a client, of the same authority, and its key.
    pub client: (String, String),
}

/// `mutual`: only clients with a certificate of the authority are served.
pub fn server(shows: Shows, protocols: &[&str], mutual: bool) -> Made {
    let (named, other) = (authority("named"), authority("other"));
    let name = if shows == Shows::OtherName { "elsewhere.example" } else { "127.0.0.1" };
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    match shows {
        Shows::Expired => {
            (params.not_before, params.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
        }
        Shows::NotYetValid => {
            (params.not_before, params.not_after) = (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1));
        }
        Shows::Authority => params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
        Shows::Good | Shows::OtherName | Shows::OtherAuthority | Shows::Itself => {}
    }
    let key = KeyPair::generate().expect("a key");
    let certificate = match shows {
        Shows::Itself | Shows::Authority => params.self_signed(&key),
        Shows::OtherAuthority => params.signed_by(&key, &other),
        _ => params.signed_by(&key, &named),
    };
    let certificate = certificate.expect("signed");
    let is_own = matches!(shows, Shows::Itself | Shows::Authority);
    let trusted = if is_own { certificate.pem() } else { named.pem() };
    let key = key.serialize_der().try_into().expect("a key");
    let provider = Arc::new(default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("the provider knows them");
    let mut roots = RootCertStore::empty();
    roots.add(named.der().clone()).expect("an authority");
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
    let builder = match mutual {
        true => builder.with_client_cert_verifier(verifier.expect("a verifier")),
        false => builder.with_no_client_auth(),
    };
    let config = builder.with_single_cert(vec![certificate.der().clone()], key);
    let mut config = config.expect("a configuration");
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Made { config: Arc::new(config), trusted, client: client(&named) }
}

fn client(authority: &CertifiedIssuer<'static, KeyPair>) -> (String, String) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["client".to_owned()]).expect("a name");
    (params.signed_by(&key, authority).expect("signed").pem(), key.serialize_pem())
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("signed")
}

//! Certificates from PEM files. There is no way to switch verification off.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use reqwest::{Certificate, ClientBuilder, Identity};
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::file;
use super::pin::Pinned;
use crate::backend::connection::{Pins, Tls};
use crate::core::digest::Digest;

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read `{}`, the {what}: {source}", .path.display())]
    Read { path: PathBuf, what: &'static str, source: std::io::Error },
    #[error("`{}` holds no {what} in PEM form", .path.display())]
    Pem { path: PathBuf, what: &'static str },
    #[error("a client certificate needs both `tls.cert` and `tls.key`")]
    Half,
    #[error("cannot set up TLS: {0}")]
    Client(#[from] reqwest::Error),
    #[error("cannot set up TLS: {0}")]
    Config(#[from] rustls::Error),
}

/// Chooses the cryptography of the process, once.
pub fn choose_provider() {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        // Who embeds the library may have chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// Adds an own authority, a client certificate, and the keys that the server may have.
///
/// # Errors
/// A file that cannot be read or holds something else; half of a client certificate.
pub fn configure(builder: ClientBuilder, tls: &Tls) -> Result<ClientBuilder, TlsError> {
    if let Some(pins) = &tls.pins {
        return Ok(builder.tls_backend_preconfigured(pinned(tls, pins)?));
    }
    let mut builder = builder.tls_version_min(reqwest::tls::Version::TLS_1_2);
    if let Some(path) = &tls.ca {
        let what = "certificate of the authority (`tls.ca`)";
        let pem = read(path, what)?;
        let certificates = Certificate::from_pem_bundle(&pem).ok().filter(|found| !found.is_empty());
        let certificates = certificates.ok_or_else(|| TlsError::Pem { path: path.clone(), what })?;
        builder = builder.tls_certs_merge(certificates);
    }
    match (&tls.cert, &tls.key) {
        (None, None) => Ok(builder),
        (Some(cert), Some(key)) => Ok(builder.identity(identity(cert, key)?)),
        _ => Err(TlsError::Half),
    }
}

/// The same as a configuration of our own, which looks at the server's key as well: the client's own cannot.
fn pinned(tls: &Tls, pins: &Pins) -> Result<ClientConfig, TlsError> {
    let provider = CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| Arc::new(rustls::crypto::ring::default_provider()));
    let roots = match &tls.ca {
        Some(path) => certificates(path, "certificate of the authority (`tls.ca`)")?,
        None => Vec::new(),
    };
    let verifier = Pinned::new(roots, provider.clone(), pins.clone())?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match (&tls.cert, &tls.key) {
        (None, None) => builder.with_no_client_auth(),
        (Some(cert), Some(path)) => {
            let chain = certificates(cert, "client certificate (`tls.cert`)")?;
            let what = "private key (`tls.key`)";
            let wrong = || TlsError::Pem { path: path.clone(), what };
            let key = PrivateKeyDer::from_pem_slice(&read(path, what)?).map_err(|_| wrong())?;
            builder.with_client_auth_cert(chain, key).map_err(|_| wrong())?
        }
        _ => return Err(TlsError::Half),
    };
    config.alpn_protocols = vec!["h2".into(), "http/1.1".into()];
    Ok(config)
}

fn certificates(path: &Path, what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = read(path, what)?;
    let found: Option<Vec<_>> = CertificateDer::pem_slice_iter(&pem).map(Result::ok).collect();
    found.filter(|found| !found.is_empty()).ok_or_else(|| TlsError::Pem { path: path.into(), what })
}

fn identity(cert: &Path, key: &Path) -> Result<Identity, TlsError> {
    let what = "client certificate (`tls.cert`)";
    let mut pem = read(cert, what)?;
    if !Certificate::from_pem_bundle(&pem).is_ok_and(|found| !found.is_empty()) {
        return Err(TlsError::Pem { path: cert.into(), what });
    }
    let what = "private key (`tls.key`)";
    pem.push(b'\n');
    pem.extend(read(key, what)?);
    Identity::from_pem(&pem).map_err(|_| TlsError::Pem { path: key.into(), what })
}

fn read(path: &Path, what: &'static str) -> Result<Vec<u8>, TlsError> {
    file::read(path).map_err(|source| TlsError::Read { path: path.into(), what, source })
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;

/// Tells certificates and keys apart from those that stood in the same files before; what cannot be read counts as
/// nothing.
pub fn fingerprint(tls: &Tls) -> Digest {
    let paths = [&tls.ca, &tls.cert, &tls.key];
    let of =
        |path: &Option<PathBuf>| path.as_deref().and_then(|path| file::read(path).ok()).unwrap_or_default();
    let each = paths.iter().flat_map(|path| Digest::of_bytes(&of(path)).0.to_be_bytes());
    Digest::of_bytes(&each.collect::<Vec<u8>>())
}

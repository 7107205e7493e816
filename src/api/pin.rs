//! Pinned keys: a server must have one of the keys that its backend names, besides a certificate that is valid.
//!
//! A certificate says who a server is as far as its authorities are to be trusted; a pin says which server it is. It
//! is looked at in every handshake, before any request, and only after all that is looked at anyway: it never makes a
//! certificate good that is not. It is of the server's own key, not of an authority's.

use std::fmt;
use std::sync::Arc;

use ring::digest::{SHA256, digest};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::backend::base64::base64;
use crate::backend::connection::Pins;

/// Checks what is checked anyway, and then the key.
#[derive(Debug)]
pub struct Pinned {
    usual: Verifier,
    pins: Pins,
}

impl Pinned {
    /// `roots` are trusted besides those of the system.
    ///
    /// # Errors
    /// The system's certificates cannot be read.
    pub fn new(
        roots: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
        pins: Pins,
    ) -> Result<Pinned, Error> {
        // As the client does it where nothing is pinned.
        let usual = match roots.is_empty() {
            true => Verifier::new(provider)?,
            false => Verifier::new_with_extra_roots(roots, provider)?,
        };
        Ok(Pinned { usual, pins })
    }
}

/// The server has another key.
#[derive(Debug)]
pub struct Mismatch {
    /// SHA-256 of the key that it has.
    seen: [u8; 32],
    stated: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = base64(&self.seen);
        write!(f, "its key has the pin `sha256/{seen}`, which `tls.pin` does not name ({})", self.stated)
    }
}

impl std::error::Error for Mismatch {}

/// SHA-256 of the key of a certificate, as the certificate has it.
fn pin(certificate: &CertificateDer<'_>) -> Result<[u8; 32], Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    let hash = digest(&SHA256, parsed.subject_public_key_info().as_ref());
    <[u8; 32]>::try_from(hash.as_ref()).map_err(|_| Error::General("a SHA-256 has 32 bytes".into()))
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let valid =
            self.usual.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)?;
        let seen = pin(end_entity)?;
        if self.pins.keys.contains(&seen) {
            return Ok(valid);
        }
        let mismatch = Mismatch { seen, stated: self.pins.stated.to_string() };
        Err(Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(mismatch)))))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

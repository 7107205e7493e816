//! TLS with an authority of one's own, and with a client certificate. All certificates are made here.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::RootCertStore;
use rustls::server::WebPkiClientVerifier;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::api::testing::{connection, failed, http, reader, serve, target};
use crate::backend::connection::Connection;
use crate::backend::testing::kind;
use crate::core::exchange::{Answer, Ask};
use crate::core::facts::Stated;
use crate::core::node::{Origin, Pos};

/// An authority, a server on loopback with a certificate of it, and the PEM files.
struct Stage {
    folder: TempDir,
    url: String,
    log: Arc<Mutex<Vec<String>>>,
    authority: CertifiedIssuer<'static, KeyPair>,
    /// The server's.
    key: KeyPair,
}

impl Stage {
    /// `mutual`: clients must show a certificate of the authority.
    async fn new(mutual: bool) -> Stage {
        choose_provider();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("signed");
        let (cert, key) = signed(&authority, "127.0.0.1");
        let builder = rustls::ServerConfig::builder();
        let builder = if mutual {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der().clone()).expect("an authority");
            builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder(roots.into()).build().expect("a verifier"),
            )
        } else {
            builder.with_no_client_auth()
        };
        let key_der = key.serialize_der().try_into().expect("a key");
        let config = builder.with_single_cert(vec![cert.der().clone()], key_der).expect("a configuration");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("https://{}", listener.local_addr().expect("an address"));
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = log.clone();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, log) = (acceptor.clone(), kept.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        let reply = |_: &str, _| http("200 OK", &[], r#"{"name":"orders"}"#);
                        serve(stream, log, Arc::new(reply)).await;
                    }
                });
            }
        });
        let stage = Stage { folder: tempfile::tempdir().expect("a folder"), url, log, authority, key };
        stage.file("ca.pem", &stage.authority.pem());
        stage
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    async fn read(&self, tls: Tls) -> Answer {
        let connection = Connection { tls, ..connection(&self.url) };
        reader(&connection).ask(&Arc::new(kind()), &Ask::Read(target())).await
    }

    fn ca(&self) -> Option<PathBuf> {
        Some(self.folder.path().join("ca.pem"))
    }
}

fn signed(authority: &CertifiedIssuer<KeyPair>, name: &str) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    (params.signed_by(&key, authority).expect("signed"), key)
}

#[tokio::test]
async fn an_own_authority_is_trusted_where_it_is_named() {
    let stage = Stage::new(false).await;
    let answer = stage.read(Tls { ca: stage.ca(), ..Tls::default() }).await;
    assert!(matches!(answer, Answer::Found(_)), "{answer:?}");
    let other = Stage::new(false).await;
    let (said, hint) = failed(stage.read(Tls { ca: other.ca(), ..Tls::default() }).await);
    assert!(said.starts_with("NotSent: ") && said.contains("certificate"), "{said}");
    assert!(hint.contains("`tls.ca`"), "{hint}");
    assert_eq!(stage.log.lock().expect("no panic").len(), 1, "no request reached it untrusted");
}

#[tokio::test]
async fn a_client_certificate_is_shown() {
    let stage = Stage::new(true).await;
    let (cert, key) = signed(&stage.authority, "client");
    let cert = Some(stage.file("client.pem", &cert.pem()));
    let key = Some(stage.file("client.key", &key.serialize_pem()));
    let answer = stage.read(Tls { ca: stage.ca(), cert, key, pins: None }).await;
    assert!(matches!(answer, Answer::Found(_)), "{answer:?}");
    let (said, _) = failed(stage.read(Tls { ca: stage.ca(), ..Tls::default() }).await);
    assert!(said.contains("reading Queue //orders"), "{said}");
    assert_eq!(stage.log.lock().expect("no panic").len(), 1);
}

/// The pins of these keys, as they would be stated.
fn pins(keys: &[&KeyPair]) -> Option<Pins> {
    use rcgen::PublicKeyData;
    let of = |key: &&KeyPair| {
        let hash = ring::digest::digest(&ring::digest::SHA256, &key.subject_public_key_info());
        <[u8; 32]>::try_from(hash.as_ref()).expect("32 bytes")
    };
    Some(Pins { keys: keys.iter().map(of).collect(), stated: stated() })
}

fn stated() -> Stated {
    Stated::At(Origin { file: "backend.yaml".into(), at: Pos { line: 7, column: 12 } })
}

#[tokio::test]
async fn a_pinned_key_is_looked_for_besides_all_else() {
    let stage = Stage::new(false).await;
    let other = KeyPair::generate().expect("a key");
    let tls = |pins| Tls { ca: stage.ca(), pins, ..Tls::default() };
    for pins in [pins(&[&stage.key]), pins(&[&other, &stage.key])] {
        let answer = stage.read(tls(pins)).await;
        assert!(matches!(answer, Answer::Found(_)), "{answer:?}");
    }
    let requests = || stage.log.lock().expect("no panic").len();
    assert_eq!(requests(), 2);
    let Some(Pins { keys, .. }) = pins(&[&stage.key]) else { panic!("a pin") };
    let seen = crate::backend::base64::base64(&keys[0]);
    // The authority's key is no key of the server.
    for wrong in [pins(&[&other]), pins(&[stage.authority.key()])] {
        let (said, hint) = failed(stage.read(tls(wrong)).await);
        let told =
            format!("its key has the pin `sha256/{seen}`, which `tls.pin` does not name (backend.yaml:7:12)");
        assert!(said.starts_with("NotSent: ") && said.contains(&told), "{said}");
        assert!(hint.contains("`tls.pin`"), "{hint}");
    }
    // A pin makes nothing good: the authority is not trusted here.
    let (said, _) = failed(stage.read(Tls { pins: pins(&[&stage.key]), ..Tls::default() }).await);
    assert!(said.contains("of no authority that is trusted"), "{said}");
    assert_eq!(requests(), 2, "no request reached it");
}

#[tokio::test]
async fn a_client_certificate_goes_with_a_pin() {
    let stage = Stage::new(true).await;
    let (cert, key) = signed(&stage.authority, "client");
    let cert = Some(stage.file("client.pem", &cert.pem()));
    let key = Some(stage.file("client.key", &key.serialize_pem()));
    let answer = stage.read(Tls { ca: stage.ca(), cert, key, pins: pins(&[&stage.key]) }).await;
    assert!(matches!(answer, Answer::Found(_)), "{answer:?}");
}

#[tokio::test]
async fn files_that_are_wrong_are_named() {
    let stage = Stage::new(false).await;
    let junk = stage.file("junk.pem", "no certificate");
    let (cert, key) = signed(&stage.authority, "client");
    let cert = stage.file("client.pem", &cert.pem());
    let key = stage.file("client.key", &key.serialize_pem());
    let missing = stage.folder.path().join("missing.pem");
    for (tls, part) in [
        (
            Tls { ca: Some(missing.clone()), ..Tls::default() },
            "missing.pem`, the certificate of the authority (`tls.ca`): ",
        ),
        (Tls { ca: Some(junk.clone()), ..Tls::default() }, "junk.pem` holds no certificate of the authority"),
        (Tls { cert: Some(cert.clone()), ..Tls::default() }, "needs both `tls.cert` and `tls.key`"),
        (
            Tls { cert: Some(junk.clone()), key: Some(key.clone()), ..Tls::default() },
            "junk.pem` holds no client certificate",
        ),
        (Tls { cert: Some(cert), key: Some(junk), ..Tls::default() }, "junk.pem` holds no private key"),
    ] {
        for pins in [None, pins(&[&stage.key])] {
            let connection = Connection { tls: Tls { pins, ..tls.clone() }, ..connection(&stage.url) };
            let error = crate::api::client::connect(&connection).err().expect("it cannot be set up");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

//! TLS: certificates that are trusted, that are not, and that the client has to show.

use crate::bench::place::Place;
use crate::bench::process::{Ended, run};
use crate::bench::web::{self, Web, serve};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::sync::Arc;

const LOAD: &str = "--concurrency 4 --requests 20 --output-tokens 4";

/// Someone who signs certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    der: CertificateDer<'static>,
}

/// A certificate and its key.
struct Signed {
    pem: String,
    der: CertificateDer<'static>,
    key: KeyPair,
}

impl Authority {
    /// By a name of its own: who signed is found by name.
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let (pem, der) = (certificate.pem(), certificate.der().clone());
        Self { issuer: Issuer::new(params, key), pem, der }
    }

    fn sign(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Signed {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Signed { pem: certificate.pem(), der: certificate.der().clone(), key }
    }
}

/// An HTTPS server with this certificate; `clients` if it wants theirs, signed by that authority.
fn server(own: &Signed, clients: Option<&Authority>) -> Web {
    let provider = Arc::new(default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der.clone()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    let key = PrivateKeyDer::try_from(own.key.serialize_der()).unwrap();
    let config = Arc::new(builder.with_single_cert(vec![own.der.clone()], key).unwrap());
    Web::wrapped(web::openai, move |stream, answer, seen| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        serve(StreamOwned::new(connection, stream), answer, seen);
    })
}

fn url(server: &Web) -> String {
    format!("https://{}", server.addr())
}

#[track_caller]
fn works(place: &Place, server: &Web, more: &[&str]) -> Ended {
    let _ = std::fs::remove_dir_all(place.run_dir());
    let mut command = place.bench(&url(server), LOAD);
    command.args(more);
    let ended = run(command).expect_measured();
    assert_eq!(ended.json()["levels"][0]["requests"]["completed"], 20, "{}", ended.said());
    ended
}

#[track_caller]
fn refused(place: &Place, server: &Web, more: &[&str], words: &[&str]) {
    let mut command = place.bench(&url(server), LOAD);
    // Not this machine's own authorities, of which there may be none.
    command.env("SSL_CERT_FILE", place.file("others.pem", &Authority::new("others").pem));
    command.args(more);
    run(command).expect_status(&[3]).expect_words(words);
    assert!(!place.run_dir().exists());
}

#[test]
fn a_certificate_is_checked_unless_told_not_to() {
    let (place, authority) = (Place::new(), Authority::new("ours"));
    let server = server(&authority.sign("127.0.0.1", |_| ()), None);
    let trusted = place.file("ca.pem", &authority.pem);
    refused(&place, &server, &[], &["certificate", "UnknownIssuer"]);
    let other = place.file("other.pem", &Authority::new("other").pem);
    refused(&place, &server, &["--ca-cert", &other], &["certificate"]);
    works(&place, &server, &["--ca-cert", &trusted]);
    works(&place, &server, &["--insecure"]);
    assert_eq!(place.json("plan.json")["target"]["insecure"], true);
}

#[test]
fn a_self_signed_certificate_can_be_trusted_itself() {
    // As `openssl req -x509` makes them: authorities at the same time.
    let made = |name: &str, year: i32| {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Signed { pem: certificate.pem(), der: certificate.der().clone(), key }
    };
    let place = Place::new();
    let own = made("127.0.0.1", 4000);
    let server_of = |own: &Signed| server(own, None);
    let trust = |own: &Signed| place.file("own.pem", &own.pem);
    refused(&place, &server_of(&own), &[], &["certificate", "--ca-cert", "--insecure"]);
    let same_name = trust(&made("127.0.0.1", 4000));
    refused(&place, &server_of(&own), &["--ca-cert", &same_name], &["certificate"]);
    let elsewhere = made("other.example", 4000);
    refused(&place, &server_of(&elsewhere), &["--ca-cert", &trust(&elsewhere)], &["127.0.0.1"]);
    let expired = made("127.0.0.1", 2020);
    refused(&place, &server_of(&expired), &["--ca-cert", &trust(&expired)], &["xpired"]);
    works(&place, &server_of(&own), &["--ca-cert", &trust(&own)]);
}

#[test]
fn an_expired_certificate_is_refused() {
    let (place, authority) = (Place::new(), Authority::new("ours"));
    let expired = authority.sign("127.0.0.1", |params| {
        params.not_before = date_time_ymd(2019, 1, 1);
        params.not_after = date_time_ymd(2020, 1, 1);
    });
    let server = server(&expired, None);
    let trusted = place.file("ca.pem", &authority.pem);
    refused(&place, &server, &["--ca-cert", &trusted], &["certificate", "xpired"]);
    works(&place, &server, &["--insecure"]);
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let (place, authority) = (Place::new(), Authority::new("ours"));
    let server = server(&authority.sign("other.example", |_| ()), None);
    let trusted = place.file("ca.pem", &authority.pem);
    refused(&place, &server, &["--ca-cert", &trusted], &["certificate", "127.0.0.1"]);
    works(&place, &server, &["--insecure"]);
}

#[test]
fn a_server_may_want_a_certificate_too() {
    let (place, authority, clients) =
        (Place::new(), Authority::new("servers"), Authority::new("clients"));
    let server = server(&authority.sign("127.0.0.1", |_| ()), Some(&clients));
    let trusted = place.file("ca.pem", &authority.pem);
    let trust = ["--ca-cert", trusted.as_str()];
    refused(&place, &server, &trust, &[&url(&server)]);
    let stranger = Authority::new("strangers").sign("client", |_| ());
    let pem = format!("{}{}", stranger.pem, stranger.key.serialize_pem());
    let strange = place.file("stranger.pem", &pem);
    refused(&place, &server, &[&trust[..], &["--client-cert", &strange]].concat(), &[]);
    let known = clients.sign("client", |_| ());
    let pem = format!("{}{}", known.pem, known.key.serialize_pem());
    let shown = place.file("client.pem", &pem);
    works(&place, &server, &[&trust[..], &["--client-cert", &shown]].concat());
}

#[test]
fn files_that_are_no_certificates_are_named() {
    let (place, authority) = (Place::new(), Authority::new("ours"));
    let server = server(&authority.sign("127.0.0.1", |_| ()), None);
    let (text, trusted) = (place.file("text.pem", "hello"), place.file("ca.pem", &authority.pem));
    for flag in ["--ca-cert", "--client-cert"] {
        let mut command = place.bench(&url(&server), LOAD);
        command.args([flag, &text]);
        if flag == "--client-cert" {
            command.args(["--ca-cert", &trusted]);
        }
        run(command).expect_status(&[2]).expect_words(&[flag, "text.pem"]);
    }
    // A certificate without its key.
    let mut command = place.bench(&url(&server), LOAD);
    command.args(["--client-cert", &trusted, "--ca-cert", &trusted]);
    run(command).expect_status(&[2]).expect_words(&["--client-cert", "key"]);
}

#[test]
fn a_handshake_that_fails_in_mid_run_has_its_own_class() {
    let authority = Authority::new("ours");
    let own = authority.sign("127.0.0.1", |_| ());
    let key = PrivateKeyDer::try_from(own.key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.der.clone()], key)
        .unwrap();
    let (config, connections) = (Arc::new(config), std::sync::atomic::AtomicUsize::new(0));
    // The preflight's connection is good; every other one breaks in the handshake.
    let broken = Web::wrapped(web::openai, move |mut stream, answer, seen| {
        if connections.fetch_add(1, std::sync::atomic::Ordering::SeqCst) > 0 {
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
            let _ = std::io::Write::write_all(&mut stream, b"no TLS today\r\n\r\n");
            return;
        }
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        serve(StreamOwned::new(connection, stream), answer, seen);
    });
    let place = Place::new();
    let args = "--burst 8 --output-tokens 4 --insecure";
    let ended = run(place.bench(&url(&broken), args)).expect_unless_invalid(5);
    let requests = &ended.json()["levels"][0]["requests"];
    assert_eq!(requests["completed"], 1, "{}", ended.said());
    assert_eq!(requests["failures"], serde_json::json!({ "tls": 7 }), "{}", ended.said());
}

#[test]
fn a_server_without_tls_is_named() {
    let engine = crate::bench::engines::Engine::start(crate::bench::engines::QUICK, &[]);
    let url = engine.url().replace("http://", "https://");
    let ended = run(Place::new().bench(&url, LOAD));
    ended.expect_status(&[3]).expect_words(&["does not speak TLS here; try http://127.0.0.1"]);
}

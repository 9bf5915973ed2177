//! Being let in, as users of NATS expect: user and password, token, NKey, credentials, TLS; and what is said
//! when it does not work.

use super::agents::{Agent, Work};
use super::options;
use super::run::Run;
use dyno_fleet::nats::{BusError, BusOptions, Given};
use dyno_testing::nats::Nats;
use nkeys::KeyPair;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer};
use std::path::Path;
use std::time::Duration;

const SHORT: Duration = Duration::from_secs(2);

/// A run of one agent, both let in in the same way.
fn works(options: &BusOptions) {
    let agent = Agent::start(options, "a");
    agent.is_free();
    Run::begin(options, "run", 1).carries_out(1, Work::default());
}

fn refused(options: &BusOptions) -> BusError {
    Run::within(options, "run", 1, SHORT).err().expect("refused")
}

/// The server is there, and does not want us. Agents do not try for ever, either.
fn denied(options: &BusOptions, secret: &str) {
    let error = refused(options);
    let text = error.to_string();
    assert!(matches!(error, BusError::Denied { .. }), "{text}");
    assert!(!format!("{text} {error:?} {options:?}").contains(secret), "{text}");
    let agent = Agent::start(options, "a");
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while agent.error.lock().unwrap().is_none() {
        assert!(std::time::Instant::now() < until, "an agent that is not let in says nothing");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(agent.error.lock().unwrap().as_ref(), Some(&error));
}

fn at(server: &Nats, user: &str) -> Given {
    Given { bus: format!("nats://{user}127.0.0.1:{}", server.port()), ..Given::default() }
}

fn written(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn user_and_password() {
    let server = Nats::with("authorization { user: ann, password: \"h@sh-hush\" }");
    works(&options(&at(&server, "ann:h%40sh-hush@")));
    let environment = |name: &str| match name {
        "DYNO_BUS_USER" => Some("ann".to_owned()),
        "DYNO_BUS_PASSWORD" => Some("h@sh-hush".to_owned()),
        _ => None,
    };
    works(&BusOptions::new(&at(&server, ""), environment).unwrap());
    denied(&options(&at(&server, "ann:wr0ng@")), "wr0ng");
    denied(&options(&at(&server, "")), "h@sh");
    let error = refused(&options(&at(&server, "ann:wr0ng@"))).to_string();
    let message =
        format!("the bus at {} does not let Dyno in: authorization violation", server.url());
    assert!(error.starts_with(&message), "{error}");
}

#[test]
fn token() {
    let server = Nats::with("authorization { token: \"t0ken-hush\" }");
    works(&options(&at(&server, "t0ken-hush@")));
    let file = written(server.folder(), "token", "t0ken-hush\n");
    works(&options(&Given { token: Some(file), ..at(&server, "") }));
    let environment = |name: &str| (name == "DYNO_BUS_TOKEN").then(|| "t0ken-hush".to_owned());
    works(&BusOptions::new(&at(&server, ""), environment).unwrap());
    denied(&options(&at(&server, "wr0ng@")), "wr0ng");
}

#[test]
fn nkey() {
    let user = KeyPair::new_user();
    let config = format!("authorization {{ users: [ {{ nkey: {} }} ] }}", user.public_key());
    let server = Nats::with(&config);
    let seed = user.seed().unwrap();
    let file = written(server.folder(), "seed", &format!("# a comment\n{seed}\n"));
    works(&options(&Given { nkey: Some(file), ..at(&server, "") }));
    let other = KeyPair::new_user().seed().unwrap();
    let file = written(server.folder(), "other", &other);
    denied(&options(&Given { nkey: Some(file), ..at(&server, "") }), &other);
    // A seed with a mistake in it.
    let file = written(server.folder(), "mistake", &format!("{}AAAA", &seed[..54]));
    denied(&options(&Given { nkey: Some(file), ..at(&server, "") }), &seed[4..50]);
}

/// Base64 as in JWTs.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .enumerate()
            .map(|(at, byte)| u32::from(*byte) << (16 - 8 * at))
            .sum::<u32>();
        let digits =
            (0..=three.len()).map(|at| DIGITS[(bits >> (18 - 6 * at)) as usize & 63] as char);
        text.extend(digits);
    }
    text
}

/// A claim about someone, signed.
fn jwt(issuer: &KeyPair, about: &KeyPair, nats: &str) -> String {
    let header = base64(br#"{"typ":"JWT","alg":"ed25519-nkey"}"#);
    let (by, of) = (issuer.public_key(), about.public_key());
    let claim = format!(
        r#"{{"jti":"{of}","iat":1700000000,"iss":"{by}","name":"test","sub":"{of}","nats":{nats}}}"#
    );
    let signed = format!("{header}.{}", base64(claim.as_bytes()));
    let signature = issuer.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", base64(&signature))
}

#[test]
fn credentials() {
    let (operator, account) = (KeyPair::new_operator(), KeyPair::new_account());
    let unlimited = r#"{"type":"account","version":2,"limits":{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,"leaf":-1}}"#;
    let config = format!(
        "operator: {}\nresolver: MEMORY\nresolver_preload: {{ {}: {} }}",
        jwt(&operator, &operator, r#"{"type":"operator","version":2}"#),
        account.public_key(),
        jwt(&operator, &account, unlimited),
    );
    let server = Nats::with(&config);
    let creds = |signer: &KeyPair| {
        let user = KeyPair::new_user();
        let claim =
            r#"{"type":"user","version":2,"pub":{},"sub":{},"subs":-1,"data":-1,"payload":-1}"#;
        let (jwt, seed) = (jwt(signer, &user, claim), user.seed().unwrap());
        let text = format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        );
        (text, seed)
    };
    let file = written(server.folder(), "user.creds", &creds(&account).0);
    works(&options(&Given { creds: Some(file), ..at(&server, "") }));
    let (text, seed) = creds(&KeyPair::new_account());
    let file = written(server.folder(), "other.creds", &text);
    denied(&options(&Given { creds: Some(file), ..at(&server, "") }), &seed);
}

#[test]
fn subjects_that_are_not_allowed_are_named() {
    let server = Nats::with(
        "authorization { users: [ { user: a, password: b, permissions: { publish: \"other.>\" } } ] }",
    );
    let error = refused(&options(&at(&server, "a:b@"))).to_string();
    assert!(
        error.to_lowercase().contains("permissions violation for publish to \"dyno.lobby\""),
        "{error}"
    );
}

/// Someone who signs certificates.
struct Authority(Issuer<'static, rcgen::KeyPair>, String);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self(Issuer::new(params, key), pem)
    }

    /// A certificate and its key, as files.
    fn sign(&self, folder: &Path, name: &str) {
        let params =
            CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        written(folder, &format!("{name}.pem"), &certificate.pem());
        written(folder, &format!("{name}.key"), &key.serialize_pem());
    }
}

#[test]
fn tls_with_an_authority_of_ones_own() {
    let authority = Authority::new("own");
    let config = "tls { cert_file: \"{folder}/server.pem\", key_file: \"{folder}/server.key\" }";
    let server = Nats::with_files(config, |folder| {
        authority.sign(folder, "server");
        written(folder, "ca.pem", &authority.1);
        written(folder, "other.pem", &Authority::new("other").1);
    });
    let ca = |name: &str| Some(server.folder().join(name));
    for scheme in ["tls", "nats"] {
        let bus = format!("{scheme}://localhost:{}", server.port());
        works(&options(&Given { bus, ca: ca("ca.pem"), ..Given::default() }));
    }
    let bus = format!("tls://127.0.0.1:{}", server.port());
    let error =
        refused(&options(&Given { bus: bus.clone(), ca: ca("other.pem"), ..Given::default() }));
    assert!(error.to_string().contains("certificate"), "{error}");
    // The system's authorities do not know it.
    let error = refused(&options(&Given { bus, ..Given::default() }));
    assert!(error.to_string().contains("certificate"), "{error}");
    // A server without TLS is not talked to in clear text where TLS was asked for.
    let plain = Nats::start();
    let bus = format!("tls://localhost:{}", plain.port());
    let error = refused(&options(&Given { bus, ca: ca("ca.pem"), ..Given::default() }));
    assert!(matches!(error, BusError::Unreachable { .. }), "{error}");
}

#[test]
fn tls_with_a_certificate_of_the_client() {
    let authority = Authority::new("own");
    let config = "tls { cert_file: \"{folder}/server.pem\", key_file: \"{folder}/server.key\", \
                  ca_file: \"{folder}/ca.pem\", verify: true }";
    let server = Nats::with_files(config, |folder| {
        authority.sign(folder, "server");
        authority.sign(folder, "client");
        written(folder, "ca.pem", &authority.1);
    });
    let file = |name: &str| Some(server.folder().join(name));
    let bus = format!("tls://localhost:{}", server.port());
    let given = Given { bus, ca: file("ca.pem"), ..Given::default() };
    works(&options(&Given { cert: file("client.pem"), key: file("client.key"), ..given.clone() }));
    let error = refused(&options(&given));
    assert!(matches!(error, BusError::Unreachable { .. }), "{error}");
}

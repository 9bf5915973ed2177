//! TLS: packets that end inside a record, which cannot be decrypted yet.

use crate::client::desk::{Desk, EXACT_US, HEAD, WHILE, ending, token};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_wire::tls::TlsSettings;
use rcgen::generate_simple_self_signed;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// The server's end of a connection; its records are available before they are sent.
pub(crate) struct Secure {
    pub(crate) stream: TcpStream,
    tls: ServerConnection,
}

fn config() -> Arc<ServerConfig> {
    let own = generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key);
    Arc::new(config.unwrap())
}

pub(crate) fn desk() -> Desk {
    Desk::with("https", TlsSettings { insecure: true, ..TlsSettings::default() })
}

impl Secure {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, tls: ServerConnection::new(config()).unwrap() }
    }

    /// Processes what has arrived, and replies to the handshake.
    fn turn(&mut self) {
        match self.tls.read_tls(&mut self.stream) {
            Ok(0) => panic!("the client hung up"),
            Ok(_) => drop(self.tls.process_new_packets().unwrap()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("{error}"),
        }
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.stream).unwrap();
        }
    }

    /// A request on a new connection.
    fn request(desk: &mut Desk) -> Self {
        desk.dispatch();
        let mut server = Self::new(desk.accept());
        let mut request = Vec::new();
        desk.until("a request", |_| {
            server.turn();
            let mut room = [0; 4096];
            if let Ok(length) = server.tls.reader().read(&mut room) {
                request.extend_from_slice(&room[..length]);
            }
            request.ends_with(b"\r\n\r\n").then_some(())
        });
        server
    }

    /// Replies to the handshake on a blocking stream, and reads the beginning of the request.
    pub(crate) fn read_some(&mut self) {
        while self.tls.reader().read(&mut [0; 512]).is_err() {
            self.turn();
        }
    }

    /// Text as a record.
    pub(crate) fn record(&mut self, text: &str) -> Vec<u8> {
        self.tls.writer().write_all(text.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut bytes).unwrap();
        }
        bytes
    }
}

#[test]
fn a_read_that_ends_with_a_record_is_exact() {
    let mut desk = desk();
    let mut server = Secure::request(&mut desk);
    let head = server.record(HEAD);
    desk.deliver(&mut server.stream, &head);
    let mut writes = Vec::new();
    for text in ["a", "b"] {
        std::thread::sleep(WHILE);
        let record = server.record(&token(text));
        let written = desk.write(&mut server.stream, &record);
        std::thread::sleep(WHILE);
        desk.heard_since(written);
        writes.push(written);
    }
    let rest = server.record(&ending());
    desk.deliver(&mut server.stream, &rest);
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    for (chunk, written) in record.chunks.iter().zip(writes) {
        written.holds(chunk);
        assert!(chunk.loose_us < EXACT_US, "{chunk:?}");
    }
}

#[test]
fn a_read_that_ends_inside_a_record_is_loose() {
    // Inside its header, inside its text, and before its last byte.
    for cut in [|_| 1, |_| 4, |length| length / 2, |length: usize| length - 1] {
        let mut desk = desk();
        let mut server = Secure::request(&mut desk);
        let head = server.record(HEAD);
        desk.deliver(&mut server.stream, &head);
        let [one, two] = [token("a"), token("b")].map(|token| server.record(&token));
        let (half, rest) = two.split_at(cut(two.len()));
        let first = desk.write(&mut server.stream, &one);
        std::thread::sleep(WHILE);
        desk.write(&mut server.stream, half);
        desk.heard_since(first);
        let last = desk.deliver(&mut server.stream, rest);
        let rest = server.record(&ending());
        desk.deliver(&mut server.stream, &rest);
        let record = desk.record();
        assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
        assert_eq!(record.text.as_deref(), Some("ab"));
        let chunks: Vec<_> = record.chunks.iter().collect();
        // It came with the first packet, and only the second one's time is known.
        first.holds(chunks[0]);
        assert!(chunks[0].loose_us >= WHILE.as_micros() as u64, "{chunks:?}");
        last.holds(chunks[1]);
        assert!(chunks[1].loose_us < EXACT_US && !chunks[1].coalesced, "{chunks:?}");
    }
}

#[test]
fn a_record_in_pieces_is_read_when_its_last_byte_has_come() {
    let mut desk = desk();
    let mut server = Secure::request(&mut desk);
    let bytes = server.record(&[HEAD, &token("a"), &token("b")].concat());
    for piece in bytes[..bytes.len() - 1].chunks(97) {
        desk.deliver(&mut server.stream, piece);
    }
    let last = desk.deliver(&mut server.stream, &bytes[bytes.len() - 1..]);
    let rest = server.record(&ending());
    desk.deliver(&mut server.stream, &rest);
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Completed, "{:?}", record.detail);
    let chunks: Vec<_> = record.chunks.iter().collect();
    assert_eq!(chunks.len(), 2);
    last.holds(chunks[1]);
    assert!(chunks[1].loose_us < EXACT_US && chunks[1].coalesced, "{chunks:?}");
}

#[test]
fn a_server_that_hangs_up_during_the_handshake_has_failed_at_that() {
    let mut desk = desk();
    desk.dispatch();
    let server = Secure::new(desk.accept());
    drop(server);
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::Tls), "{:?}", record.detail);
    assert!(!record.resent);
    desk.nobody_else();
}

#[test]
fn bytes_that_are_no_record_fail_the_request() {
    let mut desk = desk();
    let mut server = Secure::request(&mut desk);
    let head = server.record(&[HEAD, &token("a")].concat());
    desk.deliver(&mut server.stream, &head);
    desk.deliver(&mut server.stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let record = desk.record();
    assert_eq!(record.outcome, Outcome::Failed(FailureClass::StreamReset), "{:?}", record.detail);
    assert_eq!(record.chunks.len(), 1);
    assert!(record.detail.unwrap().to_string().starts_with("TLS: "));
}

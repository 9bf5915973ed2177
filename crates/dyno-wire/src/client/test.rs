//! A client for tests of the inside.

use super::{Client, ClientOptions, Sources};
use crate::dialect::{DIALECTS, Keep};
use crate::encode::SecretHeaders;
use crate::endpoint::Endpoint;
use crate::exchange::Rules;
use crate::redact::Redactor;
use crate::tls::TlsSettings;
use dyno_model::SEC;
use dyno_model::budget::Budget;
use dyno_model::plan::Timeouts;
use dyno_net::Clock;
use std::net::SocketAddr;

/// A client of the server at an address.
pub(super) fn client_of(address: SocketAddr) -> Client {
    let endpoint = Endpoint::parse(&format!("http://{address}"), DIALECTS[0]).unwrap();
    let timeouts = Timeouts {
        connect_ns: 10 * SEC,
        total_ns: 60 * SEC,
        first_token_ns: 60 * SEC,
        idle_ns: 60 * SEC,
    };
    let rules = Rules {
        dialect: DIALECTS[0],
        stream: true,
        keep: Keep::default(),
        redactor: Redactor::default(),
        budget: Budget::foreign(),
    };
    let options = ClientOptions {
        stamps: true,
        endpoint,
        addresses: address.into(),
        sources: Sources::default(),
        tls: TlsSettings::default(),
        timeouts,
        rules,
        headers: SecretHeaders::default(),
    };
    Client::new(options, Clock::start()).unwrap()
}

//! Connections from several local addresses: which address each has, and what happens when one of them
//! has no port left.

use crate::client::desk::{Desk, whole};
use dyno_drive::{StopSignal, Transport};
use dyno_model::SEC;
use dyno_model::outcome::Outcome;
use dyno_wire::client::{Addresses, NoAddress, Resolver, Sources};
use dyno_wire::dialect::DIALECTS;
use dyno_wire::endpoint::Endpoint;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

fn source_of(stream: &TcpStream) -> String {
    stream.peer_addr().unwrap().ip().to_string()
}

#[test]
fn each_new_connection_has_the_next_address() {
    let mut desk = Desk::from("127.0.0.2-127.0.0.4");
    let streams: Vec<TcpStream> = (0..7).map(|_| desk.request()).collect();
    let sources: Vec<String> = streams.iter().map(source_of).collect();
    let turn = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
    assert_eq!(sources, [turn.as_slice(), &turn, &["127.0.0.2"]].concat());
}

#[test]
fn a_reused_connection_keeps_its_address() {
    let mut desk = Desk::from("127.0.0.2,127.0.0.3");
    let mut stream = desk.request();
    desk.deliver(&mut stream, whole().as_bytes());
    assert_eq!(desk.record().outcome, Outcome::Completed);
    desk.dispatch();
    desk.expect_request(&mut stream);
    assert_eq!(source_of(&stream), "127.0.0.2");
    desk.nobody_else();
}

#[test]
fn connections_opened_before_a_level_have_the_addresses_in_turn() {
    let mut desk = Desk::from("127.0.0.2,127.0.0.3");
    let listener = desk.listener();
    desk.client.prepare(6).unwrap();
    let mut sources: Vec<String> =
        (0..6).map(|_| source_of(&listener.accept().unwrap().0)).collect();
    sources.sort();
    assert_eq!(sources, [["127.0.0.2"; 3], ["127.0.0.3"; 3]].concat());
}

/// An address that this machine does not have fails with the same error as one without a free port.
#[test]
fn where_an_address_has_no_port_left_the_next_one_is_used() {
    let mut desk = Desk::from("203.0.113.1,127.0.0.3,203.0.113.2");
    for _ in 0..3 {
        let stream = desk.request();
        assert_eq!(source_of(&stream), "127.0.0.3");
    }
    assert_eq!(desk.client.take_health().out_of_ports, 0);
}

#[test]
fn without_any_port_the_request_is_dropped_and_the_flag_is_named() {
    let mut desk = Desk::from("203.0.113.1,203.0.113.2");
    desk.dispatch();
    let Outcome::Dropped(why) = desk.record().outcome else { panic!("it was sent") };
    assert!(why.contains("out of local ports") && why.contains("--source-address"), "{why}");
    assert_eq!(desk.client.take_health().out_of_ports, 1);
}

fn found(all: &[SocketAddr], sources: &str) -> Result<Addresses, NoAddress> {
    let endpoint = Endpoint::parse("http://gpu:8000", DIALECTS[0]).unwrap();
    let all = all.to_vec();
    let resolver = Resolver::new(move |_, _| Ok(all.clone()));
    let sources = Sources::parse(sources).unwrap();
    Addresses::find(&endpoint, &resolver, &sources, 5 * SEC, &StopSignal::new())
}

#[test]
fn the_target_is_reached_by_the_family_of_the_sources() {
    let six = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let four = SocketAddr::from((Ipv4Addr::LOCALHOST, six.port()));
    // Without sources, IPv4 would be tried first. A single address is not tried.
    assert_eq!(found(&[four, six], "::1"), Ok(six.into()));
    assert_eq!(found(&[four, six], "127.0.0.2"), Ok(four.into()));
    let error = found(&[four], "::1").unwrap_err();
    assert!(matches!(error, NoAddress::Source(_)), "{error:?}");
    let error = error.to_string();
    assert_eq!(
        error,
        "--source-address: the target is gpu, and none of the source addresses is IPv4"
    );
}

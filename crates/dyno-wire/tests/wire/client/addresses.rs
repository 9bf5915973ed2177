//! Targets with several addresses: which are used, and which requests each of them gets.

use crate::client::desk::{Desk, whole};
use dyno_drive::{StopSignal, Transport};
use dyno_model::environment::Address;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::{MS, SEC};
use dyno_wire::client::{Addresses, NoAddress, Resolver, Sources};
use dyno_wire::dialect::DIALECTS;
use dyno_wire::endpoint::Endpoint;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn found(all: &[SocketAddr]) -> Result<Addresses, NoAddress> {
    let endpoint = Endpoint::parse("http://gpu:8000", DIALECTS[0]).unwrap();
    let all = all.to_vec();
    let resolver = Resolver::new(move |host, port| {
        assert_eq!((host, port), ("gpu", 8000));
        Ok(all.clone())
    });
    Addresses::find(&endpoint, &resolver, &Sources::default(), 5 * SEC, &StopSignal::new())
}

/// What a run directory lists.
fn listed(addresses: &Addresses) -> Vec<Address> {
    let mut list = Vec::new();
    addresses.clone().number(&mut list);
    list
}

fn listening(ip: impl Into<std::net::IpAddr>) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(SocketAddr::new(ip.into(), 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An address that refuses connections.
fn dead(ip: impl Into<std::net::IpAddr>) -> SocketAddr {
    listening(ip).1
}

const ONE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const TWO: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

#[test]
fn a_server_on_ipv6_only_is_found_behind_ipv4_that_refuses() {
    let (_listener, six) = listening(Ipv6Addr::LOCALHOST);
    let four = SocketAddr::from((ONE, six.port()));
    let list = listed(&found(&[six, four]).unwrap());
    assert_eq!((list[0].address.as_str(), &list[0].unused), (&*six.to_string(), &None));
    assert_eq!(list[1].address, four.to_string());
    assert!(list[1].unused.as_ref().unwrap().contains("refused"), "{list:?}");
}

#[test]
fn ipv4_is_used_where_both_accept() {
    let (_one, four) = listening(ONE);
    let (_two, six) = listening(Ipv6Addr::LOCALHOST);
    let list = listed(&found(&[six, four]).unwrap());
    assert_eq!(list, [Address { address: four.to_string(), unused: None }]);
}

#[test]
fn of_several_all_that_accept_are_used_in_a_fixed_order() {
    let (_one, first) = listening(ONE);
    let (_two, second) = listening(TWO);
    let refusing = dead(Ipv4Addr::new(127, 0, 0, 3));
    let list = listed(&found(&[refusing, second, first, second]).unwrap());
    let names: Vec<_> = list.iter().map(|a| (a.address.clone(), a.unused.is_none())).collect();
    let expected =
        [(first.to_string(), true), (second.to_string(), true), (refusing.to_string(), false)];
    assert_eq!(names, expected);
}

#[test]
fn nothing_that_accepts_is_an_error_that_names_each() {
    let all = [dead(ONE), dead(TWO), dead(Ipv6Addr::LOCALHOST)];
    let message = found(&all).unwrap_err().to_string();
    assert!(
        message.starts_with("Connection refused (os error 111) (addresses tried: "),
        "{message}"
    );
    for address in all {
        assert!(message.contains(&address.to_string()), "{message}");
    }
}

#[test]
fn an_unknown_host_and_one_without_addresses() {
    let endpoint = Endpoint::parse("http://gpu:8000", DIALECTS[0]).unwrap();
    let stop = StopSignal::new();
    let fails = Resolver::new(|_, _| Err(Error::new(ErrorKind::NotFound, "no such name")));
    for (resolver, why) in [(fails, "no such name"), (Resolver::new(|_, _| Ok(vec![])), "no addr")]
    {
        let error = Addresses::find(&endpoint, &resolver, &Sources::default(), SEC, &stop)
            .unwrap_err()
            .to_string();
        assert!(error.contains("the host `gpu` cannot be resolved") && error.contains(why));
    }
}

#[test]
fn a_stop_ends_the_trial() {
    let stop = StopSignal::new();
    stop.raise();
    let endpoint = Endpoint::parse("http://gpu:8000", DIALECTS[0]).unwrap();
    let resolver = Resolver::new(|_, _| Ok(vec![dead(ONE), dead(TWO)]));
    let found = Addresses::find(&endpoint, &resolver, &Sources::default(), SEC, &stop);
    assert_eq!(found, Err(NoAddress::Interrupted));
}

#[test]
fn a_resumed_run_keeps_the_numbers_of_its_addresses() {
    let (_one, first) = listening(ONE);
    let (_two, second) = listening(TWO);
    let kept = |address: SocketAddr, unused| Address { address: address.to_string(), unused };
    let before = SocketAddr::from(([10, 0, 0, 9], 1));
    let mut list = vec![kept(before, None), kept(second, Some("refused".into()))];
    found(&[first, second]).unwrap().number(&mut list);
    // The second is used now; the first is new.
    assert_eq!(list, [kept(before, None), kept(second, None), kept(first, None)]);
}

#[test]
fn localhost_has_an_ipv6_address_even_where_the_system_has_none() {
    let (_listener, six) = listening(Ipv6Addr::LOCALHOST);
    let url = format!("http://LocalHost:{}", six.port());
    let endpoint = Endpoint::parse(&url, DIALECTS[0]).unwrap();
    let found = Addresses::find(
        &endpoint,
        &Resolver::default(),
        &Sources::default(),
        5 * SEC,
        &StopSignal::new(),
    );
    assert_eq!(listed(&found.unwrap())[0].address, six.to_string());
}

/// A server that responds to everything on its address, and counts requests.
fn counting(listener: TcpListener) -> Arc<AtomicUsize> {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let counted = Arc::clone(&counted);
            thread::spawn(move || {
                let mut room = [0; 4096];
                let mut last = Vec::new();
                while let Ok(length @ 1..) = stream.read(&mut room) {
                    last.extend_from_slice(&room[..length]);
                    if last.ends_with(b"\r\n\r\n") {
                        last.clear();
                        counted.fetch_add(1, Ordering::SeqCst);
                        let _ = stream.write_all(whole().as_bytes());
                    }
                }
            });
        }
    });
    requests
}

#[test]
fn requests_are_shared_out_equally_and_control_requests_are_not() {
    let (one, first) = listening(ONE);
    let (two, second) = listening(TWO);
    let counts = [counting(one), counting(two)];
    let mut addresses = found(&[first, second]).unwrap();
    addresses.number(&mut Vec::new());
    let mut desk = Desk::at(addresses);
    desk.client.prepare(3).unwrap();
    let mut numbers = Vec::new();
    // One at a time, then two.
    for wave in [1, 1, 1, 1, 2, 2, 2] {
        (0..wave).for_each(|_| desk.dispatch());
        let mut records: Vec<_> = (0..wave).map(|_| desk.record()).collect();
        records.sort_by_key(|record| record.index);
        for record in records {
            assert_eq!(record.outcome, Outcome::Completed, "{record:?}");
            assert!(record.reused, "the connections were opened before");
            numbers.push(record.address.unwrap());
        }
    }
    assert_eq!(numbers, [0, 1].repeat(5));
    let got = || counts.each_ref().map(|count| count.load(Ordering::SeqCst));
    assert_eq!(got(), [5, 5]);
    for _ in 0..3 {
        let fetched = desk.client.fetch("/health", 5 * SEC, &StopSignal::new()).unwrap();
        assert_eq!(fetched.record.status, Some(200));
    }
    assert_eq!(got(), [8, 5]);
}

#[test]
fn an_address_that_dies_fails_its_own_requests_by_name() {
    let (one, first) = listening(ONE);
    let (two, second) = listening(TWO);
    counting(one);
    let mut addresses = found(&[first, second]).unwrap();
    addresses.number(&mut Vec::new());
    drop(two);
    let mut desk = Desk::at(addresses);
    desk.client.prepare(4).unwrap();
    for expected in [None, Some(second), None, Some(second)] {
        desk.dispatch();
        let record = desk.record();
        match expected {
            None => assert_eq!(record.outcome, Outcome::Completed),
            Some(address) => {
                assert_eq!(record.outcome, Outcome::Failed(FailureClass::Connect));
                let detail = record.detail.unwrap().to_string();
                assert!(detail.ends_with(&format!("({address})")), "{detail}");
            }
        }
    }
}

#[test]
fn the_address_of_a_single_one_is_not_recorded() {
    let (one, first) = listening(ONE);
    counting(one);
    let refusing = dead(TWO);
    let mut addresses = found(&[first, refusing]).unwrap();
    addresses.number(&mut Vec::new());
    let mut desk = Desk::at(addresses);
    desk.dispatch();
    assert_eq!(desk.record().address, None);
}

#[test]
fn an_address_that_does_not_answer_is_not_waited_for() {
    // A listener whose queue is full does not answer.
    let (full, silent) = listening(TWO);
    rustix::net::listen(&full, 0).unwrap();
    let mut held = Vec::new();
    for _ in 0..8 {
        let short = std::time::Duration::from_millis(50);
        held.extend(std::net::TcpStream::connect_timeout(&silent, short));
    }
    let (_one, first) = listening(ONE);
    let endpoint = Endpoint::parse("http://gpu:8000", DIALECTS[0]).unwrap();
    let resolver = Resolver::new(move |_, _| Ok(vec![first, silent]));
    let found =
        Addresses::find(&endpoint, &resolver, &Sources::default(), 300 * MS, &StopSignal::new())
            .unwrap();
    let list = listed(&found);
    assert_eq!(list[1].unused.as_deref(), Some("no connection within 300ms"), "{list:?}");
}

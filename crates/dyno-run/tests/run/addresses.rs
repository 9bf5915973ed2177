//! Targets with several addresses, by a resolver of the test's own: real servers on several loopback
//! addresses.
#![allow(clippy::unwrap_used)]

use dyno_engine::{Running, Server, ServerOptions};
use dyno_model::environment::Address;
use dyno_model::plan::LevelPlan;
use dyno_run::{Embedded, ErrorSource, FinishedRun, Order, Resolver, RunError, run};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};

const ONE: [u8; 4] = [127, 0, 0, 1];
const TWO: [u8; 4] = [127, 0, 0, 2];

fn engine(host: impl Into<IpAddr>) -> Running {
    let options = Embedded::named("ttft=20ms,itl=2ms,tokens=4").unwrap().options(0).unwrap();
    let options = ServerOptions { host: host.into(), ..options };
    Server::bind(options).and_then(Server::spawn).unwrap()
}

/// An address that refuses connections.
fn dead(host: impl Into<IpAddr>) -> SocketAddr {
    TcpListener::bind(SocketAddr::new(host.into(), 0)).unwrap().local_addr().unwrap()
}

/// A run of twenty requests, against a host that has these addresses.
fn measured(host: &str, addresses: Vec<SocketAddr>) -> Result<FinishedRun, RunError> {
    let order = Order::server(&format!("http://{host}:8000"))?;
    let mut order = order.level(LevelPlan::closed_loop(2, 20));
    let host = host.to_owned();
    order.reach.resolver = Resolver::new(move |asked, _| {
        assert_eq!(asked, host);
        Ok(addresses.clone())
    });
    run(order, &())
}

fn listed(finished: &FinishedRun) -> Vec<Address> {
    finished.dir.read_environment().unwrap().unwrap().server.addresses
}

fn note(finished: &FinishedRun, code: &str) -> Option<String> {
    let notes = &finished.summary.as_ref().unwrap().notes;
    notes.iter().find(|note| note.code == code).map(|note| note.what.clone())
}

fn completed(finished: &FinishedRun) -> Option<u64> {
    finished.summary.as_ref().unwrap().levels[0].requests.completed
}

#[test]
fn localhost_that_listens_on_ipv6_only() {
    let server = engine(Ipv6Addr::LOCALHOST);
    let four = SocketAddr::from((ONE, server.addr().port()));
    let finished = measured("localhost", vec![four, server.addr()]).unwrap();
    assert_eq!(completed(&finished), Some(20));
    let [six, refused] = listed(&finished).try_into().unwrap();
    assert_eq!((six.address, six.unused), (server.addr().to_string(), None));
    assert_eq!(refused.address, four.to_string());
    assert!(refused.unused.unwrap().contains("refused"));
    // One server, whatever its family.
    assert_eq!(note(&finished, "several_addresses"), None);
    assert_eq!(note(&finished, "addresses_unused"), None);
}

#[test]
fn two_servers_behind_one_name_get_the_same_number_of_requests_and_are_named() {
    let servers = [engine(TWO), engine(ONE)];
    let [second, first] = servers.each_ref().map(Running::addr);
    let finished = measured("gpus", vec![second, first]).unwrap();
    assert_eq!(completed(&finished), Some(20));
    let names =
        [first, second].map(|address| Address { address: address.to_string(), unused: None });
    assert_eq!(listed(&finished), names);
    let text = note(&finished, "several_addresses").unwrap();
    assert!(text.ends_with(&format!(": {first} (10), {second} (10)")), "{text}");
    assert_eq!(note(&finished, "addresses_unused"), None);
}

#[test]
fn a_dead_server_behind_a_name_is_left_out_and_named() {
    let (server, dead) = (engine(ONE), dead(TWO));
    let finished = measured("gpus", vec![dead, server.addr()]).unwrap();
    assert_eq!(completed(&finished), Some(20));
    assert_eq!(note(&finished, "several_addresses"), None);
    let text = note(&finished, "addresses_unused").unwrap();
    assert!(text.ends_with(&format!(": {dead}")), "{text}");
    assert_eq!(listed(&finished).len(), 2);
}

#[test]
fn a_name_whose_servers_are_all_dead_is_an_error_that_names_them() {
    let [one, two] = [dead(ONE), dead(TWO)];
    let error = measured("gpus", vec![one, two]).err().unwrap();
    assert_eq!(error.blame(), ErrorSource::Target);
    let text = error.to_string();
    for expected in ["http://gpus:8000: the target cannot be reached", "curl http://gpus:8000"] {
        assert!(text.contains(expected), "{text}");
    }
    assert!(text.contains(&one.to_string()) && text.contains(&two.to_string()), "{text}");
}

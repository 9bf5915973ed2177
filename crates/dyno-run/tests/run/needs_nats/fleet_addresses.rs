//! Agents that a name server tells other addresses than the coordinator: real servers on several loopback
//! addresses, agents on a real bus, each with a resolver of its own.
#![allow(clippy::unwrap_used)]

use dyno_engine::{Running, Server, ServerOptions};
use dyno_model::fleet::FleetPlan;
use dyno_model::frame::Frame;
use dyno_model::plan::LevelPlan;
use dyno_run::fleet::nats::{BusOptions, Given};
use dyno_run::fleet::{AgentSource, AgentWork, KeepRecords, OnBus, serve_bus};
use dyno_run::{ConnectionSettings, Embedded, Order, Resolver, StopSignal, run};
use dyno_testing::nats::Nats;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::Duration;

fn engine(host: [u8; 4]) -> Running {
    let options = Embedded::named("ttft=20ms,itl=2ms,tokens=4").unwrap().options(0).unwrap();
    let options = ServerOptions { host: IpAddr::from(host), ..options };
    Server::bind(options).and_then(Server::spawn).unwrap()
}

fn options(bus: &Nats) -> BusOptions {
    BusOptions::new(&Given { bus: bus.url(), ..Given::default() }, |_| None).unwrap()
}

fn resolving(to: Vec<SocketAddr>) -> Resolver {
    Resolver::new(move |_, _| Ok(to.clone()))
}

#[test]
fn addresses_that_only_one_agent_knows_are_told_apart() {
    let servers = [[127, 0, 0, 1], [127, 0, 0, 2], [127, 0, 0, 3]].map(engine);
    let [one, two, three] = servers.each_ref().map(Running::addr);
    let bus = Nats::start();
    let agents = [("a", vec![one, two]), ("b", vec![one, three])].map(|(name, known)| {
        let options = options(&bus);
        thread::spawn(move || {
            let agent = AgentWork {
                name: name.to_owned(),
                reach: ConnectionSettings {
                    resolver: resolving(known),
                    ..ConnectionSettings::default()
                },
                targets: Vec::new(),
                counting: None,
                shares_files: false,
                may_measure: Box::new(|_| Ok(())),
                keep: KeepRecords::Below(Vec::new()),
            };
            serve_bus(
                &agent,
                &options,
                true,
                &StopSignal::new(),
                |_| (),
                |_, ended| ended.how.unwrap(),
            )
        })
    });
    let mut order = Order::server("http://gpus:8000").unwrap();
    order = order.level(LevelPlan::closed_loop(4, 24)).level(LevelPlan::closed_loop(4, 24));
    order.plan.fleet = Some(FleetPlan { agents: 2, bus: true });
    order.reach.resolver = resolving(vec![one]);
    order.crew =
        Some(AgentSource::Bus(OnBus { options: options(&bus), within: Duration::from_secs(60) }));
    let finished = run(order, &()).unwrap();
    agents.into_iter().for_each(|agent| agent.join().unwrap().unwrap());

    let listed = finished.dir.read_environment().unwrap().unwrap().server.addresses;
    let listed: Vec<&str> = listed.iter().map(|listed| listed.address.as_str()).collect();
    assert_eq!(listed, [one, two, three].map(|address| address.to_string()));
    let used = |agent: u32| -> BTreeSet<Option<u8>> {
        let requests = finished.dir.records().unwrap().filter_map(|frame| match frame {
            Frame::Request(record) if record.agent == Some(agent) => Some(record.address),
            _ => None,
        });
        requests.collect()
    };
    // Both agents call their second address number 1.
    assert_eq!(used(0), BTreeSet::from([Some(0), Some(1)]));
    assert_eq!(used(1), BTreeSet::from([Some(0), Some(2)]));
    let summary = finished.summary.unwrap();
    let note = summary.notes.iter().find(|note| note.code == "several_addresses").unwrap();
    for address in listed {
        assert!(note.what.contains(address), "{}", note.what);
    }
}

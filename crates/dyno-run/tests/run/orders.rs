//! What an agent does with orders that no coordinator gives: it refuses them, and waits for others.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use dyno_fleet::{AgentLine, Arrived, FromAgent, PrepareLevel, Setup, ToAgent, decode, encode};
use dyno_model::plan::{Arrival, LevelPlan, Load, Plan, Shard, Target};
use dyno_net::Clock;
use dyno_run::fleet::{AgentWork, Ended, serve};
use dyno_run::{ConnectionSettings, StopSignal};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

const URL: &str = "http://127.0.0.1:9";

/// An agent on a thread, and the coordinator's end of its line.
struct Ordered {
    orders: Sender<Arrived>,
    said: Receiver<Vec<u8>>,
    agent: JoinHandle<Ended>,
}

impl Ordered {
    fn start() -> Self {
        let (orders, inbox) = mpsc::channel();
        let (say, said) = mpsc::channel();
        let send = move |packet| {
            say.send(packet).map_err(|_| dyno_model::Message::quoted("nobody listens"))
        };
        let line = AgentLine::new(Box::new(send), inbox);
        let agent = thread::spawn(|| {
            let agent = AgentWork::child("a".to_owned(), ConnectionSettings::default());
            serve(&agent, line, Clock::start(), &StopSignal::new())
        });
        Self { orders, said, agent }
    }

    /// What it answers to an order.
    fn told(&self, order: ToAgent) -> FromAgent {
        let packet = Ok(encode(&order, &[]).unwrap());
        self.orders.send(Arrived { at: 0, packet }).unwrap();
        self.next()
    }

    fn next(&self) -> FromAgent {
        decode(&self.said.recv().unwrap()).unwrap().0
    }
}

fn setup(shard: Shard) -> ToAgent {
    let settled = serde_json::json!({
        "model": "m", "stream": true, "fields": [], "temperature": null, "stop": [], "extra": {},
        "forced": false, "addresses": [], "server_counts": false,
        "attempt": { "edition": 0, "run": 1, "taken": 0 },
    });
    let (plan, url) = (Plan::new(Target::at(URL)), URL.to_owned());
    let (run, files, sources) = ("run".to_owned(), Vec::new(), Vec::new());
    ToAgent::Setup(Box::new(Setup { run, plan, shard, url, settled, files, cpu: None, sources }))
}

#[test]
fn plans_that_no_machine_can_carry_out_are_refused() {
    let agent = Ordered::start();
    assert!(matches!(agent.next(), FromAgent::Hello(_)));
    let refused = |answer: FromAgent, words: &str| match answer {
        FromAgent::Refused { why } => assert!(why.to_string().contains(words), "{why}"),
        other => panic!("{other:?}"),
    };
    refused(agent.told(setup(Shard { index: 0, of: 0 })), "shard.of = 0");
    assert_eq!(agent.told(setup(Shard::WHOLE)), FromAgent::Settled);
    let prepare = |load| {
        let plan = LevelPlan::new(load);
        ToAgent::Prepare(Box::new(PrepareLevel { level: 0, plan, taken: 0, failures: None }))
    };
    let endless = Load::Rate { rate: 5.0, arrival: Arrival::Poisson };
    refused(agent.told(prepare(endless)), "a level without an end");
    refused(agent.told(prepare(Load::Burst { requests: u64::MAX })), "accepted are 1 to 100000");
    let leave = encode(&ToAgent::Leave { why: dyno_model::Message::quoted("over") }, &[]).unwrap();
    agent.orders.send(Arrived { at: 0, packet: Ok(leave) }).unwrap();
    agent.agent.join().unwrap().how.unwrap();
}

//! How agents and coordinators find each other.

use super::agents::{Agent, VERSION, Work, hello};
use super::run::{Run, call};
use super::{open, options};
use dyno_fleet::nats::{BusError, Given, Notice, hub};
use dyno_fleet::{Hello, PIECE, PROTOCOL};
use dyno_net::Clock;
use dyno_testing::nats::Nats;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(1_500);

#[test]
fn agents_are_led_through_levels_and_are_free_again() {
    let server = Nats::start();
    let options = open(&server);
    let work = Work::default();
    let agents: Vec<Agent> = ["c", "a", "b"].map(|name| Agent::start(&options, name)).into();
    for round in 0..2 {
        let mut run = Run::begin(&options, "first", 3);
        assert_eq!(run.names(), ["a", "b", "c"], "numbered by name");
        run.carries_out(1, work);
        run.carries_out(2, work);
        drop(run);
        for agent in &agents {
            agent.is_free();
            let notices = agent.notices.lock().unwrap();
            let engaged = Notice::Engaged { run: "first".to_owned() };
            assert_eq!(
                notices.iter().filter(|one| **one == engaged).count(),
                round + 1,
                "{notices:?}"
            );
            assert_eq!(
                agent.left.lock().unwrap().as_ref().map(ToString::to_string).as_deref(),
                Some("the run is over")
            );
        }
    }
}

#[test]
fn two_runs_on_one_bus_do_not_disturb_each_other() {
    let server = Nats::start();
    let options = open(&server);
    let work = Work::default();
    let agents = Agent::several(&options, 5, work);
    let mut one = Run::begin(&options, "one", 2);
    let mut two = Run::begin(&options, "two", 2);
    let mut names = [one.names(), two.names()].concat();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 4, "{names:?}");
    let both = std::thread::scope(|scope| {
        let other = scope.spawn(|| two.carries_out(1, work));
        one.carries_out(1, work);
        other.join()
    });
    both.unwrap();
    let error = Run::within(&options, "three", 2, SHORT).err().unwrap();
    let BusError::TooFew(too_few) = &error else { panic!("{error}") };
    assert_eq!((too_few.free.len(), too_few.busy.len()), (1, 4), "{error}");
    let (one, two) = (one.names(), two.names());
    let with = |name: &String| if one.contains(name) { "one" } else { "two" };
    let both = [&one[..], &two[..]].concat();
    let mut busy: Vec<String> =
        both.iter().map(|name| format!("{name} with run {}", with(name))).collect();
    busy.sort_unstable();
    let message = format!(
        "1 of 2 agents came within 1 s to the bus at {}: {}; busy: {}",
        server.url(),
        too_few.free[0],
        busy.join(", ")
    );
    assert_eq!(error.to_string(), message);
    drop(agents);
}

#[test]
fn agents_of_another_version_are_named_and_not_taken() {
    let server = Nats::start();
    let options = open(&server);
    let other = Hello { version: "0.0".to_owned(), ..hello("old") };
    let agents = [Agent::with(&options, other, Work::default()), Agent::start(&options, "new")];
    agents.iter().for_each(Agent::is_free);
    let error = Run::within(&options, "run", 2, SHORT).err().unwrap();
    let message = format!(
        "1 of 2 agents came within 1 s to the bus at {}: new; of another version than {VERSION}: old is Dyno 0.0",
        server.url()
    );
    assert_eq!(error.to_string(), message);
    let older = Hello { protocol: PROTOCOL - 1, ..hello("older") };
    let older = Agent::with(&options, older, Work::default());
    older.is_free();
    let error = Run::within(&options, "run", 2, SHORT).err().unwrap().to_string();
    let said = format!("older is Dyno {VERSION} (protocol {})", PROTOCOL - 1);
    assert!(error.contains(&said), "{error}");
    assert_eq!(Run::begin(&options, "run", 1).names(), ["new"]);
}

#[test]
fn a_call_that_nobody_answers_or_that_is_given_up_ends() {
    let server = Nats::start();
    let error = Run::within(&open(&server), "run", 3, SHORT).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("0 of 3 agents came within 1 s to the bus at {}", server.url())
    );
    let asked = Instant::now();
    let stop = || asked.elapsed() > Duration::from_millis(200);
    let minute = Duration::from_secs(60);
    let result = hub(&open(&server), &call("run", 3, minute), Clock::start(), &stop);
    assert_eq!(result.err(), Some(BusError::Interrupted));
    assert!(asked.elapsed() < Duration::from_secs(20));
}

#[test]
fn prefixes_keep_fleets_apart() {
    let server = Nats::start();
    let with = |prefix: &str| {
        options(&Given { bus: server.url(), prefix: Some(prefix.to_owned()), ..Given::default() })
    };
    let agent = Agent::start(&with("team.one"), "a");
    agent.is_free();
    assert!(Run::within(&with("team.two"), "run", 1, SHORT).is_err());
    Run::begin(&with("team.one"), "run", 1);
}

#[test]
fn an_agent_whose_coordinator_never_speaks_goes_back_to_the_lobby() {
    let server = Nats::start();
    let options = open(&server);
    let agent = Agent::start(&options, "a");
    agent.is_free();
    let within = Duration::from_secs(30);
    let silent = hub(&options, &call("silent", 1, within), Clock::start(), &|| false).unwrap();
    agent.waits_for("engagement", |notices| {
        notices.contains(&Notice::Engaged { run: "silent".to_owned() })
    });
    agent.is_free();
    let why = agent.left.lock().unwrap().clone();
    let why = why.map(|why| why.to_string());
    assert_eq!(why.as_deref(), Some("nothing more was heard from the coordinator"));
    Run::begin(&options, "next", 1).carries_out(1, Work::default());
    drop(silent);
}

#[test]
fn an_agent_that_ends_is_lost_at_once() {
    let server = Nats::start();
    let options = open(&server);
    let work = Work { level: Duration::from_secs(20), ..Work::default() };
    let mut agents = Agent::several(&options, 2, work);
    let mut run = Run::begin(&options, "run", 2);
    let gone = agents.pop();
    let begun = Instant::now();
    let parts = std::thread::scope(|scope| {
        scope.spawn(|| {
            let gone = gone.as_ref().unwrap();
            while gone.last_sent().is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
            gone.end();
        });
        run.level(1).unwrap()
    });
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert!(parts[0].done.is_some(), "{parts:?}");
    let lost = parts[1].lost.as_ref().map(ToString::to_string);
    assert_eq!(lost.as_deref(), Some("it has left the bus"));
}

#[test]
fn messages_are_cut_to_what_the_server_takes() {
    let server = Nats::with("max_payload: 10000");
    let options = open(&server);
    let work = Work { bytes: 2 * PIECE, ..Work::default() };
    let _agents = Agent::several(&options, 2, work);
    let mut run = Run::begin(&options, "run", 2);
    run.carries_out(1, work);

    let small = Nats::with("max_payload: 1000");
    let error = Run::within(&open(&small), "run", 1, SHORT).err().unwrap();
    let message = format!(
        "the bus at {} takes messages of at most 1000 bytes: set max_payload of nats-server to 8192 or more",
        small.url()
    );
    assert_eq!(error.to_string(), message);
}

#[test]
fn an_agent_waits_for_its_bus_and_a_coordinator_does_not() {
    let mut server = Nats::start();
    let options = open(&server);
    server.kill();
    let agent = Agent::start(&options, "a");
    agent.waits_for("notice", |notices| matches!(notices, [Notice::NotThere { .. }]));
    let error = Run::within(&options, "run", 1, SHORT).err().unwrap().to_string();
    let message = format!(
        "cannot reach the bus at {}: IO error: Connection refused (os error 111)",
        server.url()
    );
    assert_eq!(error, message);
    server.restart();
    agent.is_free();
    Run::begin(&options, "run", 1);
}

#[test]
fn the_second_of_several_servers_is_enough() {
    let server = Nats::start();
    let mut gone = Nats::start();
    gone.kill();
    let options =
        options(&Given { bus: format!("{},{}", gone.url(), server.url()), ..Given::default() });
    let _agent = Agent::start(&options, "a");
    Run::begin(&options, "run", 1).carries_out(1, Work::default());
}

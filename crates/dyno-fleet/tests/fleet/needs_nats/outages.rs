//! A bus that is killed, and comes back soon, late, or not at all.

use super::agents::{Agent, Work};
use super::open;
use super::run::Run;
use dyno_fleet::SILENCE;
use dyno_fleet::nats::Notice;
use dyno_testing::nats::Nats;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const MOMENTS: u64 = 20;
const AGENTS: usize = 2;
const WORK: Work = Work { level: Duration::from_millis(1_000), bytes: 700_000 };
/// Between two moments: together they cover a level, from its preparation to its records.
const BETWEEN: Duration = Duration::from_millis(80);
/// An agent may stop sending so much after its time was up.
const SOON: Duration = Duration::from_millis(1_500);

/// Kills the bus at a moment of a level and lets it come back after a while.
struct Outage {
    /// Without the bus, as far as the test could see.
    took: Duration,
    killed: Instant,
    survived: bool,
    /// How long the run took from there.
    ended: Duration,
}

fn outage(server: &mut Nats, run: &mut Run, moment: u64, away: Duration) -> Outage {
    thread::scope(|scope| {
        let (tell, over) = mpsc::channel();
        let level = scope.spawn(move || {
            let parts = run.level(1);
            let whole = parts.is_ok_and(|parts| parts.iter().all(|part| part.done.is_some()));
            let survived = whole && run.pull(WORK).is_ok();
            let _ = tell.send(());
            survived
        });
        thread::sleep(BETWEEN * moment as u32);
        server.kill();
        let killed = Instant::now();
        let _ = over.recv_timeout(away);
        thread::sleep(away.saturating_sub(killed.elapsed()));
        server.restart();
        let took = killed.elapsed();
        let survived = level.join().unwrap();
        Outage { took, killed, survived, ended: killed.elapsed() }
    })
}

/// All moments at the same time, each with a bus of its own.
fn at_all_moments(test: impl Fn(u64) + Sync) {
    thread::scope(|scope| {
        for moment in 0..MOMENTS {
            let test = &test;
            scope.spawn(move || test(moment));
        }
    });
}

#[test]
fn a_short_outage_at_any_moment_of_a_level_is_survived() {
    at_all_moments(|moment| {
        let mut server = Nats::start();
        let options = open(&server);
        let agents = Agent::several(&options, AGENTS, WORK);
        let mut run = Run::begin(&options, "run", AGENTS);
        let away = Duration::from_millis(100 + moment % 4 * 300);
        let outage = outage(&mut server, &mut run, moment, away);
        println!(
            "moment {moment}: without the bus for {:?}, survived: {}",
            outage.took, outage.survived
        );
        // On a machine that is too busy to start a server, it may have been long.
        if outage.took < Duration::from_millis(1_200) {
            assert!(outage.survived, "moment {moment}: {:?}", outage.took);
            let seen = |notices: &[Notice]| {
                notices.contains(&Notice::Interrupted) && notices.contains(&Notice::Back)
            };
            agents.iter().for_each(|agent| agent.waits_for("interruption", seen));
            run.carries_out(2, WORK);
        }
    });
}

#[test]
fn a_long_outage_at_any_moment_stops_everybody_and_agents_come_back() {
    at_all_moments(|moment| {
        let mut server = Nats::start();
        let options = open(&server);
        let agents =
            Agent::several(&options, AGENTS, Work { level: Duration::from_secs(60), ..WORK });
        let mut run = Run::begin(&options, "run", AGENTS);
        let outage = outage(&mut server, &mut run, moment, Duration::from_secs(6));
        assert!(!outage.survived, "moment {moment}");
        assert!(outage.ended < Duration::from_secs(30), "moment {moment}: {:?}", outage.ended);
        for agent in &agents {
            if let Some(sent) = agent.last_sent() {
                let after = sent.saturating_duration_since(outage.killed);
                println!("moment {moment}: sent until {after:?} after the bus was killed");
                assert!(after < SILENCE + SOON, "moment {moment}: sent {after:?} later");
            }
        }
        drop(run);
        agents.iter().for_each(Agent::is_free);
        assert_eq!(Run::begin(&options, "next", AGENTS).names().len(), AGENTS);
    });
}

#[test]
fn a_bus_that_dies_before_records_are_fetched_is_the_reason_that_is_given() {
    let mut server = Nats::start();
    let options = open(&server);
    let _agents = Agent::several(&options, AGENTS, WORK);
    let mut run = Run::begin(&options, "run", AGENTS);
    run.level(1).unwrap();
    server.kill();
    let said = run.pull(WORK).unwrap_err().to_string();
    assert!(said.ends_with("was lost: the bus could not be reached for 4 s"), "{said}");
}

#[test]
fn a_bus_that_dies_while_agents_are_called_for_ends_the_call() {
    let mut server = Nats::start();
    let options = open(&server);
    thread::scope(|scope| {
        let call = scope.spawn(|| Run::within(&options, "run", 1, Duration::from_secs(600)));
        thread::sleep(Duration::from_millis(700));
        server.kill();
        let said = call.join().unwrap().err().unwrap().to_string();
        assert!(said.ends_with(": its connection was closed"), "{said}");
    });
}

#[test]
fn a_call_for_agents_outlives_its_bus() {
    let mut server = Nats::start();
    let options = open(&server);
    let first = Agent::start(&options, "a");
    first.is_free();
    thread::scope(|scope| {
        let run = scope.spawn(|| Run::begin(&options, "run", 2).carries_out(1, Work::default()));
        thread::sleep(Duration::from_millis(700));
        server.kill();
        thread::sleep(Duration::from_millis(300));
        server.restart();
        let second = Agent::start(&options, "b");
        run.join().unwrap();
        second.is_free();
    });
    first.is_free();
}

//! The same arrivals give the same steps on a real clock and in virtual time.

use crate::support::{Client, post};
use dyno_engine::core::{Core, Cost, Front, Launch, Policy, Request, Scheduler, Step};
use dyno_engine::virtual_time::Virtual;
use dyno_engine::{LiveEvent, LiveLog, Server, ServerOptions, TwinBrain};
use dyno_model::Nanos;
use dyno_stats::rng::SplitMix;
use std::time::Duration;

/// Small engines: queues, preemption, shared prompts and noise all happen within a few requests.
/// A detailed one decides steps ahead, takes time to launch them, and has a front end with work.
fn engine(policy: Policy, detailed: bool, seed: u64) -> Core {
    let mut random = SplitMix::new(seed);
    let max_seqs = 2 + random.below(6) as u32;
    let token_budget = 8 + random.below(60) as u32;
    let block = 1 + random.below(5) as u32;
    let kv_blocks = 60 + random.below(60) as u64;
    let scheduler = Scheduler {
        policy,
        max_seqs,
        token_budget,
        block,
        // Fewer requests are in a detailed engine at once.
        kv_blocks: if detailed { kv_blocks / u64::from(block) } else { kv_blocks },
        prefix_cache: random.below(3) > 0,
        context: None,
        steps_ahead: u32::from(detailed),
    };
    let launch = Launch {
        decode: 0.0002,
        prefill: 0.001 * random.unit(),
        sequence: 0.0001,
        captured: 64,
        large: 0.002,
    };
    let front = Front {
        request: 0.0001,
        input: 1e-6,
        turns: 1 + random.below(3) as u32,
        chunk: 0.0001,
        merges: 8 * random.below(2) as u32,
    };
    let cost = Cost {
        base: 0.0003 + 0.001 * random.unit(),
        prefill_token: 0.00002,
        decode: 0.0001,
        front_end: if random.below(2) == 0 { 0.0 } else { 0.001 },
        launch: if detailed { launch } else { Launch::default() },
        front: if detailed { front } else { Front::default() },
        noise: 0.2,
        ..Cost::default()
    };
    Core::new(scheduler, cost, seed).unwrap()
}

/// Sends requests from separate clients at random times, some of which disconnect early; returns the
/// engine's log.
fn live(core: Core, seed: u64) -> Vec<LiveEvent> {
    let log = LiveLog::default();
    let brain = TwinBrain::new("x", core, 1_000, 8).with_log(log.clone());
    let options = ServerOptions { brain: brain.into(), ..ServerOptions::default() };
    let running = Server::bind(options).unwrap().spawn().unwrap();
    let addr = running.addr();
    let clients: Vec<_> = (0..6)
        .map(|client| {
            std::thread::spawn(move || {
                let mut random = SplitMix::new(seed ^ (client << 32));
                let mut connection = Client::connect(addr);
                for _ in 0..4 {
                    std::thread::sleep(Duration::from_micros(random.below(4_000) as u64));
                    let shared = "w ".repeat(random.below(20));
                    let own = format!("{client} ").repeat(1 + random.below(10));
                    let (n, stream) = (1 + random.below(20), random.below(4) > 0);
                    let body = format!(
                        "{{\"prompt\":\"{shared}{own}\",\"max_tokens\":{n},\"ignore_eos\":true,\
                         \"stream\":{stream}}}"
                    );
                    connection.send(&post("/v1/completions", "", &body));
                    if random.below(4) == 0 {
                        std::thread::sleep(Duration::from_micros(random.below(6_000) as u64));
                        connection = Client::connect(addr);
                    } else {
                        assert_eq!(connection.response().status, 200);
                    }
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    running.stop().unwrap();
    log.take()
}

/// Replays the arrivals in virtual time.
fn replayed(core: Core, events: &[LiveEvent]) -> Vec<Step> {
    let mut engine = Virtual::new(core);
    engine.keep_steps(true);
    let advance = |engine: &mut Virtual, at: Nanos| while engine.advance(at).is_some() {};
    for event in events {
        match event {
            LiveEvent::Arrived { at, id, input, output, hashes } => {
                advance(&mut engine, *at);
                let request = Request { id: *id, input: *input, output: *output, hashes };
                engine.submit(*at, request).unwrap();
            }
            LiveEvent::Left { at, id } => {
                advance(&mut engine, *at);
                assert!(engine.cancel(*id));
            }
            LiveEvent::Stepped(_) => {}
        }
    }
    advance(&mut engine, Nanos::MAX);
    engine.steps().to_vec()
}

fn check(policy: Policy, detailed: bool, seeds: std::ops::Range<u64>) {
    let (mut arrivals, mut departures, mut preempted, mut steps) = (0, 0, 0, 0);
    for seed in seeds {
        let core = engine(policy, detailed, seed);
        let events = live(core.clone(), seed);
        let stepped: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                LiveEvent::Stepped(step) => Some(*step),
                _ => None,
            })
            .collect();
        let expected = replayed(core, &events);
        // The server was stopped when the last client had its response, or had gone.
        assert!(stepped.len() <= expected.len());
        for (live, expected) in stepped.iter().zip(&expected) {
            assert_eq!(live, expected, "{policy:?}, seed {seed}");
        }
        let count = |of: fn(&LiveEvent) -> bool| events.iter().filter(|event| of(event)).count();
        arrivals += count(|event| matches!(event, LiveEvent::Arrived { .. }));
        departures += count(|event| matches!(event, LiveEvent::Left { .. }));
        preempted += stepped.iter().map(|step| step.preempted).sum::<u32>();
        steps += stepped.len();
    }
    // Everything occurred in some run.
    assert!(arrivals > 200 && departures > 20 && steps > 1_000, "{arrivals} {departures} {steps}");
    assert!(preempted > 0);
}

#[test]
fn prefill_first_gives_the_same_steps_live_and_in_virtual_time() {
    check(Policy::PrefillFirst, false, 0..16);
}

#[test]
fn chunked_prefill_gives_the_same_steps_live_and_in_virtual_time() {
    check(Policy::Chunked, false, 100..116);
}

#[test]
fn steps_ahead_launches_and_a_front_end_are_the_same_live_and_in_virtual_time() {
    check(Policy::Chunked, true, 200..216);
    check(Policy::PrefillFirst, true, 300..316);
}

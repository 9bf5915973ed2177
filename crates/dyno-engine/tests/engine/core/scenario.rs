//! Random engines and random events, and a way to drive any engine through them.

use dyno_engine::core::{
    Core, Cost, CostKnee, Event, Front, Launch, Policy, RefusedRequest, Request, Scheduler, Step,
    Token,
};
use dyno_engine::virtual_time::Virtual;
use dyno_model::Nanos;
use proptest::prelude::*;
use std::collections::HashMap;

/// An engine without a clock.
pub(crate) trait Engine {
    fn submit(&mut self, request: Request<'_>, at: Nanos) -> Result<(), RefusedRequest>;
    fn cancel(&mut self, id: u64) -> bool;
    fn idle(&mut self, until: Nanos);
    fn next_start(&self) -> Option<Nanos>;
    fn plan(&mut self) -> Option<Step>;
    fn commit(&mut self, done: &mut Vec<Event>);
    fn emitted(&self) -> Vec<Token>;
    /// Waiting, running, and blocks in use.
    fn gauges(&self) -> (usize, usize, u64);
}

impl Engine for Core {
    fn submit(&mut self, request: Request<'_>, at: Nanos) -> Result<(), RefusedRequest> {
        self.submit(request, at)
    }
    fn cancel(&mut self, id: u64) -> bool {
        self.cancel(id)
    }
    fn idle(&mut self, until: Nanos) {
        self.idle(until);
    }
    fn next_start(&self) -> Option<Nanos> {
        self.next_start()
    }
    fn plan(&mut self) -> Option<Step> {
        self.plan()
    }
    fn commit(&mut self, done: &mut Vec<Event>) {
        self.commit(done);
    }
    fn emitted(&self) -> Vec<Token> {
        self.emitted().collect()
    }
    fn gauges(&self) -> (usize, usize, u64) {
        (self.waiting(), self.running(), self.kv_used())
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// A request that says that it arrived at some time, before or after it is submitted.
    Submit {
        at: Nanos,
        id: u64,
        input: u32,
        output: u32,
        hashes: Vec<u64>,
    },
    Cancel {
        id: u64,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) scheduler: Scheduler,
    pub(crate) cost: Cost,
    pub(crate) seed: u64,
    /// In the order of time.
    pub(crate) acts: Vec<(Nanos, Act)>,
}

/// Everything observable in a run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Log {
    pub(crate) steps: Vec<Step>,
    pub(crate) events: Vec<Event>,
    /// What each act gave.
    pub(crate) answers: Vec<Result<bool, RefusedRequest>>,
    /// Tokens of each step, by id.
    pub(crate) tokens: Vec<Vec<Token>>,
    /// Gauges after the plan and after the end of each step.
    pub(crate) gauges: Vec<(usize, usize, u64)>,
}

fn perform(engine: &mut impl Engine, act: &Act) -> Result<bool, RefusedRequest> {
    match act {
        Act::Submit { at, id, input, output, hashes } => {
            let request = Request { id: *id, input: *input, output: *output, hashes };
            engine.submit(request, *at).map(|()| true)
        }
        Act::Cancel { id } => Ok(engine.cancel(*id)),
    }
}

/// Takes an engine through all acts and to the end, a step at a time.
pub(crate) fn drive(engine: &mut impl Engine, acts: &[(Nanos, Act)]) -> Log {
    let mut log = Log::default();
    let mut in_flight: Option<Step> = None;
    let ends = [(Nanos::MAX, None)];
    for (until, what) in acts.iter().map(|(at, act)| (*at, Some(act))).chain(ends) {
        loop {
            if let Some(step) = in_flight {
                if step.end > until {
                    break;
                }
                engine.commit(&mut log.events);
                let mut tokens = engine.emitted();
                tokens.sort_by_key(|token| token.id);
                log.tokens.push(tokens);
                log.gauges.push(engine.gauges());
                log.steps.push(step);
                in_flight = None;
            } else if engine.next_start().is_some_and(|start| start < until) {
                in_flight = engine.plan();
                log.gauges.push(engine.gauges());
                assert!(log.steps.len() < 100_000, "it does not end");
            } else {
                engine.idle(until);
                break;
            }
        }
        log.answers.extend(what.map(|act| perform(engine, act)));
    }
    log
}

/// What is observed in virtual time.
pub(crate) struct Seen {
    pub(crate) steps: Vec<Step>,
    pub(crate) events: Vec<Event>,
    /// The times of the tokens of all that finished or were cancelled.
    pub(crate) times: Vec<(u64, Vec<Nanos>)>,
}

/// Takes the engine through all acts in virtual time, stopping at other times, too.
pub(crate) fn drive_virtual(scenario: &Scenario, stops: &[Nanos], watched: bool) -> Seen {
    let Scenario { scheduler, cost, seed, acts } = scenario;
    let mut engine = Virtual::new(Core::new(*scheduler, *cost, *seed).unwrap());
    engine.keep_steps(watched);
    engine.keep_times(watched);
    let mut until: Vec<_> = acts.iter().map(|(at, act)| (*at, Some(act))).collect();
    until.extend(stops.iter().map(|at| (*at, None)));
    until.sort_by_key(|(at, _)| *at);
    until.push((Nanos::MAX, None));
    let (mut events, mut times, mut buffer) = (Vec::new(), Vec::new(), Vec::new());
    for (at, what) in until {
        while let Some(event) = engine.advance(at) {
            assert_eq!(engine.now(), event.at());
            if matches!(event, Event::Finished { .. }) {
                assert_eq!(engine.token_times(event.id(), &mut buffer), watched);
                times.push((event.id(), buffer.clone()));
            }
            events.push(event);
        }
        assert!(engine.now() == at || at == Nanos::MAX);
        match what {
            Some(Act::Submit { at, id, input, output, hashes }) => {
                let request = Request { id: *id, input: *input, output: *output, hashes };
                let _ = engine.submit(*at, request);
            }
            Some(Act::Cancel { id }) => {
                if engine.token_times(*id, &mut buffer) {
                    times.push((*id, buffer.clone()));
                }
                engine.cancel(*id);
            }
            None => {}
        }
    }
    times.sort();
    Seen { steps: engine.steps().to_vec(), events, times }
}

fn scheduler() -> impl Strategy<Value = Scheduler> {
    let policy = prop_oneof![Just(Policy::PrefillFirst), Just(Policy::Chunked)];
    let (block, context) = (1_u32..9, prop::option::of(Just(100)));
    let budget = prop_oneof![1_u32..8, 8_u32..80];
    (policy, 1_u32..12, budget, block, 4_u64..40, any::<bool>(), context, 0_u32..2).prop_map(
        |(policy, max_seqs, token_budget, block, kv_blocks, prefix_cache, context, steps_ahead)| {
            // Some of these pools hold hardly one sequence.
            let enough = context.map_or(1, |context: u32| u64::from(context.div_ceil(block)));
            let kv_blocks = kv_blocks.max(enough);
            Scheduler {
                policy,
                max_seqs,
                token_budget,
                block,
                kv_blocks,
                prefix_cache,
                context,
                steps_ahead,
            }
        },
    )
}

fn cost() -> impl Strategy<Value = Cost> {
    let coefficient = |most: f64| prop_oneof![Just(0.0), 0.0..most];
    let knee = (0_u32..8, coefficient(2e-3), coefficient(5e-3));
    let knee =
        prop::option::of(knee.prop_map(|(above, decode, jump)| CostKnee { above, decode, jump }));
    let prefill = (coefficient(1e-3), coefficient(1e-5), coefficient(5e-3));
    let decode = (coefficient(1e-3), coefficient(1e-5), knee);
    let slow_down = prop_oneof![Just("0"), Just("10%/min"), Just("300%/s")];
    let unsteady = (coefficient(0.3), slow_down.prop_map(|rate| rate.parse().unwrap()));
    let launch = (coefficient(0.02), coefficient(0.04), coefficient(1e-3));
    let launch = (launch, 0_u32..64, coefficient(0.06)).prop_map(
        |((decode, prefill, sequence), captured, large)| Launch {
            decode,
            prefill,
            sequence,
            captured,
            large,
        },
    );
    let launch = prop_oneof![Just(Launch::default()), launch];
    let front = (coefficient(0.01), coefficient(1e-4), 1_u32..4, coefficient(0.01));
    let front = (front, prop_oneof![Just(0), 1_u32..9]).prop_map(
        |((request, input, turns, chunk), merges)| Front { request, input, turns, chunk, merges },
    );
    let front = (coefficient(0.05), prop_oneof![Just(Front::default()), front]);
    (1e-4..0.02, prefill, decode, launch, front, unsteady).prop_map(
        |(base, prefill, (decode, kv, knee), launch, (front_end, front), (noise, slow_down))| {
            let (prefill_token, attention, prefill_base) = prefill;
            let (front_end, decode) = ((front_end * 1e9_f64).round() / 1e9, decode);
            Cost {
                base,
                prefill_token,
                attention,
                decode,
                kv,
                prefill_base,
                knee,
                rise: None,
                launch,
                front_end,
                front,
                noise,
                slow_down,
            }
        },
    )
}

/// Requests of some families with common prefixes, and a time after which some are cancelled.
fn acts(block: u32) -> impl Strategy<Value = Vec<(Nanos, Act)>> {
    let gap = prop_oneof![2 => Just(0), 3 => 0_u64..30_000_000, 1 => 0_u64..400_000_000];
    let input = prop_oneof![1 => Just(0), 30 => 1_u32..10, 30 => 1_u32..60];
    let output = prop_oneof![1 => Just(0), 30 => 1_u32..5, 30 => 1_u32..40];
    let lengths = (input, output);
    let cancel = prop::option::weighted(0.2, 0_u64..300_000_000);
    let early = prop_oneof![4 => Just(0), 1 => -20_000_000_i64..20_000_000];
    let request = (gap, lengths, (0_u64..3, 0_u64..12), early, cancel);
    prop::collection::vec(request, 1..40).prop_map(move |requests| {
        let (mut acts, mut now) = (Vec::new(), 0);
        for (id, request) in (0_u64..).zip(requests) {
            let (gap, (input, output), (family, alike), early, cancel) = request;
            now += gap;
            let at = now.saturating_add_signed(early);
            let own = |block| (id + 10) * 1_000 + block;
            // Some say what the response fills, and begin like the whole of another.
            let known = if id % 2 == 0 { input } else { input + output };
            let hashes = (0..u64::from(known / block))
                .map(|block| if block < alike { family * 1_000 + block } else { own(block) })
                .collect();
            acts.push((now, Act::Submit { at, id, input, output, hashes }));
            acts.extend(cancel.map(|after| (now + after, Act::Cancel { id })));
        }
        acts.sort_by_key(|(at, _)| *at);
        acts
    })
}

impl Scenario {
    /// The same, with every request submitted when it arrives.
    pub(crate) fn on_time(mut self) -> Self {
        for (now, act) in &mut self.acts {
            if let Act::Submit { at, .. } = act {
                *at = *now;
            }
        }
        self
    }

    /// When requests are cancelled, by id.
    pub(crate) fn cancelled(&self) -> HashMap<u64, Nanos> {
        let cancels = self.acts.iter().filter_map(|(at, act)| match act {
            Act::Cancel { id } => Some((*id, *at)),
            Act::Submit { .. } => None,
        });
        cancels.collect()
    }

    /// The same, with no request submitted after it arrived.
    pub(crate) fn not_late(mut self) -> Self {
        for (now, act) in &mut self.acts {
            if let Act::Submit { at, .. } = act {
                *at = (*at).max(*now);
            }
        }
        self
    }
}

pub(crate) fn scenarios() -> impl Strategy<Value = Scenario> {
    (scheduler(), cost(), any::<u64>())
        .prop_flat_map(|(scheduler, cost, seed)| {
            (Just(scheduler), Just(cost), Just(seed), acts(scheduler.block))
        })
        .prop_map(|(scheduler, cost, seed, acts)| Scenario { scheduler, cost, seed, acts })
}

//! Arbitrary frames.
#![allow(clippy::unwrap_used)]

use dyno_model::Message;
use dyno_model::chunks::ChunkTrack;
use dyno_model::fleet::{AgentEnd, ClockFit};
use dyno_model::frame::{
    ClientHealth, Ending, EngineSlip, Frame, LevelEnd, LevelStart, RunEnd, RunHeader,
};
use dyno_model::lag::DelayHistogram;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{
    Phase, RequestRecord, ServerTimes, TokenCount, TokenSource, TurnOfSession, Widths,
};
use dyno_model::server::ServerSample;
use dyno_model::tree::{Growth, Repeated, TurnOfTree};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) fn header() -> RunHeader {
    RunHeader {
        format: dyno_record::FORMAT,
        run_id: "0198f-ab12".into(),
        shard: 1,
        shards: 3,
        anchor_unix_ns: 1_750_000_000_000_000_000,
        plan_hash: "00ff".into(),
        version: "0.1.0".into(),
    }
}

/// Small numbers and huge ones.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..1000_u64, 0..10_000_000_000_u64, Just(0), Just(u64::MAX)]
}

fn text() -> impl Strategy<Value = Option<String>> {
    option::of(prop_oneof!["\\PC{0,40}", Just(String::new()), Just("\0\n\"é".to_owned())])
}

fn tree() -> impl Strategy<Value = Option<Box<TurnOfTree>>> {
    let growth = select(vec![None, Some(Growth::Whole), Some(Growth::Trimmed), Some(Growth::Cut)]);
    let recorded = option::of((0..1_000_u64, 0..u64::MAX / 2));
    let recorded = recorded.prop_map(|times| times.map(|(sent, lasted)| (sent, sent + lasted)));
    let repeated = option::of((any::<u32>(), any::<u32>()));
    let repeated = repeated.prop_map(|tokens| {
        tokens.map(|(of_prompts, with_responses)| Repeated { of_prompts, with_responses })
    });
    let times = (number(), number(), option::of(number()));
    option::of((number(), any::<u32>(), times, recorded, growth, repeated, any::<bool>()).prop_map(
        |(tree, turns, (gap, skipped, join_wait), recorded, growth, repeated, warms)| {
            let turn = TurnOfTree {
                tree,
                turns,
                gap,
                skipped,
                join_wait,
                recorded,
                growth,
                repeated,
                warms,
            };
            Box::new(turn)
        },
    ))
}

fn failure() -> impl Strategy<Value = FailureClass> {
    let names = select(vec![
        "connect",
        "tls",
        "timeout.connect",
        "timeout.first_token",
        "timeout.idle",
        "timeout.total",
        "stream.error",
        "stream.malformed",
        "stream.reset",
        "stream.truncated",
        "stream.empty",
        "output.short",
        "client",
    ]);
    prop_oneof![
        any::<u16>().prop_map(FailureClass::Http),
        names.prop_map(|name| name.parse().unwrap())
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Completed),
        failure().prop_map(Outcome::Failed),
        failure().prop_map(Outcome::Shed),
        "\\PC{0,20}".prop_map(Outcome::Dropped),
        Just(Outcome::Censored),
    ]
}

fn chunks() -> impl Strategy<Value = ChunkTrack> {
    let tokens = prop_oneof![4 => Just(1_u32), 1 => any::<u32>()];
    vec((number(), any::<bool>(), tokens), 0..60).prop_map(|events| {
        let mut track = ChunkTrack::default();
        for (at, coalesced, tokens) in events {
            track.push(at, coalesced, tokens);
        }
        track
    })
}

fn token_count() -> impl Strategy<Value = Option<TokenCount>> {
    let source = select(vec![
        TokenSource::Usage,
        TokenSource::Chunks,
        TokenSource::Tokenizer,
        TokenSource::Events,
    ]);
    option::of((number(), source).prop_map(|(tokens, source)| TokenCount { tokens, source }))
}

fn request() -> impl Strategy<Value = RequestRecord> {
    let phase = select(vec![Phase::Warmup, Phase::Measured, Phase::Drain]);
    let identity = (any::<u32>(), number(), any::<u32>(), phase, outcome());
    let times = (number(), vec(option::of(number()), 6), number());
    let counts = (option::of(any::<u32>()), token_count(), token_count(), option::of(any::<u32>()));
    let words = (option::of(any::<u16>()), text(), text(), text());
    let turn = option::of((number(), any::<u32>()))
        .prop_map(|turn| turn.map(|(session, number)| TurnOfSession { session, number }));
    let identity =
        (identity, turn, tree()).prop_map(|(i, turn, tree)| (i.0, i.1, i.2, i.3, i.4, turn, tree));
    let widths =
        option::of([number(), number(), number(), number(), number()]).prop_map(|widths| {
            widths.map(|[intended, sent, first, last, end]| Widths {
                intended,
                sent,
                first,
                last,
                end,
            })
        });
    let times =
        (times, widths).prop_map(|((intended, times, end), widths)| (intended, times, end, widths));
    (identity, times, chunks(), vec(any::<bool>(), 7), counts, words).prop_map(
        |(identity, times, chunks, flags, counts, words)| RequestRecord {
            level: identity.0,
            index: identity.1,
            slot: identity.2,
            turn: identity.5,
            tree: identity.6,
            phase: identity.3,
            outcome: identity.4,
            intended: times.0,
            admitted: times.1[5].and_then(|wait| times.0.checked_add(wait)),
            dispatched: times.1[0],
            connected: times.1[1],
            sent: times.1[2],
            headers: times.1[3],
            first: times.1[4],
            last: times.1[5],
            end: times.2,
            widths: times.3,
            chunks,
            chunk_tokens_known: flags[0],
            finish_tokens: counts.0,
            streamed: flags[1],
            terminal: flags[2],
            input: counts.1,
            output: counts.2,
            cached: counts.1.map(|count| count.tokens / 3),
            reasoning: counts.2.map(|count| count.tokens / 5),
            unstreamed: counts.2.map(|count| count.tokens / 7),
            usage_ignored: flags[6],
            server: times.3.map(|widths| ServerTimes {
                queue: times.1[0],
                prefill: Some(widths.first),
                decode: times.1[1],
                load: times.1[2],
                total: Some(widths.last),
            }),
            inputs: counts.0,
            body_bytes: times.1[3],
            requested_input: counts.3.map(|n| n / 2),
            requested_output: counts.3,
            status: words.0,
            finish_reason: words.1,
            heartbeats: counts.3.unwrap_or(0),
            lost_frames: counts.3.unwrap_or(0),
            retry_after: times.1[4],
            retries: counts.0.unwrap_or(0),
            refused_as: words.0.map(FailureClass::Http),
            first_refused: times.1[2].and_then(|wait| times.0.checked_add(wait)),
            resent: flags[3],
            reused: flags[4],
            address: counts.3.map(|n| n as u8),
            agent: counts.3.map(|n| n / 3),
            detail: words.2.map(|english| match english.len() % 2 {
                0 => Message::quoted(english),
                _ => Message::new([english, "中文".to_owned()]),
            }),
            text: words.3,
        },
    )
}

fn lag() -> impl Strategy<Value = DelayHistogram> {
    vec(number(), 0..50).prop_map(|values| {
        let mut lag = DelayHistogram::default();
        values.into_iter().for_each(|value| lag.record(value));
        lag
    })
}

fn ending() -> impl Strategy<Value = Ending> {
    select(vec![
        Ending::Requests,
        Ending::Duration,
        Ending::Interrupted,
        Ending::TargetLost,
        Ending::Aborted,
        Ending::Stable,
        Ending::MaxFailures,
        Ending::AgentLost,
        Ending::BehindSchedule,
    ])
}

fn client() -> impl Strategy<Value = ClientHealth> {
    let four = || [number(), number(), number(), number()];
    ((lag(), lag(), lag()), four(), four(), four(), number(), any::<i64>()).prop_map(
        |(lags, counts, more, waits, behind_ns, clock_step_ns)| ClientHealth {
            read_lag: lags.0,
            timer_lag: lags.1,
            read_delay: lags.2,
            cpu_ns: counts[0],
            wall_ns: counts[1],
            out_of_files: counts[2],
            out_of_ports: counts[3],
            missed_ticks: more[0],
            unstamped_reads: more[1],
            blind_ns: more[2],
            longest_stall_ns: more[3],
            awaited_prompts_ns: waits[0],
            awaited_records_ns: waits[1],
            paused_ns: waits[2],
            pauses: waits[3],
            behind_ns,
            unasked: waits[3] / 2,
            skipped_idle_ns: waits[2] / 3,
            clock_step_ns,
        },
    )
}

fn agent() -> impl Strategy<Value = AgentEnd> {
    let clock = (any::<i64>(), number(), any::<i64>(), number(), number(), any::<u32>()).prop_map(
        |(offset_ns, bound_ns, drift_ppb, at, round_trip_ns, steps)| ClockFit {
            offset_ns,
            bound_ns,
            drift_ppb,
            at,
            round_trip_ns,
            steps,
        },
    );
    let identity = (any::<u32>(), "\\PC{0,12}", "\\PC{0,12}", option::of(clock));
    let ended = (option::of(any::<i64>()), option::of(ending()), text());
    let numbers = [number(), number(), number(), number()];
    let maybe = (option::of(number()), option::of(number()));
    (identity, ended, numbers, maybe, client().boxed()).prop_map(
        |((agent, name, host, clock), (start_error_ns, ending, lost), numbers, maybe, client)| {
            let [issued, warmup, beats, longest_silence_ns] = numbers;
            let (sending_stopped, planned) = maybe;
            AgentEnd {
                agent,
                name,
                host,
                clock,
                start_error_ns,
                ending,
                sending_stopped,
                planned,
                issued,
                warmup,
                beats,
                longest_silence_ns,
                client,
                lost: lost.map(Message::quoted),
            }
        },
    )
}

fn level_end() -> impl Strategy<Value = LevelEnd> {
    let slip =
        [number(), number(), number(), number()].prop_map(|[count, p50_ns, p99_ns, max_ns]| {
            let mean_ns = (count % 2 == 0).then_some(p50_ns);
            EngineSlip { count, mean_ns, p50_ns, p99_ns, max_ns }
        });
    let numbers = [number(), number(), number(), number()];
    let maybe = (option::of(number()), option::of(number()));
    let client = (client().boxed(), vec(agent().boxed(), 0..4));
    (any::<u32>(), ending(), numbers, maybe, client, option::of(slip)).prop_map(
        |(
            level,
            ending,
            [ended, sending_stopped, issued, warmup],
            maybe,
            (client, agents),
            slip,
        )| LevelEnd {
            level,
            ending,
            ended,
            sending_stopped,
            starved: maybe.0,
            planned: maybe.1,
            issued,
            warmup,
            client,
            slip,
            agents,
        },
    )
}

fn server() -> impl Strategy<Value = ServerSample> {
    let some = || option::of(number());
    let share = || option::of(0.0..=1.0);
    let caches = (some(), some(), option::of(any::<bool>()));
    let numbers = (some(), some(), some(), some(), some(), some(), some());
    (number(), numbers, (share(), share()), caches).prop_map(
        |(at, numbers, (kv_use, prefix_share), (kv_block, kv_tokens, prefix_cache))| ServerSample {
            at,
            running: numbers.0,
            waiting: numbers.1,
            kv_use,
            preemptions: numbers.2,
            prefix_queries: numbers.3,
            prefix_hits: numbers.4,
            prefix_share,
            resident_bytes: numbers.5,
            kv_block,
            kv_tokens,
            prefix_cache,
            process_started: numbers.6,
        },
    )
}

pub(crate) fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        1 => (any::<u32>(), number())
            .prop_map(|(level, started)| Frame::LevelStart(LevelStart { level, started })),
        6 => request().prop_map(|record| Frame::Request(Box::new(record))).boxed(),
        1 => level_end().prop_map(|end| Frame::LevelEnd(Box::new(end))).boxed(),
        1 => server().prop_map(Frame::Server).boxed(),
        1 => (number(), ending()).prop_map(|(ended, ending)| Frame::RunEnd(RunEnd { ended, ending })),
    ]
}

//! The server's own metrics and the price of tokens, with numbers worked out by hand.
#![allow(clippy::unwrap_used)]

use dyno_analysis::summarise;
use dyno_model::Summary;
use dyno_model::frame::{Frame, LevelStart};
use dyno_model::plan::{Load, Plan};
use dyno_model::record::RequestRecord;
use dyno_model::server::{GpuCost, ServerSample};
use dyno_model::summary::{LevelSummary, ServerSummary};
use dyno_model::{MS, SEC};
use dyno_report::{TextOptions, render_text};
use dyno_testing::runs::*;
use proptest::prelude::*;

/// A sample at so many milliseconds: running, waiting, share of the KV cache.
fn sample(at: u64, running: u64, waiting: u64, kv_use: f64) -> ServerSample {
    ServerSample {
        at: at * MS,
        running: Some(running),
        waiting: Some(waiting),
        kv_use: Some(kv_use),
        ..ServerSample::default()
    }
}

/// Four streams at once for twenty waves: in flight from 0 to 3.623 s.
fn level_of(samples: &[ServerSample]) -> LevelSummary {
    summary(&closed(4, 20).0, samples).levels.remove(0)
}

fn summary(plan: &Plan, samples: &[ServerSample]) -> Summary {
    summary_of((plan.clone(), closed(4, 20).1), samples)
}

fn summary_of((plan, records): (Plan, Vec<RequestRecord>), samples: &[ServerSample]) -> Summary {
    let end = level_end(0, &records);
    let mut all = frames(records, Some(end));
    all.extend(samples.iter().map(|sample| Frame::Server(*sample)));
    summarise(&plan, None, &source(&plan, all))
}

/// The same, but the server refused every request once.
fn retried() -> (Plan, Vec<RequestRecord>) {
    let (plan, mut records) = closed(4, 20);
    for record in &mut records {
        (record.retries, record.first_refused) = (1, record.dispatched);
    }
    (plan, records)
}

fn server(samples: &[ServerSample]) -> Option<ServerSummary> {
    level_of(samples).server
}

#[test]
fn gauges_cover_the_time_with_requests_in_flight() {
    let got = server(&[
        sample(0, 99, 99, 1.0),
        sample(500, 4, 0, 0.5),
        sample(1500, 3, 1, 0.96),
        sample(2500, 2, 3, 0.97),
        sample(3500, 3, 0, 0.95),
        sample(4500, 99, 99, 1.0),
    ])
    .unwrap();
    assert_eq!(got.samples, 4);
    assert_eq!(got.running.map(|g| (g.mean, g.max)), Some((3.0, 4)));
    assert_eq!(got.waiting.map(|g| (g.mean, g.max)), Some((1.0, 3)));
    assert_eq!(got.waiting_share, Some(0.5));
    assert_eq!(got.kv_use_max, Some(0.97));
    // 95 % is not above 95 %.
    assert_eq!(got.kv_full_share, Some(0.5));
    assert_eq!((got.preemptions, got.prefix_hit_share, got.resident), (None, None, None));
}

#[test]
fn what_the_server_does_not_report_is_absent() {
    assert_eq!(server(&[]), None);
    assert_eq!(server(&[ServerSample { at: SEC, ..ServerSample::default() }]), None);
    let one = ServerSample { at: SEC, running: Some(0), ..ServerSample::default() };
    let got = server(&[one]).unwrap();
    assert_eq!(got.running.map(|g| (g.mean, g.max)), Some((0.0, 0)), "0 that was said stays");
    assert_eq!((got.waiting, got.waiting_share, got.kv_use_max), (None, None, None));
}

fn counters(at: u64, preemptions: u64, queries: u64, hits: u64, memory: u64) -> ServerSample {
    ServerSample {
        at: at * MS,
        preemptions: Some(preemptions),
        prefix_queries: Some(queries),
        prefix_hits: Some(hits),
        resident_bytes: Some(memory),
        ..ServerSample::default()
    }
}

#[test]
fn counters_are_differences_from_before_the_level_to_after_it() {
    let got = server(&[
        counters(0, 7, 1000, 900, 50),
        counters(1500, 9, 3000, 1200, 70),
        counters(3700, 12, 5000, 1300, 60),
        counters(4700, 99, 9999, 9999, 99),
    ])
    .unwrap();
    assert_eq!((got.samples, got.preemptions), (1, Some(5)));
    assert_eq!(got.prefix_hit_share, Some(0.1), "400 of 4000");
    assert_eq!(got.resident.map(|m| (m.start_bytes, m.end_bytes)), Some((50, 60)));
    // A server that was started again counts from 0.
    let again = server(&[counters(0, 7, 0, 0, 1), counters(1500, 2, 0, 0, 1)]).unwrap();
    assert_eq!((again.preemptions, again.prefix_hit_share), (Some(2), None));
    // One value has no difference.
    assert_eq!(server(&[counters(1500, 7, 1, 1, 1)]).unwrap().preemptions, None);
}

/// Two replicas answer in turn: no preemptions and 2 % hits in either, but one of them is much older.
fn in_turn(started: [Option<u64>; 2]) -> Vec<ServerSample> {
    let replica = |i: u64| {
        let (base, of) = if i.is_multiple_of(2) { (90_000, 0) } else { (100, 1) };
        let counted = counters(i * 500, base / 500, base + 10 * i, base / 2 + i / 5, base);
        ServerSample { process_started: started[of], ..counted }
    };
    (0..8).map(replica).collect()
}

#[test]
fn counters_of_replicas_behind_a_load_balancer_are_not_used() {
    // Their start times tell them apart, and so do counters that fall again and again.
    for started in [[Some(5_000), Some(9_000)], [None, None]] {
        let (plan, _) = closed(4, 20);
        let all = summary(&plan, &in_turn(started));
        let codes: Vec<&str> = all.notes.iter().map(|note| &*note.code).collect();
        assert_eq!(codes, ["server_counters"], "{:?}", all.notes);
        let level = &all.levels[0];
        assert_eq!(level.reasons, []);
        assert_eq!(level.server.as_ref().and_then(|server| server.preemptions), None);
        assert_eq!(level.cache, None);
        assert!(
            !level.notes.iter().any(|note| note.code.starts_with("cache")),
            "{:?}",
            level.notes
        );
    }
    // An older process that follows a younger one was not started in between.
    let mut two = in_turn([Some(9_000), Some(5_000)]);
    two.truncate(2);
    assert_eq!(server(&two).and_then(|server| server.preemptions), None);
}

#[test]
fn a_restart_is_one_fall_and_its_counters_are_used() {
    let started = |sample: ServerSample, at| ServerSample { process_started: Some(at), ..sample };
    let samples = [
        started(counters(0, 7, 1_000, 20, 1), 5_000),
        started(counters(1_000, 9, 2_000, 40, 1), 5_000),
        started(counters(2_000, 1, 100, 2, 1), 9_000),
        started(counters(3_000, 3, 200, 4, 1), 9_000),
    ];
    let got = server(&samples).unwrap();
    assert_eq!((got.preemptions, got.prefix_hit_share), (Some(5), Some(0.02)));
}

#[test]
fn without_counters_the_servers_own_hit_rate_is_used() {
    let at = |at: u64, share| ServerSample {
        at: at * MS,
        prefix_share: Some(share),
        ..ServerSample::default()
    };
    assert_eq!(server(&[at(1000, 0.2), at(2000, 0.4)]).unwrap().prefix_hit_share, Some(0.3));
}

/// Two levels, the second four seconds after the first, with samples.
fn two_levels(samples: &[ServerSample]) -> Summary {
    let (mut plan, first) = closed(4, 20);
    plan.levels[0].label = "concurrency 4".to_owned();
    plan.levels.push(level_plan("concurrency 8", Load::Concurrency { concurrency: 4 }, Some(80)));
    let later = |r: &RequestRecord| {
        let mut r = stream(r.index, r.slot, r.sent.unwrap() / MS + 4000, 100, 20, 5);
        r.level = 1;
        r
    };
    let second: Vec<_> = first.iter().map(later).collect();
    let ends = [level_end(0, &first), level_end(1, &second)];
    let mut all = frames(first, None);
    all.push(Frame::LevelEnd(Box::new(ends[0].clone())));
    all.push(Frame::LevelStart(LevelStart { level: 1, started: 4000 * MS }));
    all.extend(second.into_iter().map(|r| Frame::Request(Box::new(r))));
    all.push(Frame::LevelEnd(Box::new(ends[1].clone())));
    // Where in the file they stand does not matter.
    let mut at = 0;
    for sample in samples {
        all.insert(at, Frame::Server(*sample));
        at = (at + 37) % all.len();
    }
    summarise(&plan, None, &source(&plan, all))
}

#[test]
fn levels_do_not_share_samples() {
    let with = |at, preemptions| counters(at, preemptions, 0, 0, 1);
    let got = two_levels(&[with(0, 0), with(3700, 2), with(8000, 9)]);
    let preempted = |i: usize| got.levels[i].server.as_ref().and_then(|s| s.preemptions);
    assert_eq!((preempted(0), preempted(1)), (Some(2), Some(7)));
    // The sample after the first level came only when the second was under way.
    let got = two_levels(&[with(0, 0), with(3000, 1), with(4100, 2), with(8000, 9)]);
    let preempted = |i: usize| got.levels[i].server.as_ref().and_then(|s| s.preemptions);
    assert_eq!((preempted(0), preempted(1)), (Some(1), Some(7)));
}

#[test]
fn the_run_reports_where_preemptions_start() {
    let with = |at, preemptions| counters(at, preemptions, 0, 0, 1);
    let note = |samples: &[ServerSample]| {
        let notes = two_levels(samples).notes;
        notes.into_iter().find(|note| note.code == "kv_cache_full").map(|note| note.what)
    };
    let second = note(&[with(0, 3), with(3700, 3), with(8000, 9)]).unwrap();
    assert!(second.contains("full from concurrency 8 on"), "{second}");
    let first = note(&[with(0, 3), with(3700, 4), with(8000, 9)]).unwrap();
    assert!(first.contains("full from concurrency 4 on") && first.contains("1 request"), "{first}");
    let only = note(&[with(0, 3), with(3700, 4), with(8000, 4)]).unwrap();
    assert!(only.contains("full at concurrency 4:"), "{only}");
    assert_eq!(note(&[with(0, 3), with(3700, 3), with(8000, 3)]), None);
}

#[test]
fn findings_on_both_sides_of_their_limits() {
    let found = |samples: &[ServerSample]| {
        let level = level_of(samples);
        assert_eq!(level.reasons, [], "the server's metrics do not change the verdict");
        let codes: Vec<_> = level.notes.into_iter().map(|note| note.code).collect();
        codes.into_iter().filter(|code| code.starts_with("server_")).collect::<Vec<_>>()
    };
    let of = |figures: [(u64, u64); 4]| {
        let at = [500, 1500, 2500, 3500];
        let samples: Vec<_> =
            at.iter().zip(figures).map(|(at, (run, wait))| sample(*at, run, wait, 0.5)).collect();
        found(&samples)
    };
    // Four are in flight, or a little less.
    assert_eq!(of([(4, 0); 4]), [""; 0]);
    assert_eq!(of([(3, 1), (3, 1), (4, 0), (4, 0)]), [""; 0], "half is not most");
    assert_eq!(of([(3, 1), (3, 1), (3, 1), (4, 0)]), ["server_queue"]);
    let advice = |figures: [(u64, u64); 4]| {
        let samples = [500, 1500, 2500, 3500].into_iter().zip(figures);
        let samples: Vec<_> = samples.map(|(at, (run, wait))| sample(at, run, wait, 0.5)).collect();
        let notes = level_of(&samples).notes;
        notes.into_iter().find(|note| note.code == "server_queue").unwrap().advice.unwrap()
    };
    let at_its_limit = advice([(3, 1), (3, 1), (3, 1), (3, 0)]);
    assert!(at_its_limit.contains("--max-num-seqs"), "{at_its_limit}");
    let with_room = advice([(3, 1), (2, 2), (3, 1), (4, 0)]);
    assert!(!with_room.contains("--max-num-seqs"), "the batch was fuller: {with_room}");
    assert!(with_room.contains("--max-num-batched-tokens"), "{with_room}");
    assert_eq!(of([(2, 0); 4]), [""; 0], "two fewer may be chance");
    assert_eq!(of([(1, 0); 4]), ["server_has_fewer"]);
    let refusing = summary_of(retried(), &[500, 1500, 2500, 3500].map(|at| sample(at, 1, 0, 0.5)));
    let codes: Vec<_> = refusing.levels[0].notes.iter().map(|note| &*note.code).collect();
    assert!(codes.contains(&"retried") && !codes.contains(&"server_has_fewer"), "{codes:?}");
    assert_eq!(of([(5, 0); 4]), [""; 0]);
    assert_eq!(of([(8, 0); 4]), ["server_has_more"]);
    let batches = |figures: (u64, u64)| {
        let (plan, mut records) = closed(4, 20);
        records.iter_mut().for_each(|record| record.inputs = Some(8));
        let samples = [500, 1500, 2500, 3500].map(|at| sample(at, figures.0, figures.1, 0.5));
        let notes = summary_of((plan, records), &samples).levels.remove(0).notes;
        notes.into_iter().filter(|note| note.code.starts_with("server_")).collect::<Vec<_>>()
    };
    assert_eq!(batches((32, 0)), [], "each text may be a request of the server");
    assert_eq!(batches((4, 0)), [], "or each request");
    assert_eq!(batches((64, 0))[0].code, "server_has_more");
    let waiting = &batches((24, 8))[0];
    let advice = waiting.advice.as_deref().unwrap_or_default();
    assert!(waiting.code == "server_queue" && !advice.contains("TTFT"), "{waiting:?}");
    let two = [sample(500, 1, 9, 0.5), sample(1500, 1, 9, 0.5)];
    assert_eq!(found(&two), [""; 0], "two samples say nothing");
    let mut shard = closed(4, 20).0;
    shard.shard.of = 2;
    let more = [500, 1500, 2500].map(|at| sample(at, 8, 0, 0.5));
    let notes = summary(&shard, &more).levels.remove(0).notes;
    assert!(notes.iter().all(|note| note.code != "server_has_more"), "the others are shards");
}

#[test]
fn cache_hits_are_expected_where_prompts_share_a_prefix() {
    let hits = [counters(0, 0, 0, 0, 1), counters(3700, 0, 1000, 500, 1)];
    for (spec, surprises) in [
        (None, true),
        (Some("random"), true),
        (Some("random,prefix=64,groups=4"), false),
        (Some("session,turns=4"), false),
        (Some("openqa"), false),
    ] {
        let mut plan = closed(4, 20).0;
        plan.data.spec = spec.map(str::to_owned);
        let reasons = summary(&plan, &hits).levels.remove(0).reasons;
        let found = reasons.iter().any(|reason| reason.code == "cached_random");
        assert_eq!(found, surprises, "{spec:?}");
    }
}

fn priced(per_hour: f64, currency: Option<&str>, gpus: Option<u32>) -> Plan {
    let mut plan = closed(4, 20).0;
    plan.server.gpus = gpus;
    plan.server.gpu_cost = Some(GpuCost { per_hour, currency: currency.map(str::to_owned) })
        .filter(|_| per_hour > 0.0);
    plan
}

#[test]
fn tokens_have_a_price_where_the_gpus_have_one() {
    let figures = |plan: &Plan| {
        let level = summary(plan, &[]).levels.remove(0);
        (level.cost, level.steady.map_or(level.throughput, |steady| steady.throughput))
    };
    assert_eq!(figures(&closed(4, 20).0).0, None);
    let (cost, throughput) = figures(&priced(3.6, None, Some(2)));
    let (cost, output) = (cost.unwrap(), throughput.output_tokens_per_s.unwrap());
    let near = |got: Option<f64>, want: f64| assert!((got.unwrap() / want - 1.0).abs() < 1e-5);
    // Two GPUs at 3.6 an hour are 0.002 a second.
    near(cost.per_million_output_tokens, 2000.0 / output);
    near(cost.per_million_total_tokens, 2000.0 / throughput.total_tokens_per_s.unwrap());
    near(cost.output_tokens_per_s_per_gpu, output / 2.0);
    near(cost.total_tokens_per_s_per_gpu, throughput.total_tokens_per_s.unwrap() / 2.0);
    let (unpriced, _) = figures(&priced(0.0, None, Some(2)));
    let unpriced = unpriced.unwrap();
    assert_eq!(unpriced.output_tokens_per_s_per_gpu, cost.output_tokens_per_s_per_gpu);
    assert_eq!(unpriced.per_million_output_tokens, None);
}

#[test]
fn no_tokens_have_no_price() {
    let plan = priced(2.5, Some("$"), Some(1));
    let summary = summarise(&plan, None, &source(&plan, frames(vec![], None)));
    let cost = summary.levels[0].cost.unwrap();
    assert_eq!(cost.per_million_output_tokens, None);
    assert_eq!(cost.output_tokens_per_s_per_gpu, None);
}

const SCHEMA: &str = include_str!("../../../../docs/schema/summary-1.schema.json");

fn breaches(summary: &Summary) -> Vec<String> {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value = serde_json::to_value(summary).unwrap();
    validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn the_text_fits_and_says_it_in_the_users_currency() {
    let samples: Vec<_> = [500, 1500, 2500]
        .map(|at| ServerSample {
            preemptions: Some(at / 500),
            prefix_queries: Some(at),
            prefix_hits: Some(at / 100),
            resident_bytes: Some(at << 22),
            ..sample(at, 2, 2, 0.97)
        })
        .to_vec();
    for (currency, words) in [(Some("$"), "cost: $"), (Some("CNY"), "cost: CNY "), (None, "cost: ")]
    {
        let plan = priced(18.0, currency, Some(8));
        let text = render_text(&summary(&plan, &samples), &TextOptions::default());
        assert!(text.contains(words), "{text}");
        assert_eq!(breaches(&summary(&plan, &samples)), [""; 0]);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        if currency.is_none() {
            insta::assert_snapshot!(text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_a_server_says_nothing_else_changes(
        said in prop::collection::vec((any::<u64>(), any::<Option<u64>>(), any::<Option<u64>>()), 0..20),
    ) {
        let samples: Vec<_> = said
            .into_iter()
            .map(|(at, one, two)| ServerSample {
                at: at % (5 * SEC),
                running: one,
                waiting: two,
                preemptions: two,
                prefix_queries: one,
                prefix_hits: two,
                resident_bytes: one,
                ..ServerSample::default()
            })
            .collect();
        let plain = level_of(&[]);
        let mut got = level_of(&samples);
        // Only prompts from the cache spoil what was measured.
        let cached = got.reasons.iter().any(|reason| reason.code == "cached_random");
        prop_assert!(cached || got.verdict == plain.verdict);
        got.reasons.retain(|reason| reason.code != "cached_random");
        (got.verdict, got.cache) = (plain.verdict, None);
        got.notes.retain(|note| plain.notes.contains(note));
        got.server = None;
        prop_assert_eq!(got, plain);
    }
}

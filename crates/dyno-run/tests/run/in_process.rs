//! Runs started as a library, in the process of the test.
#![allow(clippy::unwrap_used)]

use dyno_engine::{Running, Server};
use dyno_model::frame::{Ending, LevelEnd};
use dyno_model::metric::Time;
use dyno_model::plan::{Arrival, LengthSpec, LevelPlan, Load, Plan, Warmup};
use dyno_model::record::RequestRecord;
use dyno_model::{LevelSummary, SEC, Verdict};
use dyno_net::Clock;
use dyno_run::{
    Embedded, ErrorSource, LevelBegins, Observer, Order, RunError, RunObserver, RunOutput, Stop,
    in_turns, run,
};
use dyno_stats::rng::SplitMix;
use std::cell::RefCell;
use std::path::Path;

/// Slow enough to be measured well on a busy machine.
const SCRIPT: &str = "ttft=200ms,itl=50ms,tokens=6";
const TWIN: &str = "generic-7b-24gb";

/// Logs the calls it receives.
#[derive(Default)]
struct Log(RefCell<Vec<String>>);

impl Log {
    fn add(&self, entry: impl Into<String>) {
        self.0.borrow_mut().push(entry.into());
    }

    fn count(&self, entry: &str) -> usize {
        self.0.borrow().iter().filter(|logged| *logged == entry).count()
    }
}

impl Observer for Log {
    fn ended(&self, _record: &RequestRecord) {
        self.add("request");
    }
}

impl RunObserver for Log {
    fn begins(&self, plan: &Plan, _dir: &Path, _clock: Clock) {
        self.add(format!("{} levels", plan.levels.len()));
    }

    fn side_begins(&self) {
        self.add("turn");
    }

    fn level_begins(&self, level: LevelBegins<'_>) {
        self.add(format!("begins {} of {}, {:?}", level.index, level.known, level.planned));
    }

    fn level_ends(&self, end: &LevelEnd) {
        self.add(format!("ends {}", end.level));
    }
}

#[test]
fn an_embedded_engine() {
    let log = Log::default();
    let order = Order::engine(SCRIPT).level(LevelPlan::closed_loop(4, 20));
    let finished = run(order, &log).unwrap();
    let summary = finished.summary.as_ref().unwrap();
    let level = &summary.levels[0];
    assert_eq!(level.requests.completed, Some(20));
    assert!(level.times[Time::Ttft].as_ref().unwrap().mean.unwrap() >= 200.0);
    assert_ne!(level.verdict, Verdict::Invalid, "{:?}", level.reasons);
    assert!(summary.run.simulated);
    assert_eq!(finished.ending, Ending::Requests);
    assert_eq!(log.0.borrow()[..3], ["1 levels", "turn", "begins 0 of 1, Some(20)"]);
    assert_eq!((log.count("request"), log.count("ends 0")), (20, 1));
    // The directory is whole, and goes with the run.
    let path = finished.dir.path().to_owned();
    assert!(path.join("summary.json").is_file() && path.join("records.dyno").is_file());
    drop(finished);
    assert!(!path.exists());
}

#[test]
fn a_server_by_its_url() {
    let options = Embedded::named(SCRIPT).unwrap().options(0).unwrap();
    let server: Running = Server::bind(options).and_then(Server::spawn).unwrap();
    let url = format!("http://{}/v1", server.addr());
    let order = Order::server(&url).unwrap().level(LevelPlan::closed_loop(2, 6));
    let summary = run(order, &()).unwrap().summary.unwrap();
    assert_eq!(summary.levels[0].requests.completed, Some(6));
    assert_ne!(summary.levels[0].verdict, Verdict::Invalid, "{:?}", summary.levels[0].reasons);
    assert_eq!(summary.run.target.as_deref(), Some(url.as_str()));
}

fn predicted(levels: &[u32]) -> Order {
    let levels = levels.iter().map(|users| LevelPlan::closed_loop(*users, 200));
    levels.fold(Order::twin(TWIN), Order::level)
}

#[test]
fn a_twin_in_virtual_time_gives_the_same_each_time_and_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let level = |name: &str| {
        let order = predicted(&[8]).kept(RunOutput::At(root.path().join(name)));
        run(order, &()).unwrap().summary.unwrap().levels.remove(0)
    };
    let (one, other) = (level("one"), level("other"));
    assert_eq!(one.requests.completed, Some(200));
    assert_eq!(one.verdict, Verdict::Valid, "{:?}", one.reasons);
    assert_eq!(one.times[Time::Ttft], other.times[Time::Ttft]);
    assert!(root.path().join("one/summary.json").is_file());
}

/// A plan drawn at random: a load, its end, lengths and whether responses are streamed.
fn drawn(draws: &mut SplitMix, lengths: fn(u64) -> LengthSpec) -> Order {
    let mut between = |low: u64, high: u64| low + draws.next_u64() % (high - low + 1);
    let load = match between(0, 1) {
        0 => Load::Concurrency { concurrency: between(1, 96) as u32 },
        _ => Load::Rate { rate: between(2, 24) as f64 / 2.0, arrival: Arrival::Poisson },
    };
    let slots = if let Load::Concurrency { concurrency } = load { concurrency } else { 16 };
    let mut level = LevelPlan::new(load);
    level.requests = Some(u64::from(slots) * between(3, 12) + between(0, 7));
    level.duration_ns = (between(0, 1) == 0).then(|| between(5, 60) * SEC);
    level.warmup = (between(0, 2) == 0).then(|| Warmup::Requests(slots.into()));
    (level.input_tokens, level.output_tokens) =
        (lengths(between(8, 1_500)), lengths(between(1, 200)));
    let mut order = Order::twin(TWIN).level(level);
    order.plan.seed = between(1, 1 << 30);
    order.plan.request.stream = between(0, 3) > 0;
    order
}

/// The steady window of a level: its requests/s, its tokens/s and the mean lengths of the level, output and total.
fn rates(order: Order) -> Option<(f64, [(f64, f64); 2])> {
    let level = run(order, &()).unwrap().summary.unwrap().levels.remove(0);
    let work = level.steady?.throughput;
    let output = level.output_tokens?.mean;
    let total = output + level.input_tokens?.mean;
    let rates = [(work.output_tokens_per_s?, output), (work.total_tokens_per_s?, total)];
    Some((
        level.steady?.window_s * work.requests_per_s?,
        rates.map(|(rate, tokens)| (rate, tokens * work.requests_per_s.unwrap_or(f64::NAN))),
    ))
}

#[test]
fn with_fixed_lengths_tokens_are_requests_times_tokens_in_the_steady_window() {
    let mut draws = SplitMix::new(28);
    let (mut plans, mut worst) = (0, 0.0_f64);
    for _ in 0..400 {
        let order = drawn(&mut draws, |tokens| LengthSpec::fixed(tokens as u32));
        let about = format!("{:?}", order.plan.levels[0]);
        let Some((_, rates)) = rates(order) else { continue };
        for (rate, expected) in rates {
            let off = (rate / expected - 1.0).abs();
            assert!(off < 0.01, "{rate} tok/s for {expected}: {about}");
            worst = worst.max(off);
        }
        plans += 1;
        if plans == 200 {
            break;
        }
    }
    println!("{plans} plans, at most {:.4} % off", 100.0 * worst);
    assert_eq!(plans, 200);
}

#[test]
fn with_drawn_lengths_tokens_are_those_of_the_requests_within_their_scatter() {
    let mut draws = SplitMix::new(29);
    let (mut plans, mut far) = (0, 0);
    for _ in 0..60 {
        let order = drawn(&mut draws, |tokens| {
            LengthSpec(format!("{}-{}", tokens.div_ceil(2), 2 * tokens))
        });
        let Some((requests, rates)) = rates(order) else { continue };
        // Lengths from a half to twice a number have a standard deviation of 35 % of their mean.
        let scatter = 0.35 / requests.sqrt();
        far += rates
            .iter()
            .filter(|(rate, expected)| (rate / expected - 1.0).abs() > 2.0 * scatter)
            .count();
        plans += 1;
    }
    println!("{far} of {} rates of {plans} plans outside of two standard errors", 2 * plans);
    assert!(plans > 20 && far * 10 <= 2 * plans, "{far} of {}", 2 * plans);
}

/// A closed loop that stops in the middle of a round, against the same load for 200 s. Requests that
/// begin together stay together, and reading their prompts brings no output for up to half of a round. What
/// remains: once nothing new is sent, the last responses are quicker.
#[test]
fn the_steady_rate_of_a_short_closed_loop_is_that_of_a_long_one() {
    let mut draws = SplitMix::new(2828);
    let mut between = |low: u64, high: u64| low + draws.next_u64() % (high - low + 1);
    let mut off = Vec::new();
    for _ in 0..40 {
        let mut level = LevelPlan::new(Load::Concurrency { concurrency: between(8, 96) as u32 });
        level.input_tokens = LengthSpec::fixed(between(64, 1_500) as u32);
        level.output_tokens = LengthSpec::fixed(between(8, 160) as u32);
        let seed = between(1, 1 << 30);
        let of = |duration_ns: u64| {
            let level = LevelPlan { duration_ns: Some(duration_ns), ..level.clone() };
            let mut order = Order::twin(TWIN).level(level);
            order.plan.seed = seed;
            run(order, &()).unwrap().summary.unwrap().levels.remove(0)
        };
        let per_s = |level: &LevelSummary| level.steady.unwrap().throughput.requests_per_s.unwrap();
        let latency_s =
            |level: &LevelSummary| level.times[Time::Latency].as_ref().unwrap().mean.unwrap() / 1e3;
        let known = of(200 * SEC);
        let rounds = between(220, 600) as f64 / 100.0;
        let short = of((rounds * latency_s(&known) * 1e9) as u64);
        let in_flight = per_s(&short) * latency_s(&known);
        let slots = short.load.value.unwrap();
        off.push(
            [per_s(&short) / per_s(&known), in_flight / slots].map(|is| 100.0 * (is - 1.0).abs()),
        );
    }
    for (which, name) in ["from the long run's", "from Little's law"].into_iter().enumerate() {
        let mut off: Vec<f64> = off.iter().map(|off| off[which]).collect();
        off.sort_by(f64::total_cmp);
        let [median, worst] = [off[off.len() / 2], off[off.len() - 1]];
        println!("{name}: median {median:.2} %, worst {worst:.2} %");
        assert!(median < 1.2 && worst < 9.0, "{name}: {median:.2}, {worst:.2}");
    }
}

/// 160 in flight at an engine of 48 slots: the first of them wait for fewer others.
#[test]
fn latencies_of_a_cold_start_are_noted() {
    let of = |warmup: Option<u64>, concurrency: u32| {
        let mut level = LevelPlan::new(Load::Concurrency { concurrency });
        level.requests = Some(u64::from(concurrency) * 4);
        level.warmup = warmup.map(Warmup::Requests);
        level.output_tokens = LengthSpec::fixed(8);
        run(Order::twin(TWIN).level(level), &()).unwrap().summary.unwrap().levels.remove(0)
    };
    let note = |level: &LevelSummary| {
        level.notes.iter().find(|note| note.code == "cold_start").map(|note| note.what.clone())
    };
    let cold = of(None, 160);
    let said = note(&cold).unwrap();
    let mean = cold.times[Time::Latency].as_ref().unwrap().mean.unwrap();
    assert!(
        said.contains("the first 160 requests") && said.contains(&format!("{mean:.0} ms")),
        "{said}"
    );
    let steady = 160e3 / cold.steady.unwrap().throughput.requests_per_s.unwrap();
    let without = said.rsplit_once("them ").unwrap().1.trim_end_matches(" ms");
    let without: f64 = without.parse().unwrap();
    assert!(mean < 0.96 * steady && (without / steady - 1.0).abs() < 0.02, "{said}, {steady:.2}");
    assert_eq!(note(&of(Some(320), 160)), None, "a warm-up");
    assert_eq!(note(&of(None, 8)), None, "no queue");
}

#[test]
fn how_a_level_went_is_read_back_from_the_file() {
    let mut order = predicted(&[1, 2, 4, 8]);
    let all = run(predicted(&[1, 2, 4, 8]), &()).unwrap().summary.unwrap();
    let second = all.levels[1].times[Time::Ttft].as_ref().unwrap().mean.unwrap();
    let first = all.levels[0].times[Time::Ttft].as_ref().unwrap().mean.unwrap();
    assert!(first < second);
    let between = (first + second) / 2.0;
    order.plan.course.stop_on = vec![format!("ttft.mean>{between}ms").parse().unwrap()];
    let finished = run(order, &()).unwrap();
    let summary = finished.summary.as_ref().unwrap();
    assert_eq!(summary.levels.len(), 2);
    assert!(summary.notes.iter().any(|note| note.what.contains("no more levels")), "{summary:?}");
}

#[test]
fn two_take_turns_and_know_each_other() {
    let log = [Log::default(), Log::default()];
    let runs = in_turns([predicted(&[1, 4]), predicted(&[1, 4])], [&log[0], &log[1]]).unwrap();
    for (finished, log) in runs.iter().zip(&log) {
        assert_eq!(finished.summary.as_ref().unwrap().levels.len(), 2);
        assert_eq!(log.count("turn"), 2);
    }
    let [a, b] = runs.map(|finished| finished.plan.course.versus.unwrap());
    assert!(a.other_run.ends_with("-b") && b.other_run.ends_with("-a"), "{a:?} {b:?}");
}

#[test]
fn errors_name_their_cause() {
    let blame = |order: Order| {
        let error = run(order.level(LevelPlan::closed_loop(1, 1)), &()).unwrap_err();
        (error.blame(), error.to_string())
    };
    let (who, message) = blame(Order::twin("no-such-twin"));
    assert!(who == ErrorSource::Usage && message.starts_with("--twin: "), "{message}");
    let (who, message) = blame(Order::server("http://127.0.0.1:1").unwrap());
    assert!(who == ErrorSource::Target && message.starts_with("http://127.0.0.1:1"), "{message}");
    let order = Order::engine(SCRIPT).kept(RunOutput::At("/proc/no/such".into()));
    let (who, message) = blame(order);
    assert!(who == ErrorSource::Usage && message.starts_with("--out: "), "{message}");
    let stopped = Order::engine(SCRIPT);
    stopped.stop.raise();
    stopped.stop.raise();
    assert_eq!(stopped.stop.get(), Stop::Now);
    assert!(matches!(
        run(stopped.level(LevelPlan::closed_loop(1, 1)), &()),
        Err(RunError::Interrupted(_))
    ));
}

/// L5: one of several runs that are started at once in the same directory gets it, and the plan is that one's.
#[test]
fn the_plan_of_a_directory_is_that_of_its_records() {
    let root = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let path = root.path().join(round.to_string());
        let ready = std::sync::Barrier::new(2);
        let start = |seed| {
            let mut order = predicted(&[1]).kept(RunOutput::At(path.clone()));
            order.plan.seed = seed;
            ready.wait();
            run(order, &()).map(|finished| finished.summary.unwrap().run.seed)
        };
        let seeds = std::thread::scope(|scope| {
            let other = scope.spawn(|| start(1));
            [start(2), other.join().unwrap()]
        });
        let dir = dyno_record::RunDir::open(&path).unwrap();
        let (plan, records) = (dir.read_plan().unwrap(), dir.records().unwrap());
        assert_eq!(records.header().plan_hash, plan.hash(), "round {round}: {seeds:?}");
        assert_eq!(seeds.iter().filter(|seed| seed.is_ok()).count(), 1, "round {round}: {seeds:?}");
    }
}

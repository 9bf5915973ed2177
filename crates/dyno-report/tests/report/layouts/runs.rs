//! Runs put together by hand, one of each workflow.

use dyno_analysis::{VecSource, summarise};
use dyno_model::Language;
use dyno_model::MS;
use dyno_model::frame::{Frame, LevelStart, RunEnd};
use dyno_model::outcome::FailureClass;
use dyno_model::plan::{Arrival, LengthSpec, LevelPlan, Load, Plan};
use dyno_model::record::{RequestRecord, Widths};
use dyno_report::layout::{Layout, Options, RunToPrint};
use dyno_testing::runs::*;

/// Every layout that is text.
pub(crate) fn layouts() -> impl Iterator<Item = (&'static str, Layout)> {
    let text = Layout::ALL.iter().filter(|layout| !layout.is_binary() && !layout.needs_detail());
    text.map(|layout| (layout.name(), *layout))
}

/// A run of several levels, one after the other, and what its records are.
pub(crate) fn measured(plan: &Plan, levels: Vec<Vec<RequestRecord>>) -> (RunToPrint, VecSource) {
    let mut all = Vec::new();
    let mut start = 0;
    for (level, records) in levels.into_iter().enumerate() {
        let level = level as u32;
        all.push(Frame::LevelStart(LevelStart { level, started: start }));
        let records: Vec<_> = records.into_iter().map(|r| moved(r, level, start)).collect();
        let end = level_end(level, &records);
        start = end.ended + 1000 * MS;
        all.extend(records.into_iter().map(|r| Frame::Request(Box::new(r))));
        all.push(Frame::LevelEnd(Box::new(end)));
    }
    let ending = dyno_model::frame::Ending::Requests;
    all.push(Frame::RunEnd(RunEnd { ended: start, ending }));
    let source = source(plan, all);
    let summary = summarise(plan, None, &source);
    let extras = dyno_analysis::extras(plan, &source);
    (RunToPrint { summary, extras, detail: None, plan: None, environment: None }, source)
}

fn at_rate(rate: f64, arrival: Arrival) -> LevelPlan {
    level_plan(&format!("rate {rate}"), Load::Rate { rate, arrival }, None)
}

/// One at a time, two rates, and everything at once; at the second rate nothing completes.
pub(crate) fn rate_sweep() -> (RunToPrint, VecSource) {
    let one = Load::Concurrency { concurrency: 1 };
    let many = Load::Concurrency { concurrency: 4 };
    let plan = plan(vec![
        level_plan("synchronous", one, Some(30)),
        at_rate(10.0, Arrival::Constant),
        at_rate(12.5, Arrival::Poisson),
        level_plan("throughput", many, Some(40)),
    ]);
    let refused = |i| failure(i, 0, i * 80, i * 80 + 5, FailureClass::Http(503), "queue full");
    let levels = vec![
        closed(1, 30).1,
        (0..40).map(|i| stream(i, 0, i * 100, 100 + i % 7, 20, 5)).collect(),
        (0..20).map(refused).collect(),
        closed(4, 10).1,
    ];
    measured(&plan, levels)
}

/// Two closed loops; the second was measured by a client that was late.
pub(crate) fn closed_ladder() -> (RunToPrint, VecSource) {
    let (mut plan, first) = closed(4, 10);
    plan.label = Some("ladder".to_owned());
    plan.levels.push(closed(8, 10).0.levels.remove(0));
    let mut second = closed(8, 10).1;
    let unsure = Widths { first: 30 * MS, ..Widths::default() };
    second.iter_mut().for_each(|r| r.widths = Some(unsure));
    let last = second.len() as u64;
    second.push(failure(last, 0, 1800, 1900, FailureClass::TimeoutIdle, "no byte for 60s"));
    plan.levels[1].requests = Some(last + 1);
    measured(&plan, vec![first, second])
}

/// One request, then twenty-five at once.
pub(crate) fn bursts() -> (RunToPrint, VecSource) {
    let burst = |requests| level_plan(&format!("burst {requests}"), Load::Burst { requests }, None);
    let plan = plan(vec![burst(1), burst(25)]);
    let all = |n: u64| (0..n).map(|i| stream(i, 0, 0, 100 + 10 * i, 20 + i, 5)).collect();
    measured(&plan, vec![all(1), all(25)])
}

/// Two input lengths by two output lengths, in an order of its own.
pub(crate) fn matrix() -> (RunToPrint, VecSource) {
    let lengths = [(200_u32, 10_u32), (100, 20), (200, 20), (100, 10)];
    let levels = lengths.map(|(input, output)| LevelPlan {
        input_tokens: LengthSpec::fixed(input),
        output_tokens: LengthSpec::fixed(output),
        ..level_plan(
            &format!("{input}→{output} @2"),
            Load::Concurrency { concurrency: 2 },
            Some(20),
        )
    });
    let records = lengths.map(|(input, output)| {
        let one = |i: u64| {
            let (slot, sent) = ((i % 2) as u32, i / 2 * 1000);
            let mut r = stream(i, slot, sent, u64::from(input), 20, u64::from(output));
            r.input = usage(u64::from(input));
            r
        };
        (0..20).map(one).collect()
    });
    measured(&plan(levels.to_vec()), records.to_vec())
}

pub(crate) fn print(layout: Layout, runs: &[RunToPrint], language: Language) -> String {
    let options = Options { language, ..Options::default() };
    String::from_utf8(layout.print(runs, &options).unwrap().bytes).unwrap()
}

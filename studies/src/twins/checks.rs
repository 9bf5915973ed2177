//! How often `dyno twins check` calls an unchanged engine changed, and how often it finds a change and names
//! the part that changed.
//!
//! Each random engine is measured and fitted as in the study. Then a part of it takes longer (the accelerator,
//! the front end, launches) or its batch limit is smaller, by 3 to 20 %, and a short run with other noise is
//! checked against the fitted twin. A change is *found* if the check does not call the server the same, and
//! *named* if the first explanation is the part that changed; prefill or decode alone are not the whole
//! accelerator. Launches that never take longer than the work of their step, front ends that take nearly no
//! time and limits that the run does not reach cannot be seen: those engines are counted apart, by what the
//! true engine with the change gives.
//!
//! Seeds below 1000 are for development. Those of published tables are looked at once.

use super::judged::fitted;
use super::loads::{Lengths, closed, open};
use super::measured::measure;
use super::random::Draws;
use super::system::System;
use anyhow::Result;
use dyno_engine::twin::Twin;
use dyno_fit::{ExplainedPart, Figures, FitCheck, Quantity, Trial, check, rerun};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// By how much parts change.
const CHANGES: [f64; 4] = [0.03, 0.05, 0.10, 0.20];
/// What changes.
const PARTS: [ExplainedPart; 4] = [
    ExplainedPart::Accelerator,
    ExplainedPart::FrontEnd,
    ExplainedPart::Launch,
    ExplainedPart::MaxSeqs,
];
/// A change that alters no value of any level by more than this cannot be seen by anyone.
const VISIBLE: f64 = 0.02;
/// The slots and the requests of the levels that are checked.
const LADDER: [(usize, usize); 4] = [(1, 12), (16, 96), (64, 192), (128, 320)];
/// The shares of the highest throughput that are checked as rates.
const RATES: [f64; 2] = [0.4, 0.7];
/// Unchanged runs of each engine.
const UNCHANGED: u64 = 4;

/// What became of one change of one engine.
struct Outcome {
    part: Option<ExplainedPart>,
    by: f64,
    visible: bool,
    found: bool,
    named: Option<ExplainedPart>,
}

pub(super) fn run(systems: u64, seed: u64) -> Result<()> {
    let threads = std::thread::available_parallelism()?.get();
    let next = AtomicU64::new(0);
    let all: Mutex<Vec<Outcome>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= systems {
                        break;
                    }
                    let outcomes = of_system(&System::random(1_000_000 * seed + number));
                    if let (Some(outcomes), Ok(mut all)) = (outcomes, all.lock()) {
                        all.extend(outcomes);
                    }
                }
            });
        }
    });
    let all = all.into_inner().unwrap_or_default();
    println!("{systems} engines, seed {seed}");
    let unchanged: Vec<&Outcome> = all.iter().filter(|of| of.part.is_none()).collect();
    let wrong = unchanged.iter().filter(|of| of.found).count();
    println!("unchanged: {wrong} of {} called changed", unchanged.len());
    println!("| what changed | by | visible | found | named | as another part |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for part in PARTS {
        for by in CHANGES {
            let of: Vec<&Outcome> = all
                .iter()
                .filter(|of| of.part == Some(part) && of.by == by && of.visible)
                .collect();
            let found = of.iter().filter(|of| of.found).count();
            let named = of.iter().filter(|of| of.found && of.named == Some(part)).count();
            let other =
                of.iter().filter(|of| of.found && of.named.is_some_and(|named| named != part));
            println!(
                "| {part:?} | {:.0} % | {} | {found} | {named} | {} |",
                100.0 * by,
                of.len(),
                other.count()
            );
        }
    }
    Ok(())
}

fn of_system(system: &System) -> Option<Vec<Outcome>> {
    let twin = fitted(system)?;
    let loads = loads(system)?;
    let mut all = Vec::new();
    for number in 0..UNCHANGED {
        let found = checked(&twin, system, &loads, 200 + 10 * number)?;
        let (found, named) = (!found.same(), found.explanations.first().map(|one| one.part));
        all.push(Outcome { part: None, by: 0.0, visible: true, found, named });
    }
    for (place, part) in (0..).zip(PARTS) {
        for (number, by) in (0..).zip(CHANGES) {
            let changed = changed(system, part, by);
            let visible = is_visible(system, &changed, &loads);
            let check = checked(&twin, &changed, &loads, 300 + 100 * place + 20 * number)?;
            let named = check.explanations.first().map(|one| one.part);
            all.push(Outcome { part: Some(part), by, visible, found: !check.same(), named });
        }
    }
    Some(all)
}

/// A short run with levels from light to heavy.
fn loads(system: &System) -> Option<Vec<Trial>> {
    let mut draws = Draws::new(system.seed, 7);
    let lengths = Lengths::fixed(system.input, system.output);
    let mut all: Vec<Trial> = Vec::new();
    for (slots, requests) in LADDER {
        all.push(closed(&mut draws, slots, requests, lengths));
    }
    let full = Figures::of(&rerun(all.last()?, system.core(90)?)?)?.get(Quantity::Rate);
    all.extend(RATES.map(|share| open(&mut draws, share * full, 120, lengths)));
    Some(all)
}

fn checked(twin: &Twin, system: &System, loads: &[Trial], noise: u64) -> Option<FitCheck> {
    let measured = (noise..).zip(loads).map(|(noise, load)| measure(system, load, noise));
    let trials: Option<Vec<Trial>> = measured.map(|of| Some(of?.trial)).collect();
    Some(check(twin, &trials?))
}

/// The engine with one part slower, or a smaller batch.
fn changed(system: &System, part: ExplainedPart, by: f64) -> System {
    let mut system = *system;
    let cost = &mut system.cost;
    let (launch, front) = (&mut cost.launch, &mut cost.front);
    let times: Vec<&mut f64> = match part {
        ExplainedPart::FrontEnd => {
            vec![&mut cost.front_end, &mut front.request, &mut front.chunk, &mut front.input]
        }
        ExplainedPart::Launch => {
            vec![&mut launch.decode, &mut launch.prefill, &mut launch.large, &mut launch.sequence]
        }
        ExplainedPart::MaxSeqs => {
            let limit = f64::from(system.scheduler.max_seqs) * (1.0 - by);
            system.scheduler.max_seqs = limit.round() as u32;
            Vec::new()
        }
        _ => vec![
            &mut cost.base,
            &mut cost.decode,
            &mut cost.kv,
            &mut cost.prefill_token,
            &mut cost.attention,
        ],
    };
    times.into_iter().for_each(|time| *time *= 1.0 + by);
    system
}

/// Whether a change alters what is compared, with the same noise.
fn is_visible(before: &System, after: &System, loads: &[Trial]) -> bool {
    let compared = [Quantity::Rate, Quantity::TtftP50, Quantity::ItlP50, Quantity::LatencyP50];
    loads.iter().any(|load| {
        let of = |system: &System| Figures::of(&rerun(load, system.core(80)?)?);
        let Some((before, after)) = of(before).zip(of(after)) else { return false };
        compared.iter().any(|of| (after.get(*of) / before.get(*of)).ln().abs() > VISIBLE)
    })
}

//! Stretches of steps between two moments at which no prompt is being prefilled. Within one, time may
//! move from step to step (a step planned ahead delays the output of the one before); its sum does not.

use super::LevelSteps;
use super::costs::{TERMS, Term};
use super::served::ServedStep;
use dyno_stats::upper_median;

/// The fewest steps of a window.
const STEPS: usize = 8;
/// Steps without first tokens before its edges.
const BEFORE: usize = 3;
/// Steps without first tokens after its edges.
const AFTER: usize = 2;
/// A step this many times as long as others has something else to do.
const LONG: f64 = 1.5;

/// A stretch of steps.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// How long it took, in seconds.
    pub(super) time: f64,
    /// What it had to do, in the order of the terms.
    pub(super) work: [f64; TERMS],
    /// The part of its steps that only decode.
    decoding: [f64; TERMS],
    /// The others.
    prefilling: Vec<[f64; TERMS]>,
}

impl Window {
    /// Of steps without a pause, none of them bound by its launch.
    fn of(steps: &[ServedStep]) -> Option<Self> {
        let none = [0.0; TERMS];
        let mut window = Self { time: 0.0, work: none, decoding: none, prefilling: Vec::new() };
        for step in steps {
            window.time += 1e-6 * step.time_us?;
            match step.first_tokens {
                0 => add(&mut window.decoding, &work(step)),
                _ => window.prefilling.push(work(step)),
            }
        }
        window.divide(|_| false);
        Some(window)
    }

    /// Divides its steps by their work into those bound by their launch, which have no other work, and
    /// others.
    pub(super) fn divide(&mut self, bound: impl Fn(&[f64; TERMS]) -> bool) {
        self.work = self.decoding;
        for step in &self.prefilling {
            match bound(step) {
                true => self.work[Term::Launch as usize] += 1.0,
                false => add(&mut self.work, step),
            }
        }
    }
}

fn add(sum: &mut [f64; TERMS], part: &[f64; TERMS]) {
    sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
}

/// What a step that is not bound by its launch has to do, in the order of the terms.
fn work(step: &ServedStep) -> [f64; TERMS] {
    let prefills = f64::from(u8::from(step.first_tokens > 0));
    let tokens = step.prefill_tokens as f64;
    [1.0, f64::from(step.decodes), step.context as f64, tokens, prefills, step.pairs, 0.0]
}

/// The windows of a level, in order. Those with a pause of the engine are left out.
pub(super) fn windows(level: &LevelSteps) -> Vec<Window> {
    let steps = &level.steps;
    let decoding = steps.iter().filter(|step| step.first_tokens == 0);
    let mut times: Vec<f64> = decoding.filter_map(|step| step.time_us).collect();
    let Some(usual) = upper_median(&mut times) else { return Vec::new() };
    let mut windows = Vec::new();
    let mut start: Option<usize> = None;
    for at in 0..steps.len() {
        if steps[at].time_us.is_none() {
            start = None;
        }
        if !is_edge(steps, at, LONG * usual) {
            continue;
        }
        match start {
            Some(from) if at - from < STEPS => {}
            Some(from) => {
                windows.extend(Window::of(&steps[from + 1..=at]));
                start = Some(at);
            }
            None => start = Some(at),
        }
    }
    windows
}

/// Whether nothing but decoding happens around a step.
fn is_edge(steps: &[ServedStep], at: usize, long: f64) -> bool {
    let Some(around) = at.checked_sub(BEFORE).and_then(|from| steps.get(from..=at + AFTER)) else {
        return false;
    };
    let step = &steps[at];
    let quiet = around.iter().all(|step| step.first_tokens == 0);
    let same = step.decodes == steps[at - 1].decodes;
    quiet && same && step.time_us.is_some_and(|time| time < long)
}

//! How requests were offered, as far as the tool states it.

use crate::level::blank;
use crate::text::invocation::Invocation;
use crate::text::part::Stated;
use crate::text::quantity::{Cell, cell, name};
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::summary::{LoadSummary, RequestCounts};
use dyno_words::Problem;

/// A rate beyond this is a way of saying "as fast as possible": `--request-rate 1e9`.
const UNLIMITED: f64 = 1e5;

/// How often requests were sent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Rate {
    #[default]
    Unstated,
    /// As text: a ramp, the times of a trace.
    Otherwise,
    Unlimited,
    Fixed(f64),
}

/// What is stated about a load.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StatedLoad {
    rate: Rate,
    slots: Option<f64>,
    /// It was said whether there is a limit.
    limit_stated: bool,
}

impl Rate {
    fn of(rate: f64) -> Self {
        if rate < UNLIMITED { Self::Fixed(rate) } else { Self::Unlimited }
    }
}

impl StatedLoad {
    /// The settings with which the tool was started say what its output does not.
    pub(crate) fn complete(&mut self, invocation: &Invocation) {
        if self.rate == Rate::Unstated {
            let rate = invocation.number(&["request_rate"]).filter(|rate| *rate > 0.0);
            self.rate = rate.map_or(Rate::Unstated, Rate::of);
        }
        if !self.limit_stated {
            self.slots = invocation.number(&["max_concurrency"]).filter(|slots| *slots >= 1.0);
        }
    }

    /// A row on the rate or on the slots.
    pub(crate) fn row(&mut self, stated: Stated<'_>) {
        let value = stated.value.trim();
        let of_slots = name(stated.name).0.contains("concurrency");
        self.limit_stated |= of_slots;
        match cell(value) {
            Cell::Number(number) if of_slots => self.slots = Some(number.value),
            Cell::Number(number) => self.rate = Rate::of(number.value),
            Cell::Absent => {}
            Cell::Other if of_slots => {}
            Cell::Other if ["inf", "infinity"].contains(&value.to_lowercase().as_str()) => {
                self.rate = Rate::Unlimited;
            }
            Cell::Other => self.rate = Rate::Otherwise,
        }
    }

    /// The rate changed over time.
    pub(crate) fn ramp(&mut self) {
        self.rate = Rate::Otherwise;
    }

    /// The load, and what was assumed about it. Without a rate and a limit the tools send everything at
    /// once.
    pub(crate) fn load(
        &self,
        counts: &RequestCounts,
        line: u64,
    ) -> (LoadSummary, Option<Diagnostic>) {
        let sent = counts.completed.map(|done| done + counts.failed.unwrap_or_default());
        let sent = sent.map(|sent| sent as f64);
        let finding = match (self.slots, self.rate) {
            (Some(slots), Rate::Fixed(rate)) => {
                Some(Problem::RateAndLimit.with([rate, slots]).at(line))
            }
            (None, Rate::Unstated) if sent.is_some() => {
                Some(Diagnostic::from(Problem::LoadAssumed).at(line))
            }
            _ => None,
        };
        let load = match (self.slots, self.rate, sent) {
            (_, Rate::Fixed(rate), _) => blank::load(LoadKind::Rate, Some(rate)),
            (_, Rate::Otherwise, _) | (None, Rate::Unstated, None) => {
                blank::load(LoadKind::Unknown, None)
            }
            (Some(slots), ..) => blank::load(LoadKind::Concurrency, Some(slots)),
            (None, _, Some(sent)) => blank::load(LoadKind::Burst, Some(sent)),
            (None, Rate::Unlimited, None) => blank::load(LoadKind::Unlimited, None),
        };
        (load, finding)
    }
}

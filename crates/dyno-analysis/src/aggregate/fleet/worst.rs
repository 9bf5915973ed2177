//! The findings of agents as those of their level: each with the agent's name, or one for many with the worst.

use super::Part;
use dyno_model::fleet::{AgentEnd, ClockFit};
use dyno_model::plan::Load;
use dyno_model::summary::{ClientSummary, Lag};
use dyno_model::{Diagnostic, LevelSummary, Message, Severity, message};
use dyno_words::named_as;

/// More agents than this with the same finding are one line, with the worst of them.
const NAMED: usize = 3;

/// A finding of an agent.
pub(super) struct Found {
    pub(super) agent: String,
    pub(super) said: Diagnostic,
    /// Of several with the same finding, the one with the most is the worst.
    pub(super) weight: f64,
}

/// Everything by which an agent may be worse than another.
pub(super) struct Facts<'a> {
    pub(super) load: Load,
    pub(super) end: &'a AgentEnd,
    pub(super) part: &'a Part,
    pub(super) own: &'a LevelSummary,
    pub(super) client: &'a ClientSummary,
}

impl Facts<'_> {
    /// How bad a finding is at this agent: by the number that the finding is about. Of shares, the lowest is the
    /// worst; where there is nothing to compare, all are the same.
    pub(super) fn weight(&self, finding: &Diagnostic) -> f64 {
        let (end, client, health) = (self.end, self.client, &self.end.client);
        let p99 = |lag: Option<Lag>| lag.map_or(0.0, |lag| lag.p99);
        let clock = |of: fn(&ClockFit) -> u64| end.clock.as_ref().map_or(0, of);
        let count = |count: u64| count as f64;
        match &*finding.code {
            "start_skew" => count(end.start_error_ns.unwrap_or_default().unsigned_abs()),
            "clock_unsure" => count(clock(|clock| clock.bound_ns)),
            "clock_jumped" => count(clock(|clock| clock.steps.into())),
            "shares_uneven" => match self.load {
                Load::Concurrency { .. } => -(self.part.slot_time.ns as f64),
                _ => -count(end.issued),
            },
            "effective_concurrency" => {
                let instrument = self.own.instrument.as_ref();
                -instrument.and_then(|of| of.effective_concurrency).unwrap_or_default()
            }
            "records_missing" | "short_of_plan" | "off_schedule" => self.missing(),
            "behind_schedule" => count(health.behind_ns),
            "nothing_completed" => count(self.part.running.counts().failed),
            "send_lag" | "burst_spread" => p99(client.send_lag_ms),
            "read_lag" => p99(client.read_lag_ms).max(p99(client.timer_lag_ms)),
            "out_of_files" => count(health.out_of_files),
            "out_of_ports" => count(health.out_of_ports),
            "unasked_responses" => count(health.unasked),
            "clock_stepped" => count(health.clock_step_ns.unsigned_abs()),
            "client_stalled" => count(health.blind_ns),
            "awaited_prompts" => count(health.awaited_prompts_ns),
            "awaited_records" => count(health.awaited_records_ns),
            "no_kernel_stamps" => count(health.unstamped_reads),
            _ => 0.0,
        }
    }

    /// Requests that are not where they should be.
    fn missing(&self) -> f64 {
        let Some(arrived) = self.part.arrived(self.end) else { return 0.0 };
        let unrecorded = arrived.records.abs_diff(arrived.issued);
        let unissued = arrived.planned.unwrap_or(arrived.issued).abs_diff(arrived.issued);
        (unrecorded + unissued + arrived.unsent) as f64
    }
}

/// The findings of agents as those of their level: each with the agent's name, or one for many.
pub(super) fn of_level(found: Vec<Found>) -> Vec<Diagnostic> {
    let mut by_rule: Vec<Vec<Found>> = Vec::new();
    for one in found {
        let one = Found { said: tempered(one.said), ..one };
        match by_rule.iter_mut().find(|rule| rule[0].said.key == one.said.key) {
            Some(rule) => rule.push(one),
            None => by_rule.push(vec![one]),
        }
    }
    let named = |mut rule: Vec<Found>| {
        rule.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let more = rule.len() - 1;
        match more < NAMED {
            true => rule.iter().map(|one| named_as(agent(&one.agent), &one.said)).collect(),
            false => {
                let worst = &rule[0];
                let agent = &worst.agent;
                let name =
                    message!("agent {agent} (and {more} more)", "压测端 {agent}（另有 {more} 个）");
                vec![named_as(name, &worst.said)]
            }
        }
    };
    by_rule.into_iter().flat_map(named).collect::<Vec<Diagnostic>>()
}

/// An agent whose requests all failed has measured nothing; the others have.
fn tempered(said: Diagnostic) -> Diagnostic {
    match (&*said.code, said.severity) {
        ("nothing_completed", Some(Severity::Error)) => {
            Diagnostic { severity: Some(Severity::Warning), ..said }
        }
        _ => said,
    }
}

fn agent(name: &str) -> Message {
    message!("agent {name}", "压测端 {name}")
}

//! The id of a run, and what is saved about where it ran.

use crate::host;
use crate::order::Order;
use crate::workload::Attempt;
use dyno_model::Diagnostic;
use dyno_model::environment::{Environment, Preflight, Server};
use dyno_model::frame::RunHeader;
use dyno_model::plan::Plan;
use dyno_model::versus::{Side, Versus};
use dyno_model::when::compact;
use dyno_model::{Language, Localized, Message};
use dyno_net::Clock;
use dyno_record::FORMAT;
use dyno_words::escape::escape;

/// The id of a new run: its UTC time and four hexadecimal digits, and its side of a comparison.
pub(crate) fn name(clock: &Clock, side: Option<Side>) -> String {
    let nanos = clock.anchor_unix_ns();
    // Two runs in the same second differ in their nanoseconds and process id.
    let mixed = (nanos ^ u64::from(std::process::id()) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let side = side.map_or("", suffix);
    format!("{}-{:04x}{side}", compact(nanos), mixed >> 48)
}

/// Makes the prompts of this attempt differ from those of others.
pub(crate) fn attempt(order: &Order, clock: &Clock) -> Attempt {
    let plan = &order.plan;
    match order.past() {
        Some(past) => Attempt::new(plan, &past.run_id, past.attempts + 1, past.taken),
        None => {
            let side = plan.course.versus.as_ref().map(|versus| versus.side);
            Attempt::new(plan, &name(clock, side), 1, 0)
        }
    }
}

/// The id of an order's run.
pub(crate) fn run_id(order: &Order, clock: &Clock) -> String {
    let side = order.plan.course.versus.as_ref().map(|versus| versus.side);
    order.past().map_or_else(|| name(clock, side), |past| past.run_id.clone())
}

/// Makes the ids of two alternating runs differ.
pub fn suffix(side: Side) -> &'static str {
    match side {
        Side::A => "-a",
        Side::B => "-b",
    }
}

/// Stores the id of the other run in each of two plans.
pub(crate) fn link([a, b]: &mut [Order; 2], clock: &Clock) {
    let versus = |side: Side, other: &Plan| Versus {
        side,
        other_run: name(clock, Some(side.other())),
        other_target: other.target.to_string(),
    };
    let (of_a, of_b) = (versus(Side::A, &b.plan), versus(Side::B, &a.plan));
    (a.plan.course.versus, b.plan.course.versus) = (Some(of_a), Some(of_b));
}

/// The first frame of the records.
pub(crate) fn header(run_id: String, plan: &Plan, clock: &Clock) -> RunHeader {
    RunHeader {
        format: FORMAT,
        run_id,
        shard: plan.shard.index,
        shards: plan.shard.of,
        anchor_unix_ns: clock.anchor_unix_ns(),
        plan_hash: plan.hash(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What is saved about this machine and the server.
pub(crate) fn environment(
    server: Server,
    preflight: Preflight,
    notes: Vec<Diagnostic>,
) -> Environment {
    Environment {
        schema: "dyno.environment/1".to_owned(),
        dyno: env!("CARGO_PKG_VERSION").to_owned(),
        host: host::describe(),
        server,
        preflight: Some(preflight),
        notes,
        attempts: None,
        made: Default::default(),
    }
}

/// The longest line that is shown of a message.
const LONGEST: usize = 600;

/// A server's message on one line, with what cannot be seen escaped.
pub fn one_line(text: &str) -> String {
    let beginning: String = text.trim().chars().take(LONGEST).collect();
    escape(&beginning.replace(['\n', '\r', '\t'], " "), usize::MAX)
}

/// What is said, on one line.
pub(crate) fn on_one_line(said: &impl Localized) -> Message {
    let in_one = |language| one_line(&said.text(language));
    Message::new([Language::English, Language::Chinese].map(in_one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_words_cannot_speak_to_the_terminal() {
        assert_eq!(one_line("a\nb\x1b[31mc"), "a b\\u{1b}[31mc");
        assert_eq!(one_line("a\u{202e}b\u{200b}c"), "a\\u{202e}b\\u{200b}c");
        assert_eq!(one_line(&"x".repeat(10_000)).len(), LONGEST);
    }
}

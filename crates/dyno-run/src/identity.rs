//! What a run is called, and what is saved about where it ran.

use crate::host;
use crate::order::Order;
use dyno_model::environment::{Environment, Note, Preflight, Server};
use dyno_model::frame::RunHeader;
use dyno_model::plan::Plan;
use dyno_model::versus::{Side, Versus};
use dyno_net::Clock;
use dyno_record::FORMAT;

/// The name of a new run: its UTC time and four hexadecimal digits, and which of two it is.
pub(crate) fn name(clock: &Clock, side: Option<Side>) -> String {
    let nanos = clock.anchor_unix_ns();
    // Two runs of one second differ by their nanoseconds and process.
    let mixed = (nanos ^ u64::from(std::process::id()) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let side = side.map_or("", suffix);
    format!("{}-{:04x}{side}", utc(nanos / 1_000_000_000), mixed >> 48)
}

/// What sets the names of two runs apart that take turns.
pub fn suffix(side: Side) -> &'static str {
    match side {
        Side::A => "-a",
        Side::B => "-b",
    }
}

/// Has each of two plans know the other run.
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
pub(crate) fn environment(server: Server, preflight: Preflight, notes: Vec<Note>) -> Environment {
    Environment {
        schema: "dyno.environment/1".to_owned(),
        dyno: env!("CARGO_PKG_VERSION").to_owned(),
        host: host::describe(),
        server,
        preflight: Some(preflight),
        notes,
    }
}

/// A server's words on one line, without anything that a terminal could obey.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for c in text.trim().chars().take(600) {
        match c {
            '\n' | '\r' | '\t' => line.push(' '),
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line
}

/// `20261115T041500Z`, from seconds since 1970.
pub(crate) fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days to civil date, by eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let era_day = shifted % 146_097;
    let year_of_era = (era_day - era_day / 1_460 + era_day / 36_524 - era_day / 146_096) / 365;
    let year_day = era_day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * year_day + 2) / 153;
    let day = year_day - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = shifted / 146_097 * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(utc(0), "19700101T000000Z");
        assert_eq!(utc(951_827_696), "20000229T123456Z");
        assert_eq!(utc(1_794_717_000), "20261115T043000Z");
    }

    #[test]
    fn a_servers_words_cannot_speak_to_the_terminal() {
        assert_eq!(one_line("a\nb\x1b[31mc"), "a b\\u{1b}[31mc");
    }
}

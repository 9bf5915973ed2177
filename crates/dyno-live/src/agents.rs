//! Several load generators during a level: their reports about once a second, what follows from two
//! of them, and which agent is in trouble. Their requests come when the level is over.

use super::seconds::Seconds;
use super::view::clock;
use super::words::Text;
use dyno_analysis::counts::Counts;
use dyno_analysis::running_level::LevelSoFar;
use dyno_model::fleet::{AgentSeen, Beat};
use dyno_model::metric::Time;
use dyno_model::{Language, MS, Nanos, SEC};
use dyno_words::columns::millis;
use dyno_words::escape::escape;
use std::time::Duration;

/// An agent that has not been heard for so long is named: reports come once a second.
const SILENT: Nanos = 3 * SEC;
/// An agent that sends so late is named.
const LATE: Nanos = 100 * MS;
const LONGEST_NAME: usize = 40;

/// The agents at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FleetSeen {
    /// As they were last reported in this level.
    pub(crate) agents: Vec<AgentSeen>,
    /// How many there are.
    pub(crate) count: usize,
    /// Since the start of the level, when what was reported was counted.
    pub(crate) reported: Duration,
    /// Now, on the clock of [`AgentSeen::heard`].
    pub(crate) now: Nanos,
}

impl FleetSeen {
    /// All agents are done, and their records are being fetched.
    pub(crate) fn collects(&self) -> bool {
        let over = |agent: &AgentSeen| agent.done || agent.lost.is_some();
        !self.agents.is_empty() && self.agents.iter().all(over)
    }

    /// The sum of a counter over all agents.
    pub(crate) fn sum(&self, of: impl Fn(&Beat) -> u64) -> u64 {
        self.agents.iter().filter_map(|agent| agent.beat.as_ref()).map(of).sum()
    }

    /// Requests that have ended.
    pub(crate) fn done(&self) -> u64 {
        self.sum(ended)
    }

    /// The median of the agents' medians, in milliseconds: about the median.
    pub(crate) fn middle(&self, of: fn(&Beat) -> Option<u64>) -> Option<f64> {
        let beats = self.agents.iter().filter_map(|agent| agent.beat.as_ref());
        middle(beats.filter_map(of).collect())
    }

    /// The running level by these reports.
    pub(crate) fn level(&self, per_second: Option<(f64, f64)>, embeds: bool) -> LevelSoFar {
        let (done, failed, shed) =
            (self.done(), self.sum(|beat| beat.failed), self.sum(|beat| beat.shed));
        let completed = done.saturating_sub(failed + shed);
        let counts = Counts { planned: done, completed, failed, shed, ..Counts::default() };
        let (requests, tokens) = per_second.unzip();
        let mut found = LevelSoFar {
            counts,
            requests_per_s: requests,
            output_tokens_per_s: tokens.filter(|_| !embeds),
            embeds,
            ..LevelSoFar::default()
        };
        found.times[Time::Ttft].p50 = self.middle(|beat| beat.ttft_ns);
        found.times[Time::Latency].p50 = self.middle(|beat| beat.latency_ns);
        found
    }

    /// The agent that is worst off, if one is: lost, silent or late.
    pub(crate) fn trouble(&self, language: Language) -> Option<String> {
        let worst = self.agents.iter().max_by_key(|agent| weight(agent, self.now))?;
        let name = escape(&worst.name, LONGEST_NAME);
        let silent = silence(worst, self.now);
        let late = worst.beat.map_or(0, |beat| beat.lag_ns);
        if worst.lost.is_some() {
            Some(Text::AgentIsLost.with(language, &[name]))
        } else if worst.done {
            None
        } else if silent >= SILENT {
            Some(Text::AgentSilent.with(language, &[name, clock(Duration::from_nanos(silent))]))
        } else if late >= LATE {
            Some(Text::AgentLate.with(language, &[name, millis(late as f64 / 1e6)]))
        } else {
            None
        }
    }
}

fn ended(beat: &Beat) -> u64 {
    beat.completed + beat.failed + beat.shed
}

/// The middle of some times, in milliseconds.
pub(super) fn middle(mut times: Vec<u64>) -> Option<f64> {
    times.sort_unstable();
    times.get(times.len() / 2).map(|ns| *ns as f64 / 1e6)
}

fn silence(agent: &AgentSeen, now: Nanos) -> Nanos {
    if agent.done { 0 } else { now.saturating_sub(agent.heard) }
}

/// How badly an agent does: lost, silent, late, with failures.
fn weight(agent: &AgentSeen, now: Nanos) -> (bool, Nanos, Nanos, u64) {
    let silent = silence(agent, now);
    let beat = agent.beat.unwrap_or_default();
    let late = if agent.done || beat.lag_ns < LATE { 0 } else { beat.lag_ns };
    (agent.lost.is_some(), if silent < SILENT { 0 } else { silent }, late, beat.failed)
}

/// An agent as a row of the live view.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct AgentRow {
    pub(crate) name: String,
    pub(crate) beat: Option<Beat>,
    pub(crate) tokens_per_s: Option<f64>,
    /// Since it was heard last.
    pub(crate) silent: Duration,
    pub(crate) done: bool,
    pub(crate) lost: bool,
    weight: (bool, Nanos, Nanos, u64),
}

impl AgentRow {
    /// It is lost, silent or late.
    pub(crate) fn is_in_trouble(&self) -> bool {
        self.weight.0 || self.weight.1 > 0 || self.weight.2 > 0
    }
}

/// So many of the agents, the worst first unless all fit.
pub(crate) fn worst_first(rows: &[AgentRow], room: usize) -> Vec<&AgentRow> {
    let mut rows: Vec<&AgentRow> = rows.iter().collect();
    if rows.len() > room {
        rows.sort_by_key(|row| std::cmp::Reverse(row.weight));
        rows.truncate(room);
    }
    rows
}

/// The agents of the present level, report by report.
#[derive(Debug, Default)]
pub(super) struct Agents {
    level: Option<u64>,
    /// Each as it was last seen, with its tokens per second since the time before.
    known: Vec<(AgentSeen, Option<f64>)>,
}

impl Agents {
    /// Takes a report, and what happened since the last one into the seconds in which it happened.
    pub(super) fn update(&mut self, level: u64, seen: &[AgentSeen], seconds: &mut Seconds) {
        if self.level != Some(level) || self.known.len() != seen.len() {
            self.level = Some(level);
            self.known = seen.iter().map(|agent| (agent.clone(), None)).collect();
            return;
        }
        for ((before, tokens_per_s), now) in self.known.iter_mut().zip(seen) {
            // The last message of an agent is not a report: its counters are as before.
            let news = now.beat.filter(|_| now.heard > before.heard && !now.done);
            if let Some(beat) = news {
                let past = before.beat.unwrap_or_default();
                let span = [before.heard, now.heard];
                let tokens = beat.tokens.saturating_sub(past.tokens);
                let completed = beat.completed.saturating_sub(past.completed);
                seconds.spread(span, completed, tokens);
                let times = [(Time::Ttft, beat.ttft_ns), (Time::Latency, beat.latency_ns)];
                seconds.reported(now.heard, times);
                let time = (now.heard - before.heard) as f64 / SEC as f64;
                *tokens_per_s = Some(tokens as f64 / time);
            } else if now.done || now.lost.is_some() {
                *tokens_per_s = None;
            }
            before.clone_from(now);
        }
    }

    /// A row for each, in the order of their numbers.
    pub(super) fn rows(&self, now: Nanos) -> Vec<AgentRow> {
        let rows = self.known.iter().map(|(agent, tokens_per_s)| AgentRow {
            name: escape(&agent.name, LONGEST_NAME),
            beat: agent.beat,
            tokens_per_s: *tokens_per_s,
            silent: Duration::from_nanos(now.saturating_sub(agent.heard)),
            done: agent.done,
            lost: agent.lost.is_some(),
            weight: weight(agent, now),
        });
        rows.collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An agent after so many seconds of 10 requests of 64 tokens a second.
    pub(crate) fn agent(name: &str, seconds: u64) -> AgentSeen {
        let beat = Beat {
            sent: 10 * seconds + 4,
            completed: 10 * seconds,
            in_flight: 4,
            tokens: 640 * seconds,
            lag_ns: MS,
            ttft_ns: Some(50 * MS),
            latency_ns: Some(400 * MS),
            ..Beat::default()
        };
        AgentSeen {
            name: name.to_owned(),
            beat: (seconds > 0).then_some(beat),
            heard: (100 + seconds) * SEC,
            done: false,
            lost: None,
        }
    }

    fn late(mut agent: AgentSeen, by: Nanos) -> AgentSeen {
        agent.beat = agent.beat.map(|beat| Beat { lag_ns: by, ..beat });
        agent
    }

    fn seen(agents: Vec<AgentSeen>, now_s: u64) -> FleetSeen {
        let (count, now) = (agents.len(), now_s * SEC);
        FleetSeen { agents, count, now, ..FleetSeen::default() }
    }

    #[test]
    fn the_worst_agent_is_named() {
        let trouble = |agents, now_s| seen(agents, now_s).trouble(Language::English);
        assert_eq!(trouble(vec![agent("1", 5), agent("2", 5)], 106), None);
        let slow = || late(agent("2", 5), 250 * MS);
        assert_eq!(trouble(vec![agent("1", 5), slow()], 106).unwrap(), "agent 2 250 ms late");
        let silent = trouble(vec![agent("1", 1), late(agent("2", 5), 250 * MS)], 106);
        assert_eq!(silent.unwrap(), "agent 1 silent for 5 s");
        let lost = AgentSeen {
            lost: Some(dyno_model::Message::quoted("killed")),
            ..agent("\u{1b}[2J3", 5)
        };
        let named = trouble(vec![agent("1", 1), lost], 106).unwrap();
        assert!(named.starts_with("agent ") && named.ends_with(" lost"), "{named}");
        assert!(!named.contains('\u{1b}'), "names come from other machines");
        let done = AgentSeen { done: true, ..agent("1", 1) };
        assert_eq!(trouble(vec![done, agent("2", 5)], 106), None, "what is done is not silent");
    }

    #[test]
    fn what_happened_between_two_reports_counts_in_its_seconds() {
        let (mut agents, mut seconds) = (Agents::default(), Seconds::default());
        for second in 0..=4 {
            agents.update(0, &[agent("1", second), agent("2", second)], &mut seconds);
        }
        let over = seconds.over(10);
        assert_eq!(over.iter().map(|second| second.tokens).collect::<Vec<_>>(), [1280; 4]);
        assert_eq!(over.iter().map(|second| second.done).collect::<Vec<_>>(), [20; 4]);
        assert_eq!(over[3].times[Time::Ttft].p50, Some(50.0));
        assert_eq!(agents.rows(105 * SEC)[1].tokens_per_s, Some(640.0));
        // The same report again changes nothing, and the end of an agent is not a pause.
        let done = AgentSeen { done: true, heard: 105 * SEC, ..agent("2", 4) };
        agents.update(0, &[agent("1", 4), done], &mut seconds);
        let tokens: u64 = seconds.over(10).iter().map(|second| second.tokens).sum();
        assert_eq!(tokens, 4 * 1280);
        assert_eq!(agents.rows(105 * SEC)[0].tokens_per_s, Some(640.0));
        assert_eq!(agents.rows(105 * SEC)[1].tokens_per_s, None);
        // The next level starts from nothing.
        agents.update(1, &[agent("1", 0), agent("2", 0)], &mut seconds);
        assert_eq!(agents.rows(105 * SEC)[0].tokens_per_s, None);
    }

    #[test]
    fn the_worst_come_first_where_not_all_fit() {
        let mut agents = Agents::default();
        let names: Vec<String> = (1..=5).map(|number| number.to_string()).collect();
        let mut seen: Vec<AgentSeen> = names.iter().map(|name| agent(name, 5)).collect();
        seen[3].lost = Some(dyno_model::Message::quoted("killed"));
        seen[2] = late(seen[2].clone(), SEC);
        agents.update(0, &seen, &mut Seconds::default());
        let rows = agents.rows(106 * SEC);
        let named = |room| -> Vec<&str> {
            worst_first(&rows, room).iter().map(|row| row.name.as_str()).collect()
        };
        assert_eq!(named(5), ["1", "2", "3", "4", "5"]);
        assert_eq!(named(3), ["4", "3", "1"]);
    }
}

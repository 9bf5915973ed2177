//! The load generators of a level as a small table, where there are several.

use super::TextOptions;
use super::grid::{Column, OPTIONAL, small};
use crate::messages::Say;
use dyno_model::summary::{AgentSummary, Lag, LevelSummary};
use dyno_model::{Language, Verdict};
use dyno_words::columns::{ABSENT, cut_middle, maybe, millis, number, wrap};
use dyno_words::escape::escape;
use std::collections::BTreeSet;

/// Up to this many agents are all shown; of more, only the worst.
const ALL: usize = 16;
const WORST: usize = 5;
const LONGEST_NAME: usize = 20;

/// One line for each agent; nothing for a level of a single client.
pub(super) fn agents(level: &LevelSummary, options: &TextOptions) -> String {
    let language = options.language;
    let agents = &level.agents;
    if agents.is_empty() {
        return String::new();
    }
    let shown: Vec<&AgentSummary> = match agents.len() > ALL {
        true => AgentSummary::worst_first(agents).into_iter().take(WORST).collect(),
        false => agents.iter().collect(),
    };
    let names: Vec<String> =
        shown.iter().map(|agent| cut_middle(&escape(&agent.name, 80), LONGEST_NAME)).collect();
    let mut out = wrap("  ", &heading(agents, language), options.prose());
    out.push_str(&small(4, &names, columns(&shown, language), options.prose(), language));
    if agents.len() > ALL {
        out.push_str(&wrap("    ", &rest(agents, &shown, language), options.prose()));
    }
    out
}

/// How many there are, and how well they fit together.
fn heading(agents: &[AgentSummary], language: Language) -> String {
    let hosts: BTreeSet<&str> = agents.iter().map(|agent| &*agent.host).collect();
    let most = |of: fn(&AgentSummary) -> Option<f64>| {
        agents.iter().filter_map(of).map(f64::abs).reduce(f64::max)
    };
    let counts = [agents.len(), hosts.len()].map(|count| count.to_string());
    let texts = [
        Some(Say::Agents.with(language, &counts)),
        most(|agent| agent.start_error_ms)
            .map(|ms| Say::StartsWithin.with(language, &[number(ms)])),
        most(|agent| Some(agent.clock?.bound_ms))
            .map(|ms| Say::ClocksWithin.with(language, &[number(ms)])),
    ];
    texts.into_iter().flatten().collect::<Vec<_>>().join(language.semicolon())
}

/// What the others are, where only the worst are shown.
fn rest(agents: &[AgentSummary], shown: &[&AgentSummary], language: Language) -> String {
    let others = agents.iter().filter(|agent| !shown.iter().any(|one| one.agent == agent.agent));
    let others: Vec<Verdict> = others.map(|agent| agent.verdict).collect();
    let verdicts = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid].into_iter();
    let counts = verdicts.map(|one| (others.iter().filter(|other| **other == one).count(), one));
    let counts = counts.filter(|(count, _)| *count > 0);
    let counts: Vec<String> =
        counts.map(|(count, verdict)| format!("{count} {}", verdict.name(language))).collect();
    let values = [shown.len().to_string(), counts.join(language.comma())];
    Say::WorstAgents.with(language, &values)
}

fn columns(agents: &[&AgentSummary], language: Language) -> Vec<Column> {
    let say = |say: Say| say.text(language).to_owned();
    let column = |group: String, head: String, rank: u8, cell: &dyn Fn(&AgentSummary) -> String| {
        let cells = agents.iter().map(|agent| cell(agent)).collect();
        Column { group, head, cells, rank, nominal: 0 }
    };
    let lag = |lag: Option<Lag>| lag.map_or_else(|| ABSENT.to_owned(), |lag| number(lag.p99));
    let percent = |share: Option<f64>| maybe(share.map(|share| share * 100.0));
    let ms = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), millis);
    let mut columns = vec![
        column(String::new(), say(Say::Sent), 1, &|agent| agent.sent.to_string()),
        column(String::new(), say(Say::FailedColumn), 2, &|agent| agent.failed.to_string()),
        column(String::new(), say(Say::SharePercent), 3, &|agent| percent(agent.share)),
        column(say(Say::InFlightColumn), say(Say::Mean), OPTIONAL + 5, &|agent| {
            maybe(agent.in_flight_mean)
        }),
        column(say(Say::TtftMs), "p50".to_owned(), 4, &|agent| ms(agent.ttft_p50_ms)),
        column(say(Say::TtftMs), "p99".to_owned(), OPTIONAL + 6, &|agent| ms(agent.ttft_p99_ms)),
        column(say(Say::SendDelay), say(Say::MsP99), 5, &|agent| lag(agent.client.send_lag_ms)),
        column(say(Say::ReadDelayColumn), say(Say::MsP99), OPTIONAL, &|agent| {
            lag(agent.client.read_delay_ms)
        }),
        column(say(Say::Stall), say(Say::MsMax), OPTIONAL + 2, &|agent| {
            maybe(agent.client.longest_stall_ms)
        }),
        column(String::new(), say(Say::CpuPercent), OPTIONAL + 1, &|agent| {
            percent(agent.client.cpu_share)
        }),
        column(say(Say::Start), say(Say::MsLate), OPTIONAL + 3, &|agent| {
            maybe(agent.start_error_ms)
        }),
        column(say(Say::Clock), "± ms".to_owned(), OPTIONAL + 4, &|agent| {
            maybe(agent.clock.map(|clock| clock.bound_ms))
        }),
        column(String::new(), say(Say::Verdict), 0, &|agent| {
            agent.verdict.name(language).to_owned()
        }),
    ];
    if agents.iter().any(|agent| agent.shed > 0) {
        let shed = column(String::new(), say(Say::ShedColumn), 2, &|agent| agent.shed.to_string());
        columns.insert(2, shed);
    }
    columns
}

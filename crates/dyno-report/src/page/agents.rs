//! The load generators of a run, where there are several: one table, a row for each of them in each level.

use super::Page;
use super::markup::{Markup, tag};
use super::numbers::{counted, counted_or_absent, percent, shown};
use super::tables::{self, Cell, Row, pill};
use dyno_model::Verdict;
use dyno_model::summary::{AgentSummary, Lag, LevelSummary};
use dyno_words::messages;

/// Up to this many agents of a level have a row; of more, the worst.
const MOST: usize = 64;

messages! {
    /// A text of this table.
    enum Text;

    Title: "Agents", "压测端";
    About: "Each sent its part of the level and is judged as a single client is. The metrics above are \
            computed from all their requests together.",
        "每个压测端发送该档位的一部分请求，并像单个客户端一样接受判定。上文各项指标由全部请求共同计算得出。";
    Agent: "Agent", "压测端";
    Host: "Machine", "机器";
    Verdict: "Verdict", "判定";
    Sent: "Sent", "已发送";
    Completed: "Completed", "成功";
    Failed: "Failed", "失败";
    Shed: "Shed", "拒绝";
    Share: "Share (expected)", "份额（应为）";
    InFlight: "In flight, mean / peak", "并发数 平均 / 峰值";
    Ttft: "TTFT p50 / p99 (ms)", "首 token 时延 p50 / p99（ms）";
    SendDelay: "Send delay p99 / max (ms)", "发送延迟 p99 / 最大（ms）";
    ReadDelay: "Read delay p99 / max (ms)", "读取延迟 p99 / 最大（ms）";
    Stall: "Longest stall (ms)", "最长停顿（ms）";
    Cpu: "CPU", "CPU";
    Start: "Started late by (ms)", "晚开始（ms）";
    Clock: "Clock ± (ms)", "时钟误差 ±（ms）";
    Drift: "Drift (ppm)", "漂移（ppm）";
    RoundTrip: "Round trip (ms)", "往返（ms）";
    Beats: "Beats, longest silence (ms)", "心跳数，最长间隔（ms）";
    More: "{}: {} more agents that are no worse", "{}：另有 {} 个不更差的压测端";
}

/// The table; nothing for runs of a single client.
pub(super) fn agents(page: &Page) -> Option<Markup> {
    let say = |text: Text| text.text(page.language);
    let levels: Vec<&LevelSummary> =
        page.summary.levels.iter().filter(|level| !level.agents.is_empty()).collect();
    if levels.is_empty() {
        return None;
    }
    let shed = levels.iter().any(|level| level.agents.iter().any(|agent| agent.shed > 0));
    let mut heads = vec![
        Text::Agent,
        Text::Host,
        Text::Verdict,
        Text::Sent,
        Text::Completed,
        Text::Failed,
        Text::Share,
        Text::Start,
        Text::Clock,
        Text::SendDelay,
        Text::ReadDelay,
        Text::Stall,
        Text::Cpu,
        Text::InFlight,
        Text::Ttft,
        Text::Drift,
        Text::RoundTrip,
        Text::Beats,
    ];
    if shed {
        heads.insert(6, Text::Shed);
    }
    let mut rows = Vec::new();
    for level in &levels {
        if levels.len() > 1 {
            rows.push(Row::heading(&level.label, heads.len()));
        }
        let mut all: Vec<&AgentSummary> = level.agents.iter().collect();
        if all.len() > MOST {
            all = AgentSummary::worst_first(&level.agents);
        }
        let more = all.len().saturating_sub(MOST);
        rows.extend(all.into_iter().take(MOST).map(|agent| row(page, agent, shed)));
        if more > 0 {
            let text = Text::More.with(page.language, &[&level.label, &more.to_string()]);
            rows.push(Row::heading(&text, heads.len()));
        }
    }
    let heads: Vec<String> = heads.into_iter().map(|head| say(head).to_owned()).collect();
    let table = tables::table(say(Text::Title), &heads, rows);
    let title = tag("h3").attr("id", "agents").text(say(Text::Title));
    Some(tag("div").add(title).add(tag("p").text(say(Text::About))).add(table).into())
}

fn row(page: &Page, agent: &AgentSummary, shed: bool) -> Row {
    let kind = match agent.verdict {
        Verdict::Valid => "good",
        Verdict::Invalid => "bad",
        Verdict::Suspect | Verdict::Unjudged => "unsure",
    };
    let why: Vec<&str> = agent.reasons.iter().map(|reason| &*reason.what).collect();
    let verdict = Cell::marked(&pill(kind, agent.verdict.name(page.language)));
    let pair = |a: String, b: String| Cell::number(&format!("{a} / {b}"));
    let lag = |lag: Option<Lag>| pair(shown(lag.map(|lag| lag.p99)), shown(lag.map(|lag| lag.max)));
    let clock = agent.clock;
    let mut cells = vec![
        Cell::head(&agent.name),
        Cell::words(&agent.host),
        verdict.title(&why.join("\n")),
        Cell::number(&counted(agent.sent)),
        Cell::number(&counted(agent.completed)),
        Cell::number(&counted(agent.failed)),
        Cell::number(&format!("{} ({})", percent(agent.share), percent(agent.expected_share))),
        Cell::number(&shown(agent.start_error_ms)),
        Cell::number(&shown(clock.map(|clock| clock.bound_ms))),
        lag(agent.client.send_lag_ms),
        lag(agent.client.read_delay_ms),
        Cell::number(&shown(agent.client.longest_stall_ms)),
        Cell::number(&percent(agent.client.cpu_share)),
        pair(shown(agent.in_flight_mean), counted_or_absent(agent.in_flight_peak)),
        pair(shown(agent.ttft_p50_ms), shown(agent.ttft_p99_ms)),
        Cell::number(&shown(clock.map(|clock| clock.drift_ppm))),
        Cell::number(&shown(clock.map(|clock| clock.round_trip_ms))),
        pair(counted(agent.beats), shown(Some(agent.longest_silence_ms))),
    ];
    if shed {
        cells.insert(6, Cell::number(&counted(agent.shed)));
    }
    Row::plain(cells)
}

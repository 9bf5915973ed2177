//! What only some runs have: where measurements are expected, rounds of the same level, conversations, trees,
//! output lengths, the prefix cache, several agents, the server's own times, server metrics, and the
//! price of tokens.

use super::Page;
use super::agents::agents;
use super::markup::{Markup, tag};
use super::numbers::{counted, counted_or_absent, grouped, percent, shown};
use super::predicted::predicted;
use super::tables::{self, Cell, Row};
use super::trees::trees;
use super::words::Word;
use crate::text::ABSENT;
use crate::text::server_times::spread;
use dyno_model::summary::{
    CacheGroup, CacheSource, CacheSummary, CostSummary, Distribution, Gauge, LevelSummary,
    ServerSummary, ServerTimesSummary, Sessions, Spread, TurnMetrics,
};

const GIB: f64 = (1_u64 << 30) as f64;

/// The parts that this run has; nothing where it has none.
pub(super) fn further(page: &Page) -> Option<Markup> {
    let parts =
        [predicted, repeats, sessions, trees, lengths, cache, agents, server_times, server, cost]
            .map(|part| part(page));
    let parts: Vec<Markup> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.into_iter().collect())
}

fn part(page: &Page, title: Word, about: Option<Word>, heads: &[Word], rows: Vec<Row>) -> Markup {
    let heads: Vec<String> = heads.iter().map(|head| page.say(*head).to_owned()).collect();
    let about = about.map(|about| tag("p").text(page.say(about)).into());
    tag("div")
        .add(tag("h3").text(page.say(title)))
        .adds(about)
        .add(tables::known(page.say(title), &heads, rows))
        .into()
}

fn repeats(page: &Page) -> Option<Markup> {
    let spread = |spread: Option<Spread>| match spread {
        Some(s) => Cell::number(&format!("{} ±{:.1} %", grouped(s.mean), s.deviation_percent))
            .title(&format!("{} – {}", grouped(s.min), grouped(s.max))),
        None => Cell::number(ABSENT),
    };
    let inputs = page.summary.repeats.iter().any(|of| of.inputs_per_s.is_some());
    let rows: Vec<Row> = page
        .summary
        .repeats
        .iter()
        .map(|of| {
            let mut cells = vec![Cell::head(&of.label), Cell::number(&counted(of.rounds))];
            cells.push(spread(of.requests_per_s));
            cells.extend(match inputs {
                true => [of.inputs_per_s, of.latency_p50_ms].map(spread).to_vec(),
                false => {
                    let values = [of.output_tokens_per_s, of.ttft_p50_ms, of.ttft_p99_ms];
                    let more = [of.itl_p50_ms, of.latency_p50_ms];
                    values.into_iter().chain(more).map(spread).collect()
                }
            });
            Row::plain(cells)
        })
        .collect();
    let mut heads = vec![Word::Level, Word::Rounds, Word::RequestRate];
    heads.extend_from_slice(match inputs {
        true => &[Word::InputRate, Word::LatencyP50],
        false => &[Word::OutputRate, Word::TtftP50, Word::TtftP99, Word::ItlP50, Word::LatencyP50],
    });
    let about = Some(Word::RepeatsAbout);
    (!rows.is_empty()).then(|| part(page, Word::Repeats, about, &heads, rows))
}

fn sessions(page: &Page) -> Option<Markup> {
    let turns = |level: &LevelSummary, name: Word, of: &TurnMetrics| {
        let ttft = of.ttft.as_ref();
        Row::plain(vec![
            Cell::head(&level.label),
            Cell::words(page.say(name)),
            Cell::number(&counted(of.requests)),
            Cell::number(&shown(ttft.and_then(|ttft| ttft.p50))),
            Cell::number(&shown(ttft.and_then(|ttft| ttft.p90))),
            Cell::number(&shown(ttft.and_then(|ttft| ttft.p99))),
            Cell::number(&shown(of.latency.as_ref().and_then(|latency| latency.p50))),
            Cell::number(&shown(of.input_tokens.map(|tokens| tokens.mean))),
        ])
    };
    let mut lines = Vec::new();
    let mut rows = Vec::new();
    for level in &page.summary.levels {
        let Some(of) = &level.sessions else { continue };
        rows.push(turns(level, Word::FirstTurn, &of.first));
        rows.push(turns(level, Word::LaterTurns, &of.later));
        lines.push(tag("li").text(&conversations(page, level, of)).into());
    }
    let heads = [
        Word::Level,
        Word::Turns,
        Word::Completed,
        Word::TtftP50,
        Word::TtftP90,
        Word::TtftP99,
        Word::LatencyP50,
        Word::InputTokens,
    ];
    let list = tag("ul").adds(lines);
    (!rows.is_empty()).then(|| {
        [part(page, Word::Sessions, None, &heads, rows), list.into()].into_iter().collect()
    })
}

fn conversations(page: &Page, level: &LevelSummary, of: &Sessions) -> String {
    let values = [counted(of.started), grouped(of.turns_mean), counted(of.broken)];
    let [started, turns, broken] = values.each_ref().map(String::as_str);
    page.fill(Word::Conversations, &[&level.label, started, turns, broken])
}

/// Requested and received output lengths side by side, where they may differ.
fn lengths(page: &Page) -> Option<Markup> {
    let row = |level: &LevelSummary| {
        let of = level.output_lengths?;
        Some(Row::plain(vec![
            Cell::head(&level.label),
            Cell::number(&grouped(of.requested_mean)),
            Cell::number(&grouped(of.received_mean)),
            Cell::number(&percent(Some(of.reached_share))),
        ]))
    };
    let rows: Vec<Row> = page.summary.levels.iter().filter_map(row).collect();
    let heads = [Word::Level, Word::LengthRequested, Word::LengthReceived, Word::LengthReached];
    let about = Some(Word::OutputLengthsAbout);
    (!rows.is_empty()).then(|| part(page, Word::OutputLengths, about, &heads, rows))
}

fn cache(page: &Page) -> Option<Markup> {
    let ttft = |of: Option<&CacheGroup>| {
        let p50 = |of: &CacheGroup| of.ttft.as_ref().and_then(|ttft| ttft.p50);
        of.map_or_else(
            || ABSENT.to_owned(),
            |of| format!("{} ({})", shown(p50(of)), counted(of.requests)),
        )
    };
    let row = |level: &LevelSummary, of: &CacheSummary| {
        let source = match of.source {
            Some(CacheSource::Usage) => page.say(Word::CacheByUsage),
            Some(CacheSource::Counters) => page.say(Word::CacheByCounters),
            None => ABSENT,
        };
        Row::plain(vec![
            Cell::head(&level.label),
            Cell::number(&percent(of.share)),
            Cell::number(&percent(of.beyond_shared)),
            Cell::words(source),
            Cell::number(&counted_or_absent(of.shared_tokens)),
            Cell::number(&ttft(of.hits.as_ref())),
            Cell::number(&ttft(of.misses.as_ref())),
        ])
    };
    let levels = page.summary.levels.iter();
    let rows: Vec<Row> =
        levels.filter_map(|level| Some(row(level, level.cache.as_ref()?))).collect();
    let heads = [
        Word::Level,
        Word::CachedShare,
        Word::CachedBeyond,
        Word::CacheSource,
        Word::SharedTokens,
        Word::TtftHits,
        Word::TtftMisses,
    ];
    let about = Some(Word::CacheAbout);
    (!rows.is_empty()).then(|| part(page, Word::Cache, about, &heads, rows))
}

fn server_times(page: &Page) -> Option<Markup> {
    let cell = |time: &Option<Distribution>| {
        Cell::number(&time.as_ref().map_or_else(|| ABSENT.to_owned(), spread))
    };
    let row = |level: &LevelSummary, of: &ServerTimesSummary| {
        let times = [&of.queue, &of.load, &of.prefill, &of.outside, &of.decode, &of.total];
        let mut cells = vec![Cell::head(&level.label), Cell::number(&counted(of.reported))];
        cells.extend(times.map(cell));
        Row::plain(cells)
    };
    let levels = page.summary.levels.iter();
    let rows: Vec<Row> =
        levels.filter_map(|level| Some(row(level, level.server_times.as_ref()?))).collect();
    let heads = [
        Word::Level,
        Word::TimesReported,
        Word::ServerQueue,
        Word::ServerLoad,
        Word::ServerPrefill,
        Word::OutsideServer,
        Word::ServerDecode,
        Word::ServerTotal,
    ];
    let about = Some(Word::ServerTimesAbout);
    (!rows.is_empty()).then(|| part(page, Word::ServerTimes, about, &heads, rows))
}

fn server(page: &Page) -> Option<Markup> {
    let gauge = |gauge: Option<Gauge>| {
        Cell::number(&gauge.map_or_else(
            || ABSENT.to_owned(),
            |gauge| format!("{} / {}", grouped(gauge.mean), counted(gauge.max)),
        ))
    };
    let row = |level: &LevelSummary, of: &ServerSummary| {
        let memory = of.resident.map(|memory| {
            let ends = [memory.start_bytes, memory.end_bytes];
            let [start, end] = ends.map(|bytes| grouped(bytes as f64 / GIB));
            format!("{start} → {end}")
        });
        Row::plain(vec![
            Cell::head(&level.label),
            Cell::number(&counted(of.samples)),
            gauge(of.running),
            gauge(of.waiting),
            Cell::number(&percent(of.waiting_share)),
            Cell::number(&percent(of.kv_use_max)),
            Cell::number(&counted_or_absent(of.preemptions)),
            Cell::number(&percent(of.prefix_hit_share)),
            Cell::number(memory.as_deref().unwrap_or(ABSENT)),
        ])
    };
    let levels = page.summary.levels.iter();
    let rows: Vec<Row> =
        levels.filter_map(|level| Some(row(level, level.server.as_ref()?))).collect();
    let heads = [
        Word::Level,
        Word::Samples,
        Word::RunningMeanMax,
        Word::WaitingMeanMax,
        Word::WaitingShare,
        Word::KvCache,
        Word::Preemptions,
        Word::PrefixHits,
        Word::Memory,
    ];
    let about = Some(Word::ServerAbout);
    (!rows.is_empty()).then(|| part(page, Word::Server, about, &heads, rows))
}

fn cost(page: &Page) -> Option<Markup> {
    let run = &page.summary.run;
    let currency = run.gpu_cost.as_ref().and_then(|cost| cost.currency.as_deref());
    let price = |value: Option<f64>| match (value, currency) {
        (None, _) => ABSENT.to_owned(),
        (Some(value), Some(sign)) => format!("{sign} {}", grouped(value)),
        (Some(value), None) => grouped(value),
    };
    let row = |level: &LevelSummary, of: CostSummary| {
        Row::plain(vec![
            Cell::head(&level.label),
            Cell::number(&shown(of.output_tokens_per_s_per_gpu)),
            Cell::number(&shown(of.total_tokens_per_s_per_gpu)),
            Cell::number(&price(of.per_million_output_tokens)),
            Cell::number(&price(of.per_million_total_tokens)),
        ])
    };
    let levels = page.summary.levels.iter();
    let rows: Vec<Row> = levels.filter_map(|level| Some(row(level, level.cost?))).collect();
    let heads = [
        Word::Level,
        Word::OutputPerGpu,
        Word::TotalPerGpu,
        Word::PerMillionOutput,
        Word::PerMillionTotal,
    ];
    (!rows.is_empty()).then(|| part(page, Word::Cost, None, &heads, rows))
}

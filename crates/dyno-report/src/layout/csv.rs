//! One row a level, by RFC 4180: every figure of a summary that is a number, with an empty field
//! for what is absent.

use super::reasons;
use crate::escape::escape;
use crate::summary::{Distribution, LevelSummary, RunSummary, Summary};

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    /// Nothing.
    Absent,
    /// A number or another word of Dyno's own: written as it is.
    Own(String),
    /// Text of others.
    Text(String),
}

impl Field {
    pub(super) fn own(value: Option<impl ToString>) -> Self {
        value.map_or(Self::Absent, |value| Self::Own(value.to_string()))
    }

    pub(super) fn text(value: Option<&str>) -> Self {
        value.map_or(Self::Absent, |value| Self::Text(value.to_owned()))
    }

    /// As it is written: quoted where it must be, and never the beginning of a formula.
    fn written(&self) -> String {
        let text = match self {
            Self::Absent => return String::new(),
            Self::Own(text) => return text.clone(),
            Self::Text(text) => escape(text, usize::MAX),
        };
        let formula = text.trim_start().starts_with(['=', '+', '-', '@']);
        let text = if formula { format!("'{text}") } else { text };
        let quoted = text.contains(['"', ',', '\n', '\r']) || text.trim() != text;
        if quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    }
}

/// One line.
pub(super) fn line(fields: &[Field]) -> String {
    fields.iter().map(Field::written).collect::<Vec<_>>().join(",") + "\r\n"
}

/// A column: its name, and what stands in it.
type Column = (&'static str, fn(&RunSummary, &LevelSummary) -> Field);

const COLUMNS: &[Column] = &[
    ("run_id", |run, _| Field::Text(run.id.clone())),
    ("run_label", |run, _| Field::text(run.label.as_deref())),
    ("model", |run, _| Field::text(run.model.as_deref())),
    ("simulated", |run, _| Field::own(Some(run.simulated))),
    ("level", |_, level| Field::Text(level.label.clone())),
    ("level_index", |_, level| Field::own(Some(level.index))),
    ("repeat", |_, level| Field::own(level.repeat)),
    ("load", |_, level| Field::Text(level.load.kind.clone())),
    ("load_value", |_, level| Field::own(level.load.value)),
    ("verdict", |_, level| Field::own(Some(level.verdict))),
    ("reasons", |_, level| Field::text(Some(reasons(level).as_str()).filter(|r| !r.is_empty()))),
    ("partial", |_, level| Field::own(Some(level.partial))),
    ("planned", |_, level| Field::own(level.requests.planned)),
    ("completed", |_, level| Field::own(level.requests.completed)),
    ("failed", |_, level| Field::own(level.requests.failed)),
    ("dropped", |_, level| Field::own(level.requests.dropped)),
    ("censored", |_, level| Field::own(level.requests.censored)),
    ("duration_s", |_, level| Field::own(level.duration_s)),
    ("requests_per_s", |_, level| Field::own(level.throughput.requests_per_s)),
    ("output_tokens_per_s", |_, level| Field::own(level.throughput.output_tokens_per_s)),
    ("total_tokens_per_s", |_, level| Field::own(level.throughput.total_tokens_per_s)),
    ("steady_window_s", |_, level| Field::own(level.steady.map(|s| s.window_s))),
    ("steady_requests_per_s", |_, level| {
        Field::own(level.steady.and_then(|s| s.throughput.requests_per_s))
    }),
    ("steady_output_tokens_per_s", |_, level| {
        Field::own(level.steady.and_then(|s| s.throughput.output_tokens_per_s))
    }),
    ("steady_total_tokens_per_s", |_, level| {
        Field::own(level.steady.and_then(|s| s.throughput.total_tokens_per_s))
    }),
    ("offered_per_s", |_, level| Field::own(level.offered_per_s)),
    ("saturated", |_, level| Field::own(level.saturated)),
    ("concurrency_mean", |_, level| Field::own(level.concurrency.map(|c| c.mean))),
    ("concurrency_peak", |_, level| Field::own(level.concurrency.map(|c| c.peak))),
    ("input_tokens_total", |_, level| Field::own(level.input_tokens.and_then(|t| t.total))),
    ("input_tokens_mean", |_, level| Field::own(level.input_tokens.map(|t| t.mean))),
    ("output_tokens_total", |_, level| Field::own(level.output_tokens.and_then(|t| t.total))),
    ("output_tokens_mean", |_, level| Field::own(level.output_tokens.map(|t| t.mean))),
    ("slo_passed", |_, level| Field::own(level.slo.as_ref().and_then(|s| s.verdict.passed))),
    ("goodput_per_s", |_, level| Field::own(level.slo.as_ref().and_then(|s| s.goodput_per_s))),
];

/// A distribution of a level.
type Figure = (&'static str, fn(&LevelSummary) -> &Option<Distribution>);

const FIGURES: &[Figure] = &[
    ("ttft", |level| &level.ttft_ms),
    ("ttft_scheduled", |level| &level.ttft_scheduled_ms),
    ("latency", |level| &level.latency_ms),
    ("latency_scheduled", |level| &level.latency_scheduled_ms),
    ("tpot", |level| &level.tpot_ms),
    ("itl", |level| &level.itl_ms),
    ("chunk_gap", |level| &level.chunk_gap_ms),
];

/// A statistic of a distribution.
type Statistic = (&'static str, fn(&Distribution) -> Option<f64>);

const STATISTICS: &[Statistic] = &[
    ("mean_ms", |d| d.mean),
    ("std_ms", |d| d.std),
    ("min_ms", |d| d.min),
    ("p50_ms", |d| d.p50),
    ("p66_ms", |d| d.p66),
    ("p75_ms", |d| d.p75),
    ("p80_ms", |d| d.p80),
    ("p90_ms", |d| d.p90),
    ("p95_ms", |d| d.p95),
    ("p98_ms", |d| d.p98),
    ("p99_ms", |d| d.p99),
    ("p99_9_ms", |d| d.p99_9),
    ("max_ms", |d| d.max),
];

/// The levels of all runs under one heading.
pub(super) fn csv<'a>(runs: impl Iterator<Item = &'a Summary>) -> String {
    let mut names: Vec<Field> =
        COLUMNS.iter().map(|(name, _)| Field::Own((*name).to_owned())).collect();
    for (figure, _) in FIGURES {
        names.push(Field::Own(format!("{figure}_count")));
        let named = STATISTICS.iter().map(|(name, _)| Field::Own(format!("{figure}_{name}")));
        names.extend(named);
    }
    let mut out = line(&names);
    for summary in runs {
        for level in &summary.levels {
            out.push_str(&line(&row(&summary.run, level)));
        }
    }
    out
}

fn row(run: &RunSummary, level: &LevelSummary) -> Vec<Field> {
    let mut fields: Vec<Field> = COLUMNS.iter().map(|(_, field)| field(run, level)).collect();
    for (_, figure) in FIGURES {
        let figure = figure(level).as_ref();
        fields.push(Field::own(figure.and_then(|d| d.count)));
        let values = STATISTICS.iter().map(|(_, of)| Field::own(figure.and_then(of)));
        fields.extend(values);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &str) -> String {
        line(&[Field::Text(text.to_owned())])
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(text("plain"), "plain\r\n");
        assert_eq!(text("a,b \"c\""), "\"a,b \"\"c\"\"\"\r\n");
        assert_eq!(text("two\nlines"), "two\\nlines\r\n");
        let fields = [Field::own(Some(-1.5)), Field::own(None::<f64>), Field::own(Some(0))];
        assert_eq!(line(&fields), "-1.5,,0\r\n");
    }

    #[test]
    fn no_text_begins_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\u{3000}=1"] {
            let written = text(formula);
            assert!(written.trim_start_matches('"').starts_with('\''), "{written}");
        }
    }

    /// A reader of RFC 4180 that shares nothing with the writer.
    fn read(line: &str) -> Vec<String> {
        let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(std::mem::take(&mut field)),
                c => field.push(c),
            }
        }
        fields.push(field);
        fields
    }

    proptest! {
        #[test]
        fn any_text_comes_back_in_its_field(texts in prop::collection::vec(any::<String>(), 1..5)) {
            let fields: Vec<Field> = texts.iter().cloned().map(Field::Text).collect();
            let written = line(&fields);
            let whole = written.strip_suffix("\r\n").unwrap();
            prop_assert!(!whole.contains(['\r', '\n']));
            let back = read(whole);
            prop_assert_eq!(back.len(), texts.len());
            for (back, text) in back.iter().zip(&texts) {
                prop_assert!(!back.starts_with(['=', '+', '-', '@']));
                let shown = escape(text, usize::MAX);
                let unmarked = back.strip_prefix('\'').unwrap_or(back);
                prop_assert!(*back == shown || unmarked == shown);
            }
        }
    }
}

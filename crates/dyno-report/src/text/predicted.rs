//! Where measurements are expected, a line for each level of a prediction.

use super::TextOptions;
use super::grid::{Column, small};
use crate::messages::Say;
use crate::selection::which_name;
use dyno_model::metric::{Statistic, Time};
use dyno_model::summary::{LevelSummary, PredictionIntervals};
use dyno_words::columns::{ABSENT, cut_middle, number, wrap};
use dyno_words::escape::escape;

const LABEL: usize = 22;

/// A small table; nothing where the twin's accuracy is not known.
pub(super) fn predicted(levels: &[LevelSummary], options: &TextOptions) -> String {
    let known = levels.iter().filter_map(|level| Some((level, level.prediction?)));
    let (levels, known): (Vec<&LevelSummary>, Vec<PredictionIntervals>) = known.unzip();
    if known.is_empty() {
        return String::new();
    }
    let language = options.language;
    let say = |say: Say| say.text(language);
    let column = |group: String, head: String, rank: u8, of: &Interval| {
        let cells = known.iter().map(|known| cell(of(known))).collect();
        Column { group, head, cells, rank, nominal: 0 }
    };
    let rate = column(String::new(), say(Say::RequestRate).to_owned(), 0, &|of| of.requests_per_s);
    let times: [(Time, Statistic, u8, &Interval); 5] = [
        (Time::Ttft, Statistic::P50, 1, &|of| of.ttft.p50),
        (Time::Ttft, Statistic::P90, 4, &|of| of.ttft.p90),
        (Time::Itl, Statistic::P50, 3, &|of| of.itl.p50),
        (Time::Latency, Statistic::P50, 2, &|of| of.latency.p50),
        (Time::Latency, Statistic::P90, 5, &|of| of.latency.p90),
    ];
    let times = times.map(|(time, which, rank, of)| {
        let group = format!("{} ms", language.choose(time.info().short));
        column(group, which_name(which, language), rank, of)
    });
    let label = |level: &&LevelSummary| cut_middle(&escape(&level.label, 80), LABEL);
    let names: Vec<String> = levels.iter().map(label).collect();
    let about = wrap(say(Say::Expected), say(Say::ExpectedAbout), options.prose());
    let columns = std::iter::once(rate).chain(times).collect();
    format!("\n{about}{}", small(2, &names, columns, options.prose(), language))
}

/// One of the intervals.
type Interval = dyn Fn(&PredictionIntervals) -> Option<[f64; 2]>;

fn cell(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(|| ABSENT.to_owned(), |ends| ends.map(number).join("–"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::Language;
    use dyno_model::summary::PercentileIntervals;

    fn level(label: &str, prediction: Option<PredictionIntervals>) -> LevelSummary {
        LevelSummary { label: label.to_owned(), prediction, ..LevelSummary::default() }
    }

    #[test]
    fn a_line_for_each_level_whose_twin_knows_its_accuracy() {
        let options = TextOptions::default();
        assert_eq!(predicted(&[level("rate 4", None)], &options), "");
        let of = |p50, p90| PercentileIntervals { p50, p90 };
        let known = PredictionIntervals {
            requests_per_s: Some([3.92, 4.08]),
            ttft: of(Some([90.0, 110.0]), None),
            itl: of(Some([9.0, 12.0]), None),
            latency: of(Some([1900.0, 2100.0]), Some([2400.0, 2600.0])),
        };
        let text = predicted(&[level("rate 4", Some(known)), level("rate 9", None)], &options);
        assert!(text.contains("95 % of measurements"), "{text}");
        let row = text.lines().find(|line| line.trim_start().starts_with("rate 4")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().skip(2).collect();
        assert_eq!(cells, ["3.92–4.08", "90.0–110", "–", "9.00–12.0", "1900–2100", "2400–2600"]);
        assert!(!text.contains("rate 9"), "{text}");
        let chinese = TextOptions { language: Language::Chinese, ..TextOptions::default() };
        assert!(predicted(&[level("rate 4", Some(known))], &chinese).contains("95 % 的实测值"));
    }
}

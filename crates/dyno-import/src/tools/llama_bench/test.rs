//! One test of llama-bench, in any form: what it processed, how fast, and its settings.

use crate::level::blank;
use crate::level::stated::present;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::summary::Reported;
use std::collections::BTreeSet;

/// Fields that do not set up a test: results, sizes and names. Others distinguish tests of one name.
const NO_SETTING: [&str; 13] = [
    "model",
    "model_filename",
    "model_type",
    "model_size",
    "model_n_params",
    "size",
    "params",
    "test",
    "test_time",
    "t/s",
    "n_prompt",
    "n_gen",
    "n_depth",
];

/// The tokens of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Prompt tokens that are processed.
    pub(super) prompt: u32,
    /// Tokens that are generated.
    pub(super) generated: u32,
    /// Tokens in the context before, which are not timed.
    pub(super) depth: u32,
}

/// One test.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub(super) line: u64,
    pub(super) shape: Shape,
    /// Tokens per second, the mean over the repetitions.
    pub(super) speed: Option<f64>,
    /// Its standard deviation.
    pub(super) spread: Option<f64>,
    /// Every field as it is in the file.
    pub(super) fields: Vec<(String, String)>,
}

impl Shape {
    /// From a printed name: `pp512`, `tg 128`, `pp512+tg128`, `tg128 @ d4096`.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        let (work, depth) = match name.split_once('@') {
            Some((work, depth)) => (work, depth.trim().strip_prefix('d')?.trim().parse().ok()?),
            None => (name, 0),
        };
        let mut shape = Self { prompt: 0, generated: 0, depth };
        for part in work.split('+').map(str::trim) {
            let tokens = |kind: &str| part.strip_prefix(kind)?.trim().parse::<u32>().ok();
            match (tokens("pp"), tokens("tg")) {
                (Some(tokens), _) if shape.prompt == 0 => shape.prompt = tokens,
                (_, Some(tokens)) if shape.generated == 0 => shape.generated = tokens,
                _ => return None,
            }
        }
        (shape.prompt > 0 || shape.generated > 0).then_some(shape)
    }

    /// As today's llama-bench prints it.
    fn name(self) -> String {
        let mut name = match (self.prompt, self.generated) {
            (prompt, 0) => format!("pp{prompt}"),
            (0, generated) => format!("tg{generated}"),
            (prompt, generated) => format!("pp{prompt}+tg{generated}"),
        };
        if self.depth > 0 {
            name.push_str(&format!(" @ d{}", self.depth));
        }
        name
    }
}

impl Test {
    /// A field as text.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(field, _)| field == name);
        field.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The level of a test. Prompt tokens are input and generated tokens output, whatever was in the
    /// context before.
    fn level(&self, label: String) -> LevelSummary {
        let mut level = blank::level(label, blank::load(LoadKind::Unknown, None));
        let Shape { prompt, generated, .. } = self.shape;
        level.input_length = (prompt > 0).then_some(prompt);
        level.output_length = (generated > 0).then_some(generated);
        let speed = present(self.speed).filter(|speed| *speed > 0.0);
        level.throughput.total_tokens_per_s = speed;
        level.throughput.output_tokens_per_s = speed.filter(|_| prompt == 0);
        let mut reported = Reported { line: Some(self.line), ..Reported::default() };
        for (name, value) in &self.fields {
            if let Some(value) = value.trim().parse().ok().filter(|value: &f64| value.is_finite()) {
                reported.figures.insert(name.clone(), value);
            }
        }
        for (name, value) in [("t/s", self.speed), ("t/s ±", self.spread)] {
            if let Some(value) = value.filter(|_| self.get("avg_ts").is_none()) {
                reported.figures.insert(name.to_owned(), value);
            }
        }
        level.reported = Some(reported);
        level
    }
}

/// The levels of tests, each named after its test, and after its settings where these vary.
pub(super) fn levels(tests: &[Test]) -> Vec<LevelSummary> {
    let mut values: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for (name, value) in tests.iter().flat_map(|test| &test.fields) {
        let result = name.starts_with("avg_") || name.starts_with("stddev_");
        if result || NO_SETTING.contains(&name.as_str()) || name.starts_with("build_") {
            continue;
        }
        match values.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => _ = values.insert(value),
            None => values.push((name, BTreeSet::from([value.as_str()]))),
        }
    }
    values.retain(|(_, values)| values.len() > 1);
    let label = |test: &Test| {
        let settings = values.iter().filter_map(|(name, _)| Some((*name, test.get(name)?)));
        let settings: Vec<String> =
            settings.take(4).map(|(name, value)| format!("{name}={value}")).collect();
        let words = [vec![test.shape.name()], settings].concat();
        words.join(" ").chars().take(80).collect()
    };
    tests.iter().map(|test| test.level(label(test))).collect()
}

/// `12505.79 ± 615.87`: the mean and the standard deviation.
pub(super) fn speed(text: &str) -> (Option<f64>, Option<f64>) {
    let (mean, spread) = ["±", "+/-", "+-"]
        .iter()
        .find_map(|sign| text.split_once(sign))
        .map_or((text, None), |(mean, spread)| (mean, Some(spread)));
    let number = |text: &str| {
        let bare = text.trim().trim_matches(['*', '`']).trim();
        bare.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
    };
    (number(mean), spread.and_then(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_versions() {
        let shape = |name: &str| Shape::by_name(name).map(|shape| shape.name());
        assert_eq!(shape("pp512").as_deref(), Some("pp512"));
        assert_eq!(shape("tg 128").as_deref(), Some("tg128"));
        assert_eq!(shape("pp 512+tg 128").as_deref(), Some("pp512+tg128"));
        assert_eq!(shape("tg128 @ d4096").as_deref(), Some("tg128 @ d4096"));
        for name in ["", "pp", "pp0", "pp512+pp512", "tg128 @ 4096", "speed", "pp512 x"] {
            assert_eq!(shape(name), None, "{name}");
        }
    }

    #[test]
    fn speeds_with_and_without_a_spread() {
        assert_eq!(speed("812.5 ± 1.25"), (Some(812.5), Some(1.25)));
        assert_eq!(speed("**812.5** +/- 1"), (Some(812.5), Some(1.0)));
        assert_eq!(speed("8.5"), (Some(8.5), None));
        assert_eq!(speed("nan ± 1"), (None, Some(1.0)));
    }
}

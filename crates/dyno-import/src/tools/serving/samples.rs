//! The single requests of a result that was saved with its details. Which of them failed is told by
//! their error messages and by how many the tool counts as completed: an empty response completed in
//! some versions and failed in others.

use crate::level::{Ended, Sample};
use dyno_form::json::{count, list};
use dyno_model::Diagnostic;
use dyno_words::{Problem, values};
use serde_json::Value;

/// What became of responses without output and without an error message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Empty {
    Completed,
    Failed,
}

/// The single requests, where the file has them.
pub(super) fn samples(
    value: &Value,
    line: u64,
    label: &str,
    problems: &mut Vec<Diagnostic>,
) -> Option<Vec<Sample>> {
    let ttfts = list(value, &["ttfts"])?;
    let outputs = list(value, &["output_lens"])?;
    let lists = ["input_lens", "output_lens", "itls", "errors", "start_times"];
    let uneven = lists.iter().find_map(|name| {
        let length = list(value, &[name])?.len();
        (length != ttfts.len()).then_some((*name, length))
    });
    if let Some((name, length)) = uneven {
        let values = values![label, ttfts.len(), name, length];
        problems.push(Problem::Uneven.with(values).at(line));
        return None;
    }
    let item = |name: &str, i: usize| list(value, &[name]).and_then(|list| list.get(i));
    let all = (0..ttfts.len()).map(|i| {
        let ttft = ttfts[i].as_f64().filter(|ttft| *ttft > 0.0);
        let gaps = item("itls", i).and_then(Value::as_array);
        let gaps: Vec<f64> = gaps.into_iter().flatten().filter_map(Value::as_f64).collect();
        let words = item("errors", i).and_then(Value::as_str).unwrap_or_default().trim();
        let ended =
            if words.is_empty() { Ended::Completed } else { Ended::Failed(words.to_owned()) };
        Sample {
            sent: item("start_times", i).and_then(Value::as_f64).filter(|sent| *sent > 0.0),
            ttft,
            latency: ttft.map(|ttft| ttft + gaps.iter().sum::<f64>()),
            gaps,
            input: item("input_lens", i).and_then(Value::as_u64),
            output: outputs[i].as_u64(),
            ended,
            ..Sample::default()
        }
    });
    let mut all: Vec<Sample> = all.collect();
    if let Err((failed, empty)) = settle_empty(&mut all, count(value, &["completed"])) {
        problems.push(Problem::EmptyUndecided.with(values![label, failed, empty]).at(line));
        return None;
    }
    Some(all)
}

/// Decides about empty responses by the number of completed ones. If only some of them completed, it
/// is unknown which: an error with the number of those that failed and of all.
fn settle_empty(all: &mut [Sample], completed: Option<u64>) -> Result<(), (u64, u64)> {
    let empty = all.iter().filter(|one| one.is_empty()).count() as u64;
    let full = all.iter().filter(|one| one.is_completed()).count() as u64 - empty;
    let fate = match completed {
        Some(completed) if completed >= full + empty => Empty::Completed,
        Some(completed) if completed > full => return Err((full + empty - completed, empty)),
        _ => Empty::Failed,
    };
    if fate == Empty::Failed {
        let failed = all.iter_mut().filter(|one| one.is_empty());
        failed.for_each(|one| one.ended = Ended::Failed(String::new()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(ttft: Option<f64>, output: u64, error: &str) -> Sample {
        let ended =
            if error.is_empty() { Ended::Completed } else { Ended::Failed(error.to_owned()) };
        Sample { ttft, output: Some(output), ended, ..Sample::default() }
    }

    fn completed(all: &[Sample]) -> usize {
        all.iter().filter(|one| one.is_completed()).count()
    }

    /// Two full responses, two empty ones, one with an error message.
    fn five() -> Vec<Sample> {
        vec![
            one(Some(0.1), 5, ""),
            one(None, 0, ""),
            one(None, 7, ""),
            one(None, 0, "Bad Request"),
            one(None, 0, ""),
        ]
    }

    #[test]
    fn empty_responses_completed_where_the_tool_counts_them() {
        let mut all = five();
        assert_eq!(settle_empty(&mut all, Some(4)), Ok(()));
        assert_eq!(completed(&all), 4);
    }

    #[test]
    fn empty_responses_failed_where_it_does_not() {
        let mut all = five();
        assert_eq!(settle_empty(&mut all, Some(2)), Ok(()));
        assert_eq!(completed(&all), 2);
        let mut all = five();
        assert_eq!(settle_empty(&mut all, None), Ok(()));
        assert_eq!(completed(&all), 2);
    }

    #[test]
    fn if_some_completed_it_is_not_guessed_which() {
        assert_eq!(settle_empty(&mut five(), Some(3)), Err((1, 2)));
    }
}

//! What the columns of guidellm's console tables mean: by the group, the name and the statistic above each.

use dyno_model::metric::Time;

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// The words above it, outermost first.
    pub(super) name: String,
    /// The field that it fills, if Dyno has one for it.
    pub(super) field: Option<Field>,
}

/// A field of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Duration,
    Completed,
    Incomplete,
    Failed,
    Rate,
    OutputRate,
    TotalRate,
    InputMean,
    OutputMean,
    InputTotal,
    OutputTotal,
    Time(Time, String),
}

/// The columns of a header of two or three rows. A cell of no width belongs to that on its left: a name stands
/// above the first of its columns, and may reach over several groups.
pub(super) fn columns(header: &[Vec<&str>]) -> Vec<Column> {
    let width = header.iter().map(Vec::len).max().unwrap_or_default();
    let mut words = [""; 3];
    let mut found = Vec::new();
    for column in 0..width {
        for (word, row) in words.iter_mut().zip(header) {
            match row.get(column) {
                Some(cell) if !cell.is_empty() => *word = cell.trim(),
                _ => {}
            }
        }
        let spoken: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        found.push(Column { name: spoken.join(" "), field: field(words) });
    }
    found
}

fn field(words: [&str; 3]) -> Option<Field> {
    let lower = words.map(str::to_lowercase);
    let [group, name, last] = lower.each_ref().map(String::as_str);
    Some(match (group, name, last) {
        // Since 0.4: group, metric or unit, statistic.
        ("timings", "dur", _) | ("metadata", "duration (s)" | "duration (sec)", _) => {
            Field::Duration
        }
        ("request latency", "sec", statistic) => Field::Time(Time::Latency, known(statistic)?),
        ("ttft", "ms", statistic) => Field::Time(Time::Ttft, known(statistic)?),
        // The mean over a response; their TPOT counts from the start of the request.
        ("itl", "ms", statistic) => Field::Time(Time::Tpot, known(statistic)?),
        ("requests", "per sec", "mean") | ("request stats", "per second", _) => Field::Rate,
        ("output tokens", "per sec", "mean") | ("out tok/sec", "mean", _) => Field::OutputRate,
        ("total tokens", "per sec", "mean") | ("tot tok/sec", "mean", _) => Field::TotalRate,
        // 0.2 and 0.3: group with its unit, statistic.
        ("requests made", "comp", _) => Field::Completed,
        ("requests made", "inc", _) => Field::Incomplete,
        ("requests made", "err", _) => Field::Failed,
        ("prompt tok/req", "comp", _) => Field::InputMean,
        ("output tok/req", "comp", _) => Field::OutputMean,
        ("prompt tok total", "comp", _) => Field::InputTotal,
        ("output tok total", "comp", _) => Field::OutputTotal,
        ("req latency (ms)" | "req latency (sec)" | "req latency (s)", statistic, _) => {
            Field::Time(Time::Latency, known(statistic)?)
        }
        ("ttft (ms)", statistic, _) => Field::Time(Time::Ttft, known(statistic)?),
        ("itl (ms)", statistic, _) => Field::Time(Time::Tpot, known(statistic)?),
        _ => return None,
    })
}

/// A statistic by the name that [`crate::text::part::put`] knows.
fn known(statistic: &str) -> Option<String> {
    let digits = |name: &str| name.chars().all(|c| c.is_ascii_digit() || c == '.');
    match statistic {
        "mdn" | "median" => Some("median".to_owned()),
        "mean" | "std" | "min" | "max" => Some(statistic.to_owned()),
        other => other.strip_prefix('p').filter(|name| digits(name)).map(|_| other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_reach_over_their_columns() {
        let header = [
            vec![" Benchmark ", " Requests ", "", "", " Output Tokens "],
            vec![" Strategy ", " Concurrency ", "", " Per Sec ", " Per Sec "],
            vec!["   ", " Mdn ", " Mean ", " Mean ", ""],
        ];
        let found = columns(&header);
        let names: Vec<&str> = found.iter().map(|column| column.name.as_str()).collect();
        let expected = [
            "Benchmark Strategy",
            "Requests Concurrency Mdn",
            "Requests Concurrency Mean",
            "Requests Per Sec Mean",
            "Output Tokens Per Sec Mean",
        ];
        assert_eq!(names, expected);
        let fields: Vec<Option<Field>> = found.into_iter().map(|column| column.field).collect();
        assert_eq!(fields, [None, None, None, Some(Field::Rate), Some(Field::OutputRate)]);
    }
}

//! What a log puts before every line: a time, a pod, the name of a service. It belongs to none of them.

/// The share of lines that must have a prefix before it counts as the log's.
const MOST: f64 = 0.8;

/// Fewer lines have no prefix in common that says anything.
const FEWEST: usize = 5;

/// Service and time, or pod and time.
const NESTED: usize = 2;

/// The lines of a text without the prefix that nearly all of them have.
pub(super) fn without(mut lines: Vec<String>) -> Vec<String> {
    for _ in 0..NESTED {
        let Some(kind) = common(&lines) else { break };
        for line in &mut lines {
            if let Some(rest) = kind.rest(line) {
                *line = rest.to_owned();
            }
        }
    }
    lines
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Prefix {
    /// `2026-01-31T09:30:00.123Z `, as container logs and build servers write it.
    Time,
    /// `[pod/name/container] ` or `name-1  | `: the same on every line.
    Name(String),
}

impl Prefix {
    fn rest<'a>(&self, line: &'a str) -> Option<&'a str> {
        match self {
            Self::Time => {
                let (time, rest) = line.split_once(' ').unwrap_or((line, ""));
                is_time(time).then_some(rest)
            }
            Self::Name(name) => {
                let rest = line.strip_prefix(name.as_str());
                rest.or_else(|| (line.trim_end() == name.trim_end()).then_some(""))
            }
        }
    }
}

/// The prefix of nearly all lines that are not empty.
fn common(lines: &[String]) -> Option<Prefix> {
    let filled: Vec<&String> = lines.iter().filter(|line| !line.trim().is_empty()).collect();
    let first = filled.first()?;
    let candidates = [Some(Prefix::Time), name(first).map(Prefix::Name)];
    candidates.into_iter().flatten().find(|prefix| {
        let having = filled.iter().filter(|line| prefix.rest(line).is_some()).count();
        having >= FEWEST && having as f64 >= MOST * filled.len() as f64
    })
}

/// A name at the start of a line that a log may repeat.
fn name(line: &str) -> Option<String> {
    if line.starts_with('[') {
        let (name, _) = line.split_once("] ")?;
        return Some(format!("{name}] "));
    }
    let (name, rest) = line.split_once('|')?;
    let word = name.trim_end();
    let one = !word.is_empty() && !word.contains(char::is_whitespace) && word != name;
    (one && rest.starts_with(' ')).then(|| format!("{name}| "))
}

/// A time of RFC 3339 with its date.
fn is_time(word: &str) -> bool {
    let form = "dddd-dd-ddTdd:dd:dd";
    let Some(start) = word.get(..form.len()) else { return false };
    let fits = |(found, wanted): (char, char)| match wanted {
        'd' => found.is_ascii_digit(),
        other => found == other,
    };
    let rest = &word[form.len()..];
    start.chars().zip(form.chars()).all(fits)
        && rest.chars().all(|c| c.is_ascii_digit() || ".:+-Z".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Vec<String> {
        without(lines.iter().map(|line| (*line).to_owned()).collect())
    }

    #[test]
    fn prefixes_of_logs_are_taken_off() {
        let lines = ["a: 1", "", "| b |", "c", "d", "e"];
        for prefix in ["[pod/bench-x/main] ", "bench-1  | ", "2026-01-31T09:30:00.1234567Z "] {
            let logged = lines.map(|line| format!("{prefix}{line}"));
            assert_eq!(without(logged.to_vec()), lines, "{prefix}");
        }
        let both = lines.map(|line| format!("[pod/x] 2026-01-31T09:30:00+00:00 {line}"));
        assert_eq!(without(both.to_vec()), lines);
    }

    #[test]
    fn what_only_some_lines_have_stays() {
        let table = ["a | b", "--- | ---", "1 | 2", "3 | 4", "5 | 6", "7 | 8"];
        assert_eq!(of(&table), table);
        let few = ["2026-01-31T09:30:00Z a", "b"];
        assert_eq!(of(&few), few);
        let quoted = ["[x] a", "[y] b", "c", "d", "e", "f"];
        assert_eq!(of(&quoted), quoted);
    }
}

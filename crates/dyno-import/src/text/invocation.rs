//! How a tool was started, as far as a text states it: a command line, Python's `Namespace(...)`, a
//! dictionary of settings, a line `Model: NAME`. Prose states nothing.

/// What is stated about one start of a tool. Later lines replace earlier ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Invocation {
    text: String,
}

/// Lines over which a terminal wraps a dictionary.
const WRAPPED: usize = 40;

/// Settings by which a line is recognised as the start of a tool.
const STARTS: [&str; 9] = [
    "vllm bench serve",
    "benchmark_serving.py",
    "sglang.bench_serving",
    "bench_serving.py",
    "guidellm benchmark",
    "evalscope perf",
    "genai-perf profile",
    "aiperf profile",
    "Namespace(",
];

impl Invocation {
    /// From the lines ahead of a result, or those that follow it.
    pub(crate) fn by<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut text = String::new();
        // How many lines of a bracketed list or dictionary may still follow.
        let mut open = 0_usize;
        for line in lines {
            let line = line.trim();
            let started = STARTS.iter().any(|start| starts(line, start));
            if started {
                // Each start of a tool replaces what an earlier one said.
                text.clear();
                open = 0;
            }
            let went_on = text.ends_with('\\');
            if went_on {
                text.pop();
            }
            if started || went_on || open > 0 || is_statement(line) {
                text.push_str(line);
                if !text.ends_with('\\') {
                    text.push('\n');
                }
                let depth = |c: &str| line.matches(|b| c.contains(b)).count();
                let more = depth("[{(") > depth("]})");
                open = if more { WRAPPED } else { open.saturating_sub(1) };
                if depth("]})") > depth("[{(") {
                    open = 0;
                }
            }
        }
        Self { text }
    }

    /// The value of a setting: `--a-b X`, `a_b='X'`, `"a_b": "X"`. The first name that has one decides.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| {
            let spelt = [(*name).to_owned(), name.replace('_', "-")];
            spelt.iter().find_map(|name| last(&self.text, name))
        })
    }

    /// A setting that is a number.
    pub(crate) fn number(&self, names: &[&str]) -> Option<f64> {
        self.value(names)?.parse().ok().filter(|number: &f64| !number.is_nan() && *number >= 0.0)
    }

    /// A list of numbers: `streams=[1, 2]`, `'rate': [0.5]`.
    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        let Some(list) = self.value(&[name]).and_then(|list| list.strip_prefix('[')) else {
            return Vec::new();
        };
        list.trim_end_matches(']').split(',').filter_map(|item| item.trim().parse().ok()).collect()
    }

    /// Whether the tool itself wrote its settings down, rather than a person the command.
    pub(crate) fn is_recorded(&self) -> bool {
        self.text.contains("Namespace(")
    }

    /// The model.
    pub(crate) fn model(&self) -> Option<String> {
        let long = self.value(&["model", "model_id", "model_name", "backend_model"]);
        // `python -m` names a module.
        let short = || self.value(&["m"]).filter(|_| self.text.contains("perf profile"));
        let stated = long.or_else(short);
        stated.filter(|name| is_plausible(name)).map(str::to_owned)
    }
}

/// Whether a tool is started by a line, which may mention it only.
fn starts(line: &str, start: &str) -> bool {
    let Some((before, _)) = line.split_once(start) else { return false };
    start == "Namespace("
        || (before.split_whitespace().count() <= 4 && !before.replace("Command:", "").contains(':'))
}

/// Whether the line consists of settings.
fn is_statement(line: &str) -> bool {
    if ["WARNING", "ERROR", "WARN"].iter().any(|level| line.starts_with(level)) {
        return false;
    }
    line.contains("--")
        || line.contains(" -m ")
        || line.contains("Namespace(")
        || line.starts_with(['{', '"', '\''])
        || line.contains("': ")
        || line.contains("\": ")
        || named_alone(line).is_some()
        || line.contains("=[")
        || line.contains("='")
}

/// `Model: NAME` and nothing else.
fn named_alone(line: &str) -> Option<&str> {
    let (key, value) = line.split_once([':', '：', '='])?;
    let key =
        key.trim().trim_start_matches(['-', '*', '•']).trim().trim_matches('*').to_lowercase();
    let known = ["model", "model name", "model id", "model_id", "model_name", "模型"];
    let value = value.trim().trim_matches(['*', '`', '"', '\'']);
    (known.contains(&key.as_str()) && !value.contains(char::is_whitespace)).then_some(value)
}

/// The last value of a setting in a text.
fn last<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let alone = text.lines().rev().find_map(named_alone).filter(|_| name == "model");
    let mut found = alone;
    for (at, _) in text.match_indices(name) {
        let (before, rest) = (&text[..at], &text[at + name.len()..]);
        let flag = before.ends_with("--") || (name.len() == 1 && before.ends_with(" -"));
        let quote = before.chars().last().filter(|c| matches!(c, '\'' | '"'));
        let bounded = before.is_empty() || before.ends_with(['(', ',', ' ', '\n', '{']);
        let value = match quote {
            // `'a': 1`, or a text of settings: `'a=1,b=2'`.
            Some(quote) => match rest.strip_prefix(quote).map(str::trim_start) {
                Some(rest) => rest.strip_prefix(':'),
                None => rest.strip_prefix('='),
            },
            None if flag => rest.strip_prefix(['=', ' ']),
            None if bounded => rest.strip_prefix('='),
            None => None,
        };
        found = value.and_then(first).or(found);
    }
    found.filter(|value| !["None", "null", "none"].contains(value))
}

/// The value at the start of a text.
fn first(text: &str) -> Option<&str> {
    let text = text.trim_start_matches([' ', '\n']);
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        return text[1..].split_once(quote).map(|(value, _)| value);
    }
    let end = if text.starts_with('[') {
        text.find(']').map(|end| end + 1)
    } else {
        text.find(|c: char| c.is_whitespace() || ",)}]'\"".contains(c))
    };
    let value = &text[..end.unwrap_or(text.len())];
    (!value.is_empty() && !value.starts_with('-')).then_some(value)
}

/// Whether a word may be the name of a model, and not a word of a sentence.
pub(crate) fn is_plausible(word: &str) -> bool {
    const WORDS: [&str; 14] = [
        "available",
        "default",
        "false",
        "in",
        "is",
        "loaded",
        "name",
        "none",
        "null",
        "of",
        "ready",
        "the",
        "true",
        "unknown",
    ];
    let placeholder = word.starts_with(['<', '$', '{', '%', '-']);
    let bare = word.trim_matches(['.', ',', ';', '!', '?']);
    word.chars().count() > 1 && !placeholder && !WORDS.contains(&bare.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Invocation {
        Invocation::by(text.lines())
    }

    #[test]
    fn settings_in_any_spelling() {
        let flags =
            of("$ vllm bench serve --model a/b-7B \\\n  --request-rate 2.5 --max-concurrency=8");
        assert_eq!(flags.model().as_deref(), Some("a/b-7B"));
        assert_eq!(flags.number(&["request_rate"]), Some(2.5));
        assert_eq!(flags.number(&["max_concurrency"]), Some(8.0));
        let python =
            of("Namespace(backend='vllm', tokenizer_id='t', model='a/b', max_concurrency=None, \
                         request_rate=inf, num_prompts=50)");
        assert_eq!(python.model().as_deref(), Some("a/b"));
        assert_eq!(python.number(&["max_concurrency"]), None);
        assert_eq!(python.number(&["request_rate"]), Some(f64::INFINITY));
        assert_eq!(python.number(&["num_prompts"]), Some(50.0));
        let settings = of("{'target': 'x', 'model': 'q-3B', 'streams': [1, 2.0,\n4,\n8], 'a': 1}");
        assert_eq!(settings.model().as_deref(), Some("q-3B"));
        assert_eq!(settings.numbers("streams"), [1.0, 2.0, 4.0, 8.0]);
        assert_eq!(of("type_='x' streams=[1, 2.5] rate=[]").numbers("streams"), [1.0, 2.5]);
        let short = of("genai-perf profile \\\n  -m gpt2 \\\n  --concurrency 4");
        assert_eq!(
            (short.model().as_deref(), short.number(&["concurrency"])),
            (Some("gpt2"), Some(4.0))
        );
        assert_eq!(of("python -m some.module --port 1").model(), None);
        assert_eq!(of("Model: `tiny`").model().as_deref(), Some("tiny"));
        assert_eq!(of("**Model**: tiny").model().as_deref(), Some("tiny"));
    }

    #[test]
    fn prose_names_no_model() {
        for text in [
            "We ran the model in a container.",
            "Model: Available",
            "The model: in all of these cases, the same",
            "--model <MODEL>",
            "--model $MODEL",
            "model loading took 5 s",
        ] {
            assert_eq!(of(text).model(), None, "{text}");
        }
    }

    #[test]
    fn a_tool_that_is_only_mentioned_was_not_started() {
        let log = of("Namespace(model='a/b', request_rate=2.0)\n\
                      WARNING: vllm bench serve no longer sets --temperature=0 by default.");
        assert_eq!(
            (log.model().as_deref(), log.number(&["request_rate"])),
            (Some("a/b"), Some(2.0))
        );
    }

    #[test]
    fn a_later_start_replaces_an_earlier_one() {
        let twice = of("Namespace(model='one', max_concurrency=4)\nNamespace(model='two')");
        assert_eq!(
            (twice.model().as_deref(), twice.number(&["max_concurrency"])),
            (Some("two"), None)
        );
    }
}

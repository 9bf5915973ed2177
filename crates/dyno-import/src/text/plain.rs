//! Headings and lines of a document as plain text, and what they state: lengths, a model, a version.

use super::invocation::Invocation;

const LONGEST: usize = 200;

/// Names are only searched for within this many characters of a line.
const LOOKED_AT: usize = 2_000;

/// Text without Markdown markup; empty for an image.
pub(crate) fn plain(text: &str) -> String {
    let end = text.char_indices().nth(LOOKED_AT).map_or(text.len(), |(end, _)| end);
    let text = text.get(..end).unwrap_or(text).trim().trim_start_matches('#');
    let text = without_marker(text.trim());
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['[', '!', '<']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let image = from.starts_with("![");
        let link = from.strip_prefix(if image { "![" } else { "[" });
        let parts = link.and_then(|link| link.split_once("](")).and_then(|(words, target)| {
            let (_, after) = target.split_once(')')?;
            (!words.contains(['[', ']'])).then_some((words, after))
        });
        match (parts, from.strip_prefix('<').and_then(|tag| tag.split_once('>'))) {
            (Some((words, after)), _) => {
                out.push_str(if image { "" } else { words });
                rest = after;
            }
            (None, Some((tag, after)))
                if tag.starts_with(|c: char| c.is_alphabetic() || c == '/') =>
            {
                rest = after;
            }
            _ => {
                let mut chars = from.chars();
                out.extend(chars.next());
                rest = chars.as_str();
            }
        }
    }
    out.push_str(rest);
    let bare: String = out.replace("**", "").replace("__", "").replace('`', "");
    let words: Vec<&str> = bare.split_whitespace().collect();
    let joined = words.join(" ");
    joined
        .trim_end_matches('#')
        .trim_end_matches([':', '：'])
        .trim()
        .chars()
        .take(LONGEST)
        .collect()
}

/// Without the marker of a list.
fn without_marker(text: &str) -> &str {
    let bullet = text.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' '));
    let numbered = text.split_once(['.', ')']).and_then(|(number, rest)| {
        let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        (digits && rest.starts_with(' ')).then_some(rest)
    });
    bullet.or(numbered).unwrap_or(text).trim_start()
}

/// Whether the line is a title for what follows rather than prose: a list item, bold, `key: value`, or a
/// few words.
pub(crate) fn is_name(line: &str) -> bool {
    let line = line.trim();
    let words = plain(line);
    let marked = without_marker(line) != line || line.contains("**");
    let spoken = words.ends_with(['.', '。', '!', '！', '?', '？', ';', '；', ',', '，']);
    let length = words.chars().count();
    !words.is_empty() && (marked || !spoken) && length <= if marked { 160 } else { 80 }
}

/// Whether a title only says that results follow: `Sample output (successful run)`.
pub(crate) fn says_nothing(words: &str) -> bool {
    const WORDS: [&str; 19] = [
        "a",
        "console",
        "example",
        "examples",
        "following",
        "log",
        "logs",
        "output",
        "outputs",
        "result",
        "results",
        "run",
        "sample",
        "successful",
        "the",
        "结果",
        "输出",
        "示例",
        "如下",
    ];
    let lower = words.to_lowercase();
    let mut found = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    found.all(|word| WORDS.contains(&word))
}

/// What headings and lines state about the requests and the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Context {
    /// Requested input tokens.
    pub(crate) input: Option<u32>,
    /// Length of sequences: input tokens, if the counts agree.
    pub(crate) sequence: Option<u32>,
    /// Requested output tokens.
    pub(crate) output: Option<u32>,
    /// The model.
    pub(crate) model: Option<String>,
    /// The version of the server that is named beside it.
    pub(crate) version: Option<String>,
}

const INPUT: [&str; 9] = [
    "prompt_tokens",
    "input_tokens",
    "input_len",
    "input_length",
    "prompt_len",
    "prompt_length",
    "random_input_len",
    "random_input",
    "isl",
];
const OUTPUT: [&str; 9] = [
    "generated_tokens",
    "output_tokens",
    "output_len",
    "output_length",
    "generation_tokens",
    "random_output_len",
    "random_output",
    "max_tokens",
    "osl",
];
const SEQUENCE: [&str; 3] = ["seq_length", "seq_len", "sequence_length"];

impl Context {
    /// From lines, innermost first: the first that states something is used.
    pub(crate) fn by(lines: impl Iterator<Item = String>) -> Self {
        let mut context = Self::default();
        for line in lines {
            context.add(&line);
        }
        context
    }

    fn add(&mut self, line: &str) {
        self.model = self.model.take().or_else(|| Invocation::by([line]).model());
        let split = |c: char| c.is_whitespace() || "=:：,，;；()（）*`|\"'".contains(c);
        let words: Vec<&str> = line.split(split).filter(|word| !word.is_empty()).collect();
        for (i, word) in words.iter().enumerate() {
            let key = word.trim_start_matches('-').to_lowercase().replace('-', "_");
            let next = words.get(i + 1).copied();
            let length = next.and_then(|next| next.parse().ok()).filter(|length| *length > 0);
            let place = match key.as_str() {
                key if INPUT.contains(&key) => &mut self.input,
                key if OUTPUT.contains(&key) => &mut self.output,
                key if SEQUENCE.contains(&key) => &mut self.sequence,
                "vllm" | "sglang" => {
                    let version = next.map(|next| next.trim_start_matches('v'));
                    let version = version
                        .filter(|v| v.contains('.') && v.starts_with(|c: char| c.is_ascii_digit()));
                    self.version = self.version.take().or(version.map(str::to_owned));
                    continue;
                }
                _ => {
                    if self.model.is_none() && is_model(word) {
                        self.model = Some((*word).to_owned());
                    }
                    continue;
                }
            };
            *place = place.or(length);
        }
    }
}

/// A name with a size in it: `Qwen1.5-7B-Chat`, `org/Llama-3-70b`.
fn is_model(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let parts: Vec<&str> = name.split(['-', '_']).collect();
    let sized = |part: &&str| {
        let number = part.strip_suffix(['B', 'b']);
        number.is_some_and(|number| {
            number.starts_with(|c: char| c.is_ascii_digit()) && number.parse::<f64>().is_ok()
        })
    };
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && parts.iter().skip(1).any(sized)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_off() {
        assert_eq!(
            plain("- **Qwen2-72B**, **4**张**L20 48GB**, **vLLM**"),
            "Qwen2-72B, 4张L20 48GB, vLLM"
        );
        assert_eq!(plain("## [EvalScope](https://x.y/z) 压测 ##"), "EvalScope 压测");
        assert_eq!(plain("![](/images/a.png)"), "");
        assert_eq!(plain("1. `a` <b>c</b>: "), "a c");
        assert_eq!(plain("a < b [c] !"), "a < b [c] !");
    }

    #[test]
    fn names_are_distinguished_from_prose() {
        assert!(is_name("seq_length: 80"));
        assert!(is_name("- **Qwen2-72B**, **4**张**L20 48GB**, SGLang, prompt_tokens=512"));
        assert!(!is_name("The server was restarted before each of these."));
        assert!(!is_name("![](a.png)"));
        assert!(says_nothing("Sample Output (Successful Run)") && says_nothing("结果"));
        assert!(!says_nothing("Results of Qwen2-72B") && !says_nothing("8 × A100"));
    }

    #[test]
    fn lengths_and_models_are_found() {
        let context = |line: &str| Context::by(std::iter::once(line.to_owned()));
        let first = context(
            "- **Qwen2-MoE-57B-A14B-Instruct**, **2**张**A100**, prompt_tokens=512, generated_tokens=128",
        );
        assert_eq!(first.model.as_deref(), Some("Qwen2-MoE-57B-A14B-Instruct"));
        assert_eq!((first.input, first.output), (Some(512), Some(128)));
        assert_eq!(context("--random-input-len 1024 --model a/b").input, Some(1024));
        assert_eq!(context("seq_length: 10000").sequence, Some(10000));
        assert_eq!(context("vllm v0.2.7").version.as_deref(), Some("0.2.7"));
        assert_eq!(context("MindIE (910B4: 8X32G), T4: 4X16G, A100 40G").model, None);
        assert_eq!(
            context("Qwen1.5-7B-Chat (long.jsonl)").model.as_deref(),
            Some("Qwen1.5-7B-Chat")
        );
    }
}

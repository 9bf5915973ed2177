//! Lines that a tool or a shell prints around its results: progress, notes, warnings, command lines.
//! They state settings, but they are not titles.

/// How the tools' own remarks begin, in lower case.
const REMARKS: [&str; 21] = [
    "tip:",
    "starting initial",
    "starting main",
    "skipping endpoint",
    "initial test run",
    "traffic request rate",
    "burstiness factor",
    "maximum request concurrency",
    "namespace(",
    "benchmark_args=",
    "#input tokens",
    "#output tokens",
    "started at",
    "finished at",
    "benchmarks info",
    "benchmarks metadata",
    "benchmarks stats",
    "detailed performance metrics",
    "performance overview",
    "nvidia aiperf |",
    "nvidia genai-perf |",
];

/// Levels of loggers.
const LEVELS: [&str; 6] = ["info", "warning", "warn", "error", "debug", "futurewarning"];

/// What the tools print when they start, and no document about them does.
const STARTED: [(&str, &str); 7] = [
    ("Namespace(subparser='bench', bench_type='serve'", "vllm"),
    ("Starting main benchmark run...", "vllm"),
    ("Traffic request rate: ", "vllm"),
    (" - evalscope - INFO", "evalscope"),
    ("backend validated with model ", "guidellm"),
    ("NVIDIA AIPerf | ", "aiperf"),
    ("NVIDIA GenAI-Perf | ", "genai-perf"),
];

/// The tool that starts with this line.
pub(super) fn started(line: &str) -> Option<&'static str> {
    STARTED.iter().find(|(sign, _)| line.contains(sign)).map(|(_, tool)| *tool)
}

/// Whether a line is not a title but output.
pub(super) fn is_chatter(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['[', '(']);
    let lower: String = line.chars().take(40).collect::<String>().to_lowercase();
    let word = lower.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let logged = LEVELS.contains(&word) && line.starts_with(|c: char| c.is_ascii_uppercase());
    logged
        || REMARKS.iter().any(|start| lower.starts_with(start))
        || line.contains("%|")
        || line.contains("it/s]")
        || starts_with_time(line)
        || is_command(line)
        || line.starts_with(['✔', 'ℹ', '…', '⠋'])
}

/// A logger's time, with or without its date before it.
fn starts_with_time(line: &str) -> bool {
    line.split_whitespace().take(2).any(|word| {
        let time = word.rsplit('T').next().unwrap_or(word);
        let mut parts = time.split(':').map(|part| part.get(..2).unwrap_or(part));
        let digits = |part: &str| part.len() == 2 && part.bytes().all(|c| c.is_ascii_digit());
        parts.clone().count() >= 3 && parts.by_ref().take(3).all(digits)
    })
}

/// A command line, or one that goes on from the line above.
fn is_command(line: &str) -> bool {
    let flags = line.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 3);
    let flags =
        flags.filter(|word| word[2..].starts_with(|c: char| c.is_ascii_lowercase())).count();
    line.starts_with("$ ")
        || flags >= 2
        || (flags == 1 && (line.starts_with("--") || line.ends_with('\\')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_told_from_titles() {
        for line in [
            "tip: install termplotlib and gnuplot to plot the metrics",
            "INFO 04-15 11:22:07 [datasets.py:700] Sampling input_len",
            "2026-01-31 09:30:00,113 - evalscope - INFO - Save",
            "[2026-01-31 09:30:00] INFO Parsing",
            "100%|####| 5/5 [00:01<00:00, 3.1it/s]",
            "$ vllm bench serve --model a",
            "vllm bench serve --model a --port 8000",
            "--port 8000 \\",
            "Traffic request rate: inf",
        ] {
            assert!(is_chatter(line), "{line}");
        }
        for line in [
            "seq_length: 80",
            "num_prompt:1",
            "8 × A100, vLLM 0.6",
            "**Qwen2-72B**, --tp 4",
            "2024-05-01: 8B",
        ] {
            assert!(!is_chatter(line), "{line}");
        }
    }
}

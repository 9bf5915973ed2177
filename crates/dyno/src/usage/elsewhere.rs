//! Flags and commands of other tools, and what they are here. What a whole command line of another
//! tool has is said at once.

use super::{UsageError, bare_name, is_near};
use crate::reference;
use clap::Command;
use dyno_model::{Message, message};
use std::ffi::OsString;

/// Commands of other tools, and what they are here.
pub(super) const COMMANDS: &[(&[&str], &str)] = &[
    (&["serve", "server", "mock"], "engine"),
    (&["run", "benchmark", "sweep", "throughput", "latency"], "bench"),
    (&["resume", "continue"], "bench --resume RUN"),
];

/// Flags of other benchmarks, and what they are here.
const FLAGS: &[(&[&str], &str)] = &[
    (&["--request-rate", "--qps", "--rps", "-r"], "--rate"),
    (
        &[
            "--num-prompts",
            "--num-requests",
            "--max-requests",
            "--request-count",
            "--number",
            "--n",
            "-n",
        ],
        "--requests",
    ),
    (
        &["--max-workers", "--users", "--parallel", "--num-users", "--num-workers", "-c"],
        "--concurrency",
    ),
    (
        &[
            "--random-input-len",
            "--input-len",
            "--prompt-tokens",
            "--isl",
            "--synthetic-input-tokens-mean",
        ],
        "--input-tokens",
    ),
    (
        &[
            "--random-output-len",
            "--output-len",
            "--max-tokens",
            "--generated-tokens",
            "--osl",
            "--output-tokens-mean",
        ],
        "--output-tokens",
    ),
    (&["--dataset", "--dataset-name", "--dataset-path"], "--data"),
    (&["--prompt", "--prompt-file"], "--data FILE"),
    (&["--turns", "--num-turns"], "--data session,turns=N"),
    (&["--burstiness"], "--arrival gamma:SHAPE"),
    (&["--backend", "--endpoint-type"], "--api NAME"),
    (&["--max-seconds", "--time", "--run-time", "-d"], "--duration"),
    (&["--spawn-rate"], "--ramp"),
    (&["--timeout", "--read-timeout", "--request-timeout"], "--timeout-total"),
    (&["--connect-timeout"], "--timeout-connect"),
    (&["--goodput"], "--slo"),
    (&["--metric-percentiles"], "--percentiles"),
    (&["--percentile-metrics"], "--columns"),
    (&["--format"], "--report FORMATS"),
    (&["--png"], "--report png"),
    (&["--html"], "--report html"),
    (&["--csv"], "--report csv"),
    (&["--result-dir", "--result-filename", "--output-dir", "--outputs-dir", "-o"], "--out DIR"),
    (
        &[
            "--top-p",
            "--top-k",
            "--min-p",
            "--frequency-penalty",
            "--presence-penalty",
            "--repetition-penalty",
        ],
        "--extra-body '{\"FIELD\": VALUE}'",
    ),
    (&["-q"], "--quiet"),
    (&["-v", "--verbose"], "--details"),
];

/// The same, where it takes words to say what they are.
const IN_WORDS: &[(&[&str], [&str; 2])] = &[
    (
        &["--system-prompt"],
        ["a message of each prompt in --data FILE", " --data FILE 中每条提示词的一条消息"],
    ),
    (
        &["--host", "--port", "--base-url", "--url", "--target", "--endpoint"],
        ["the argument TARGET", "参数 TARGET"],
    ),
    (
        &["--profile", "--rate-type"],
        ["--sweep, --rate, --concurrency or --burst", " --sweep、--rate、--concurrency 或 --burst"],
    ),
    (
        &["--save-result", "--save-detailed"],
        ["the default: every run is stored", "默认行为：每次测试都会保存"],
    ),
    (
        &["--ignore-eos", "--min-tokens"],
        ["the default: responses have a fixed length", "默认行为：响应长度固定"],
    ),
    (
        &["--stream", "--streaming"],
        ["the default: responses are streamed", "默认行为：响应以流式返回"],
    ),
];

/// What a flag of another tool is here, where this command has it.
fn here(flag: &str, command: Option<&Command>) -> Option<Message> {
    let has = |ours: &str| {
        let first = ours.split([' ', ',']).next().and_then(|first| first.strip_prefix("--"));
        let known = |long| command.is_none_or(|command| has_long(command, long));
        first.is_none_or(known)
    };
    let ours = FLAGS.iter().find(|(names, ours)| names.contains(&flag) && has(ours));
    let field = flag.trim_start_matches('-').replace('-', "_");
    let ours = ours.map(|(_, ours)| {
        let ours = ours.replace("FIELD", &field);
        message!("in Dyno this is {ours}", "在 Dyno 中对应 {ours}")
    });
    let in_words = || IN_WORDS.iter().find(|(names, _)| names.contains(&flag));
    ours.or_else(|| {
        let ours = Message::new(in_words()?.1.map(str::to_owned));
        Some(message!("in Dyno this is {ours}", "在 Dyno 中对应{ours}"))
    })
}

fn has_long(command: &Command, long: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(long))
}

/// What is wrong with a command line as a whole: a number that was not joined to its flag by `=`, or
/// several flags of other tools.
pub(crate) fn on_command_line(argv: &[OsString], command: &Command) -> Option<UsageError> {
    let words: Vec<&str> = argv.iter().skip(2).map_while(|word| word.to_str()).collect();
    let arguments = || command.get_arguments();
    let long = |arg: &clap::Arg| arg.get_long().map(|long| format!("--{long}"));
    let apart = words.windows(2).find_map(|pair| {
        let joined = arguments()
            .find(|arg| arg.is_require_equals_set() && long(arg).as_deref() == Some(pair[0]));
        joined.filter(|_| pair[1].starts_with(|first: char| first.is_ascii_digit()))?;
        let wrong = UsageError::new(
            pair[0],
            message!("its value has to follow an equals sign", "取值要用等号连接"),
        );
        Some(wrong.hint(message!("write {}={}", "请写 {}={}", pair[0], pair[1])))
    });
    if apart.is_some() {
        return apart;
    }
    let known = |flag: &str| {
        let short = |arg: &clap::Arg| arg.get_short().map(|short| format!("-{short}"));
        arguments()
            .any(|arg| long(arg).as_deref() == Some(flag) || short(arg).as_deref() == Some(flag))
    };
    let mut foreign: Vec<(String, Message)> = Vec::new();
    for word in words.iter().take_while(|word| **word != "--") {
        let flag = bare_name(word);
        if let Some(ours) = here(&flag, Some(command))
            && !known(&flag)
            && foreign.iter().all(|(before, _)| *before != flag)
        {
            foreign.push((flag, ours));
        }
    }
    if foreign.len() < 2 {
        return None;
    }
    let flags: Vec<&str> = foreign.iter().map(|(flag, _)| flag.as_str()).collect();
    let (flags, name) = (flags.join(", "), command.get_name());
    let hints = foreign.iter().map(|(flag, ours)| message!("{flag}: {ours}", "{flag}：{ours}"));
    let hints = hints.rev().reduce(|below, hint| hint.with_hint(below))?;
    let wrong = message!(
        "these are not flags of dyno {name}: {flags}",
        "这些不是 dyno {name} 的参数：{flags}"
    );
    Some(UsageError::new("", wrong).hint(hints))
}

/// What to do about a flag that does not exist.
pub(super) fn hint(flag: &str, near: Option<String>, command: &str) -> Message {
    let known = command.strip_prefix("dyno ").and_then(reference::find);
    if let Some(ours) = here(flag, known.as_ref()) {
        return ours;
    }
    match flag {
        "--lang" => {
            return message!(
                "LC_ALL selects the language: en_US.UTF-8 or zh_CN.UTF-8",
                "语言由 LC_ALL 决定：en_US.UTF-8 或 zh_CN.UTF-8"
            );
        }
        "--concurrency" | "--rate" if command.ends_with(" capacity") => {
            return message!(
                "--over {} searches for the highest that meets the SLO",
                "--over {} 搜索满足 SLO 的最高值",
                flag.trim_start_matches("--")
            );
        }
        _ => {}
    }
    match near.filter(|near| is_near(flag, &bare_name(near))) {
        Some(near) => message!("did you mean {}?", "是否想写 {}？", bare_name(&near)),
        None => {
            message!("`{command} --help` lists the flags", "运行 `{command} --help` 查看全部参数")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let found = on_command_line(&argv, &reference::find("bench").unwrap());
        found.map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn flags_of_another_tool_are_explained_together() {
        let line =
            "dyno bench http://h --backend vllm --num-prompts=9 --rate 2 --top-p 0.9 --top-p 1";
        assert_eq!(
            said(line),
            "these are not flags of dyno bench: --backend, --num-prompts, --top-p\n  hint: --backend: in \
             Dyno this is --api NAME\n  hint: --num-prompts: in Dyno this is --requests\n  hint: --top-p: \
             in Dyno this is --extra-body '{\"top_p\": VALUE}'"
        );
        assert_eq!(said("dyno bench http://h --num-prompts 9"), "", "one is explained as before");
        assert_eq!(said("dyno bench http://h --rate 2 -- --qps --rps"), "");
    }

    /// Section 6 of the first trial: what was typed there, and what each is here.
    const TYPED: [(&str, &str); 37] = [
        ("--num-prompts", "--requests"),
        ("--max-requests", "--requests"),
        ("--n", "--requests"),
        ("--parallel", "--concurrency"),
        ("-c", "--concurrency"),
        ("--qps", "--rate"),
        ("--request-rate", "--rate"),
        ("--burstiness", "--arrival gamma:SHAPE"),
        ("--goodput", "--slo"),
        ("--ignore-eos", "the default: responses have a fixed length"),
        ("--min-tokens", "the default: responses have a fixed length"),
        ("--backend", "--api NAME"),
        ("--profile", "--sweep, --rate, --concurrency or --burst"),
        ("--rate-type", "--sweep, --rate, --concurrency or --burst"),
        ("--metric-percentiles", "--percentiles"),
        ("--percentile-metrics", "--columns"),
        ("--result-dir", "--out DIR"),
        ("-o", "--out DIR"),
        ("--save-result", "the default: every run is stored"),
        ("--stream", "the default: responses are streamed"),
        ("--top-p", "--extra-body '{\"top_p\": VALUE}'"),
        ("--top-k", "--extra-body '{\"top_k\": VALUE}'"),
        ("--timeout", "--timeout-total"),
        ("--read-timeout", "--timeout-total"),
        ("--connect-timeout", "--timeout-connect"),
        ("--run-time", "--duration"),
        ("--spawn-rate", "--ramp"),
        ("--system-prompt", "a message of each prompt in --data FILE"),
        ("--prompt", "--data FILE"),
        ("--format", "--report FORMATS"),
        ("--png", "--report png"),
        ("--html", "--report html"),
        ("--csv", "--report csv"),
        ("-q", "--quiet"),
        ("-v", "--details"),
        ("--verbose", "--details"),
        ("--dataset", "--data"),
    ];

    #[test]
    fn each_flag_that_was_expected_is_explained() {
        for (flag, ours) in TYPED {
            let command = reference::find("bench").unwrap();
            let typed = ["bench", "http://h", flag, "1"];
            let error = command.try_get_matches_from(typed).unwrap_err();
            let said = crate::usage::from_clap(&error, "dyno bench");
            assert!(
                said.to_string().ends_with(&format!("\n  hint: in Dyno this is {ours}")),
                "{flag}: {said}"
            );
            assert_eq!(said.exit, crate::exit::Exit::Usage, "{flag}");
        }
    }

    #[test]
    fn a_value_apart_from_its_flag_is_joined() {
        let joined = "--sweep: its value has to follow an equals sign\n  hint: write --sweep=8";
        assert_eq!(said("dyno bench http://h --sweep 8"), joined);
        assert_eq!(said("dyno bench --sweep 8"), joined);
        assert_eq!(said("dyno bench --sweep http://h"), "");
    }

    #[test]
    fn no_flag_of_our_own_is_taken_for_a_foreign_one() {
        let command = reference::find("bench").unwrap();
        let own: Vec<String> = command
            .get_arguments()
            .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
            .collect();
        for (names, _) in IN_WORDS {
            assert!(names.iter().all(|name| !own.contains(&(*name).to_owned())), "{names:?}");
        }
        for (names, ours) in FLAGS {
            assert!(names.iter().all(|name| !own.contains(&(*name).to_owned())), "{names:?}");
            let first = ours.split([' ', ',']).next().unwrap_or_default();
            assert!(!first.starts_with("--") || own.contains(&first.to_owned()), "{ours}");
        }
    }
}

//! The GitHub Action: its steps as a runner calls them, with files in place of GitHub's, and its inputs.

use super::root;
use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{NOT_OURS, Place};
use std::path::Path;
use std::process::{Command, Output};

/// A runner: a working directory, and the files that a step may write to.
struct Runner(Place);

impl Runner {
    fn new() -> Self {
        Self(Place::new())
    }

    fn step(&self, name: &str, inputs: &[(&str, &str)]) -> Output {
        let mut command = Command::new(root().join("action/steps"));
        command.arg(name).current_dir(self.0.path());
        NOT_OURS.iter().for_each(|name| {
            command.env_remove(name);
        });
        let dyno = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", dyno.display()));
        for file in ["SUMMARY", "OUTPUT", "PATH"] {
            let name = if file == "SUMMARY" { "STEP_SUMMARY" } else { file };
            command.env(format!("GITHUB_{name}"), self.0.path().join(file));
        }
        command.envs(inputs.iter().copied()).output().unwrap()
    }

    fn bench(&self, target: &str, flags: &str, out: &str) -> Output {
        self.step("bench", &[("TARGET", target), ("BENCH", flags), ("OUT", out)])
    }

    fn gate(&self, max_regression: &str, baseline: &str, inconclusive: &str) -> Output {
        let inputs = [
            ("BASELINE", baseline),
            ("MAX_REGRESSION", max_regression),
            ("GATE", "--metric latency_mean"),
            ("INCONCLUSIVE", inconclusive),
            ("OUT", "run"),
        ];
        self.step("gate", &inputs)
    }

    /// A run in virtual time: neither busy machines nor chance.
    fn predicted(&self, out: &str, flags: &str) {
        let args = format!(
            "predict --concurrency 8 --requests 200 --repeat 3 --report none --quiet --out {out} {flags}"
        );
        let output = self.0.dyno(&args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap_or_default()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn a_measurement_has_a_status_a_summary_and_its_run() {
    let (runner, engine) = (Runner::new(), Engine::start(QUICK, &[]));
    let output = runner.step("install", &[("VERSION", "")]);
    assert!(output.status.success() && said(&output).starts_with("dyno "), "{}", said(&output));
    assert_eq!(runner.file("PATH"), "");
    let flags = r#"--concurrency 2 --requests 8 --label "$(echo two words)" --allow-failures 0.1%"#;
    let output = runner.bench(&engine.url(), flags, "run");
    let status = output.status.code().unwrap();
    assert!([0, 4].contains(&status), "{}", said(&output));
    assert_eq!(runner.file("OUTPUT"), format!("status={status}\n"));
    // What is in an input is text: nothing of it is run.
    assert!(runner.file("SUMMARY").contains("$(echo two words)"), "{}", runner.file("SUMMARY"));
    assert!(runner.file("SUMMARY").contains("concurrency 2"), "{}", runner.file("SUMMARY"));
    assert!(!runner.file("run/summary.json").is_empty());
}

#[test]
fn what_cannot_be_measured_fails_the_job() {
    let runner = Runner::new();
    let output = runner.bench("http://127.0.0.1:1", "--concurrency 1 --requests 1", "run");
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("::error title=dyno bench::nothing was measured"));
    assert_eq!(
        (runner.file("OUTPUT"), runner.file("SUMMARY")),
        ("status=3\n".into(), String::new())
    );
    assert_eq!(runner.step("other", &[]).status.code(), Some(2));
}

#[test]
fn a_gate_passes_fails_or_warns() {
    let runner = Runner::new();
    runner.predicted("base", "");
    runner.predicted("run", "--seed 5");
    let output = runner.gate("30%", "base", "fail");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(runner.file("OUTPUT"), "outcome=pass\n");
    assert!(runner.file("SUMMARY").contains("### pass: "), "{}", runner.file("SUMMARY"));
    assert!(runner.file("run/gate.xml").contains("<testcase"), "{}", runner.file("run/gate.xml"));

    runner.0.file("nothing.json", r#"[{"load":8}]"#);
    let output = runner.gate("5%", "nothing.json", "warn");
    assert!(![0, 5, 6].contains(&output.status.code().unwrap()), "{}", said(&output));

    let inconclusive = runner.gate("0.0001%", "base", "warn");
    assert!(inconclusive.status.success(), "{}", said(&inconclusive));
    assert!(said(&inconclusive).contains("::warning title=dyno gate::inconclusive"));
    assert_eq!(runner.gate("0.0001%", "base", "fail").status.code(), Some(6));
    assert!(runner.file("OUTPUT").ends_with("outcome=inconclusive\noutcome=inconclusive\n"));
}

#[test]
fn a_slower_server_fails_the_gate() {
    let runner = Runner::new();
    let twin = std::fs::read_to_string(root().join("examples/my-server.toml")).unwrap();
    let slower = std::fs::read_to_string(root().join("examples/slower.toml")).unwrap();
    runner.0.file("twin.toml", &twin);
    runner.0.file("slower.toml", &slower);
    runner.predicted("base", "--twin twin.toml");
    runner.predicted("run", "--twin slower.toml");
    let output = runner.gate("2%", "base", "warn");
    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert_eq!(runner.file("OUTPUT"), "outcome=fail\n");
    assert!(said(&output).contains("::error title=dyno gate::fail"), "{}", said(&output));
}

/// Every input of the action reaches a step, and every variable that a step reads is set by the action.
#[test]
fn inputs_and_variables_agree() {
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let steps = std::fs::read_to_string(root().join("action/steps")).unwrap();
    let (head, _) = action.split_once("\noutputs:").unwrap();
    let (_, inputs) = head.split_once("\ninputs:\n").unwrap();
    let names = inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: Vec<&str> = names.filter(|name| !name.starts_with(' ')).collect();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        let uses = [format!("inputs.{name} "), format!("inputs.{name}\n")];
        assert!(uses.iter().any(|used| action.contains(used)), "{name} is not used");
    }
    for line in action.lines().filter(|line| line.contains(": ${{ inputs.")) {
        let variable = line.trim().split(':').next().unwrap();
        let passed = variable.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        assert!(
            !passed
                || variable == "DYNO_API_KEY"
                || steps.contains(&format!("${variable}"))
                || steps.contains(&format!("${{{variable}")),
            "{variable}"
        );
    }
}

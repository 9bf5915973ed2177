//! Pages to look at, each of its own run.

use dyno_analysis::{Detail, DirSource, summarise};
use dyno_engine::{Script, Server, ServerOptions};
use dyno_model::Summary;
use dyno_model::plan::Plan;
use dyno_record::RunDir;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A directory with a run, and its page in it.
pub(crate) struct Made {
    place: TempDir,
}

/// A run as a report reads it.
pub(crate) struct Read {
    pub(crate) summary: Summary,
    pub(crate) detail: Detail,
    pub(crate) plan: Plan,
    pub(crate) environment: Option<dyno_model::environment::Environment>,
}

impl Made {
    /// From a prediction, which is quick.
    pub(crate) fn predicted(args: &[&str]) -> Self {
        Self::of([&["predict"], args].concat())
    }

    /// From requests to an engine with these faults.
    pub(crate) fn faulty(faults: &[&str], args: &[&str]) -> Self {
        let options = ServerOptions {
            brain: "ttft=5ms,itl=1ms,tokens=16".parse::<Script>().unwrap().into(),
            faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
            ..ServerOptions::default()
        };
        let engine = Server::bind(options).unwrap().spawn().unwrap();
        let url = format!("http://{}", engine.addr());
        Self::of([&["bench", &url], args].concat())
    }

    fn of(args: Vec<&str>) -> Self {
        let made = Self { place: tempfile::tempdir().unwrap() };
        let said = made.dyno(&[&args[..], &["--quiet", "--out", "run"]].concat());
        // Invalid levels have their own exit status, as have failures and a missed SLO.
        let summary = std::fs::read(made.place.path().join("run/summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        let invalid = |level: &serde_json::Value| level["verdict"] == "invalid";
        let right: &[i32] = match summary["levels"].as_array().unwrap().iter().any(invalid) {
            true => &[4],
            false => &[0, 5],
        };
        assert!(said.status.code().is_some_and(|status| right.contains(&status)), "{said:?}");
        made
    }

    fn dyno(&self, args: &[&str]) -> std::process::Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command.args(args).current_dir(self.place.path());
        for name in ["DYNO_API_KEY", "http_proxy", "https_proxy", "all_proxy", "LC_ALL", "LANG"] {
            command.env_remove(name);
        }
        command.output().unwrap()
    }

    /// The page, as `dyno report` writes it.
    pub(crate) fn html(&self, language: &str) -> PathBuf {
        let name = format!("{language}.html");
        let args = ["report", "run", "--format", "html", "--lang", language, "--out", &name];
        let said = self.dyno(&args);
        assert!(said.status.success(), "{said:?}");
        self.place.path().join(name)
    }

    /// The page of a comparison with another run, as `dyno compare` writes it.
    pub(crate) fn compared(&self, other: &Self, language: &str) -> PathBuf {
        let name = format!("compared-{language}.html");
        let other = other.run();
        let other = other.to_str().unwrap();
        let args =
            ["compare", "run", other, "--format", "html", "--lang", language, "--out", &name];
        let output = self.dyno(&args);
        assert!(output.status.success(), "{output:?}");
        self.place.path().join(name)
    }

    /// A page that is made in another way.
    pub(crate) fn keep(&self, name: &str, html: &str) -> PathBuf {
        let path = self.place.path().join(name);
        std::fs::write(&path, html).unwrap();
        path
    }

    fn run(&self) -> PathBuf {
        self.place.path().join("run")
    }

    /// The summary of the run.
    pub(crate) fn summary(&self) -> Value {
        read_json(&self.run().join("summary.json"))
    }

    /// The inputs of a page.
    pub(crate) fn read(&self) -> Read {
        let dir = RunDir::open(self.run()).unwrap();
        let source = DirSource::open(&dir).unwrap();
        let (plan, environment) = (dir.read_plan().unwrap(), dir.read_environment().unwrap());
        let summary = summarise(&plan, environment.as_ref(), &source);
        Read { summary, detail: Detail::gather(&source), plan, environment }
    }
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

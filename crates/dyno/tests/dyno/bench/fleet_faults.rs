//! Several load generators of which one is killed or stands still: the level is invalid and says whose
//! fault it was, nothing that was finished is lost, nobody goes on sending, and the run can be resumed.

use crate::bench::engines::EngineProcess;
use crate::bench::place::{Place, accounted, codes, holds};
use crate::bench::process::{Ended, Process, run};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A request takes 0.4 s, so that a level is still under way when the first ones have ended.
pub(crate) const SCRIPT: &str = "ttft=100ms,itl=20ms,tokens=16";
const LEVELS: &str =
    "--agents 3 --concurrency 3,6 --requests 5x --output-tokens 16 --input-tokens 8 --seed 1";

/// Long enough to be killed in the middle.
pub(crate) const LONG: &str =
    "--agents 3 --concurrency 6,9 --duration 30s --output-tokens 16 --input-tokens 8 --seed 1";

/// A run whose temporary files are its own.
struct Fleet {
    place: Place,
    engine: EngineProcess,
    process: Option<Process>,
}

impl Fleet {
    fn start(args: &str) -> Self {
        let place = Place::new();
        let engine = EngineProcess::start(&place, SCRIPT);
        Self::of(place, engine, args)
    }

    fn of(place: Place, engine: EngineProcess, args: &str) -> Self {
        std::fs::create_dir(place.path().join("tmp")).unwrap();
        let mut command = place.bench(&engine.url(), args);
        command.env("TMPDIR", place.path().join("tmp"));
        Self { process: Some(Process::start(command)), place, engine }
    }

    fn process(&mut self) -> &mut Process {
        self.process.as_mut().unwrap()
    }

    fn end(&mut self) -> Ended {
        self.process.take().unwrap().end()
    }

    fn agents(&mut self) -> Vec<Pid> {
        let own = self.process().pid().as_raw_nonzero().get().to_string();
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let is_child = |number: &i32| fields(*number).is_some_and(|fields| fields[1] == own);
        numbers.filter(is_child).filter_map(Pid::from_raw).collect()
    }

    /// Waits until the agents have sent so many requests, and returns them.
    fn after_requests(&mut self, count: u64) -> Vec<Pid> {
        let part = self.place.run_dir().join("agent-1");
        self.process().wait_until("agents prepare a level", || part.exists());
        let before = self.engine.begun();
        let Self { engine, process, .. } = self;
        process.as_mut().unwrap().wait_until("requests", || engine.begun() >= before + count);
        let agents = self.agents();
        assert_eq!(agents.len(), 3);
        agents
    }

    /// Fails unless all of these end within 5 s, and nobody sends after that.
    #[track_caller]
    fn expect_quiet(&self, agents: &[Pid]) {
        let began = Instant::now();
        while agents.iter().any(|agent| is_alive(*agent)) {
            assert!(began.elapsed() < Duration::from_secs(5), "an agent is still there");
            std::thread::sleep(Duration::from_millis(10));
        }
        let before = self.engine.begun();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(self.engine.begun(), before, "somebody still sends");
    }

    fn left(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.place.path().join("tmp")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn report(&self) -> Value {
        self.report_of("run")
    }

    fn report_of(&self, run_dir: &str) -> Value {
        run(self.place.dyno(&format!("report {run_dir} --json"))).expect_status(&[0]).json()
    }

    /// What an agent of this machine has kept.
    fn parts(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.place.run_dir()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut parts: Vec<String> = names.filter(|name| name.starts_with("agent-")).collect();
        parts.sort();
        parts
    }

    /// Resumes the run, after which both levels are whole.
    #[track_caller]
    fn expect_resumed(&self) {
        let resumed = run(self.place.dyno("bench --resume run --json --quiet")).expect_measured();
        for summary in [resumed.json(), self.report()] {
            assert_eq!(summary["run"]["partial"], false, "{summary:#}");
            let levels = summary["levels"].as_array().unwrap();
            let completed: Vec<&Value> =
                levels.iter().map(|level| &level["requests"]["completed"]).collect();
            assert_eq!(completed, [15, 30], "{summary:#}");
        }
    }
}

/// What `/proc` says of a process, from its state on.
fn fields(process: i32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn is_alive(process: Pid) -> bool {
    fields(process.as_raw_nonzero().get()).is_some_and(|fields| fields[0] != "Z")
}

#[test]
fn a_killed_agent_ends_the_level_and_the_run_can_be_resumed() {
    // In the first level, and in the second.
    for (requests, whole) in [(4, 0), (20, 1)] {
        let mut fleet = Fleet::start(LEVELS);
        let agents = fleet.after_requests(requests);
        kill_process(agents[1], Signal::KILL).unwrap();
        let ended = fleet.end().expect_status(&[4]);
        fleet.expect_quiet(&agents);
        let summary = ended.json();
        let levels = summary["levels"].as_array().unwrap();
        assert_eq!(levels.len(), whole + 1, "{summary:#}");
        assert_eq!(levels[whole]["verdict"], "invalid");
        assert!(codes(&levels[whole]["reasons"]).contains(&"agent_lost".to_owned()), "{summary:#}");
        let lost = levels[whole]["agents"].as_array().unwrap().iter();
        let lost: Vec<&Value> = lost.filter(|agent| !agent["lost"].is_null()).collect();
        assert_eq!(lost.len(), 1, "{summary:#}");
        assert!(lost[0]["lost"].as_str().unwrap().contains("signal: 9"), "{summary:#}");
        if whole == 1 {
            assert_eq!(levels[0]["requests"]["completed"], 15);
        }
        // The others kept their records until they were fetched.
        assert!(levels[whole]["requests"]["completed"].as_u64().unwrap() > 0, "{summary:#}");
        assert!(fleet.left().is_empty(), "the coordinator clears up: {:?}", fleet.left());
        assert_eq!(fleet.parts(), ["agent-2"], "nobody fetched the killed agent's records");
        fleet.expect_resumed();
        assert!(fleet.parts().is_empty(), "{:?}", fleet.parts());
    }
}

#[test]
fn agents_of_a_killed_coordinator_stop_and_the_run_can_be_resumed() {
    for requests in [4, 20] {
        let mut fleet = Fleet::start(LEVELS);
        let agents = fleet.after_requests(requests);
        fleet.process().signal(Signal::KILL);
        fleet.expect_quiet(&agents);
        assert!(fleet.left().len() <= 1, "agents clear up: {:?}", fleet.left());
        if requests == 20 {
            let summary = fleet.report();
            assert_eq!(summary["levels"][0]["requests"]["completed"], 15, "{summary:#}");
            assert_eq!(summary["levels"][0]["partial"], false);
        }
        fleet.expect_resumed();
        assert!(fleet.parts().is_empty(), "they are in the records: {:?}", fleet.parts());
    }
}

/// Requests of a level with a record.
pub(crate) fn recorded(summary: &Value) -> u64 {
    accounted(summary["levels"].as_array().unwrap().last().unwrap())
}

/// Fails unless a level is there that nobody ended.
#[track_caller]
pub(crate) fn expect_coordinator_lost(summary: &Value) {
    assert_eq!(summary["run"]["partial"], true, "{summary:#}");
    let level = &summary["levels"][0];
    assert_eq!((&level["verdict"], &level["partial"]), (&json!("invalid"), &json!(true)));
    assert!(codes(&level["reasons"]).contains(&"coordinator_lost".to_owned()), "{summary:#}");
}

/// Fails unless nobody else may read a directory, and none of its files has any of these texts.
#[track_caller]
pub(crate) fn expect_private(dir: &Path, secrets: &[&str]) {
    assert_eq!(std::fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700);
    for file in std::fs::read_dir(dir).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        secrets.iter().for_each(|secret| assert!(!holds(&bytes, secret), "{secret}"));
    }
}

#[test]
fn what_was_measured_survives_the_coordinator() {
    let place = Place::new();
    let engine = EngineProcess::start(&place, SCRIPT);
    let load = format!("{LONG} --header X-Pass:barley --api-key open-sesame");
    let mut fleet = Fleet::of(place, engine, &load);
    let before = fleet.engine.begun();
    let agents = fleet.after_requests(40);
    fleet.process().signal(Signal::KILL);
    fleet.expect_quiet(&agents);
    let sent = fleet.engine.begun() - before;
    assert_eq!(fleet.parts(), ["agent-1", "agent-2", "agent-3"]);
    let whole = fleet.report();
    expect_coordinator_lost(&whole);
    // Some of those that the engine counts belong to the preflight, and the last ones may not have reached it.
    assert!(sent.abs_diff(recorded(&whole)) <= 10, "of {sent}: {whole:#}");
    assert!(whole["levels"][0]["requests"]["completed"].as_u64().unwrap() >= 20, "{whole:#}");
    let mut parts = 0;
    for part in fleet.parts() {
        let dir = format!("run/{part}");
        let summary = fleet.report_of(&dir);
        expect_coordinator_lost(&summary);
        let notes = codes(&summary["notes"]);
        assert!(!notes.contains(&"levels_not_run".to_owned()), "it had no others: {notes:?}");
        assert!(
            ["agents_part", "not_fetched"].iter().all(|note| notes.contains(&(*note).to_owned()))
        );
        parts += recorded(&summary);
        expect_private(&fleet.place.path().join(&dir), &["barley", "open-sesame"]);
        let ended = run(fleet.place.dyno(&format!("bench --resume {dir} --agents 3")));
        ended.expect_status(&[2]).expect_words(&["holds the part of one agent"]);
    }
    assert_eq!(parts, recorded(&whole));
    // The rows are those of one run.
    let rows =
        run(fleet.place.dyno("report run --format csv --per-request")).expect_status(&[0]).stdout;
    assert_eq!(rows.lines().count() as u64, parts + 1, "{rows}");
    // Deleted with the run.
    run(fleet.place.dyno("runs --dir . delete run --yes")).expect_status(&[0]);
    assert!(!fleet.place.run_dir().exists());
}

#[test]
fn a_resumed_run_has_what_its_agents_kept() {
    let mut fleet = Fleet::start(LEVELS);
    let agents = fleet.after_requests(8);
    fleet.process().signal(Signal::KILL);
    fleet.expect_quiet(&agents);
    let kept = recorded(&fleet.report());
    assert!(kept >= 8, "{kept}");
    fleet.expect_resumed();
    let requests = fleet.place.requests();
    assert_eq!(requests.len() as u64, kept + 45, "labelled, not deleted");
    assert!(requests.iter().all(|record| record.agent.is_some()));
}

#[test]
fn an_agent_that_stood_still_for_two_seconds_is_named() {
    let mut fleet = Fleet::start(
        "--agents 3 --concurrency 6 --duration 5s --output-tokens 16 --input-tokens 8 --seed 1",
    );
    let agents = fleet.after_requests(20);
    kill_process(agents[1], Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    kill_process(agents[1], Signal::CONT).unwrap();
    let ended = fleet.end();
    let summary = ended.json();
    let level = &summary["levels"][0];
    assert_eq!(level["verdict"], "invalid", "{summary:#}");
    let agents = level["agents"].as_array().unwrap();
    let longest = |agent: &Value| agent["client"]["longest_stall_ms"].as_f64().unwrap();
    let stood = agents.iter().max_by(|a, b| longest(a).total_cmp(&longest(b))).unwrap();
    assert!(longest(stood) >= 1_500.0, "{summary:#}");
    assert!(stood["longest_silence_ms"].as_f64().unwrap() >= 1_500.0, "{summary:#}");
    assert_eq!(stood["verdict"], "invalid", "{summary:#}");
    let name = stood["name"].as_str().unwrap();
    let text = run(fleet.place.dyno("report run")).expect_status(&[0]).stdout;
    assert!(text.contains(&format!("agent {name}")), "no agent {name} in\n{text}");
}

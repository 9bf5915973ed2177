//! Several load generators of which one is killed or stands still: the level is invalid and says whose
//! fault it was, nothing that was finished is lost, nobody goes on sending, and the run can be resumed.

use crate::engines::EngineProcess;
use crate::place::{Place, codes};
use crate::process::{Ended, Process, run};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A request takes 0.4 s, so that a level is still under way when the first ones have ended.
const SCRIPT: &str = "ttft=100ms,itl=20ms,tokens=16";
const LEVELS: &str =
    "--agents 3 --concurrency 3,6 --requests 5x --output-tokens 16 --input-tokens 8 --seed 1";

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
        let tmp = self.place.path().join("tmp");
        let inner =
            |path: PathBuf| std::fs::read_dir(path).is_ok_and(|mut inner| inner.next().is_some());
        let prepared =
            || std::fs::read_dir(&tmp).unwrap().flatten().any(|outer| inner(outer.path()));
        self.process().wait_until("agents prepare a level", prepared);
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
        run(self.place.dyno("report run --json")).expect_status(&[0]).json()
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
        fleet.expect_resumed();
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
    }
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

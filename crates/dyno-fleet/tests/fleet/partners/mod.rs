//! Agents over pipes that are not what they should be: of another version, talking nonsense, stuck, or
//! gone. Each is refused or given up with a message that says why; nothing waits for ever, and no process
//! is left.
#![allow(clippy::unwrap_used)]

mod fake;

use dyno_fleet::{
    AgentPart, Fleet, FleetError, LevelWatch, Patience, PrepareLevel, Setup,
    pipe::{self, Children},
};
use dyno_model::Nanos;
use dyno_model::fleet::AgentSeen;
use dyno_model::plan::{LevelPlan, Plan, Shard, Target};
use dyno_net::Clock;
use std::time::{Duration, Instant};

const QUICK: Patience = Patience {
    to_settle: Duration::from_millis(700),
    to_prepare: Duration::from_millis(700),
    to_end: Duration::from_millis(700),
};

/// Longer than a request of these tests takes.
const LONG: Duration = Duration::from_secs(600);

/// Stops when it is told to, a while after the start.
#[derive(Default)]
struct Watching {
    started: Option<Instant>,
    stop_after: Option<(Duration, usize)>,
}

impl LevelWatch for Watching {
    fn started(&mut self, _at: Nanos) {
        self.started = Some(Instant::now());
    }

    fn beats(&mut self, _seen: &[AgentSeen]) {}

    fn stop(&self) -> usize {
        let Some((after, urgency)) = self.stop_after else { return 0 };
        let due = self.started.is_some_and(|started| started.elapsed() >= after);
        if due { urgency } else { 0 }
    }
}

fn gather(kinds: &[&str]) -> (Result<Fleet, FleetError>, Children) {
    let clock = Clock::start();
    let kinds: Vec<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
    let (children, hub) =
        pipe::spawn(kinds.len(), clock, move |number| fake::command(&kinds[number])).unwrap();
    let (lead, within) = (Duration::from_millis(5), Duration::from_secs(10));
    let fleet = Fleet::gather(hub, clock, "1.0.0", lead, within, &|| false);
    let fleet = fleet.map(|mut fleet| {
        fleet.wait(QUICK);
        fleet
    });
    (fleet, children)
}

fn set_up(fleet: &mut Fleet, longest: Duration) -> Result<(), FleetError> {
    let count = fleet.len() as u32;
    let mut plan = Plan::new(Target::at("http://127.0.0.1:9"));
    plan.timeouts.total_ns = longest.as_nanos() as u64;
    let setups = (0..count).map(|index| Setup {
        run: "run".to_owned(),
        plan: plan.clone(),
        shard: Shard { index, of: count },
        url: "http://127.0.0.1:9".to_owned(),
        settled: serde_json::Value::Null,
        files: Vec::new(),
        cpu: None,
        sources: Vec::new(),
    });
    let mut none = |_: &str, _: u64| Err(dyno_model::Message::quoted("no file is sent"));
    fleet.set_up(setups.collect(), &mut none, &|| false)
}

/// A good agent and this one, led through a level that lasts half a second by its plan.
fn level(kind: &str, watching: Watching) -> Result<(Vec<AgentPart>, Fleet, Children), FleetError> {
    level_of(kind, watching, LONG)
}

/// The same, whose requests take so long at most.
fn level_of(
    kind: &str,
    watching: Watching,
    longest: Duration,
) -> Result<(Vec<AgentPart>, Fleet, Children), FleetError> {
    let (fleet, children) = gather(&["good", kind]);
    let mut fleet = fleet?;
    set_up(&mut fleet, longest)?;
    let mut plan = LevelPlan::closed_loop(2, 10);
    (plan.duration_ns, plan.drain_ns) = (Some(500_000_000), 100_000_000);
    let prepare = PrepareLevel { level: 0, plan, taken: 0, failures: None };
    let mut watching = watching;
    let parts = fleet.level(&prepare, &mut watching)?;
    Ok((parts, fleet, children))
}

/// Why the second agent was lost in a level that the first one ended.
#[track_caller]
fn lost_in_level(kind: &str, watching: Watching) -> String {
    lost_in_level_of(kind, watching, LONG)
}

#[track_caller]
fn lost_in_level_of(kind: &str, watching: Watching, longest: Duration) -> String {
    let began = Instant::now();
    let (parts, fleet, children) = level_of(kind, watching, longest).unwrap();
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let processes = children.processes();
    assert!(parts[0].done.is_some() && parts[0].lost.is_none(), "{parts:?}");
    assert!(parts[1].done.is_none(), "{parts:?}");
    drop(fleet);
    drop(children);
    for process in processes {
        assert!(!std::path::Path::new(&format!("/proc/{process}")).exists(), "{kind} is left");
    }
    parts[1].lost.as_ref().unwrap().to_string()
}

#[track_caller]
fn refused(kind: &str) -> String {
    let (fleet, _children) = gather(&["good", kind]);
    fleet.unwrap_err().to_string()
}

#[test]
fn good_ones() {
    let (parts, mut fleet, _children) = level("good", Watching::default()).unwrap();
    assert!(parts.iter().all(|part| part.done.is_some() && part.lost.is_none()), "{parts:?}");
    let mut pulled = Vec::new();
    let mut keep = |piece: &[u8]| {
        pulled.extend_from_slice(piece);
        Ok(())
    };
    fleet.pull(1, fake::RECORDS.len() as u64, &mut keep).unwrap();
    assert_eq!(pulled, fake::RECORDS);
}

#[test]
fn of_another_version() {
    assert_eq!(
        refused("version"),
        "agent fake is Dyno 9.9.9, and this is 1.0.0: use the same version everywhere"
    );
    // Two builds of one version may differ.
    let older = dyno_fleet::PROTOCOL - 1;
    assert_eq!(
        refused("protocol"),
        format!(
            "agent fake is Dyno 1.0.0 (protocol {older}), and this is 1.0.0: use the same version everywhere"
        )
    );
}

#[test]
fn nonsense_instead_of_a_hello() {
    let said = refused("garbage");
    assert!(said.contains("agent 2 was lost: a message of") && said.contains("at most"), "{said}");
    let said = refused("not-json");
    assert!(said.contains("agent 2 was lost: a message that is not understood"), "{said}");
    let said = refused("deep");
    assert!(said.contains("agent 2 was lost: a message that is not understood"), "{said}");
    let said = refused("oversized");
    assert!(said.contains("a message of 1048577 bytes; at most 1048576 are allowed"), "{said}");
    let said = refused("header-cut");
    assert!(said.contains("ends within its header"), "{said}");
}

#[test]
fn gone_before_it_said_anything() {
    let said = refused("exits");
    assert!(said.contains("agent 2 was lost: its process ended (exit status: 0)"), "{said}");
    let said = refused("prints");
    assert!(said.contains("exit status: 3): first line; second line"), "{said}");
}

#[test]
fn stuck_before_a_level() {
    let (fleet, _children) = gather(&["good", "never-settles"]);
    let said = set_up(&mut fleet.unwrap(), LONG).unwrap_err().to_string();
    assert_eq!(said, "agent fake was lost: it answers calls, but did not get ready within 700ms");
    let said = lost_in_level("never-ready", Watching::default());
    assert_eq!(said, "it answers calls, but was not ready for the level within 700ms");
}

#[test]
fn stuck_in_a_level() {
    let said = lost_in_level("never-done", Watching::default());
    assert_eq!(said, "it answers calls, but did not end the level within 1.3s");
}

#[test]
fn at_work_for_longer_than_the_plan_says() {
    // A request that it may wait for.
    let (parts, ..) = level("ends-late", Watching::default()).unwrap();
    assert!(parts.iter().all(|part| part.done.is_some() && part.lost.is_none()), "{parts:?}");
    // Its numbers grow for ever, and no request may take that long.
    let longest = Duration::from_millis(1_200);
    let said = lost_in_level_of("never-done-works", Watching::default(), longest);
    assert_eq!(said, "it answers calls, but did not end the level within 2.5s");
}

#[test]
fn deaf_to_the_order_to_stop() {
    // Those that are told to send no more may drain for as long as the plan says.
    for (urgency, time) in [(1, "800ms"), (2, "700ms")] {
        let stop_after = Some((Duration::from_millis(50), urgency));
        let said = lost_in_level("never-done", Watching { stop_after, started: None });
        assert_eq!(said, format!("it answers calls, but did not stop within {time}"));
    }
}

#[test]
fn gone_in_the_middle_of_a_level() {
    let said = lost_in_level("exits-at-start", Watching::default());
    assert_eq!(said, "its process ended (exit status: 0)");
    let said = lost_in_level("refuses-at-start", Watching::default());
    assert_eq!(said, "something broke");
}

#[test]
fn numbers_that_cannot_be() {
    for kind in ["huge-beats", "huge-done"] {
        let said = lost_in_level(kind, Watching::default());
        assert_eq!(said, "it reported inconsistent counts", "{kind}");
    }
    let said = lost_in_level("endless-numbers", Watching::default());
    assert!(said.contains("a message that is not understood"), "{said}");
    // Times that contradict each other are left out, and the agent goes on.
    let (parts, ..) = level("huge-times", Watching::default()).unwrap();
    assert!(parts[1].done.is_some(), "{parts:?}");
}

#[test]
fn records_that_do_not_come_as_announced() {
    for kind in ["no-records", "more-records"] {
        let (parts, mut fleet, _children) = level(kind, Watching::default()).unwrap();
        let bytes = parts[1].done.as_ref().unwrap().bytes;
        let error = fleet.pull(1, bytes, &mut |_| Ok(())).unwrap_err().to_string();
        let expected =
            format!("agent fake was lost: its records are not the {bytes} bytes that it announced");
        assert_eq!(error, expected, "{kind}");
    }
}

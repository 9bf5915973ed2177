//! `kill -9` at moments of a run of two levels, and what becomes of it.

use super::all_met;
use super::bus::Bus;
use super::processes::{Run, codes, is_alive, place, requests, signal};
use anyhow::Result;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use xtask::lab::{Engine, build};

/// Whom to kill.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Victim {
    Agent,
    Coordinator,
    Bus,
}

/// Something that can be seen from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The first agent is there.
    Spawned,
    /// Agents prepare their first level: it has a folder.
    Prepared,
    /// Requests of the first level arrive.
    Sending,
    /// Records of the first level are fetched.
    Pull,
    /// All of them were fetched.
    Pulled,
    /// Requests of the second level arrive.
    SendingAgain,
    /// Records of the second level are fetched.
    PullAgain,
}

use Event::{Prepared, Pull, PullAgain, Pulled, Sending, SendingAgain, Spawned};

/// A level sends for two seconds, and its last responses take another 0.6 s.
const SCRIPT: &str = "ttft=100ms,itl=10ms,tokens=50";
const AGENTS: usize = 3;
const LOAD: &str = "--agents 3 --concurrency 6,12 --duration 2s --drain 5s --output-tokens 50 --input-tokens 16 --seed 1";

const MOMENTS: [(&str, Event, u64); 20] = [
    ("preparation", Spawned, 0),
    ("preparation", Spawned, 30),
    ("preparation", Prepared, 0),
    ("first second", Sending, 0),
    ("first second", Sending, 200),
    ("first second", Sending, 500),
    ("first second", Sending, 900),
    ("middle", Sending, 1200),
    ("middle", Sending, 1600),
    ("draining", Sending, 2050),
    ("draining", Sending, 2250),
    ("draining", Sending, 2450),
    ("pull", Pull, 0),
    ("pull", Pull, 2),
    ("pull", Pull, 5),
    ("between levels", Pulled, 0),
    ("between levels", Pulled, 10),
    ("second level", SendingAgain, 700),
    ("second, draining", SendingAgain, 2300),
    ("second, pull", PullAgain, 1),
];

/// Long enough for a child to be there.
const LATEST: Duration = Duration::from_millis(1500);
/// Agents stop by themselves when they hear nothing for 3 s.
const QUIET_AFTER: Duration = Duration::from_secs(5);

/// Waits until a moment; `false` if the run was over before.
fn wait_for(event: Event, after: u64, run: &mut Run, engine: &Engine, before: u64) -> Result<bool> {
    let (mut pulls, mut pulling) = (0, false);
    let mut of_first = 0;
    loop {
        if run.child.try_wait()?.is_some() {
            return Ok(false);
        }
        let now = run.has_folder("records-");
        pulls += u32::from(now && !pulling);
        pulling = now;
        let sent = |more: u64| Ok::<bool, anyhow::Error>(requests(engine)?.0 > before + more);
        let happened = match event {
            // Agents on a bus are nobody's children.
            Spawned => !run.agents().is_empty() || run.began.elapsed() > LATEST,
            Prepared => run.is_prepared(),
            // Preflight sends a few, too.
            Sending => run.is_prepared() && sent(5)?,
            Pull => pulls == 1,
            Pulled => pulls == 1 && !pulling,
            SendingAgain if pulls == 1 && !pulling => {
                if of_first == 0 {
                    of_first = requests(engine)?.0 - before;
                }
                sent(of_first)?
            }
            SendingAgain => false,
            PullAgain => pulls == 2,
        };
        if happened {
            std::thread::sleep(Duration::from_millis(after));
            return Ok(true);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn levels(summary: &Value) -> Vec<&Value> {
    summary["levels"].as_array().into_iter().flatten().collect()
}

/// Levels of a summary that are whole.
fn whole(summary: &Value) -> usize {
    levels(summary).iter().filter(|level| level["partial"] == false).count()
}

fn verdicts(summary: &Value) -> String {
    let each = levels(summary).into_iter().map(|level| {
        let verdict = level["verdict"].as_str().unwrap_or("?");
        let lost = codes(level).into_iter().find(|code| code == "agent_lost" || code == "aborted");
        lost.map_or_else(|| verdict.to_owned(), |code| format!("{verdict} ({code})"))
    });
    each.collect::<Vec<_>>().join(", ")
}

pub(crate) fn run(victim: Victim, on_bus: bool) -> Result<()> {
    let dyno = build()?;
    let engine = Engine::start(&dyno, SCRIPT)?;
    println!(
        "bench {LOAD}\nscript {SCRIPT}; {}; killed: {}",
        if on_bus { "agents on a bus" } else { "agents as children" },
        match victim {
            Victim::Agent => "the second agent",
            Victim::Coordinator => "the coordinator",
            Victim::Bus => "nats-server, which is started again for --resume",
        }
    );
    println!(
        "{:<18}{:>6} {:>7}  {:<5} {:<40} {:>7} {:>8}  {:<22} left in TMPDIR",
        "moment", "ms", "at s", "exit", "levels on disk", "gone s", "sent", "resumed"
    );
    let mut wrong = Vec::new();
    for (name, event, after) in MOMENTS {
        if let Some(why) = moment(&dyno, &engine, (victim, on_bus), (name, event, after))? {
            wrong.push(format!("{name} +{after} ms: {why}"));
        }
    }
    println!("{} of {} moments as promised", MOMENTS.len() - wrong.len(), MOMENTS.len());
    all_met(&wrong)
}

/// Kills at one moment and prints a row; what was not as promised, if anything.
fn moment(
    dyno: &Path,
    engine: &Engine,
    (victim, on_bus): (Victim, bool),
    (name, event, after): (&str, Event, u64),
) -> Result<Option<String>> {
    let before = requests(engine)?.0;
    let place = place()?;
    let folder = place.join("tmp");
    let mut bus = match on_bus {
        true => Some(Bus::start(dyno, AGENTS, &folder)?),
        false => None,
    };
    let at_bus = bus.as_ref().map_or_else(String::new, |bus| format!("--bus {}", bus.url()));
    let mut run = Run::start_at(place, dyno, engine, &format!("{LOAD} {at_bus}"))?;
    if !wait_for(event, after, &mut run, engine, before)? {
        println!("{name:<18}{after:>6}  the run was over before: {}", run.said());
        return Ok(Some("the run was over before".to_owned()));
    }
    let at = run.began.elapsed().as_secs_f64();
    let children = run.agents();
    let agents = bus.as_ref().map_or_else(|| children.clone(), Bus::agents);
    let target = match victim {
        Victim::Agent => agents.get(1).or(agents.first()).copied(),
        Victim::Coordinator => Some(run.child.id()),
        Victim::Bus => bus.as_ref().map(Bus::process),
    };
    let Some(target) = target else {
        return Ok(Some("there was nobody to kill".to_owned()));
    };
    signal(target, "KILL");
    let killed = Instant::now();
    // What is sent after this is too late, also where the run goes on for longer.
    let all_ended = |run: &mut Run| -> Result<bool> {
        Ok(run.child.try_wait()?.is_some() && !children.iter().any(|child| is_alive(*child)))
    };
    while killed.elapsed() < QUIET_AFTER && (on_bus || !all_ended(&mut run)?) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let then = requests(engine)?.0;
    let status = run.end(Duration::from_secs(30))?;
    while children.iter().any(|child| is_alive(*child)) && killed.elapsed().as_secs() < 30 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let gone = killed.elapsed().as_secs_f64();
    std::thread::sleep(Duration::from_millis(300));
    let sent_after = requests(engine)?.0 - then;
    if let Some(bus) = &mut bus {
        // The others stay, and wait for the next run.
        let left = AGENTS - usize::from(victim == Victim::Agent);
        anyhow::ensure!(bus.agents_left() == left, "an agent has ended");
    }
    let left = run.folders();
    let on_disk = run.report(dyno);
    let finished = on_disk.as_ref().map_or(0, whole);
    match (&mut bus, victim) {
        (Some(bus), Victim::Bus) => bus.start_again(),
        (Some(bus), Victim::Agent) => bus.add_agent(dyno, &folder)?,
        _ => {}
    }
    let resumed = run.place.join("run").exists().then(|| run.resume(dyno, &at_bus));
    let (outcome, complete) = match &resumed {
        None => ("no run directory yet".to_owned(), true),
        Some(Err(error)) => (first_line(error), finished == 2),
        Some(Ok((code, summary))) => {
            let code = code.map_or("signal".to_owned(), |code| code.to_string());
            let again = run.report(dyno)?;
            (format!("{code}: {} of 2 whole", whole(summary)), whole(&again) == 2)
        }
    };
    let shown = on_disk.as_ref().map_or_else(first_line, verdicts);
    let status = status.map_or("–".to_owned(), |status| status.to_string());
    println!(
        "{name:<18}{after:>6} {at:>7.2}  {status:<5} {shown:<40} {gone:>7.2} {sent_after:>8}  {outcome:<22} {}",
        left.join(" ")
    );
    let ended_before = match event {
        SendingAgain | PullAgain => 1,
        _ => 0,
    };
    let why = if sent_after > 0 {
        "somebody still sent"
    } else if gone > 5.0 && !on_bus {
        "a process was there after 5 s"
    } else if finished < ended_before {
        "a finished level was lost"
    } else if !complete {
        "it could not be completed"
    } else {
        return Ok(None);
    };
    Ok(Some(why.to_owned()))
}

fn first_line(error: &anyhow::Error) -> String {
    error.to_string().lines().next().unwrap_or("").chars().take(60).collect()
}

//! `kill -9` at moments of a run of two levels, and what becomes of it.

use super::bus::Bus;
use super::processes::{Run, codes, is_alive, place, requests, signal};
use crate::lab::{Engine, build};
use anyhow::Result;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

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
            Prepared => run.has_folder("dyno-agent-"),
            // Preflight sends a few, too.
            Sending => run.has_folder("dyno-agent-") && sent(5)?,
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

pub(crate) fn run(victim: Victim) -> Result<()> {
    let dyno = build()?;
    let engine = Engine::start(&dyno, SCRIPT)?;
    println!(
        "bench {LOAD}\nscript {SCRIPT}; killed: {}",
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
        if let Some(why) = moment(&dyno, &engine, victim, (name, event, after))? {
            wrong.push(format!("{name} +{after} ms: {why}"));
        }
    }
    println!("{} of {} moments as promised", MOMENTS.len() - wrong.len(), MOMENTS.len());
    for why in wrong {
        println!("  not: {why}");
    }
    Ok(())
}

/// Kills at one moment and prints a row; what was not as promised, if anything.
fn moment(
    dyno: &Path,
    engine: &Engine,
    victim: Victim,
    (name, event, after): (&str, Event, u64),
) -> Result<Option<String>> {
    let before = requests(engine)?.0;
    let place = place()?;
    let mut bus = match victim {
        Victim::Bus => Some(Bus::start(dyno, 3, &place.join("tmp"))?),
        _ => None,
    };
    let on_bus = bus.as_ref().map_or_else(String::new, |bus| format!("--bus {}", bus.url()));
    let mut run = Run::start_at(place, dyno, engine, &format!("{LOAD} {on_bus}"))?;
    if !wait_for(event, after, &mut run, engine, before)? {
        println!("{name:<18}{after:>6}  the run was over before: {}", run.said());
        return Ok(Some("the run was over before".to_owned()));
    }
    let at = run.began.elapsed().as_secs_f64();
    let agents = run.agents();
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
    let status = run.end(Duration::from_secs(30))?;
    while agents.iter().any(|agent| is_alive(*agent)) && killed.elapsed().as_secs() < 30 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let gone = killed.elapsed().as_secs_f64();
    if let Some(bus) = &mut bus {
        // They stay, and wait for the bus.
        std::thread::sleep(QUIET_AFTER.saturating_sub(killed.elapsed()));
        anyhow::ensure!(bus.agents_left() == 3, "an agent has ended");
    }
    let then = requests(engine)?.0;
    std::thread::sleep(Duration::from_millis(300));
    let sent_after = requests(engine)?.0 - then;
    let left = run.folders();
    let on_disk = run.report(dyno);
    let finished = on_disk.as_ref().map_or(0, whole);
    if let Some(bus) = &mut bus {
        bus.start_again()?;
    }
    let resumed = run.place.join("run").exists().then(|| run.resume(dyno, &on_bus));
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
    } else if gone > 5.0 && victim != Victim::Bus {
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

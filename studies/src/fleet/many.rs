//! What many agents on one machine cost: idle between levels, and beating during one.

use super::all_met;
use super::bus::Bus;
use super::processes::{Run, codes, cpu, cpu_of, descriptors, kib, place, requests, stat};
use anyhow::{Result, bail};
use std::time::{Duration, Instant};
use xtask::lab::{Engine, build};

/// Short responses, and few of them: a client polls every millisecond while a response is under way, which is
/// what measuring costs. As many loops as this would take all cores of a small machine for it.
const SCRIPT: &str = "ttft=20ms,itl=5ms,tokens=4";
/// Seconds between two requests of an agent.
const BETWEEN: f64 = 5.0;
/// How long a level lasts: as long as beats are settled and measured, and some more.
const LEVEL: Duration = Duration::from_secs(25);
/// Shares of a core: of the coordinator and of the bus, and of an agent's answers to calls.
const COORDINATOR: f64 = 0.03;
const ANSWERS: f64 = 0.001;
const SETTLE: Duration = Duration::from_secs(4);
const MEASURED: Duration = Duration::from_secs(12);

/// Threads of an agent that have nothing to do but to answer calls; the kernel cuts names after 15 bytes.
const ANSWERING: [&str; 4] = ["dyno-post", "dyno-coordinato", "dyno-agent-out", "dyno-bus"];

/// CPU of the processes for a while.
struct Shares {
    coordinator: f64,
    bus: Option<f64>,
    /// Of an agent on average: all of it, and its answers to calls.
    agent: f64,
    answering: f64,
}

impl Shares {
    fn measure(run: &Run, bus: Option<&Bus>, agents: &[u32]) -> Self {
        let answers = |name: &str| ANSWERING.contains(&name);
        let now = || {
            let all: f64 = agents.iter().map(|agent| cpu(*agent)).sum();
            let answering: f64 = agents.iter().map(|agent| cpu_of(*agent, answers)).sum();
            let bus = bus.map(|bus| cpu(bus.process()));
            [cpu(run.child.id()), bus.unwrap_or(0.0), all, answering]
        };
        let (began, before) = (Instant::now(), now());
        std::thread::sleep(MEASURED);
        let (after, wall) = (now(), began.elapsed().as_secs_f64());
        let share = |at: usize| (after[at] - before[at]) / wall;
        let each = agents.len().max(1) as f64;
        Self {
            coordinator: share(0),
            bus: bus.map(|_| share(1)),
            agent: share(2) / each,
            answering: share(3) / each,
        }
    }

    /// Prints them; the bars that are missed.
    fn print(&self, when: &str) -> Vec<String> {
        let bus =
            self.bus.map_or(String::new(), |bus| format!("nats-server {:.2} %, ", bus * 100.0));
        println!(
            "{when}: coordinator {:.2} % of a core (bar {}), {bus}an agent {:.3} %, of which answers to calls \
             {:.4} % (bar {})",
            self.coordinator * 100.0,
            COORDINATOR * 100.0,
            self.agent * 100.0,
            self.answering * 100.0,
            ANSWERS * 100.0
        );
        let bars = [
            ("the coordinator", self.coordinator, COORDINATOR),
            ("the bus", self.bus.unwrap_or(0.0), COORDINATOR),
            ("an agent's answers", self.answering, ANSWERS),
        ];
        let missed = bars.into_iter().filter(|(_, share, bar)| share > bar);
        missed.map(|(what, share, _)| format!("{when}: {what}: {:.3} %", share * 100.0)).collect()
    }
}

fn wait_for(run: &mut Run, what: &str, happened: impl Fn() -> Result<bool>) -> Result<()> {
    let until = Instant::now() + Duration::from_secs(240);
    while !happened()? {
        if Instant::now() > until || run.child.try_wait()?.is_some() {
            bail!("not seen: {what}: {}", run.said());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("{what}: {:.1} s after its start", run.began.elapsed().as_secs_f64());
    Ok(())
}

pub(crate) fn run(count: u32, on_bus: bool) -> Result<()> {
    let dyno = build()?;
    let engine = Engine::start(&dyno, SCRIPT)?;
    let (rate, level) = (f64::from(count) / BETWEEN, LEVEL.as_secs());
    let load = format!(
        "--agents {count} --rate {rate},{rate} --duration {level}s --cooldown 25s --output-tokens 4 \
         --input-tokens 8 --seed 1"
    );
    let place = place()?;
    let bus = match on_bus {
        true => Some(Bus::start(&dyno, count as usize, &place.join("tmp"))?),
        false => None,
    };
    let at = bus.as_ref().map_or_else(String::new, |bus| format!("--bus {}", bus.url()));
    println!("bench {load} {at}");
    let before = requests(&engine)?.0;
    let mut run =
        Run::start_at(place, &dyno, &engine, &format!("{load} {at} --agents-within 120s"))?;
    // The preflight has sent a few.
    let sent = move |seconds: f64| before + (seconds * rate) as u64 + 20;
    wait_for(&mut run, "the level has begun", || Ok(requests(&engine)?.0 >= sent(1.0)))?;
    std::thread::sleep(SETTLE);
    let agents = bus.as_ref().map_or_else(|| run.agents(), Bus::agents);
    let mut missed = Shares::measure(&run, bus.as_ref(), &agents).print("beating");
    let process = run.child.id();
    let threads = |process: u32| stat(process).map_or(0, |stat| stat.threads);
    println!(
        "coordinator: {} threads, {} descriptors, {:.1} MB",
        threads(process),
        descriptors(process),
        kib(process, "status", "VmRSS:") / 1024.0
    );
    let mean = |of: &dyn Fn(u32) -> f64| {
        agents.iter().map(|agent| of(*agent)).sum::<f64>() / agents.len() as f64
    };
    println!(
        "an agent: {:.1} threads, {:.1} MB resident, {:.1} MB of its own, {:.1} MB with its part of what is shared",
        mean(&|agent| f64::from(threads(agent))),
        mean(&|agent| kib(agent, "status", "VmRSS:")) / 1024.0,
        mean(&|agent| kib(agent, "smaps_rollup", "Private_Dirty:")) / 1024.0,
        mean(&|agent| kib(agent, "smaps_rollup", "Pss:")) / 1024.0
    );
    let mut begun = requests(&engine)?.0;
    loop {
        std::thread::sleep(SETTLE);
        let now = requests(&engine)?.0;
        if now == begun {
            break;
        }
        begun = now;
    }
    println!("the level is over: {:.1} s after its start", run.began.elapsed().as_secs_f64());
    missed.extend(Shares::measure(&run, bus.as_ref(), &agents).print("idle"));
    let status = run.end(Duration::from_secs(120))?;
    let summary = run.report(&dyno)?;
    let level = &summary["levels"][0];
    let [completed, planned] =
        ["completed", "planned"].map(|of| level["requests"][of].as_u64().unwrap_or(0));
    println!(
        "ended with {status:?}: {completed} of {planned} completed, verdict {}: {:?}",
        level["verdict"],
        codes(level)
    );
    if completed == 0 || completed != planned {
        missed.push("not every request was completed".to_owned());
    }
    all_met(&missed)
}

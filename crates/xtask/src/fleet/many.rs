//! What many agents on one machine cost: idle between levels, and beating during one.

use super::processes::{Run, cpu, descriptors, kib, requests, stat};
use crate::lab::{Engine, build};
use anyhow::{Result, bail};
use std::time::{Duration, Instant};

/// One request each, which lasts as long as the measurement of beats needs: a token a second.
const SCRIPT: &str = "ttft=100ms,itl=1s,tokens=24";
const SETTLE: Duration = Duration::from_secs(4);
const MEASURED: Duration = Duration::from_secs(12);

/// CPU of the coordinator, and of an agent on average, as a share of a core.
fn shares(run: &Run, agents: &[u32]) -> (f64, f64) {
    let of_agents = || agents.iter().map(|agent| cpu(*agent)).sum::<f64>();
    let (began, own, theirs) = (Instant::now(), cpu(run.child.id()), of_agents());
    std::thread::sleep(MEASURED);
    let (own, theirs) = (cpu(run.child.id()) - own, of_agents() - theirs);
    let wall = began.elapsed().as_secs_f64();
    (own / wall, theirs / wall / agents.len() as f64)
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

pub(crate) fn run(count: u32) -> Result<()> {
    let dyno = build()?;
    let engine = Engine::start(&dyno, SCRIPT)?;
    let load = format!(
        "--agents {count} --concurrency {count},{count} --requests {count} --cooldown 20s --output-tokens 24 \
         --input-tokens 8 --seed 1"
    );
    println!("bench {load}");
    let before = requests(&engine)?.0;
    let mut run = Run::start(&dyno, &engine, &load)?;
    wait_for(&mut run, "all agents have sent a request", || {
        let (begun, running) = requests(&engine)?;
        Ok(begun >= before + u64::from(count) && running >= u64::from(count))
    })?;
    std::thread::sleep(SETTLE);
    let agents = run.agents();
    let (own, each) = shares(&run, &agents);
    println!(
        "beating: coordinator {:.2} % of a core (bar 3), an agent {:.3} % (bar 0.1)",
        own * 100.0,
        each * 100.0
    );
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
    wait_for(&mut run, "the level is over", || Ok(requests(&engine)?.1 == 0))?;
    std::thread::sleep(SETTLE);
    let (own, each) = shares(&run, &agents);
    println!(
        "idle:    coordinator {:.2} % of a core (bar 3), an agent {:.3} % (bar 0.1)",
        own * 100.0,
        each * 100.0
    );
    let status = run.end(Duration::from_secs(120))?;
    let summary = run.report(&dyno)?;
    let level = &summary["levels"][0];
    println!(
        "ended with {status:?}: {} of {count} completed, verdict {}",
        level["requests"]["completed"], level["verdict"]
    );
    Ok(())
}

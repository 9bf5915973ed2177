//! Processes of a fleet that stand still for a while: whether the report says so, and of whom.

use super::all_met;
use super::processes::{Run, codes, signal};
use anyhow::Result;
use std::time::Duration;
use xtask::lab::{Engine, build};

const SCRIPT: &str = "ttft=100ms,itl=20ms,tokens=20";
const LOAD: &str = "--agents 3 --concurrency 12 --duration 8s --drain 5s --output-tokens 20 --input-tokens 16 --seed 1";

pub(crate) fn run() -> Result<()> {
    let dyno = build()?;
    let engine = Engine::start(&dyno, SCRIPT)?;
    println!("bench {LOAD}\nscript {SCRIPT}; stopped 3 s after its start");
    println!("{:<14}{:>5} {:<5} {:<9} codes of the level", "who", "s", "exit", "verdict");
    let mut missed = Vec::new();
    for (who, seconds) in [("nobody", 0), ("agent 2", 2), ("coordinator", 2), ("coordinator", 5)] {
        let mut run = Run::start(&dyno, &engine, LOAD)?;
        std::thread::sleep(Duration::from_secs(3));
        let agents = run.agents();
        let target = match who {
            "agent 2" => agents.get(1).copied(),
            "coordinator" => Some(run.child.id()),
            _ => None,
        };
        if let Some(target) = target {
            signal(target, "STOP");
            std::thread::sleep(Duration::from_secs(seconds));
            signal(target, "CONT");
        }
        let status = run.end(Duration::from_secs(40))?;
        let summary = run.report(&dyno)?;
        let level = &summary["levels"][0];
        let status = status.map_or("–".to_owned(), |status| status.to_string());
        let verdict = level["verdict"].as_str().unwrap_or("?");
        println!("{who:<14}{seconds:>5} {status:<5} {verdict:<9} {}", codes(level).join(" "));
        // Agents leave a coordinator that is silent for 3 s; shorter pauses are survived.
        let lost = codes(level).iter().any(|code| code == "agent_lost");
        if lost != (seconds > 3) {
            missed.push(format!("{who} stopped for {seconds} s: agent lost: {lost}"));
        }
        if who == "agent 2" && verdict == "valid" {
            missed.push(format!("{who} stopped for {seconds} s: the level is called valid"));
        }
        for agent in level["agents"].as_array().into_iter().flatten() {
            println!(
                "{:>22} {:<9} {}  longest silence {:.2} s",
                agent["name"].as_str().unwrap_or("?"),
                agent["verdict"].as_str().unwrap_or("?"),
                codes(agent).join(" "),
                agent["longest_silence_ms"].as_f64().unwrap_or(f64::NAN) / 1e3
            );
        }
        let said = run.said();
        if !said.is_empty() {
            println!("{:>22} {}", "", said.lines().next().unwrap_or(""));
        }
    }
    all_met(&missed)
}

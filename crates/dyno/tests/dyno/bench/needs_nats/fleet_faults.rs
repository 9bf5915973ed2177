//! A coordinator on a bus that is killed.

use super::bus::Bus;
use crate::bench::engines::EngineProcess;
use crate::bench::fleet_faults::{LONG, SCRIPT, expect_coordinator_lost, expect_private, recorded};
use crate::bench::place::Place;
use crate::bench::process::{Process, run};
use rustix::process::Signal;
use std::path::PathBuf;

#[test]
fn agents_on_a_bus_keep_what_they_have_measured() {
    let (bus, agents) = (Bus::start(), Place::new());
    let place = Place::new();
    let engine = EngineProcess::start(&place, SCRIPT);
    let allowed = format!("--target {} --header X-Pass:barley", engine.url());
    let mut waiting =
        [1, 2, 3].map(|n| bus.agent_with(&agents, &format!("a{n}"), &allowed, Some("open-sesame")));
    let lost_runs = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(agents.path().join("dyno-runs")).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let args = |out: &str, load: &str| {
        let url = engine.url();
        format!(
            "bench {url} --out {out} --quiet --seed 1 --header X-Pass:oats --bus {} {load}",
            bus.url()
        )
    };
    let short = "--agents 3 --concurrency 3 --requests 9 --output-tokens 16 --input-tokens 8";
    run(place.dyno(&args("whole", &format!("{short} --json")))).expect_measured();
    assert!(lost_runs().is_empty(), "nothing is left after a normal run");
    let before = engine.begun();
    let mut coordinator =
        Process::start(place.dyno(&args("killed", LONG.trim_end_matches(" --seed 1"))));
    coordinator.wait_until("requests", || engine.begun() >= before + 40);
    coordinator.signal(Signal::KILL);
    for agent in &mut waiting {
        agent.wait_for_words("they are kept: dyno report dyno-runs/lost-");
    }
    let sent = engine.begun() - before;
    let kept = lost_runs();
    assert_eq!(kept.len(), 3, "{kept:?}");
    let mut all = 0;
    for dir in &kept {
        let report = run(agents.dyno(&format!("report {} --json", dir.display())));
        let summary = report.expect_status(&[0]).json();
        expect_coordinator_lost(&summary);
        all += recorded(&summary);
        expect_private(dir, &["barley", "oats", "open-sesame"]);
    }
    assert!(sent.abs_diff(all) <= 10, "{all} of {sent}");
    // They take the next run.
    run(place.dyno(&args("again", &format!("{short} --json")))).expect_measured();
    assert_eq!(lost_runs(), kept);
}

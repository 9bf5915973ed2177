//! `--source-address`: connections from several local addresses, addresses that cannot be used, and more
//! connections than one address has ports.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::{Process, run};
use rustix::process::Signal;
use std::process::Command;

const FEW: &str = "--concurrency 4 --requests 8 --output-tokens 4";

#[test]
fn the_plan_says_how_many_and_the_run_is_as_any_other() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args =
        format!("{FEW} --source-address 127.0.0.2-127.0.0.3,127.0.0.3 --source-address 127.0.0.9");
    let ended = run(place.bench(&engine.url(), &args)).expect_measured();
    assert_eq!(ended.json()["levels"][0]["requests"]["completed"], 8, "{}", ended.said());
    assert_eq!(place.json("plan.json")["target"]["source_addresses"], 3);
    let place = Place::new();
    run(place.bench(&engine.url(), FEW)).expect_measured();
    assert_eq!(place.json("plan.json")["target"].get("source_addresses"), None);
}

#[test]
fn an_address_that_cannot_be_used_is_named_before_the_run() {
    let engine = Engine::start(QUICK, &[]);
    for (address, words) in [
        ("203.0.113.1", ["--source-address", "203.0.113.1 is not an address of this machine"]),
        ("127.0.0.2,203.0.113.1", ["203.0.113.1 is not", "`ip addr`"]),
        ("eth0", ["`eth0` is not an IP address", "`ip addr`"]),
        ("::1", ["127.0.0.1", "none of the source addresses is IPv4"]),
    ] {
        let place = Place::new();
        let ended = run(place.bench(&engine.url(), &format!("{FEW} --source-address {address}")));
        ended.expect_status(&[2]).expect_words(&words);
        assert!(!place.run_dir().exists(), "nothing was measured");
    }
}

#[test]
fn a_run_is_resumed_from_as_many_addresses() {
    let engine = Engine::start("ttft=50ms,itl=10ms,tokens=20", &[]);
    let place = Place::new();
    let args = "--concurrency 2 --requests 500 --source-address 127.0.0.2,127.0.0.3";
    let mut process = Process::start(place.bench(&engine.url(), args));
    let records = place.run_dir().join("records.dyno");
    process.wait_until("records on disk", || {
        std::fs::metadata(&records).is_ok_and(|file| file.len() > 200)
    });
    process.signal(Signal::KILL);
    process.end();
    run(place.dyno("bench --resume run --dry-run")).expect_status(&[2]).expect_words(&[
        "used 2 source addresses",
        "0 are given",
        "--source-address",
    ]);
    // Other addresses do: they are those of the machine where it is resumed.
    run(place.dyno("bench --resume run --dry-run --source-address 127.0.0.4,127.0.0.5"))
        .expect_status(&[0]);
}

/// Runs what follows in a network of its own, with 50 local ports.
const FIFTY_PORTS: &str = "exec unshare -rn sh -c 'ip link set lo up && \
     echo 50000 50049 > /proc/sys/net/ipv4/ip_local_port_range && exec \"$0\" \"$@\"' \"$0\" \"$@\"";

#[test]
fn several_addresses_hold_more_streams_than_one_has_ports() {
    let allowed = Command::new("unshare").args(["-rn", "ip", "link", "set", "lo", "up"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("skipped: this machine does not allow a network namespace");
        return;
    }
    let burst = "--burst 100 --output-tokens 16";
    let place = Place::new();
    let ended = run(place.bench_within(FIFTY_PORTS, "", burst)).expect_status(&[4]);
    let level = &ended.json()["levels"][0];
    let dropped = level["requests"]["dropped"].as_u64().unwrap();
    assert!((50..=60).contains(&dropped), "{}", ended.said());
    assert!(codes(&level["notes"]).contains(&"out_of_ports".to_owned()), "{}", ended.said());
    let advice = level["notes"].to_string();
    assert!(advice.contains("--source-address"), "{advice}");

    let place = Place::new();
    let args = format!("{burst} --source-address 127.0.0.2-127.0.0.4");
    let ended = run(place.bench_within(FIFTY_PORTS, "", &args)).expect_measured();
    let requests = &ended.json()["levels"][0]["requests"];
    assert_eq!((&requests["dropped"], &requests["completed"]), (&0.into(), &100.into()));
}

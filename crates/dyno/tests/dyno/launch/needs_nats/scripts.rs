//! The scripts that launch agents over ssh and in Slurm jobs, with stand-ins for ssh and srun that run
//! everything on this machine.

use crate::launch::{root, stand_in};
use serde_json::Value;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A shell splits and reads this in many ways.
const TARGET: &str = "http://gpu-7:8000/it's \"$HOME\"; exit";
const KEY: &str = "sk-'7 $x";

/// A directory in which a launcher runs, with what the processes it started wrote.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn launcher(&self, name: &str) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(root().join("launch").join(name));
        command
            .current_dir(self.path())
            .env("PATH", format!("{}:{path}:/usr/sbin", stand_in().display()));
        command.env("STAND_IN_LOG", self.path()).env("TMPDIR", self.path());
        command.env_remove("DYNO").env_remove("SSH").env("DYNO_API_KEY", KEY);
        command
    }

    /// `launch/over-ssh` with these lines of hosts.
    fn over_ssh(&self, hosts: &str) -> Command {
        std::fs::write(self.path().join("hosts"), hosts).unwrap();
        let mut command = self.launcher("over-ssh");
        command.args(["hosts", TARGET, "--rate", "4"]).env("BUS_PORTS", free_ports(2).to_string());
        command
    }

    /// `launch/slurm.sbatch` in a job of this many tasks.
    fn slurm(&self, tasks: usize) -> Command {
        let mut command = self.launcher("slurm.sbatch");
        command.env("SLURM_NTASKS", tasks.to_string()).env("SLURM_JOB_ID", "77");
        command.env("SLURMD_NODENAME", "127.0.0.1").args([TARGET, "--rate", "4"]);
        command
    }

    /// What the processes of this kind (`agent`, `bench`, `ssh`) wrote.
    fn logs(&self, kind: &str) -> Vec<Value> {
        let mut logs = Vec::new();
        for entry in std::fs::read_dir(self.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.starts_with(&format!("{kind}-")) && name.ends_with(".json") {
                logs.extend(serde_json::from_slice(&std::fs::read(path).unwrap()).ok());
            }
        }
        logs.sort_by_key(|log: &Value| log["name"].as_str().map(str::to_owned));
        logs
    }

    /// The names of the agents, and how they ended.
    fn agents(&self) -> Vec<(String, String)> {
        let text = |log: &Value, key: &str| log[key].as_str().unwrap().to_owned();
        self.logs("agent").iter().map(|log| (text(log, "name"), text(log, "ended"))).collect()
    }

    /// Waits until the coordinator has met its agents.
    fn until_met(&self) {
        until("the agents have met", || {
            self.logs("bench").iter().any(|log| log["names"].is_array())
        });
    }

    /// Every agent has the key and a password, and neither is on any command line.
    fn expect_secrets_kept(&self) {
        let agents = self.logs("agent");
        let password = agents[0]["environment"]["DYNO_BUS_PASSWORD"].as_str().unwrap();
        assert_eq!(password.len(), 49);
        for agent in &agents {
            assert_eq!(agent["environment"]["DYNO_API_KEY"], KEY);
            let line: Vec<&str> = agent["command_line"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            let target = line.iter().position(|word| *word == "--target").unwrap();
            assert_eq!(line[target + 1], TARGET);
        }
        for log in ["agent", "bench", "ssh"].iter().flat_map(|kind| self.logs(kind)) {
            let line = log["command_line"].to_string();
            assert!(!line.contains(password) && !line.contains("sk-"), "{line}");
        }
    }
}

/// The first of several ports that are free now.
fn free_ports(count: u16) -> u16 {
    let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    loop {
        let first = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if first < u16::MAX - count && (first..first + count).all(free) {
            return first;
        }
    }
}

fn until(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(30), "not after 30 s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, signal: &str) {
    Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
}

/// Processes that have this text in their command lines.
fn processes(with: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(with)).count()
}

fn names(agents: &[(String, String)]) -> Vec<(&str, &str)> {
    agents.iter().map(|(name, ended)| (name.as_str(), ended.as_str())).collect()
}

#[test]
fn over_ssh_agents_meet_the_coordinator_and_its_status_is_passed_on() {
    let place = Place::new();
    let hosts = "alpha\n\n# the large one\nme@beta 2\n";
    let output = place.over_ssh(hosts).env("STAND_IN_STATUS", "4").output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let ended = ["alpha-0", "beta-0", "beta-1"].map(|name| (name, "released"));
    assert_eq!(names(&place.agents()), ended);
    assert_eq!(place.logs("bench")[0]["ended"], "complete");
    place.expect_secrets_kept();
    assert_eq!(processes(place.path().to_str().unwrap()), 0);
}

/// How a launcher is stopped, how its coordinator ends then, and its agents.
fn over_ssh_stopped(how: &str, coordinator: &str, agents: &[&str]) {
    let place = Place::new();
    let mut launcher = place.over_ssh("alpha\nbeta");
    launcher.env("STAND_IN_WAIT", "10").stderr(Stdio::null());
    let mut launcher = launcher.spawn().unwrap();
    place.until_met();
    let bus = place.path().to_str().unwrap().to_owned() + "/tmp.";
    assert_eq!(processes(&bus), 1);
    signal(&launcher, how);
    launcher.wait().unwrap();
    until("the coordinator has ended", || place.logs("bench")[0]["ended"] == coordinator);
    until("the agents have ended", || {
        let ended = place.agents();
        ended.len() == 2 && ended.iter().all(|(_, ended)| agents.contains(&ended.as_str()))
    });
    until("the bus has ended", || processes(&bus) == 0);
}

#[test]
fn over_ssh_asked_to_stop_lets_the_coordinator_finish_with_its_agents() {
    over_ssh_stopped("-TERM", "drained", &["released"]);
}

#[test]
fn over_ssh_killed_leaves_no_agent_and_no_bus() {
    over_ssh_stopped("-KILL", "the bus ended", &["terminated", "the bus ended"]);
}

#[test]
fn over_ssh_ctrl_c_in_a_terminal_reaches_the_coordinator_once_and_nothing_else() {
    let place = Place::new();
    std::fs::write(place.path().join("hosts"), "alpha\nbeta").unwrap();
    let mut terminal = place.launcher("over-ssh");
    let script = terminal.get_program().to_str().unwrap().to_owned();
    let line = format!("'{script}' hosts http://gpu-7:8000");
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    for (name, value) in terminal.env("BUS_PORTS", free_ports(2).to_string()).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("STAND_IN_WAIT", "20").current_dir(place.path());
    let mut terminal = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    place.until_met();
    terminal.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    assert_eq!(terminal.wait().unwrap().code(), Some(130));
    assert_eq!(place.logs("bench")[0]["ended"], "drained");
    assert!(place.agents().iter().all(|(_, ended)| ended == "released"), "{:?}", place.agents());
}

#[test]
fn over_ssh_says_what_is_wrong_with_a_list_of_hosts() {
    for (hosts, said) in [
        ("alpha\nbeta two\n", "hosts, line 2: a host and the number of agents are expected"),
        ("alpha 2 3\n", "hosts, line 1: a host and the number"),
        ("-oProxyCommand=x\n", "line 1: `-oProxyCommand=x` is not a host"),
        ("# none\n", "hosts has no hosts"),
    ] {
        let place = Place::new();
        let output = place.over_ssh(hosts).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(said), "{hosts:?}: {text}");
        assert!(place.logs("ssh").is_empty() && place.logs("bench").is_empty());
    }
}

#[test]
fn a_slurm_job_has_an_agent_for_each_task_and_the_status_of_the_coordinator() {
    let place = Place::new();
    let output = place.slurm(3).env("STAND_IN_STATUS", "5").output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(&place.agents()), ["0", "1", "2"].map(|name| (name, "released")));
    let bench = place.logs("bench").remove(0);
    assert!(bench["command_line"].to_string().contains("\"--out\",\"dyno-77\",\"--rate\",\"4\""));
    place.expect_secrets_kept();
    assert_eq!(processes(place.path().to_str().unwrap()), 0);
}

#[test]
fn a_slurm_job_whose_time_is_up_lets_the_coordinator_finish() {
    let place = Place::new();
    let mut job = place.slurm(2).env("STAND_IN_WAIT", "10").spawn().unwrap();
    place.until_met();
    signal(&job, "-TERM");
    assert_eq!(job.wait().unwrap().code(), Some(130));
    assert_eq!(place.logs("bench")[0]["ended"], "drained");
    assert_eq!(names(&place.agents()), ["0", "1"].map(|name| (name, "released")));
    assert_eq!(processes(place.path().to_str().unwrap()), 0);
}

//! The limits on files, ports and cores, and what to change about them.

use super::ladder::Step;
use super::words::Say;
use dyno_model::Language;
use serde::Serialize;

/// What the system allows.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Limits {
    cores: usize,
    /// Absent: unlimited.
    open_files: Option<u64>,
    /// Local ports to one server; absent where the system does not tell.
    ports: Option<u64>,
    /// What the governor of the first core is called, where there is one.
    governor: Option<String>,
    /// Cores' worth of CPU that a control group allows, where it limits it.
    cpu_quota: Option<f64>,
}

/// Open files other than connections, with some reserve.
const OTHER_FILES: u64 = 64;

impl Limits {
    pub(super) fn of_this_machine() -> Self {
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok();
        let ports = range.and_then(|text| {
            let ends: Vec<u64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
            ends.last()?.checked_sub(*ends.first()?).map(|n| n + 1)
        });
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            open_files: dyno_net::open_files_limit(),
            ports,
            governor: dyno_net::cpu_governor(),
            cpu_quota: dyno_net::cpu_quota(),
        }
    }

    /// Whether this many streams can be opened.
    pub(super) fn allow(&self, streams: u32) -> bool {
        self.open_files.is_none_or(|files| u64::from(streams) + OTHER_FILES <= files)
            && self.ports.is_none_or(|ports| u64::from(streams) <= ports)
    }

    pub(super) fn text(&self, language: Language) -> String {
        let shown =
            |n: Option<u64>, none: Say| n.map_or(none.text(language).to_owned(), |n| n.to_string());
        let files = shown(self.open_files, Say::Unlimited);
        let ports = shown(self.ports, Say::Unknown);
        Say::Limits.with(language, &[self.cores.to_string(), files, ports])
    }

    pub(super) fn advice(&self, steps: &[Step], stamps: Option<bool>) -> Vec<String> {
        let mut advice = Vec::new();
        if stamps == Some(false) {
            advice.push(
                "the kernel provides no receive times, as in some sandboxes: if short gaps between tokens \
                 matter, measure from a plain Linux host or container"
                    .to_owned(),
            );
        }
        if let Some(governor) = self.governor.as_deref().filter(|name| *name != "performance") {
            advice.push(format!(
                "the CPU governor is `{governor}`: set it to `performance` (cpupower frequency-set -g \
                 performance), because idle cores wake up late"
            ));
        }
        if let Some(quota) = self.cpu_quota.filter(|quota| *quota < 2.0) {
            advice.push(format!(
                "a control group limits CPU use to {quota:.2} cores: the client is paused when they are used \
                 up; raise the CPU limit of the container"
            ));
        }
        if let Some(files) = self.open_files.filter(|files| *files < 10_000) {
            advice.push(format!(
                "{files} open files allow fewer than {files} streams: raise the hard limit, for \
                 example with `ulimit -Hn 65536` as root or in limits.conf"
            ));
        }
        if let Some(ports) = self.ports.filter(|ports| *ports < 20_000) {
            advice.push(format!(
                "{ports} local ports limit the number of streams to one server: widen \
                 net.ipv4.ip_local_port_range"
            ));
        }
        if self.cores < 2 {
            advice.push(
                "the client shares the only core with everything else: measure from a machine \
                 with two or more"
                    .to_owned(),
            );
        }
        let (mut client, mut engine) = (None, None);
        for step in steps {
            if !step.client_valid {
                client = client.or(Some(step));
            } else if !step.engine_on_time {
                engine = engine.or(Some(step));
            }
        }
        if let Some(step) = client {
            advice.push(format!(
                "from {} streams on, metrics are inaccurate: give the client a dedicated core (taskset) \
                 and priority (chrt -f 1), stop other work, or split the load over machines",
                step.streams
            ));
        }
        if let Some(step) = engine {
            advice.push(format!(
                "at {} streams the engine on this same machine was late, not the client: a real \
                 server elsewhere leaves the client more room",
                step.streams
            ));
        }
        advice
    }
}

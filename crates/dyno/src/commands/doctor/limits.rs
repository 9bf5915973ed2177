//! The limits on files, ports and cores, how busy the machine is, and what to change about them.

use super::ladder::Step;
use dyno_model::{Message, message};
use serde::Serialize;

/// What the system allows.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Limits {
    cores: usize,
    /// Absent: unlimited.
    open_files: Option<u64>,
    /// Local ports to one server; absent where the system does not tell.
    ports: Option<u64>,
    streams: Streams,
    /// What the governor of the first core is called, where there is one.
    governor: Option<String>,
    /// Cores' worth of CPU that a control group allows, where it limits it.
    cpu_quota: Option<f64>,
    /// The load average of the minute before anything was measured.
    load_average: Option<f64>,
    /// Cores of the machine, to compare it with: `cores` are those that this process may use.
    machine_cores: usize,
}

/// How many streams one process can have to one server; absent where nothing limits them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Streams {
    /// From one address of this machine.
    one_address: Option<u64>,
    /// From as many addresses as are of use.
    several_addresses: Option<u64>,
    /// How many are of use.
    addresses: u64,
}

impl Streams {
    fn of(open_files: Option<u64>, ports: Option<u64>) -> Self {
        let files = open_files.map(|files| files.saturating_sub(OTHER_FILES));
        Self {
            one_address: files.into_iter().chain(ports).min(),
            several_addresses: files,
            addresses: files.zip(ports).map_or(1, |(files, ports)| files.div_ceil(ports.max(1))),
        }
    }

    fn said(&self) -> Option<Message> {
        let (one, addresses) = (self.one_address?, self.addresses);
        Some(match self.several_addresses {
            Some(several) if addresses > 1 => message!(
                "Streams to one server: up to {one} from one address, {several} from {addresses} \
                 (--source-address).",
                "到同一服务器的流数：单个地址最多 {one} 路，{addresses} 个地址（--source-address）\
                 最多 {several} 路。"
            ),
            Some(several) => message!(
                "Streams to one server: up to {several} in one process, which has no more open \
                 files.",
                "到同一服务器的流数：单个进程最多 {several} 路，受打开文件数限制。"
            ),
            None => message!(
                "Streams to one server: up to {one} from each address of this machine \
                 (--source-address).",
                "到同一服务器的流数：本机每个地址（--source-address）最多 {one} 路。"
            ),
        })
    }
}

/// Open files other than connections, with some reserve.
const OTHER_FILES: u64 = 64;

impl Limits {
    pub(super) fn of_this_machine() -> Self {
        let (open_files, ports) = (dyno_net::open_files_limit(), dyno_net::local_ports());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            cores,
            open_files,
            ports,
            streams: Streams::of(open_files, ports),
            governor: dyno_net::cpu_governor(),
            cpu_quota: dyno_net::cpu_quota(),
            load_average: dyno_net::load_average(),
            machine_cores: dyno_net::machine_cores().unwrap_or(cores),
        }
    }

    /// Whether this many streams can be opened.
    pub(super) fn allow(&self, streams: u32) -> bool {
        self.streams.one_address.is_none_or(|most| u64::from(streams) <= most)
    }

    pub(super) fn said(&self) -> Vec<Message> {
        let shown = |n: Option<u64>, none: Message| n.map_or(none, Message::quoted);
        let (cores, streams) = (self.cores, self.streams.said());
        let files = shown(self.open_files, message!("unlimited", "不限"));
        let ports = shown(self.ports, message!("unknown", "未知"));
        let load = self.load_average.map(|load| {
            message!(
                "Load average before the test: {load:.2} on {} cores.",
                "测试前的平均负载：{load:.2}，共 {} 个核。",
                self.machine_cores
            )
        });
        let limits = message!(
            "Limits: {cores} cores, {files} open files, {ports} local ports to one server.",
            "限制：{cores} 个核，打开文件数 {files}，到同一服务器的本地端口 {ports} 个。"
        );
        [Some(limits), streams, load].into_iter().flatten().collect()
    }

    /// The load average, if less than a core was free on average: the client needs one.
    fn busy(&self) -> Option<f64> {
        let most = (self.machine_cores as f64 - 1.0).max(0.5);
        self.load_average.filter(|load| *load > most)
    }

    pub(super) fn advice(&self, steps: &[Step], stamps: Option<bool>) -> Vec<Message> {
        let mut advice = Vec::new();
        if let Some(load) = self.busy() {
            let cores = self.machine_cores;
            advice.push(message!(
                "this machine was busy before the test: load average {load:.2} on {cores} cores. \
                 Results measured here may be suspect, and this test shows less than the machine \
                 can do: stop other work, then run `dyno doctor` again",
                "测试前本机较忙：{cores} 个核的平均负载为 {load:.2}。在此测得的结果可能存疑，本次\
                 测试也低估了本机的能力：请停止其他任务后重新运行 `dyno doctor`"
            ));
        }
        if stamps == Some(false) {
            advice.push(message!(
                "the kernel provides no receive times, as in some sandboxes: if short gaps \
                 between tokens matter, measure from a plain Linux host or container",
                "内核不提供接收时间（某些沙箱如此）：如果关注较短的 token 间隔，请在普通的 Linux \
                 主机或容器中测试"
            ));
        }
        if let Some(governor) = self.governor.as_deref().filter(|name| *name != "performance") {
            advice.push(message!(
                "the CPU governor is `{governor}`: set it to `performance` (cpupower \
                 frequency-set -g performance), because idle cores wake up late",
                "CPU 调频策略为 `{governor}`：空闲的核唤醒较慢，请设为 `performance`（cpupower \
                 frequency-set -g performance）"
            ));
        }
        if let Some(quota) = self.cpu_quota.filter(|quota| *quota < 2.0) {
            advice.push(message!(
                "a control group limits CPU use to {quota:.2} cores: the client is paused when \
                 they are used up; raise the CPU limit of the container",
                "控制组将 CPU 限制为 {quota:.2} 核：用完后客户端会被暂停；请提高容器的 CPU 配额"
            ));
        }
        if let Some(files) = self.open_files.filter(|files| *files < 10_000) {
            advice.push(message!(
                "{files} open files allow fewer than {files} streams: raise the hard limit, for \
                 example with `ulimit -Hn 65536` as root or in limits.conf",
                "打开文件数上限为 {files}，流数只能少于 {files}：请提高硬限制，\
                 例如以 root 运行 `ulimit -Hn 65536` 或修改 limits.conf",
            ));
        }
        if let Some(ports) = self.ports.filter(|ports| *ports < 20_000) {
            advice.push(message!(
                "{ports} local ports limit the number of streams from one address to one server: \
                 open connections from several with --source-address, or widen \
                 net.ipv4.ip_local_port_range",
                "{ports} 个本地端口限制了从一个地址到同一服务器的流数：请用 --source-address 从多\
                 个地址建立连接，或扩大 net.ipv4.ip_local_port_range"
            ));
        }
        if self.cores < 2 {
            advice.push(message!(
                "the client shares the only core with everything else: measure from a machine \
                 with two or more",
                "客户端与其他任务共用唯一的核：请使用两核或以上的机器测试",
            ));
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
            advice.push(message!(
                "from {} streams on, metrics are inaccurate: give the client a dedicated core \
                 (taskset) and priority (chrt -f 1), stop other work, or split the load over \
                 machines",
                "从 {} 个流开始指标不准确：请给客户端独占的核（taskset）与实时优先级（chrt -f 1）\
                 ，停止其他任务，或将负载分到多台机器",
                step.streams
            ));
        }
        if let Some(step) = engine {
            advice.push(message!(
                "at {} streams the engine on this same machine was late, not the client: a real \
                 server elsewhere leaves the client more room",
                "{} 个流时滞后的是同一台机器上的引擎，而不是客户端：服务器在别处时客户端余量更大",
                step.streams,
            ));
        }
        advice
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::{Language, Localized};

    fn limits(load: Option<f64>, machine_cores: usize) -> Limits {
        Limits {
            cores: 2,
            open_files: None,
            ports: None,
            streams: Streams::of(None, None),
            governor: None,
            cpu_quota: None,
            load_average: load,
            machine_cores,
        }
    }

    #[test]
    fn a_busy_machine_is_named_with_its_load_and_cores() {
        let advice = limits(Some(3.254), 2).advice(&[], Some(true));
        assert_eq!(advice.len(), 1, "{advice:?}");
        let english = advice[0].to_string();
        assert!(english.contains("load average 3.25 on 2 cores"), "{english}");
        assert!(english.contains("may be suspect"), "{english}");
        let chinese = advice[0].text(Language::Chinese);
        assert!(chinese.contains("3.25") && chinese.contains("2 个核"), "{chinese}");
        let said = limits(Some(3.254), 2).said().pop().unwrap().to_string();
        assert_eq!(said, "Load average before the test: 3.25 on 2 cores.");
    }

    #[test]
    fn files_and_ports_say_how_many_streams_there_can_be() {
        let text = |files, ports| Streams::of(files, ports).said().map(|said| said.to_string());
        assert_eq!(
            text(Some(20_000), Some(28_232)).unwrap(),
            "Streams to one server: up to 19936 in one process, which has no more open files."
        );
        let many = text(Some(100_000), Some(28_232)).unwrap();
        assert!(many.contains("up to 28232 from one address"), "{many}");
        assert!(many.contains("99936 from 4 (--source-address)"), "{many}");
        let free = text(None, Some(28_232)).unwrap();
        assert!(free.contains("28232 from each address"), "{free}");
        assert_eq!(text(None, None), None, "nothing limits them");
    }

    #[test]
    fn a_machine_with_a_free_core_is_not_busy() {
        assert_eq!(limits(Some(0.9), 2).busy(), None);
        assert_eq!(limits(Some(6.5), 8).busy(), None);
        assert_eq!(limits(Some(7.1), 8).busy(), Some(7.1));
        assert_eq!(limits(Some(0.3), 1).busy(), None);
        assert_eq!(limits(None, 2).busy(), None, "unknown is not busy");
        assert_eq!(limits(None, 2).said().len(), 1, "no average");
    }
}

//! Disturbances of the client while it measures.

use super::Ended;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A kind of disturbance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disturbance {
    Nothing,
    /// So many processes that use all the CPU they get.
    Busy(u32),
    /// The client is stopped for the first number of milliseconds in every second number.
    Stopped(u64, u64),
    /// The client gets this percentage of a CPU.
    Quota(u32),
    /// The thread that writes its records stalls for so many milliseconds at a time.
    SlowRecords(u64),
    /// The client has a lower priority than two busy processes.
    Niced,
}

/// How a machine treats the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    /// It has a core for the client.
    Calm,
    /// It has other work, or limits the client.
    Busy,
    /// It does not let the client run at all, again and again.
    Stopped,
}

impl Machine {
    pub(super) const ALL: [(Self, &str); 3] =
        [(Self::Calm, "calm"), (Self::Busy, "busy"), (Self::Stopped, "stopped")];
}

use Disturbance::{Busy, Niced, Nothing, Quota, SlowRecords, Stopped};

/// All disturbances.
pub(super) const KINDS: [Disturbance; 14] = [
    Nothing,
    Busy(1),
    Busy(2),
    Busy(4),
    Stopped(20, 200),
    Stopped(20, 1000),
    Stopped(100, 500),
    Stopped(100, 2000),
    Stopped(300, 1000),
    Stopped(300, 2000),
    Quota(50),
    Quota(20),
    SlowRecords(300),
    Niced,
];

impl Disturbance {
    /// Whether such a run should be valid.
    pub(super) fn is_calm(self) -> bool {
        self.machine() == Machine::Calm
    }

    /// What becomes of the machine.
    pub(super) fn machine(self) -> Machine {
        match self {
            Nothing | Busy(1) => Machine::Calm,
            Busy(_) | Quota(_) | Niced => Machine::Busy,
            Stopped(..) | SlowRecords(_) => Machine::Stopped,
        }
    }

    pub(super) fn name(self) -> String {
        match self {
            Nothing => "none".into(),
            Busy(n) => format!("{n} busy"),
            Stopped(ms, every) => format!("stop {ms}/{every} ms"),
            Quota(percent) => format!("quota {percent} %"),
            SlowRecords(ms) => format!("records {ms} ms"),
            Niced => "niced, 2 busy".into(),
        }
    }

    /// What runs beside it from the start.
    pub(super) fn begin(self) -> Result<Vec<Ended>> {
        let busy = match self {
            Busy(n) => n,
            Niced => 2,
            _ => 0,
        };
        (0..busy)
            .map(|_| {
                let mut command = Command::new("sh");
                command.args(["-c", "while :; do :; done"]);
                Ended::spawn(command)
            })
            .collect()
    }

    /// The client's command.
    pub(super) fn command(self, dyno: &Path) -> Command {
        match self {
            Niced => {
                let mut command = Command::new("nice");
                command.args(["-n", "10"]).arg(dyno);
                command
            }
            SlowRecords(ms) => {
                let mut command = Command::new(dyno);
                command.env("DYNO_TEST_RECORD_STALL_MS", ms.to_string());
                command
            }
            _ => Command::new(dyno),
        }
    }

    /// Disturbs the process from `after` on, until the value is dropped.
    pub(super) fn disturb(self, process: u32, after: Duration) -> Result<Option<Disturbing>> {
        match self {
            Stopped(ms, every) => {
                let [stop, go] = [ms, every.saturating_sub(ms)].map(Duration::from_millis);
                Disturbing::stopping(process, after, stop, go).map(Some)
            }
            Quota(percent) => Disturbing::limiting(process, percent).map(Some),
            _ => Ok(None),
        }
    }
}

/// An active disturbance.
pub(super) struct Disturbing {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    group: Option<PathBuf>,
}

impl Disturbing {
    fn stopping(process: u32, after: Duration, stop: Duration, go: Duration) -> Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&over);
        let signal = move |name: &str| {
            let _ = Command::new("kill").args([name, &process.to_string()]).status();
        };
        let thread = std::thread::spawn(move || {
            std::thread::sleep(after);
            while !done.load(Ordering::Relaxed) {
                signal("-STOP");
                std::thread::sleep(stop);
                signal("-CONT");
                std::thread::sleep(go);
            }
        });
        Ok(Self { over, thread: Some(thread), group: None })
    }

    /// By a control group of the first or the second version.
    fn limiting(process: u32, percent: u32) -> Result<Self> {
        let name = format!("dyno-xtask-{}", std::process::id());
        let (root, file, limit) = match Path::new("/sys/fs/cgroup/cpu").exists() {
            true => ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", format!("{}", percent * 1_000)),
            false => ("/sys/fs/cgroup", "cpu.max", format!("{} 100000", percent * 1_000)),
        };
        let group = Path::new(root).join(name);
        let made = std::fs::create_dir_all(&group)
            .and_then(|()| std::fs::write(group.join(file), limit))
            .and_then(|()| std::fs::write(group.join("cgroup.procs"), process.to_string()));
        made.with_context(|| {
            format!("{}: a control group for CPU is needed (root)", group.display())
        })?;
        Ok(Self { over: Arc::default(), thread: None, group: Some(group) })
    }
}

impl Drop for Disturbing {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Some(group) = &self.group {
            let _ = std::fs::remove_dir(group);
        }
    }
}

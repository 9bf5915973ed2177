//! Limits of the system: open files, of which a load generator needs as many as allowed, and CPU.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard limit; returns the limit in force, absent if unlimited.
pub fn raise_open_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
        let _ = setrlimit(Resource::Nofile, wanted);
    }
    open_files_limit()
}

/// The limit in force; absent if unlimited.
pub fn open_files_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// The name of the first core's frequency governor, where there is one.
pub fn cpu_governor() -> Option<String> {
    read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
}

/// The CPU limit of this process's control group (version 2 or 1) in cores, where there is one.
pub fn cpu_quota() -> Option<f64> {
    let whole = |max: &str| {
        let (quota, period) = max.split_once(' ')?;
        Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
    };
    if let Some(quota) = read("/sys/fs/cgroup/cpu.max").and_then(|max| whole(&max)) {
        return Some(quota);
    }
    let number = |name: &str| read(&format!("/sys/fs/cgroup/cpu/{name}"))?.parse::<f64>().ok();
    let quota = number("cpu.cfs_quota_us").filter(|quota| *quota > 0.0)?;
    Some(quota / number("cpu.cfs_period_us")?)
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

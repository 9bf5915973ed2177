//! Limits of the system: open files, of which a load generator needs as many as allowed, local ports,
//! memory, and CPU, with how busy it is.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::Path;

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

/// Bytes that this process may still write to the file system of a path; absent where it does not say.
pub fn free_space(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    found.f_bavail.checked_mul(found.f_frsize)
}

/// Local ports for connections from one address of this machine to one address and port of a server;
/// absent where the system does not say.
pub fn local_ports() -> Option<u64> {
    let range = read("/proc/sys/net/ipv4/ip_local_port_range")?;
    let mut ends = range.split_whitespace().map(|end| end.parse::<u64>().ok());
    let (first, last) = (ends.next()??, ends.next()??);
    last.checked_sub(first).map(|between| between + 1)
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

/// Bytes of memory that this process can still take: what the machine, its control group and its own
/// limit leave; absent where the system does not say.
pub fn available_memory() -> Option<u64> {
    let number = |path: &str| read(path)?.parse::<u64>().ok();
    let field = |path: &str, name: &str| {
        let about = read(path)?;
        let line = about.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    let machine = field("/proc/meminfo", "MemAvailable:");
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|most| most.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    let own = getrlimit(Resource::As)
        .current
        .map(|most| most.saturating_sub(field("/proc/self/status", "VmSize:").unwrap_or(0)));
    [machine, group, own].into_iter().flatten().min()
}

/// Threads that ran or wanted to run on this machine over the last minute, on average.
pub fn load_average() -> Option<f64> {
    read("/proc/loadavg")?.split_whitespace().next()?.parse().ok()
}

/// Cores of this machine, which may be more than this process may use. The load average counts the
/// work on all of them.
pub fn machine_cores() -> Option<usize> {
    let is_core = |line: &&str| {
        let number = line.strip_prefix("cpu").and_then(|rest| rest.chars().next());
        number.is_some_and(|c| c.is_ascii_digit())
    };
    let count = read("/proc/stat")?.lines().filter(is_core).count();
    (count > 0).then_some(count)
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raising_the_limit_of_files_reaches_the_hard_limit() {
        let raised = raise_open_files();
        assert_eq!(raised, getrlimit(Resource::Nofile).maximum);
        assert_eq!(open_files_limit(), raised);
    }

    #[test]
    fn a_range_of_ports_is_counted_with_both_ends() {
        assert!(local_ports().is_some_and(|ports| (1..=65_535).contains(&ports)));
    }

    #[test]
    fn this_machine_tells_how_busy_it_is() {
        let cores = machine_cores().unwrap();
        assert!(cores >= std::thread::available_parallelism().map_or(1, usize::from), "{cores}");
        assert!(load_average().is_some_and(|load| load >= 0.0));
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}

//! Which CPUs a thread may run on, and restricting it to one of them.

use dyno_model::{Message, message};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::io;

/// The CPUs that the calling thread may run on, in order. A new thread or process has those of the one
/// that started it; containers, `taskset` and Slurm restrict them.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    // 0 is the calling thread.
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|cpu| set.is_set(*cpu) == Ok(true)).collect())
}

/// Restricts the calling thread to one of the CPUs that it may run on. Threads and processes that it
/// starts later stay there, too.
pub fn pin_to_cpu(cpu: usize) -> Result<(), Message> {
    let refused = |error: io::Error| {
        message!(
            "the system does not allow a choice of CPUs: {error}",
            "系统不允许选择 CPU：{error}"
        )
    };
    let allowed = allowed_cpus().map_err(refused)?;
    // The kernel would accept any CPU of the control group, also those that `taskset` has taken away.
    if !allowed.contains(&cpu) {
        return Err(message!(
            "CPU {cpu} is not available to this process, which may use {allowed}",
            "本进程不能使用 CPU {cpu}，可用的是 {allowed}",
            allowed = ranges(&allowed)
        ));
    }
    let mut only = CpuSet::new();
    let set = only.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &only));
    set.map_err(|error| refused(error.into()))
}

/// Numbers in order as people write them: `0-3,8`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let shown = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        single => single.iter().map(usize::to_string).collect(),
    });
    shown.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_pinned_thread_has_one_cpu_and_so_have_those_it_starts() {
        let before = allowed_cpus().unwrap();
        assert!(before.is_sorted() && !before.is_empty(), "{before:?}");
        for cpu in before.clone() {
            let pinned = thread::spawn(move || {
                pin_to_cpu(cpu).unwrap();
                let inherited = thread::spawn(|| allowed_cpus().unwrap()).join().unwrap();
                (allowed_cpus().unwrap(), inherited)
            });
            assert_eq!(pinned.join().unwrap(), (vec![cpu], vec![cpu]));
        }
        assert_eq!(allowed_cpus().unwrap(), before, "other threads are not restricted");
    }

    #[test]
    fn a_thread_is_never_moved_outside_its_cpus() {
        let before = allowed_cpus().unwrap();
        let missing = (0..CpuSet::count()).find(|cpu| !before.contains(cpu)).unwrap();
        let error = pin_to_cpu(missing).unwrap_err().to_string();
        assert!(error.contains(&format!("CPU {missing} ")), "{error}");
        assert!(error.contains(&ranges(&before)), "{error}");
        assert_eq!(allowed_cpus().unwrap(), before);
        // A CPU that exists, but was taken away from this thread.
        if let [first, other, ..] = before[..] {
            let narrowed = thread::spawn(move || {
                pin_to_cpu(first).unwrap();
                (pin_to_cpu(other).unwrap_err().to_string(), allowed_cpus().unwrap())
            });
            let (error, after) = narrowed.join().unwrap();
            assert!(error.ends_with(&format!("may use {first}")), "{error}");
            assert_eq!(after, [first]);
        }
    }

    #[test]
    fn cpus_are_listed_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
        assert_eq!(ranges(&[5]), "5");
        assert_eq!(ranges(&[]), "");
    }
}

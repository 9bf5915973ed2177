//! How long a thread has waited for a CPU, as the scheduler counts it.

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::pread;

/// The scheduler's count of the time that one thread was ready to run and did not.
#[derive(Debug)]
pub struct RunQueue(OwnedFd);

impl RunQueue {
    /// That of the calling thread; none where the kernel does not count it.
    pub fn of_this_thread() -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(CWD, "/proc/thread-self/schedstat", flags, Mode::empty()).ok()?;
        let counts = Self(file);
        counts.waited_ns().map(|_| counts)
    }

    /// Nanoseconds that the thread has waited for a CPU since it began.
    pub fn waited_ns(&self) -> Option<u64> {
        let mut text = [0; 96];
        let length = pread(&self.0, &mut text[..], 0).ok()?;
        waited(text.get(..length)?)
    }
}

/// The second of "time on a CPU, time waiting for one, time slices". Where the first is 0 nothing is counted.
fn waited(text: &[u8]) -> Option<u64> {
    let mut counts = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
    let ran: u64 = counts.next()?.parse().ok()?;
    counts.next()?.parse().ok().filter(|_| ran > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{allowed_cpus, pin_to_cpu};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn the_wait_is_the_second_count() {
        assert_eq!(waited(b"855146 77310551 2\n"), Some(77_310_551));
        assert_eq!(waited(b"0 0 0\n"), None, "a kernel that does not count");
        for damaged in [b"".as_slice(), b"12", b"12 x 3", b"\xff 1 1"] {
            assert_eq!(waited(damaged), None);
        }
    }

    /// Two threads that share a CPU wait for each other; one that sleeps waits for nobody.
    #[test]
    fn a_thread_that_shares_its_cpu_waits() {
        let cpu = allowed_cpus().unwrap()[0];
        let done = AtomicBool::new(false);
        let spin = || {
            pin_to_cpu(cpu).unwrap();
            while !done.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(spin);
            let waited = scope.spawn(|| {
                pin_to_cpu(cpu).unwrap();
                let queue = RunQueue::of_this_thread().expect("this kernel does not count waits");
                let (before, begun) = (queue.waited_ns().unwrap(), Instant::now());
                while begun.elapsed() < Duration::from_millis(200) {
                    std::hint::spin_loop();
                }
                let waited = queue.waited_ns().unwrap() - before;
                let elapsed = begun.elapsed().as_nanos() as u64;
                done.store(true, Ordering::Relaxed);
                (waited, elapsed)
            });
            let (waited, elapsed) = waited.join().unwrap();
            assert!(waited > elapsed / 10 && waited < elapsed, "{waited} of {elapsed} ns");
        });
    }
}

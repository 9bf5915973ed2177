//! Level-triggered readiness with deadlines to the microsecond.
//!
//! `epoll_wait` takes milliseconds, and `epoll_pwait2` needs Linux 5.11, which many inference machines
//! do not have. A timer descriptor in the same set is exact everywhere, and costs a system call only
//! when the deadline changes.

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::mem::MaybeUninit;

const TIMER: u64 = u64::MAX;
const BATCH: usize = 1024;

/// What a descriptor is watched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Data or end of stream.
    Read,
    /// Room to write, or the end of a connect.
    Write,
    /// Both.
    ReadWrite,
    /// Neither; errors and hang-ups are still reported.
    None,
}

impl Interest {
    fn flags(self) -> EventFlags {
        match self {
            Self::Read => EventFlags::IN | EventFlags::RDHUP,
            Self::Write => EventFlags::OUT,
            Self::ReadWrite => EventFlags::IN | EventFlags::RDHUP | EventFlags::OUT,
            Self::None => EventFlags::empty(),
        }
    }
}

/// A descriptor that is ready.
#[derive(Debug, Clone, Copy)]
pub struct Ready {
    /// The token it was added with.
    pub token: u64,
    /// It can be read: data, the end of the stream, or an error.
    pub readable: bool,
    /// It can be written, or the connect has completed.
    pub writable: bool,
}

/// A set of watched descriptors with one deadline.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    armed: Option<u64>,
    /// The timer has fired, and stays ready until it is set again.
    fired: bool,
}

impl Poller {
    /// An empty set.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        Ok(Self { epoll, timer, armed: None, fired: false })
    }

    /// Watches a descriptor under a token (any but `u64::MAX`).
    pub fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, fd, EventData::new_u64(token), interest.flags())?)
    }

    /// Changes what a descriptor is watched for.
    pub fn modify(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, fd, EventData::new_u64(token), interest.flags())?)
    }

    /// Stops watching a descriptor. (Closing it does the same.)
    pub fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, fd)?)
    }

    /// Waits until a descriptor is ready or until `deadline`, with `now` and `deadline` on the same
    /// monotonic clock. Without a deadline it waits indefinitely; with one that has passed it does not
    /// wait. A signal returns early with nothing. Returns whether more descriptors could have been
    /// reported: then those that are not among the ready ones had nothing when the wait began.
    pub fn wait(
        &mut self,
        now: u64,
        deadline: Option<u64>,
        ready: &mut Vec<Ready>,
    ) -> io::Result<bool> {
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut timeout = None;
        match deadline {
            Some(at) if at <= now => timeout = Some(&zero),
            Some(at) if self.armed != Some(at) => self.arm(at, at - now)?,
            None if self.armed.is_some() || self.fired => self.arm_raw(0)?,
            _ => {}
        }
        let mut buffer = [const { MaybeUninit::uninit() }; BATCH];
        let events = match epoll::wait(&self.epoll, &mut buffer, timeout) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let room = events.len() < BATCH;
        for event in events {
            let token = event.data.u64();
            if token == TIMER {
                // A level-triggered timer stays ready until it is set again, which the next wait does.
                (self.armed, self.fired) = (None, true);
                continue;
            }
            let flags = event.flags;
            let broken = flags.intersects(EventFlags::ERR | EventFlags::HUP);
            ready.push(Ready {
                token,
                readable: broken || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
                writable: broken || flags.contains(EventFlags::OUT),
            });
        }
        Ok(room)
    }

    fn arm(&mut self, deadline: u64, delay: u64) -> io::Result<()> {
        self.arm_raw(delay.max(1))?;
        self.armed = Some(deadline);
        Ok(())
    }

    /// Sets the timer; zero disarms it, and so does firing.
    fn arm_raw(&mut self, delay: u64) -> io::Result<()> {
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Timespec {
            tv_sec: (delay / 1_000_000_000) as i64,
            tv_nsec: (delay % 1_000_000_000) as _,
        };
        let spec = Itimerspec { it_interval: zero, it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &spec)?;
        (self.armed, self.fired) = (None, false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_deadline_is_kept_and_never_early() {
        let clock = Clock::start();
        let mut poller = Poller::new().unwrap();
        let mut ready = Vec::new();
        for _ in 0..5 {
            let deadline = clock.now() + 1_500_000;
            while clock.now() < deadline {
                poller.wait(clock.now(), Some(deadline), &mut ready).unwrap();
            }
            assert!(ready.is_empty());
        }
    }

    #[test]
    fn readiness_comes_with_its_token_until_it_is_read() {
        let clock = Clock::start();
        let (mut a, b) = UnixStream::pair().unwrap();
        let mut poller = Poller::new().unwrap();
        poller.add(&b, 7, Interest::Read).unwrap();
        a.write_all(b"x").unwrap();
        for _ in 0..2 {
            let mut ready = Vec::new();
            poller.wait(clock.now(), None, &mut ready).unwrap();
            assert!(ready.len() == 1 && ready[0].token == 7 && ready[0].readable);
        }
        poller.modify(&b, 7, Interest::None).unwrap();
        let mut ready = Vec::new();
        poller.wait(clock.now(), Some(clock.now() + 1_000_000), &mut ready).unwrap();
        assert!(ready.is_empty());
    }
}

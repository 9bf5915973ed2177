//! How many of a level's requests are its own, where several load generators send it.

use crate::running::RunningLevel;
use crate::transport::Transport;
use dyno_model::plan::Warmup;

impl<T: Transport + ?Sized> RunningLevel<'_, '_, T>
where
    T::Body: Clone,
{
    /// Its own part of so many measured requests. They follow those of the warm-up.
    pub(crate) fn own_requests(&self, measured: u64) -> u64 {
        let warmup = self.warmup_of_all();
        self.own_of_first(warmup.saturating_add(measured)) - self.own_of_first(warmup)
    }

    /// Its own part of a warm-up that is a number of requests; 0 of any other.
    pub(crate) fn own_warmup(&self) -> u64 {
        self.own_of_first(self.warmup_of_all())
    }

    fn warmup_of_all(&self) -> u64 {
        match self.setup.plan.warmup {
            Some(Warmup::Requests(requests)) => requests,
            Some(Warmup::Duration(_)) | None => 0,
        }
    }

    fn own_of_first(&self, requests: u64) -> u64 {
        match self.setup.sessions {
            true => self.share.turns(requests),
            false => self.share.count(requests),
        }
    }
}

//! Who answered a call for agents, and whom to take. No I/O: answers and times are passed in.

use super::Id;
use super::error::TooFew;
use super::hub::Call;
use super::notice::Present;
use crate::message::{Hello, PROTOCOL, named};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Calls are repeated more often than that. An agent that has not answered for so long is gone.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// More are not noted: somebody floods the bus.
const MOST: usize = 10_000;

/// Who is there.
pub(super) struct Roll {
    session: Id,
    wanted: usize,
    version: String,
    known: BTreeMap<Id, Known>,
    came: usize,
}

struct Known {
    hello: Hello,
    came: usize,
    heard: Instant,
    asked: bool,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Free,
    Ours,
    Busy(String),
    Other,
}

impl Roll {
    pub(super) fn new(session: Id, call: &Call) -> Self {
        let (wanted, version) = (call.agents, call.version.clone());
        Self { session, wanted, version, known: BTreeMap::new(), came: 0 }
    }

    /// An agent says that it is there.
    pub(super) fn heard(&mut self, id: Id, present: &Present, now: Instant) {
        let hello = present.hello();
        let same = hello.version == self.version && hello.protocol == PROTOCOL;
        let state = match present.busy() {
            _ if !same => State::Other,
            Some((Some(session), _)) if session == self.session => State::Ours,
            Some((_, run)) => State::Busy(run),
            None => State::Free,
        };
        let full = self.known.len() >= MOST;
        match self.known.get_mut(&id) {
            Some(known) => (known.state, known.heard) = (state, now),
            None if full => {}
            None => {
                self.came += 1;
                let known = Known { hello, came: self.came, heard: now, asked: false, state };
                self.known.insert(id, known);
            }
        }
    }

    fn ours(&self) -> impl Iterator<Item = (&Id, &Known)> {
        self.known.iter().filter(|(_, known)| known.state == State::Ours)
    }

    /// Whom to engage now: those that are engaged already, again, to keep them; and once there are enough
    /// free ones, those who came first.
    pub(super) fn chosen(&mut self, now: Instant) -> Vec<Id> {
        self.known.retain(|_, known| now.saturating_duration_since(known.heard) < ANSWER_WITHIN);
        let mut ours: Vec<Id> = self.ours().map(|(id, _)| *id).collect();
        let mut free: Vec<(usize, Id)> = self
            .known
            .iter()
            .filter(|(_, known)| known.state == State::Free)
            .map(|(id, known)| (known.came, *id))
            .collect();
        free.sort_unstable();
        let missing = self.wanted.saturating_sub(ours.len());
        if missing > 0 && free.len() >= missing {
            for (_, id) in free.into_iter().take(missing) {
                if let Some(known) = self.known.get_mut(&id) {
                    known.asked = true;
                    ours.push(id);
                }
            }
        }
        ours
    }

    /// Whether an agent was asked to take part.
    pub(super) fn has_asked(&self, id: Id) -> bool {
        self.known.get(&id).is_some_and(|known| known.asked)
    }

    /// The agents of the run, by name, once they are complete.
    pub(super) fn complete(&self) -> Option<Vec<(Id, Hello)>> {
        let mut ours: Vec<(usize, Id, Hello)> =
            self.ours().map(|(id, known)| (known.came, *id, known.hello.clone())).collect();
        if ours.len() < self.wanted {
            return None;
        }
        ours.sort_by_key(|(came, ..)| *came);
        ours.truncate(self.wanted);
        let name = |(_, id, hello): &(usize, Id, Hello)| {
            (hello.name.clone(), hello.host.clone(), hello.process, *id)
        };
        ours.sort_by_key(name);
        Some(ours.into_iter().map(|(_, id, hello)| (id, hello)).collect())
    }

    /// Those that were engaged or asked, but are not in the run.
    pub(super) fn surplus(&self, taken: &[(Id, Hello)]) -> Vec<Id> {
        let asked = |known: &Known| known.state == State::Ours || known.asked;
        let is_taken = |id: &Id| taken.iter().any(|(one, _)| one == id);
        let surplus = self.known.iter().filter(|(id, known)| asked(known) && !is_taken(id));
        surplus.map(|(id, _)| *id).collect()
    }

    /// Why it did not come to a run.
    pub(super) fn too_few(&self, within: Duration, servers: &str) -> TooFew {
        let mut too_few = TooFew {
            wanted: self.wanted,
            seconds: within.as_secs(),
            servers: servers.to_owned(),
            ours: self.version.clone(),
            free: Vec::new(),
            busy: Vec::new(),
            other: Vec::new(),
        };
        for known in self.known.values() {
            let name = known.hello.name.clone();
            match &known.state {
                State::Free | State::Ours => too_few.free.push(name),
                State::Busy(run) => too_few.busy.push((name, run.clone())),
                State::Other => {
                    let theirs = named(&known.hello.version, known.hello.protocol);
                    too_few.other.push((name, theirs));
                }
            }
        }
        too_few.free.sort_unstable();
        too_few.busy.sort_unstable();
        too_few.other.sort_unstable();
        too_few
    }
}

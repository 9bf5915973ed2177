//! Frames that arrive while agents are still being gathered: each agent says hello as soon as it is engaged.
//! What is not kept is asked for again when the line is used, so little is.

use super::Id;
use super::link;
use std::collections::BTreeMap;

/// A hello is one frame of some hundred bytes; what else an agent sends before it is called is a question.
const MOST_FRAMES: usize = 4;
const LONGEST: usize = 4 << 10;
/// Of all agents together.
const MOST_BYTES: usize = 16 << 20;

/// The frames that are kept.
#[derive(Debug)]
pub(super) struct Early {
    session: Id,
    frames: BTreeMap<Id, Vec<Vec<u8>>>,
    bytes: usize,
}

impl Early {
    pub(super) fn new(session: Id) -> Self {
        Self { session, frames: BTreeMap::new(), bytes: 0 }
    }

    /// Keeps a frame of an agent that was asked to take part, if it is one of this session.
    pub(super) fn keep(&mut self, id: Id, frame: &[u8]) {
        let ours = link::session_of(frame) == Some(self.session);
        if !ours || frame.len() > LONGEST || self.bytes + frame.len() > MOST_BYTES {
            return;
        }
        let frames = self.frames.entry(id).or_default();
        if frames.len() < MOST_FRAMES {
            self.bytes += frame.len();
            frames.push(frame.to_vec());
        }
    }

    /// What was kept of an agent.
    pub(super) fn take(&mut self, id: Id) -> Vec<Vec<u8>> {
        self.frames.remove(&id).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame that is as long as this, and at least as long as its header.
    fn frame(session: u64, length: usize) -> Vec<u8> {
        let mut frame = link::bye(Id(session));
        frame.resize(length.max(frame.len()), 0);
        frame
    }

    #[test]
    fn a_hello_is_kept_in_its_order() {
        let mut early = Early::new(Id(7));
        early.keep(Id(1), &frame(7, 200));
        early.keep(Id(1), &frame(7, 300));
        assert_eq!(early.take(Id(1)), [frame(7, 200), frame(7, 300)]);
        assert!(early.take(Id(1)).is_empty() && early.take(Id(2)).is_empty());
    }

    #[test]
    fn what_is_no_hello_is_not_kept() {
        let mut early = Early::new(Id(7));
        early.keep(Id(1), &frame(8, 200));
        early.keep(Id(1), &frame(7, LONGEST + 1));
        early.keep(Id(1), b"{}");
        assert!(early.take(Id(1)).is_empty());
    }

    #[test]
    fn a_flood_is_not_kept() {
        let mut early = Early::new(Id(7));
        for _ in 0..1_000 {
            early.keep(Id(1), &frame(7, 100));
        }
        assert_eq!(early.take(Id(1)).len(), MOST_FRAMES);
        for id in 0..100_000 {
            early.keep(Id(id), &frame(7, LONGEST));
        }
        let kept: usize = early.frames.values().flatten().map(Vec::len).sum();
        assert!(kept <= MOST_BYTES && kept > MOST_BYTES / 2, "{kept}");
    }
}

//! Sources of a report's frames. They are read more than once, so that only sums are kept in memory.

use dyno_model::Message;
use dyno_model::frame::{Frame, RunHeader};

/// The frames of one run.
pub trait FrameSource {
    /// Which run this is.
    fn header(&self) -> &RunHeader;

    /// All frames in order, from the start; can be called again.
    fn frames(&self) -> Box<dyn Iterator<Item = Frame> + '_>;

    /// What is wrong with the stored frames, if anything; frames before the damage are still valid.
    fn damaged(&self) -> Option<Message>;
}

/// Frames in memory, for tests and small runs.
#[derive(Debug, Clone)]
pub struct VecSource {
    /// Which run this is.
    pub header: RunHeader,
    /// The frames, in order.
    pub frames: Vec<Frame>,
    /// What is wrong with them.
    pub damaged: Option<Message>,
}

impl FrameSource for VecSource {
    fn header(&self) -> &RunHeader {
        &self.header
    }

    fn frames(&self) -> Box<dyn Iterator<Item = Frame> + '_> {
        Box::new(self.frames.iter().cloned())
    }

    fn damaged(&self) -> Option<Message> {
        self.damaged.clone()
    }
}

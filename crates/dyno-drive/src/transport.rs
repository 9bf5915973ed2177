//! The port through which drivers send: implemented by the network client and by simulations.

use dyno_model::frame::ClientHealth;
use dyno_model::record::{Phase, RequestRecord, TurnOfSession, Widths};
use dyno_model::tree::TurnOfTree;
use dyno_model::{Localized, MS, Nanos};

/// The length of a request and of its requested response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestedLengths {
    /// Input tokens by our own count.
    pub input: Option<u32>,
    /// Output tokens it asks for.
    pub output: Option<u32>,
    /// The length is fixed by a field that the server accepted: fewer tokens are a failure. Of texts:
    /// each has a result, and fewer results are a failure.
    pub fixed: bool,
    /// Characters of its texts, where these are known.
    pub characters: Option<u64>,
    /// Texts in it, where nothing is generated.
    pub inputs: Option<u32>,
}

/// A request, prepared ahead of its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payload<B> {
    /// What it asks for.
    pub lengths: RequestedLengths,
    /// What the transport sends.
    pub body: B,
}

/// What a transport sends, in its own form.
pub trait Body: Send + 'static {
    /// About how much memory it holds.
    fn size(&self) -> usize;
}

impl Body for Vec<u8> {
    fn size(&self) -> usize {
        self.len()
    }
}

/// One arrival, picked up by the driver.
#[derive(Debug)]
pub struct Job<B> {
    /// Index of the level.
    pub level: u32,
    /// Index of the arrival in its level, warm-up included.
    pub index: u64,
    /// The closed loop's slot; 0 elsewhere.
    pub slot: u32,
    /// Its place in a conversation, where it is part of one.
    pub turn: Option<TurnOfSession>,
    /// Its place in a tree of sessions, where it is part of one.
    pub tree: Option<Box<TurnOfTree>>,
    /// Warm-up or measured.
    pub phase: Phase,
    /// When the schedule wanted it sent.
    pub intended: Nanos,
    /// How much earlier that may have been: in a closed loop it is the time of an event.
    pub slack: Nanos,
    /// When a slot became free for it, where it had to wait for one.
    pub admitted: Option<Nanos>,
    /// When the driver picked it up.
    pub dispatched: Nanos,
    /// What to send.
    pub payload: Payload<B>,
}

impl<B> Job<B> {
    /// Splits the job from its body.
    pub fn split(self) -> (Job<()>, B) {
        let Payload { lengths, body } = self.payload;
        let job = Job {
            level: self.level,
            index: self.index,
            slot: self.slot,
            turn: self.turn,
            tree: self.tree,
            phase: self.phase,
            intended: self.intended,
            slack: self.slack,
            admitted: self.admitted,
            dispatched: self.dispatched,
            payload: Payload { lengths, body: () },
        };
        (job, body)
    }

    /// The record of a request that was dispatched and nothing more.
    pub fn record(&self) -> RequestRecord {
        let mut record =
            RequestRecord::new(self.level, self.index, self.slot, self.phase, self.intended);
        record.turn = self.turn;
        record.tree = self.tree.clone();
        record.admitted = self.admitted;
        record.widths = Some(Widths { intended: self.slack, ..Widths::default() });
        record.dispatched = Some(self.dispatched);
        record.requested_input = self.payload.lengths.input;
        record.requested_output = self.payload.lengths.output;
        record.inputs = self.payload.lengths.inputs;
        record
    }
}

/// A request that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// What happened to it.
    pub record: Box<RequestRecord>,
    /// The exact text of the response, where conversations need it.
    pub answer: Option<String>,
}

impl From<Box<RequestRecord>> for Ended {
    fn from(record: Box<RequestRecord>) -> Self {
        Self { record, answer: None }
    }
}

/// The transport itself broke (not a request on it).
#[derive(Debug, Localized)]
#[message("the client's event loop failed: {0}", "客户端的事件循环出错：{0}")]
pub struct TransportError(#[from] pub std::io::Error);

/// Sends jobs, and returns exactly one record for each.
pub trait Transport {
    /// What it sends; see [`Prepare`](crate::Prepare).
    type Body;

    /// Time on the run's clock.
    fn now(&self) -> Nanos;

    /// The longest wait between checks of the stop signal, which comes from outside. Virtual time
    /// passes at once, so there it may be unlimited.
    fn max_wait(&self) -> Nanos {
        20 * MS
    }

    /// Opens up to this many connections before a level's clock starts; best effort.
    fn prepare(&mut self, connections: usize) -> Result<(), TransportError>;

    /// Starts a request. Its record comes out of a later [`Transport::wait`].
    fn dispatch(&mut self, job: Job<Self::Body>);

    /// Works until some request has ended or `until` has come, whichever is first; may return
    /// earlier. Records of ended requests are appended.
    fn wait(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Result<(), TransportError>;

    /// When the target last sent anything; absent where there is no such time.
    fn last_received(&self) -> Option<Nanos> {
        None
    }

    /// Jobs dispatched whose records have not come out yet.
    fn in_flight(&self) -> usize;

    /// Output tokens received so far, those of running streams included; absent where tokens are
    /// known only when a request ends.
    fn tokens_received(&self) -> Option<u64> {
        None
    }

    /// Gives up everything in flight: its records, with their times so far, are appended as
    /// censored.
    fn censor(&mut self, ended: &mut Vec<Ended>);

    /// The client's own health since the last call.
    fn take_health(&mut self) -> ClientHealth;
}

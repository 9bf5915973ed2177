//! The recorded state of a run that is being resumed.

use dyno_analysis::{DirSource, FrameSource, summarise};
use dyno_model::LevelSummary;
use dyno_model::Nanos;
use dyno_model::environment::{Address, FileDigest};
use dyno_model::frame::{Ending, Frame};
use dyno_model::plan::Plan;
use dyno_record::{RecordError, RunDir};

/// The finished levels, and when the run began.
#[derive(Debug, Clone)]
pub struct Past {
    /// Finished levels, in the order in which they ran.
    pub finished: Vec<LevelSummary>,
    /// The id of the run.
    pub run_id: String,
    /// Wall-clock time at the run's time zero, in nanoseconds since 1970.
    pub anchor_unix_ns: u64,
    /// The last recorded time.
    pub until: Nanos,
    /// The whole plan was carried out.
    pub complete: bool,
    /// Prompts or conversations taken so far, including those of interrupted attempts.
    pub taken: u64,
    /// How many processes have worked on it.
    pub attempts: u32,
    /// The target's addresses, which its records refer to.
    pub addresses: Vec<Address>,
    /// The files that its prompts are made from; none in runs of older versions.
    pub files: Vec<FileDigest>,
}

impl Past {
    /// The levels that are finished.
    pub fn indices(&self) -> Vec<u32> {
        self.finished.iter().map(|level| level.index).collect()
    }

    /// Reads the records of `dir`.
    pub fn read(dir: &RunDir, plan: &Plan) -> Result<Self, RecordError> {
        let environment = dir.read_environment()?;
        let source = DirSource::open(dir)?;
        let summary = summarise(plan, environment.as_ref(), &source);
        let carried_out = |ending: Option<Ending>| ending.is_some_and(Ending::carried_out);
        let mut finished: Vec<LevelSummary> =
            summary.levels.into_iter().filter(|level| carried_out(level.ending)).collect();
        finished.sort_by_key(|level| level.index);
        let complete = carried_out(summary.run.ending);
        let until = source.frames().map(|frame| ended(&frame)).max().unwrap_or(0);
        let header = source.header();
        let (attempts, addresses, files) = environment
            .map(|found| (found.attempts, found.server.addresses, found.made.files))
            .unwrap_or_default();
        Ok(Self {
            finished,
            run_id: header.run_id.clone(),
            anchor_unix_ns: header.anchor_unix_ns,
            until,
            complete,
            taken: taken(source.frames()),
            attempts: attempts.unwrap_or(1),
            addresses,
            files,
        })
    }
}

/// Prompts or conversations taken by all levels that were started.
fn taken(frames: impl Iterator<Item = Frame>) -> u64 {
    let (mut before, mut now) = (0_u64, 0_u64);
    for frame in frames {
        match frame {
            Frame::LevelStart(_) => before += std::mem::take(&mut now),
            Frame::Request(record) => {
                let tree = record.tree.as_ref().map(|tree| tree.tree);
                let session = record.turn.map(|turn| turn.session);
                now = now.max(tree.or(session).unwrap_or(record.index) + 1);
            }
            _ => {}
        }
    }
    before + now
}

fn ended(frame: &Frame) -> Nanos {
    match frame {
        Frame::LevelChosen(_) => 0,
        Frame::LevelStart(start) => start.started,
        Frame::Request(record) => record.end,
        Frame::LevelEnd(end) => end.ended,
        Frame::RunEnd(end) => end.ended,
        Frame::Server(sample) => sample.at,
    }
}

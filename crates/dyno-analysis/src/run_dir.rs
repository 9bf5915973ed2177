//! A recorded run as a source of frames: each reading opens the file again.

use crate::source::FrameSource;
use dyno_model::Message;
use dyno_model::frame::{Frame, RunHeader};
use dyno_record::{AllRecords, RecordError, RunDir};
use std::cell::RefCell;

/// The records of a run directory, with those that its agents kept.
#[derive(Debug)]
pub struct DirSource<'a> {
    dir: &'a RunDir,
    header: RunHeader,
    damaged: RefCell<Option<Message>>,
}

impl<'a> DirSource<'a> {
    /// Opens the records of `dir`.
    pub fn open(dir: &'a RunDir) -> Result<Self, RecordError> {
        let header = dir.records()?.header().clone();
        Ok(Self { dir, header, damaged: RefCell::new(None) })
    }
}

impl FrameSource for DirSource<'_> {
    fn header(&self) -> &RunHeader {
        &self.header
    }

    fn frames(&self) -> Box<dyn Iterator<Item = Frame> + '_> {
        match self.dir.all_records() {
            Ok(reader) => Box::new(Reading { reader, damaged: &self.damaged }),
            Err(error) => {
                *self.damaged.borrow_mut() = Some(Message::of(error));
                Box::new(std::iter::empty())
            }
        }
    }

    /// Known once the frames have been read to their end.
    fn damaged(&self) -> Option<Message> {
        self.damaged.borrow().clone()
    }
}

/// One pass over the frames, which stores the error that ended it early.
struct Reading<'a> {
    reader: AllRecords,
    damaged: &'a RefCell<Option<Message>>,
}

impl Iterator for Reading<'_> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let frame = self.reader.next();
        if frame.is_none()
            && let Some(damage) = self.reader.damage()
        {
            *self.damaged.borrow_mut() = Some(Message::of(damage));
        }
        frame
    }
}

//! Selects the records that are sent: their order, limits on their length and number, and repetition
//! when they run out. The same seed gives the same sequence.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::dataset::{DataReading, DataSet};
use super::edit::{cut, prepend};
use super::error::DataError;
use super::order::{DataOrder, Shuffled};
use dyno_model::message::clauses;
use dyno_model::prompt::{Content, Item};
use dyno_model::{Message, message};

/// Counts the input tokens of a prompt, chat template included.
pub type Count<'a> = Box<dyn Fn(&Content) -> Result<u32, Message> + Send + 'a>;

/// What happens to a prompt that is longer than allowed. One that is too short is always left
/// out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outside {
    /// It is left out.
    #[default]
    Drop,
    /// The end of the last user message is cut off, so that it fits.
    Truncate,
}

/// What is taken from a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSelection {
    /// In which order.
    pub order: DataOrder,
    /// What the order and the prefixes depend on.
    pub seed: u64,
    /// Makes the prefixes differ from those of other runs, even with the same seed.
    pub run: u64,
    /// The fewest input tokens a prompt may have.
    pub min_input: Option<u32>,
    /// The most input tokens a prompt may have.
    pub max_input: Option<u32>,
    /// What happens to longer prompts.
    pub outside: Outside,
    /// How many different records are taken, before they repeat.
    pub limit: Option<u64>,
    /// Whether to begin again when the data are used up, in the same order.
    pub repeat: bool,
    /// Whether each prompt begins with 16 unique characters, so that it misses any prefix cache. They
    /// are part of the count.
    pub unique_prefix: bool,
}

impl Default for PromptSelection {
    fn default() -> Self {
        Self {
            order: DataOrder::File,
            seed: 0,
            run: 0,
            min_input: None,
            max_input: None,
            outside: Outside::Drop,
            limit: None,
            repeat: true,
            unique_prefix: false,
        }
    }
}

/// How the records of one pass through the data were used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataTally {
    /// Records that became an item.
    pub read: u64,
    /// Unusable records that were skipped because of `skip_bad=true`.
    pub skipped: u64,
    /// Blank lines.
    pub blank: u64,
    /// Items with fewer tokens than allowed.
    pub dropped_short: u64,
    /// Items with more tokens than allowed.
    pub dropped_long: u64,
    /// Items that were cut to fit.
    pub truncated: u64,
    /// How often the data began again.
    pub repeats: u64,
    /// Items returned, over all passes.
    pub given: u64,
    /// Distinct prompts among those returned. Beyond a million, duplicates among later ones are not
    /// detected.
    pub distinct: u64,
}

const REMEMBERED: usize = 1_000_000;

impl DataTally {
    /// The difference to an earlier tally. `repeats` counts from the start.
    #[must_use]
    pub fn since(&self, then: &Self) -> Self {
        Self {
            read: self.read.saturating_sub(then.read),
            skipped: self.skipped.saturating_sub(then.skipped),
            blank: self.blank.saturating_sub(then.blank),
            dropped_short: self.dropped_short.saturating_sub(then.dropped_short),
            dropped_long: self.dropped_long.saturating_sub(then.dropped_long),
            truncated: self.truncated.saturating_sub(then.truncated),
            repeats: self.repeats,
            given: self.given.saturating_sub(then.given),
            distinct: self.distinct.saturating_sub(then.distinct),
        }
    }
}

impl PromptSelection {
    /// The items, one at a time. `count` is needed for the bounds; where it is given, every item
    /// is counted.
    pub fn of<'a>(
        &self,
        data: &DataSet,
        count: Option<Count<'a>>,
    ) -> Result<Selected<'a>, DataError> {
        if count.is_none() && (self.min_input.is_some() || self.max_input.is_some()) {
            return Err(DataError::NoCounter);
        }
        let pass = self.pass(data)?;
        Ok(Selected {
            plan: self.clone(),
            data: data.clone(),
            count,
            pass,
            given_in_pass: 0,
            tally: DataTally::default(),
            seen: HashSet::new(),
            ended: false,
        })
    }

    fn pass(&self, data: &DataSet) -> Result<Pass, DataError> {
        let reading = data.open()?;
        Ok(match self.order {
            DataOrder::File => Pass::File(Box::new(reading)),
            DataOrder::Shuffle => Pass::Shuffled(Box::new(Shuffled::new(reading, self.seed))),
        })
    }
}

enum Pass {
    File(Box<DataReading>),
    Shuffled(Box<Shuffled>),
}

impl Pass {
    fn next(&mut self) -> Option<Result<Item, DataError>> {
        match self {
            Self::File(reading) => reading.next(),
            Self::Shuffled(shuffled) => shuffled.next(),
        }
    }

    fn reading(&self) -> &DataReading {
        match self {
            Self::File(reading) => reading,
            Self::Shuffled(shuffled) => shuffled.reading(),
        }
    }
}

/// The items that a selection takes. After an error there is nothing more.
pub struct Selected<'a> {
    plan: PromptSelection,
    data: DataSet,
    count: Option<Count<'a>>,
    pass: Pass,
    given_in_pass: u64,
    tally: DataTally,
    seen: HashSet<u64>,
    ended: bool,
}

/// What becomes of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Given,
    Skipped,
}

impl Selected<'_> {
    /// Skips this many items, which were returned before; fewer if there are no more.
    pub fn pass_over(&mut self, items: u64) -> Result<(), DataError> {
        for _ in 0..items {
            if !self.skip_next()? {
                break;
            }
        }
        Ok(())
    }

    /// Skips the next item, if there is one. Its tokens are counted only where that decides whether it
    /// is one.
    pub fn skip_next(&mut self) -> Result<bool, DataError> {
        Ok(self.advance(Use::Skipped).transpose()?.is_some())
    }

    /// How the records were used so far.
    pub fn tally(&self) -> DataTally {
        let mut tally = self.tally;
        if tally.repeats == 0 {
            tally.skipped = self.pass.reading().skipped();
            tally.blank = self.pass.reading().blank();
        }
        tally
    }

    fn advance(&mut self, used: Use) -> Option<Result<Item, DataError>> {
        if self.ended {
            return None;
        }
        let step = self.step(used).transpose();
        self.ended = !matches!(step, Some(Ok(_)));
        step
    }

    fn step(&mut self, used: Use) -> Result<Option<Item>, DataError> {
        loop {
            let full = self.plan.limit.is_some_and(|limit| self.given_in_pass >= limit);
            let item = if full { None } else { self.pass.next().transpose()? };
            let Some(item) = item else {
                if self.given_in_pass == 0 {
                    return Err(self.nothing());
                }
                if !self.plan.repeat {
                    return Ok(None);
                }
                self.tally = self.tally();
                self.tally.repeats += 1;
                self.pass = self.plan.pass(&self.data)?;
                self.given_in_pass = 0;
                continue;
            };
            if let Some(item) = self.fitted(item, used)? {
                self.given_in_pass += 1;
                self.tally.given += 1;
                return Ok(Some(item));
            }
        }
    }

    /// The item as it is sent, or `None` where it is left out.
    fn fitted(&mut self, mut item: Item, used: Use) -> Result<Option<Item>, DataError> {
        let first_pass = self.tally.repeats == 0;
        let once = u64::from(first_pass);
        self.tally.read += once;
        if self.plan.unique_prefix {
            prepend(&mut item.content, &prefix(self.plan.seed ^ self.plan.run, self.tally.given));
        }
        let decides = self.plan.min_input.is_some() || self.plan.max_input.is_some();
        if let Some(count) = self.count.as_ref().filter(|_| used == Use::Given || decides) {
            let failed = |what| DataError::Count {
                name: self.data.recognised().name.clone(),
                number: self.tally.read,
                what,
            };
            let mut counted = count(&item.content).map_err(failed)?;
            if let Some(max) = self.plan.max_input.filter(|max| counted > *max) {
                let kept = match self.plan.outside {
                    Outside::Drop => None,
                    Outside::Truncate => {
                        cut(&mut item.content, counted, max, count).map_err(failed)?
                    }
                };
                let Some(kept) = kept else {
                    self.tally.dropped_long += once;
                    return Ok(None);
                };
                counted = kept;
                self.tally.truncated += once;
            }
            if self.plan.min_input.is_some_and(|min| counted < min) {
                self.tally.dropped_short += once;
                return Ok(None);
            }
            item.input_tokens = Some(counted);
        }
        if self.plan.unique_prefix || (first_pass && self.is_new(&item)) {
            self.tally.distinct += 1;
        }
        Ok(Some(item))
    }

    fn is_new(&mut self, item: &Item) -> bool {
        let mut hasher = DefaultHasher::new();
        match &item.content {
            Content::Text(text) => text.hash(&mut hasher),
            Content::Messages(messages) => {
                for message in messages {
                    (&message.role, &message.content).hash(&mut hasher);
                }
            }
            Content::Body(body) => body.hash(&mut hasher),
            Content::Texts(texts) => texts.all().for_each(|text| text.hash(&mut hasher)),
            Content::Recorded(prompt) => (&prompt.messages, &prompt.tools).hash(&mut hasher),
        }
        let hash = hasher.finish();
        match self.seen.len() < REMEMBERED {
            true => self.seen.insert(hash),
            false => !self.seen.contains(&hash),
        }
    }

    fn nothing(&self) -> DataError {
        let tally = self.tally();
        let mut why = Vec::new();
        if self.plan.limit == Some(0) {
            why.push(limit_is_0());
        }
        if let Some(max) = self.plan.max_input
            && tally.dropped_long > 0
        {
            let advice = match self.plan.outside {
                Outside::Drop => {
                    message!("raise the maximum, or have them truncated", "请提高上限，或允许截断")
                }
                Outside::Truncate => message!(
                    "they do not fit even when cut; raise the maximum",
                    "截断后仍然过长；请提高上限"
                ),
            };
            why.push(message!(
                "{some} of {all} records have more than {max} input tokens; {advice}",
                "{all} 条记录中有 {some} 条超过 {max} 个输入 token；{advice}",
                some = tally.dropped_long,
                all = tally.read
            ));
        }
        if let Some(min) = self.plan.min_input
            && tally.dropped_short > 0
        {
            why.push(message!(
                "{some} of {all} records have fewer than {min} input tokens; lower the minimum",
                "{all} 条记录中有 {some} 条少于 {min} 个输入 token；请降低下限",
                some = tally.dropped_short,
                all = tally.read
            ));
        }
        if tally.skipped > 0 {
            why.push(message!("{} records could not be read", "{} 条记录无法读取", tally.skipped));
        }
        if why.is_empty() {
            why.push(message!(
                "no record was selected; check the file and the limits",
                "没有选中任何记录；请检查文件和限制"
            ));
        }
        DataError::NothingSelected {
            name: self.data.recognised().name.clone(),
            why: Message::of(clauses(why)),
        }
    }
}

pub(crate) fn limit_is_0() -> Message {
    message!("the limit is 0; set it to at least 1", "上限为 0；请设为至少 1")
}

impl Iterator for Selected<'_> {
    type Item = Result<Item, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance(Use::Given)
    }
}

/// Sixteen characters and a space, different for every index of a seed: the mixing is one to one.
fn prefix(seed: u64, index: u64) -> String {
    let start = seed.wrapping_mul(0xd134_2543_de82_ef95);
    let mut mixed = index.wrapping_add(start).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    format!("{:016x} ", mixed ^ (mixed >> 31))
}

//! Which parts are levels of one run.

use super::part::TextPart;
use super::place::TextPlace;
use super::plain::plain;
use dyno_model::load::LoadKind;
use dyno_model::summary::LevelExtras;
use dyno_model::{Diagnostic, LevelSummary};
use dyno_words::{Problem, values};

/// Parts that belong together.
#[derive(Debug, Clone)]
pub(crate) struct TextGroup {
    /// All of them combined.
    pub(crate) part: TextPart,
    /// The place of the first.
    pub(crate) place: TextPlace,
    /// The shape of the line above each block, where it names the level and not the run.
    shape: Option<String>,
    /// Every block so far had such a line.
    named: bool,
}

/// What names a level and not a run, with its numbers masked.
const OF_LEVEL: [&str; 16] = [
    "parallel #",
    "concurrency #",
    "concurrency: #",
    "concurrency=#",
    "concurrency = #",
    "max concurrency #",
    "c=#",
    "并发 #",
    "并发数 #",
    "并发#",
    "rate #",
    "request rate #",
    "request rate: #",
    "qps #",
    "# concurrent requests",
    "burst #",
];

/// Combines consecutive blocks under the same headings into one run; a table is a run by itself.
pub(crate) fn group(parts: Vec<(TextPart, TextPlace)>) -> Vec<TextGroup> {
    let mut groups: Vec<TextGroup> = Vec::new();
    // The last group of blocks of each tool.
    let mut open: Vec<(&'static str, usize)> = Vec::new();
    for (mut part, mut place) in parts {
        if let Some(blocks) = groups.iter_mut().find(|group| group.is_repeated_by(&part)) {
            blocks.part.model = blocks.part.model.take().or(part.model);
            continue;
        }
        if part.form != "block" {
            groups.push(TextGroup { part, place, named: false, shape: None });
            continue;
        }
        level_heading(&mut place);
        let shape = shape(&place.above);
        part.findings.extend(other_slots(&place, &part));
        let last = open.iter().find(|(tool, _)| *tool == part.tool).map(|(_, at)| *at);
        match last.and_then(|at| groups.get_mut(at)) {
            Some(group) if group.takes(&part, &place, shape.as_deref()) => {
                group.part.model = group.part.model.take().or(part.model);
                group.named &= shape.is_some();
                group.part.levels.extend(part.levels);
                group.part.findings.extend(part.findings);
            }
            _ => {
                open.retain(|(tool, _)| *tool != part.tool);
                open.push((part.tool, groups.len()));
                groups.push(TextGroup { part, place, named: shape.is_some(), shape });
            }
        }
    }
    groups
}

impl TextGroup {
    /// Whether a tool printed these blocks once more, as a table with fewer values.
    fn is_repeated_by(&self, table: &TextPart) -> bool {
        let blocks = &self.part.levels;
        let same = |(level, _): &(LevelSummary, LevelExtras)| {
            blocks.iter().any(|(block, _)| {
                let rates = [block, level].map(|level| level.throughput.requests_per_s);
                let rounded = matches!(rates, [Some(a), Some(b)] if (a - b).abs() < 0.0051);
                let values = block.load.value.zip(level.load.value);
                let same = values.is_none_or(|(ours, theirs)| ours == theirs);
                block.load.kind == level.load.kind && same && rounded
            })
        };
        self.part.form == "block"
            && self.part.tool == table.tool
            && table.form == "table"
            && !table.levels.is_empty()
            && table.levels.iter().all(same)
    }

    fn takes(&self, part: &TextPart, place: &TextPlace, shape: Option<&str>) -> bool {
        let models = self.part.model.as_ref().zip(part.model.as_ref());
        if models.is_some_and(|(ours, theirs)| ours != theirs) {
            return false;
        }
        let same_levels = self.named && shape.is_some() && shape == self.shape.as_deref();
        place.headings == self.place.headings && (place.above.is_empty() || same_levels)
    }

    /// The lines above name the first level, not the run.
    pub(crate) fn above_names_level(&self) -> bool {
        let several = self.named && self.part.levels.len() > 1;
        let shape = self.shape.as_deref().unwrap_or_default();
        self.part.form == "block" && (several || OF_LEVEL.contains(&shape))
    }
}

/// A heading that names a level is a line above it: the run is what the headings around it name.
fn level_heading(place: &mut TextPlace) {
    let named = place.headings.last().is_some_and(|heading| {
        shape(std::slice::from_ref(heading)).is_some_and(|shape| OF_LEVEL.contains(&shape.as_str()))
    });
    if named && place.above.is_empty() && place.headings.len() > 1 {
        place.above.extend(place.headings.pop());
    }
}

/// A line above with its numbers masked; `None` where there is not just one.
fn shape(above: &[String]) -> Option<String> {
    let [line] = above else { return None };
    let mut shape = String::new();
    for c in plain(line).chars() {
        match c {
            '0'..='9' | '.' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            c => shape.extend(c.to_lowercase()),
        }
    }
    // The second level of a name: `burst 1 (2)`.
    let shape = shape.strip_suffix(" (#)").unwrap_or(&shape).to_owned();
    shape.contains('#').then_some(shape)
}

/// Reports a line above a block that states another concurrency than the block.
fn other_slots(place: &TextPlace, part: &TextPart) -> Option<Diagnostic> {
    let words = plain(place.above.last()?);
    let (level, _) = part.levels.first()?;
    let said: f64 = words.strip_prefix("parallel ")?.trim().parse().ok()?;
    let slots = level.load.value.filter(|_| level.load.kind == LoadKind::Concurrency)?;
    (said != slots).then(|| Problem::OtherSlots.with(values![words, slots]).at(part.line))
}

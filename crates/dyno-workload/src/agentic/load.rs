//! How agentic traffic becomes a load: where its trees come from, which are taken, where in them a level begins, and
//! how they are replayed, as `--data` says it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyno_model::units::parse_duration;
use dyno_model::{Message, Nanos, SEC, message};
use rand_chacha::rand_core::Rng;

use super::replay::{ReplayOptions, Responses, TreeStart};
use super::{AgenticNotes, AgenticOptions, GeneratedTrees, Tree, TreeDetail, Trees};
use crate::data::{DataError, DataKind, DataSpec};
use crate::random::key::Key;

/// The options of a replay, whether the trees are read or generated.
pub(super) const REPLAY_KEYS: [&str; 7] =
    ["start", "responses", "max_gap", "max_idle", "text", "marker", "share_system"];
/// How long nothing may be in flight where nobody says.
const MAX_IDLE: Nanos = 10 * SEC;

/// Agentic traffic as a load.
#[derive(Debug, Clone, PartialEq)]
pub struct AgenticLoad {
    from: TreesFrom,
    /// How trees become prompts.
    pub replay: ReplayOptions,
    /// Turns are sent earlier where nothing is in flight for longer than this.
    pub max_idle: Option<Nanos>,
    /// The part of its recorded time in which a tree starts that a level begins with; absent: by the level.
    start: Option<[f64; 2]>,
    /// Which trees are taken.
    pub selection: TreeSelection,
}

/// Which trees of a file are taken, whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TreeSelection {
    /// So many.
    pub limit: Option<u64>,
    /// None with a shorter prompt.
    pub min_input: Option<u32>,
    /// None with a longer prompt.
    pub max_input: Option<u32>,
}

#[derive(Debug, Clone, PartialEq)]
enum TreesFrom {
    Path(PathBuf),
    Options(Box<AgenticOptions>),
}

impl AgenticLoad {
    /// Whether a specification names agentic traffic: by its kind, or by the contents of the file or folder.
    pub fn named_by(spec: &DataSpec) -> bool {
        match (spec.kind, &spec.path) {
            (Some(DataKind::Agentic), _) => true,
            (None, Some(path)) => path.is_dir() || Trees::format_of(path).is_some(),
            _ => false,
        }
    }

    /// Reads the options of a specification.
    pub fn of(spec: &DataSpec, selection: TreeSelection) -> Result<Self, Message> {
        let from = match &spec.path {
            Some(path) => {
                spec.only(&REPLAY_KEYS)?;
                TreesFrom::Path(path.clone())
            }
            None => TreesFrom::Options(Box::new(AgenticOptions::new(spec)?)),
        };
        let mut load = Self {
            from,
            replay: ReplayOptions::default(),
            max_idle: Some(MAX_IDLE),
            start: None,
            selection,
        };
        let mut of_replay =
            spec.options.iter().filter(|(key, _)| REPLAY_KEYS.contains(&key.as_str()));
        of_replay.try_for_each(|(key, value)| load.set(spec, key, value))?;
        Ok(load)
    }

    fn set(&mut self, spec: &DataSpec, key: &str, value: &str) -> Result<(), Message> {
        let bad = |allowed| spec.bad_option(key, allowed);
        let yes_or_no = || match value {
            "yes" => Ok(true),
            "no" => Ok(false),
            _ => Err(bad(message!("yes or {key}=no", "yes 或 {key}=no"))),
        };
        let time = || match value {
            "none" => Ok(None),
            _ => parse_duration(value)
                .map(Some)
                .map_err(|_| bad(message!("60s, 5m or {key}=none", "60s、5m 或 {key}=none"))),
        };
        match key {
            "start" => {
                let start = share_of_time(value).ok_or_else(|| {
                    bad(message!(
                        "0 (the beginning), start=random or start=25%-75% of the recorded time",
                        "0（从头）、start=random 或 start=25%-75%（录制时间的区间）"
                    ))
                })?;
                self.start = Some(start);
            }
            "responses" => {
                self.replay.responses = match value {
                    "recorded" => Responses::Recorded,
                    "live" => Responses::Live,
                    _ => {
                        let allowed =
                            message!("recorded or responses=live", "recorded 或 responses=live");
                        return Err(bad(allowed));
                    }
                }
            }
            "text" => {
                self.replay.text = match value {
                    "recorded" => true,
                    "none" => false,
                    _ => {
                        return Err(bad(message!(
                            "recorded or text=none",
                            "recorded 或 text=none"
                        )));
                    }
                }
            }
            "max_gap" => self.replay.max_gap = time()?,
            "max_idle" => self.max_idle = time()?,
            "marker" => self.replay.marker = yes_or_no()?,
            _ => self.replay.share_system = yes_or_no()?,
        }
        Ok(())
    }

    /// Whether there is always another tree.
    pub fn is_endless(&self) -> bool {
        matches!(self.from, TreesFrom::Options(_)) && self.selection.limit.is_none()
    }

    /// Whether prompts contain the answers of the server.
    pub fn answers_matter(&self) -> bool {
        self.replay.responses == Responses::Live
    }

    /// The file or folder of the trees.
    pub fn path(&self) -> Option<&Path> {
        match &self.from {
            TreesFrom::Path(path) => Some(path),
            TreesFrom::Options(_) => None,
        }
    }

    /// The same trees from another place.
    pub fn at(self, path: PathBuf) -> Self {
        match self.from {
            TreesFrom::Path(_) => Self { from: TreesFrom::Path(path), ..self },
            TreesFrom::Options(_) => self,
        }
    }

    /// Where in its recorded time the tree of this number starts. Those that a level begins with start at random
    /// where the level is bounded by time, so that it begins as it goes on; those that follow, at their beginning.
    pub fn start(&self, key: &Key, index: u64, begins_level: bool, by_time: bool) -> TreeStart {
        let at_random = if by_time { [0.0, 1.0] } else { [0.0; 2] };
        let [low, high] = self.start.unwrap_or(at_random);
        if !begins_level || high <= 0.0 {
            return TreeStart::Beginning;
        }
        let unit =
            (key.of_lengths(b"starts  ", index).next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        TreeStart::At(low + unit * (high - low))
    }

    /// The trees that are taken, from the first one on.
    pub fn trees(&self, key: Key) -> Result<TakenTrees, DataError> {
        let detail = match self.replay.text {
            true => TreeDetail::Texts,
            false => TreeDetail::Lengths,
        };
        let of = match &self.from {
            TreesFrom::Path(path) => TreesOf::Files(Box::new(Trees::open(path, detail)?)),
            TreesFrom::Options(options) => TreesOf::Generated {
                trees: Box::new(GeneratedTrees::new((**options).clone(), key)),
                next: 0,
            },
        };
        Ok(TakenTrees { of, selection: self.selection, taken: 0, outside: 0 })
    }

    /// In one line, what the data are.
    pub fn recognised(&self) -> Message {
        match &self.from {
            TreesFrom::Path(path) if path.is_dir() => {
                message!("{}: agentic traffic", "{}：agentic 流量", path.display())
            }
            TreesFrom::Path(path) => match Trees::format_of(path) {
                Some(format) => {
                    message!(
                        "{}: agentic traffic, {format}",
                        "{}：agentic 流量，{format}",
                        path.display()
                    )
                }
                None => message!("{}: agentic traffic", "{}：agentic 流量", path.display()),
            },
            TreesFrom::Options(_) => message!("generated agentic traffic", "生成的 agentic 流量"),
        }
    }
}

/// `0`, `random` or a range of percentages.
fn share_of_time(value: &str) -> Option<[f64; 2]> {
    let percent = |text: &str| {
        let number: f64 = text.strip_suffix('%')?.parse().ok()?;
        (0.0..=100.0).contains(&number).then_some(number / 100.0)
    };
    match value {
        "0" => Some([0.0; 2]),
        "random" => Some([0.0, 1.0]),
        _ => {
            let (low, high) = value.split_once('-')?;
            let range = [percent(low)?, percent(high)?];
            (range[0] <= range[1]).then_some(range)
        }
    }
}

enum TreesOf {
    Files(Box<Trees>),
    Generated { trees: Box<GeneratedTrees>, next: u64 },
}

/// The trees that are taken of a load, one after another.
pub struct TakenTrees {
    of: TreesOf,
    selection: TreeSelection,
    taken: u64,
    outside: u64,
}

impl TakenTrees {
    /// How many trees had prompts outside the bounds.
    pub fn outside(&self) -> u64 {
        self.outside
    }

    /// What was left out of the files that were read so far.
    pub fn notes(&self) -> Option<&AgenticNotes> {
        match &self.of {
            TreesOf::Files(trees) => Some(trees.notes()),
            TreesOf::Generated { .. } => None,
        }
    }

    fn any(&mut self) -> Option<Tree> {
        match &mut self.of {
            TreesOf::Files(trees) => trees.next(),
            TreesOf::Generated { trees, next } => {
                *next += 1;
                Some(trees.tree(*next - 1))
            }
        }
    }
}

impl Iterator for TakenTrees {
    type Item = Arc<Tree>;

    fn next(&mut self) -> Option<Arc<Tree>> {
        let TreeSelection { limit, min_input, max_input } = self.selection;
        if limit.is_some_and(|limit| self.taken >= limit) {
            return None;
        }
        loop {
            let tree = self.any()?;
            let inputs = || tree.all().filter_map(|(_, turn)| turn.input);
            let short = min_input.is_some_and(|least| inputs().any(|input| input < least.into()));
            let long = max_input.is_some_and(|most| inputs().any(|input| input > most.into()));
            if short || long {
                self.outside += 1;
                continue;
            }
            self.taken += 1;
            return Some(Arc::new(tree));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(spec: &str) -> Result<AgenticLoad, Message> {
        AgenticLoad::of(&spec.parse().unwrap(), TreeSelection::default())
    }

    #[test]
    fn options_say_how_trees_are_replayed() {
        let usual = load("agentic:a.json").unwrap();
        assert_eq!((usual.max_idle, usual.replay.max_gap), (Some(10 * SEC), None));
        assert_eq!(usual.replay.responses, Responses::Recorded);
        let all = "agentic:a.json,start=25%-75%,responses=live,max_gap=60s,max_idle=none,text=none,\
                   marker=no,share_system=yes";
        let all = load(all).unwrap();
        assert_eq!((all.max_idle, all.replay.max_gap), (None, Some(60 * SEC)));
        assert!(!all.replay.text && !all.replay.marker && all.replay.share_system);
        assert_eq!(all.replay.responses, Responses::Live);
        let key = Key::new(1, 0);
        for index in 0..100 {
            let TreeStart::At(at) = all.start(&key, index, true, false) else { panic!() };
            assert!((0.25..0.75).contains(&at));
            assert_eq!(all.start(&key, index, false, true), TreeStart::Beginning);
        }
        assert_eq!(usual.start(&key, 0, true, false), TreeStart::Beginning);
        assert!(matches!(usual.start(&key, 0, true, true), TreeStart::At(_)));
    }

    #[test]
    fn what_is_wrong_with_an_option_says_what_to_write() {
        for (wrong, fix) in [
            ("start=50%", "start=25%-75%"),
            ("start=80%-20%", "start=random"),
            ("max_gap=60", "max_gap=none"),
            ("responses=own", "responses=live"),
            ("marker=maybe", "marker=no"),
            ("maxgap=60s", "max_gap"),
        ] {
            let error = load(&format!("agentic:a.json,{wrong}")).unwrap_err().to_string();
            assert!(error.contains(fix), "{error}");
        }
    }
}

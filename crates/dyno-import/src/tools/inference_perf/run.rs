//! The files of each run put together: its stages are the levels, in their order; the requests of all
//! stages are divided among them; a summary of all stages is no level if there are stages.

use super::NAME;
use crate::level::stated::{Offered, StatedLevel};
use crate::level::{Ended, RunHead, Sample};
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::plan::Arrival;
use dyno_model::summary::Origin;
use dyno_words::Problem;

/// A stage and its requests agree if their mean latencies differ by no more than this.
const SAME_LATENCY: f64 = 1e-3;

/// A report of requests.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) origin: Origin,
    /// Whether it is of one stage.
    pub(super) stage: bool,
    pub(super) found: StatedLevel,
}

impl Part {
    /// Reports of one adapter are parts of other reports.
    fn of_adapter(&self) -> bool {
        self.origin.file.contains("adapter_")
    }

    /// The number in `stage_N_`.
    fn number(&self) -> Option<u64> {
        let (_, rest) = self.origin.file.rsplit_once("stage_")?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }
}

/// What the configuration states.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) model: Option<String>,
    pub(super) target: Option<String>,
    pub(super) arrival: Option<Arrival>,
}

/// A run, put together.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) head: RunHead,
    pub(crate) levels: Vec<StatedLevel>,
    /// Files whose results are in another file, with the name of that.
    pub(crate) covered: Vec<(String, String)>,
}

/// The files of one run.
#[derive(Debug, Default)]
struct Files {
    parts: Vec<Part>,
    requests: Option<(Origin, Vec<Sample>)>,
    settings: Settings,
}

/// The files of a folder, while they are read.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// By what the names of their files begin with.
    runs: Vec<(String, Files)>,
    /// What was seen that is no result.
    without: Option<Diagnostic>,
}

impl Runs {
    /// The tool's name.
    pub(crate) const TOOL: &'static str = NAME;

    /// The run that a file belongs to. Results of several runs in one folder have names that begin
    /// differently.
    fn of(&mut self, file: &str) -> &mut Files {
        const KINDS: [&str; 5] =
            ["adapter_", "stage_", "summary_lifecycle", "per_request_lifecycle", "config."];
        let begins = KINDS.iter().filter_map(|kind| file.find(kind)).min();
        let begin = begins.map_or(file, |end| &file[..end]);
        let at = self.runs.iter().position(|(known, _)| known == begin);
        let at = at.unwrap_or_else(|| {
            self.runs.push((begin.to_owned(), Files::default()));
            self.runs.len() - 1
        });
        &mut self.runs[at].1
    }

    pub(super) fn add(&mut self, part: Part) {
        self.of(&part.origin.file).parts.push(part);
    }

    pub(super) fn requests(&mut self, origin: Origin, samples: Vec<Sample>) {
        let files = self.of(&origin.file);
        files.requests = Some((origin, samples));
    }

    pub(super) fn configured(&mut self, file: &str, line: u64, settings: Settings) {
        self.without.get_or_insert(Diagnostic::from(Problem::LifecycleConfig).at(line));
        self.of(file).settings = settings;
    }

    pub(super) fn server(&mut self, line: u64) {
        self.without.get_or_insert(Diagnostic::from(Problem::LifecycleServer).at(line));
    }

    /// How many levels the files have.
    pub(crate) fn levels(&self) -> usize {
        let of = |files: &Files| files.parts.len() + usize::from(files.requests.is_some());
        self.runs.iter().map(|(_, files)| of(files)).sum()
    }

    /// The runs; if there are none, a problem says what was seen.
    pub(crate) fn finish(self, problems: &mut Vec<Diagnostic>) -> Vec<Finished> {
        let runs = self.runs.into_iter();
        let runs: Vec<Finished> = runs.filter_map(|(_, files)| files.finish(problems)).collect();
        if runs.is_empty() {
            problems.extend(self.without);
        }
        runs
    }
}

impl Files {
    fn finish(self, problems: &mut Vec<Diagnostic>) -> Option<Finished> {
        let Self { parts, requests, settings } = self;
        let is_stage = |part: &Part| part.stage && !part.of_adapter();
        let staged = parts.iter().any(is_stage);
        let (mut levels, others): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| is_stage(part) || !staged);
        levels.sort_by_key(|part| part.number().unwrap_or(u64::MAX));
        let mut covered: Vec<String> = others.into_iter().map(|part| part.origin.file).collect();
        if let Some((origin, samples)) = requests {
            let file = origin.file.clone();
            match divided(&levels, samples) {
                Ok(shares) => {
                    for (part, share) in levels.iter_mut().zip(shares) {
                        part.found.samples = Some(share);
                    }
                    covered.push(file);
                }
                Err(samples) if levels.is_empty() => {
                    let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
                    found.samples = Some(samples);
                    levels.push(Part { origin, stage: false, found });
                }
                Err(_) => {
                    problems.push(Problem::RequestsUnmatched.with([file.as_str()]));
                    covered.push(file);
                }
            }
        }
        let origin = levels.first().map(|part| part.origin.clone())?;
        let of = |file: String| (file, origin.file.clone());
        let covered = covered.into_iter().map(of).collect();
        let head = RunHead {
            label: settings.model.clone(),
            model: settings.model,
            target: settings.target,
            ..RunHead::new(origin)
        };
        let levels = levels.into_iter().map(|part| {
            let rate = part.found.stated.load.kind == LoadKind::Rate;
            StatedLevel { arrival: settings.arrival.filter(|_| rate), ..part.found }
        });
        Some(Finished { head, levels: levels.collect(), covered })
    }
}

/// The requests of each level, if the file has exactly theirs: stages follow one another, and each has
/// stated how many requests it sent, how many were completed, and how long these took.
fn divided(levels: &[Part], mut samples: Vec<Sample>) -> Result<Vec<Vec<Sample>>, Vec<Sample>> {
    let planned = |part: &Part| part.found.stated.requests.planned;
    let counts: Option<Vec<u64>> = levels.iter().map(planned).collect();
    let total = counts.iter().flatten().sum::<u64>();
    let timed = samples.iter().all(|one| one.sent.is_some());
    let Some(counts) = counts.filter(|_| timed && total == samples.len() as u64 && total > 0)
    else {
        return Err(samples);
    };
    let sent = |one: &Sample| one.sent.unwrap_or_default();
    samples.sort_by(|a, b| sent(a).total_cmp(&sent(b)));
    let mut rest = samples.as_slice();
    let mut shares = Vec::new();
    for (part, count) in levels.iter().zip(counts) {
        let (share, after) = rest.split_at(count.min(rest.len() as u64) as usize);
        if !belong(part, share) {
            return Err(samples);
        }
        shares.push(share.to_vec());
        rest = after;
    }
    Ok(shares)
}

fn belong(part: &Part, share: &[Sample]) -> bool {
    let stated = &part.found.stated;
    let ends = share.iter().filter(|one| one.ended == Ended::Completed).filter_map(|one| one.end);
    let ends: Vec<f64> = ends.collect();
    let mean = ends.iter().sum::<f64>() / ends.len().max(1) as f64 * 1e3;
    let theirs = stated.times[Time::Latency].as_ref().and_then(|latency| latency.mean);
    stated.requests.completed == Some(ends.len() as u64)
        && theirs.is_none_or(|theirs| (theirs - mean).abs() <= SAME_LATENCY * theirs)
}

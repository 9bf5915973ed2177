//! A fit from beginning to end: which levels of the runs it uses, the search, and what is reported of the
//! twin that was found.

mod about;
mod by_table;
mod next;
mod progress;
mod records;
mod table;
mod unknown;
mod words;

pub use about::AboutTwin;

use crate::measured::MeasuredRun;
use crate::server;
use crate::trials::Trials;
use crate::usable;
use dyno_engine::twin::Twin;
use dyno_fit::{
    CalibrateOptions, FitOptions, FitProgress, FitSettings, FitTable, Role, calibrate,
    nothing_varies, too_few,
};
use dyno_model::{Language, Message, message};
use std::sync::Arc;
use std::time::Duration;

/// Levels that are needed to see how well one of them is predicted by the others.
const FEWEST: usize = 2;

/// What a fit is made from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Source {
    /// Records where all runs have them and enough levels can be used, else tables.
    #[default]
    Auto,
    /// Every request and every token.
    Records,
    /// The means of each level.
    Table,
}

/// What is asked of a fit.
#[derive(Debug, Clone, Default)]
pub struct FitWanted {
    /// The name of the twin.
    pub name: String,
    /// What its file says of the system.
    pub about: AboutTwin,
    /// What it is made from.
    pub source: Source,
    /// Maximum number of sequences in the server's batch, if it is known.
    pub max_seqs: Option<u32>,
    /// Maximum number of tokens of a step, if it is known.
    pub token_budget: Option<u32>,
}

/// A fit that can begin.
#[derive(Debug)]
pub struct FitJob<'a> {
    /// What should be said first: levels that are left out, and what is about to be done.
    pub notes: Vec<Message>,
    runs: &'a [MeasuredRun],
    wanted: &'a FitWanted,
    language: Language,
    material: Material,
    progress: Arc<FitProgress>,
}

/// What the search gets.
#[derive(Debug)]
enum Material {
    Table(FitTable),
    Records(Trials),
}

/// Why there is no fit.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FitRefused {
    /// What became of each level.
    pub notes: Vec<Message>,
    /// What has to change.
    pub errors: Vec<Message>,
}

/// A twin that was found, and what is to be said of it.
#[derive(Debug)]
pub struct FittedTwin {
    /// The twin.
    pub twin: Twin,
    /// How close it is, and what the data does not show.
    pub text: String,
    /// Why it should not be relied on, if so.
    pub warning: Option<Message>,
}

/// Chooses the levels of these runs, of which there is at least one.
pub fn prepare<'a>(
    runs: &'a [MeasuredRun],
    wanted: &'a FitWanted,
    language: Language,
) -> Result<FitJob<'a>, FitRefused> {
    let job = |(notes, material)| {
        let progress = Arc::default();
        FitJob { notes, runs, wanted, language, material, progress }
    };
    let all_recorded = runs.iter().all(|run| run.records.is_some());
    let found = match wanted.source {
        Source::Records => by_records(runs, language),
        Source::Auto if all_recorded => by_records(runs, language).or_else(|refused| {
            let (mut notes, material) = by_means(runs, wanted, language).map_err(|_| FitRefused {
                notes: refused.notes.clone(),
                errors: refused.errors.clone(),
            })?;
            notes.splice(0..0, refused.notes);
            notes.push(message!(
                "fitting the results of the levels instead: a fit to single requests is not possible",
                "改为拟合各档位的汇总结果：无法逐个请求拟合"
            ));
            Ok((notes, material))
        }),
        Source::Auto | Source::Table => {
            let some =
                wanted.source == Source::Auto && runs.iter().any(|run| run.records.is_some());
            let found = by_means(runs, wanted, language);
            found.map(|(mut notes, material)| {
                notes.extend(some.then(|| {
                    message!(
                        "fitting the results of the levels: not every run has records of single requests",
                        "拟合各档位的汇总结果：不是每个测试都有单个请求的记录"
                    )
                }));
                (notes, material)
            })
        }
    };
    found.map(job)
}

/// Every request of the levels.
fn by_records(
    runs: &[MeasuredRun],
    language: Language,
) -> Result<(Vec<Message>, Material), FitRefused> {
    let without = runs.iter().filter(|run| run.records.is_none());
    let no_records = |run: &MeasuredRun| {
        message!(
            "{} has no records of single requests; use --from table",
            "{} 没有单个请求的记录；请使用 --from table",
            run.summary.run.id
        )
    };
    let errors: Vec<Message> = without.map(no_records).collect();
    if !errors.is_empty() {
        return Err(FitRefused { notes: Vec::new(), errors });
    }
    let unreadable = |error: dyno_record::RecordError| FitRefused {
        notes: Vec::new(),
        errors: vec![message!("the records cannot be read: {error}", "无法读取记录：{error}")],
    };
    let mut trials = Trials::of(runs, language).map_err(unreadable)?;
    trials.leave_foreign_out(FEWEST);
    let mut notes = trials.notes();
    let have = trials.usable.len();
    let differ = |pair: &[dyno_model::plan::LevelPlan]| {
        let what = |plan: &dyno_model::plan::LevelPlan| {
            (plan.load, plan.input_tokens.clone(), plan.output_tokens.clone())
        };
        what(&pair[0]) != what(&pair[1])
    };
    let defect = match &trials.usable[..] {
        usable if usable.len() < FEWEST => Some(too_few(have, trials.count(), FEWEST)),
        [first, ..] if !trials.loads.windows(2).any(differ) => Some(nothing_varies(&first.label)),
        _ => None,
    };
    if let Some(defect) = defect {
        return Err(FitRefused { notes, errors: vec![defect] });
    }
    notes.extend(trials.hidden());
    notes.extend(trials.unchecked());
    notes.push(message!(
        "fitting {have} levels, request by request; this takes from a few seconds to some minutes",
        "正在逐个请求拟合 {have} 个档位，需要几秒到几分钟"
    ));
    Ok((notes, Material::Records(trials)))
}

/// The means of the levels.
fn by_means(
    runs: &[MeasuredRun],
    wanted: &FitWanted,
    language: Language,
) -> Result<(Vec<Message>, Material), FitRefused> {
    let table = table::table(&wanted.name, runs, wanted.max_seqs, language);
    let left_out = table.levels.iter().filter_map(|level| match &level.role {
        Role::LeftOut(why) => Some((level.label.as_str(), why)),
        Role::Fitted | Role::HeldOut => None,
    });
    let mut notes = usable::notes(left_out, usable::left_out);
    let errors = dyno_fit::defects(&table);
    if !errors.is_empty() {
        return Err(FitRefused { notes, errors });
    }
    notes.push(message!(
        "fitting {} levels; this takes from a few seconds to some minutes",
        "正在拟合 {} 个档位，需要几秒到几分钟",
        table.fitted().count()
    ));
    Ok((notes, Material::Table(table)))
}

impl FitJob<'_> {
    /// How far it has come.
    pub fn line(&self, elapsed: Duration) -> String {
        progress::line(self.progress.state(), elapsed, self.language)
    }

    /// Searches; takes seconds to minutes.
    pub fn work(&self) -> Result<FittedTwin, Message> {
        let mut found = match &self.material {
            Material::Table(table) => self.to_table(table)?,
            Material::Records(trials) => self.to_records(trials)?,
        };
        self.wanted.about.write(&mut found.twin, self.runs);
        Ok(found)
    }

    fn to_table(&self, table: &FitTable) -> Result<FittedTwin, Message> {
        let mut options =
            FitOptions { progress: Arc::clone(&self.progress), ..FitOptions::default() };
        if let Some(budget) = self.wanted.token_budget {
            options.token_budgets = vec![budget];
        }
        let found = dyno_fit::fit(table, &options).map_err(Message::of)?;
        let text = by_table::report(&found, self.language);
        let warning = by_table::warning(&found.leave_one_out);
        Ok(FittedTwin { twin: found.twin, text, warning })
    }

    fn to_records(&self, trials: &Trials) -> Result<FittedTwin, Message> {
        let known = FitSettings {
            max_seqs: self.wanted.max_seqs,
            token_budget: self.wanted.token_budget,
            kv_tokens: trials.server.kv_tokens(),
            block: trials.server.block(),
            prefix_cache: trials.server.prefix_cache(),
            context: server::context(self.runs),
        };
        let threads = FitOptions::default().threads;
        let progress = Arc::clone(&self.progress);
        let options = CalibrateOptions { threads, progress, without: Vec::new() };
        let found = calibrate(&trials.usable, &trials.steps, &known, &options).ok_or_else(|| {
            message!(
                "no engine could serve these requests; check the prompt lengths, --max-seqs and \
                 --token-budget",
                "没有引擎能处理这些请求；请检查提示词长度、--max-seqs 和 --token-budget"
            )
        })?;
        let twin = found.twin(&self.wanted.name);
        let mut text = records::report(&found, &twin, self.language);
        text.push_str(&next::runs(&found.next_runs, self.runs, self.language));
        let warning = records::warning(&found);
        Ok(FittedTwin { twin, text, warning })
    }
}

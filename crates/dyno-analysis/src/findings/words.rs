//! The findings in words, with what to do about each.

use super::{Finding, NoInterval, NoWindow};
use dyno_model::Language;
use dyno_words::escape::escape;
use dyno_words::{Told, noted};

pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value == 0.0 || value >= 10.0 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// Values as they are shown.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($value.to_string()),*] };
}
pub(super) use values;

/// A number with so many digits behind the point.
pub(super) fn digits(value: f64, count: usize) -> String {
    format!("{value:.count$}")
}

/// A share as a change in percent, with its sign.
pub(super) fn change(share: f64) -> String {
    format!("{:+.0}", share * 100.0)
}

impl Finding {
    /// What was seen, and what to do, in a language.
    pub(super) fn words(&self, language: Language) -> (String, Option<String>) {
        let (what, values, advice) = match self {
            Self::Noted(note) => return noted(note, language),
            Self::OverTime(found) => return found.words(language),
            Self::Server(found) => return found.words(language),
            Self::SendLag { p99_ms, limit_ms } => {
                let values = vec![digits(*p99_ms, 1), digits(*limit_ms, 1)];
                (Told::SendLag, values, Told::ClientIsSlow)
            }
            Self::ReadLag { timer, p99_ms, limit_ms } => {
                let values = vec![digits(*p99_ms, 1), digits(*limit_ms, 1)];
                (if *timer { Told::TimerLag } else { Told::ReadLag }, values, Told::ClientIsSlow)
            }
            Self::OutOfFiles(n) => (Told::OutOfFiles, values![n], Told::RaiseFiles),
            Self::OutOfPorts(n) => (Told::OutOfPorts, values![n], Told::WidenPorts),
            Self::OffSchedule { sent, scheduled } => {
                let off = (*scheduled as f64 - *sent as f64).abs() / *scheduled as f64;
                (Told::OffSchedule, values![sent, scheduled, percent(off)], Told::LowerRate)
            }
            Self::EngineSlip { p99_ms, limit_ms } => {
                let values = vec![digits(*p99_ms, 1), digits(*limit_ms, 1)];
                (Told::EngineSlip, values, Told::MachineTooBusy)
            }
            Self::RecordsMissing { records, issued, warmup } => {
                let what = if *warmup { Told::WarmupRecordsMissing } else { Told::RecordsMissing };
                (what, values![records, issued], Told::RecordsWrong)
            }
            Self::ShortOfPlan { issued, planned } => {
                (Told::ShortOfPlan, values![issued, planned], Told::PlanNotMet)
            }
            Self::Partial => (Told::Partial, vec![], Told::RunAgain),
            Self::Interrupted => (Told::Interrupted, vec![], Told::RunAgain),
            Self::TargetLost => (Told::TargetLost, vec![], Told::SeeFailuresAndLog),
            Self::Aborted => (Told::Aborted, vec![], Told::SeeError),
            Self::NothingCompleted => (Told::NothingCompleted, vec![], Told::NeedsTime),
            Self::NothingMeasured { warmup: 0 } => (Told::NothingDue, vec![], Told::GiveMore),
            Self::NothingMeasured { warmup } => {
                (Told::OnlyWarmup, values![warmup], Told::LowerWarmup)
            }
            Self::Failures { failed, ended, allowed } => {
                let share = percent(*failed as f64 / *ended as f64);
                let values = values![failed, ended, share, percent(*allowed)];
                (Told::Failures, values, Told::OfSurvivors)
            }
            Self::Coalesced(share) => (Told::Coalesced, vec![percent(*share)], Told::Buffered),
            Self::MixedSources { input, output } => {
                let what = match (input, output) {
                    (true, true) => Told::MixedBoth,
                    (true, false) => Told::MixedInput,
                    _ => Told::MixedOutput,
                };
                (what, vec![], Told::SendUsage)
            }
            Self::NoSteadyWindow(why) => words_of_no_window(*why),
            Self::PastCapacity { rate, low, high } => {
                let values = values![rate, digits(*low, 3), digits(*high, 3)];
                (Told::PastCapacity, values, Told::ReadCapacity)
            }
            Self::SloSamples(few) => {
                let each = few.iter().map(|few| {
                    let values = values![few.figure, few.samples, few.needed];
                    Told::SamplesOf.with(language, &values)
                });
                let each = each.collect::<Vec<_>>().join(language.comma());
                (Told::SloSamples, vec![each], Told::GiveSamples)
            }
            Self::ClockStepped(ms) => {
                (Told::ClockStepped, vec![format!("{ms:+.0}")], Told::CheckTime)
            }
            Self::InputLength { asked, mean } => {
                let values = vec![digits(*asked, 1), digits(*mean, 1)];
                (Told::InputLength, values, Told::GiveTokenizer)
            }
            Self::OutputLength { short, of, mean, asked } => {
                let values = values![short, of, digits(*mean, 1), digits(*asked, 1)];
                (Told::OutputLength, values, Told::CompareByTokens)
            }
            Self::TokensUnknown { input, output } => {
                (Told::TokensUnknown, values![input, output], Told::SumsLeftOut)
            }
            Self::NoTerminal { streams, of } => {
                (Told::NoTerminal, values![streams, of], Told::ServerIsSloppy)
            }
            Self::FirstChunk { streams, of } => {
                (Told::FirstChunk, values![streams, of], Told::TtftIncludes)
            }
            Self::OneBurst { streams, of } => {
                (Told::OneBurst, values![streams, of], Told::LookForBuffering)
            }
            Self::NoTokenTimes { streams, of } => {
                (Told::NoTokenTimes, values![streams, of], Told::ChunksStandIn)
            }
            Self::SurvivorsOnly(n) => (Told::SurvivorsOnly, values![n], Told::LooksBetter),
            Self::Resent(n) => (Told::Resent, values![n], Told::ClosesEarly),
            Self::SessionsBroken { broken, started } => {
                (Told::SessionsBroken, values![broken, started], Told::ThatLasted)
            }
            Self::Stragglers { requests, stretched_s, duration_s } => {
                let values = values![requests, digits(*stretched_s, 1), digits(*duration_s, 1)];
                (Told::Stragglers, values, Told::ReadSteady)
            }
            Self::NoIntervals(NoInterval::Burst) => {
                (Told::NoIntervalBurst, vec![], Told::RepeatBurst)
            }
            Self::NoIntervals(NoInterval::FewBlocks { blocks }) => {
                (Told::NoIntervalBlocks, values![blocks], Told::RunLonger)
            }
            Self::Damaged(how) => (Told::Damaged, vec![escape(how, 200)], Told::BeforeDamage),
            Self::PlanDiffers => (Told::PlanDiffers, vec![], Told::DoNotMix),
            Self::LevelsNotRun { ran, planned } => {
                (Told::LevelsNotRun, values![ran, planned], Told::Resume)
            }
            Self::BegunAgain { labels } => {
                let labels = escape(&labels.join(", "), 200);
                (Told::BegunAgain, vec![labels], Told::FirstDoesNotCount)
            }
            Self::SloNotMet(slo) => (Told::SloNotMet, values![slo], Told::OfferLess),
        };
        (what.with(language, &values), Some(advice.text(language).to_owned()))
    }
}

/// What was seen, the values in it, and what to do.
type Words = (Told, Vec<String>, Told);

fn words_of_no_window(why: NoWindow) -> Words {
    match why {
        NoWindow::SlotsMissing { seen, of } => {
            (Told::SlotsMissing, values![seen, of], Told::SendSeveralTimes)
        }
        NoWindow::TooShort { window_s, needed_s } => {
            let values = vec![digits(window_s, 2), digits(needed_s, 2)];
            (Told::WindowTooShort, values, Told::IncludesFilling)
        }
        NoWindow::FewTurns { window_s, needed_s } => {
            let values = vec![digits(window_s, 2), digits(needed_s, 2)];
            (Told::FewTurns, values, Told::IncludesFilling)
        }
        NoWindow::Idle { window_s } => (Told::Idle, vec![digits(window_s, 2)], Told::TooFarApart),
        NoWindow::TraceTrend { growth, arrivals: None } => {
            (Told::TraceTrendAlone, vec![change(growth)], Told::ReplaySlower)
        }
        NoWindow::TraceTrend { growth, arrivals: Some(arrivals) } => {
            (Told::TraceTrend, vec![change(growth), change(arrivals)], Told::ReplaySlower)
        }
        NoWindow::Saturated { surplus } => {
            (Told::Saturated, vec![digits(100.0 * surplus, 0)], Told::QueueGrows)
        }
        NoWindow::Trend { growth } => {
            let advice = if growth > 0.0 { Told::FallsBehind } else { Told::StillSettling };
            (Told::Trend, vec![change(growth)], advice)
        }
    }
}

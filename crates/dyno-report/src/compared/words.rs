//! The texts of a comparison, in English and Chinese.

use dyno_analysis::compare::{
    Answer, Called, Cell, Check, Compared, Comparison, Difference, Note, Rests,
};
use dyno_model::Language;
use dyno_model::metric::{Group, Metric, Statistic};
use dyno_words::messages;

messages! {
    /// A text of a comparison.
    pub(super) enum Word;

    Load: "load", "负载";
    Figure: "metric", "指标";
    Change: "change", "变化";
    Interval: "95 % interval", "95 % 置信区间";
    Verdict: "verdict", "判定";
    Capacity: "capacity at", "满足以下 SLO 的容量：";
    Holds: "up to", "最高";
    NotTried: "inconclusive", "无法判定";
    Cost: "price/M output tokens", "每百万输出 token 价格";
    Faster: "{} is {} faster", "{} 快 {}";
    Slower: "{} is {} slower", "{} 慢 {}";
    Higher: "{} is {} higher", "{} 高 {}";
    Lower: "{} is {} lower", "{} 低 {}";
    BriefFaster: "faster", "更快";
    BriefSlower: "slower", "更慢";
    BriefHigher: "higher", "更高";
    BriefLower: "lower", "更低";
    BriefNoLarger: "within {}", "差异不超过 {}";
    BriefMoreRuns: "needs {} more {0|run|runs}", "需再测 {} 次";
    BriefHopeless: "not enough data", "数据不足";
    NoLarger: "no difference larger than {}", "差异不超过 {}";
    MoreRuns: "not enough data: about {} more {0|run|runs} of each needed", "数据不足：双方各约需再测 {} 次";
    Hopeless:
        "not enough data; even hundreds of runs would not be enough",
        "数据不足，且再测数百次也难以判定";
    Headline:
        "{} vs {}, {} tests, corrected for multiple comparisons: better in {}, worse in {}, no \
         difference larger than {} in {}, not enough data in {}",
        "{} 对比 {}，共 {} 项检验（已做多重比较校正）：更好 {} 项，更差 {} 项，差异不超过 {} {} 项，\
         数据不足 {} 项";
    OneRunEach:
        "one run of each: a run-to-run variation of {} is assumed, not measured; use --repeat for \
         intervals based on measurements",
        "双方各只有一次测试：假定各次测试之间相差 {}，并非实测；可用 --repeat 重复测试以得到基于实测的置信区间";
    OneAgainstSeveral:
        "one run against several: it is assumed to vary as they do",
        "一次对多次：假定其波动与多次的一方相同";
    Rounds: "intervals are based on the spread between rounds", "置信区间来自各轮之间的离散程度";
    Paired:
        "intervals are based on the differences within interleaved rounds",
        "置信区间来自交替测试各轮内的差异";
    Interpolated:
        "≈: this load was not measured; the value is interpolated between two loads, and not tested",
        "≈：没有该负载的测试；数值由相邻负载插值得到，不参与检验";
    InvalidLeftOut: "invalid levels are left out", "无效的档位未计入";
    OtherModel: "the models have different names", "模型名称不同";
    OtherLengths:
        "prompts or responses differ in length by more than 5 %: compare tokens, not requests",
        "提示词或响应长度相差超过 5 %：请按 token 而非请求对比";
    Varies:
        "with one run of each, the run-to-run variation is an assumption",
        "双方各只测一次时，各次测试之间的波动只是假设";
    OtherTools:
        "the metrics of {} are those of {}, which may define them differently",
        "{} 的指标由 {} 得出，定义可能不同";
    OtherApi: "the runs used different APIs: {}", "各方使用的 API 不同：{}";
    ShedNote:
        "the server shed {}: times and rates cover only the requests that completed, and look better \
         for it",
        "服务器因过载拒绝了部分请求（{}）：时延与吞吐量只统计成功的请求，因而显得更好";
    SentAgain:
        "refused requests were sent again (--on-shed retry) {}: their latencies include those waits",
        "被拒绝的请求重新发送过（--on-shed retry；{}）：其时延包含这些等待";
    ShareOf: "{} of the requests of {}", "{1} 的 {0}";
    ShareIn: "for {} of the requests of {}", "{1} 的 {0}";
    ShedShare: "shed %", "过载拒绝率 %";
    Simulated: "SIMULATED: at least one side is simulated", "模拟：至少一方为模拟结果";
    NothingInCommon: "the runs have no load in common", "各方没有相同的负载";
    NoInterval: "no confidence interval: too few samples or rounds", "没有置信区间：样本或轮次过少";
    ColumnsHidden:
        "{} {0|column|columns} hidden; a wider terminal or --format markdown shows all",
        "隐藏了 {} 列；加宽终端或使用 --format markdown 可显示全部";
    OneRound: "; about one more round would decide it", "；双方各约需再测 1 轮";
    MoreRounds: "; about {} more rounds of each would decide it", "；双方各约需再测 {} 轮";
    Pass: "pass", "通过";
    Fail: "fail", "未通过";
    CannotTell: "inconclusive", "无法判定";
}

/// The name of a metric in a table.
pub(super) fn metric_title(compared: Compared, language: Language) -> String {
    if compared.is_shed() {
        return Word::ShedShare.text(language).to_owned();
    }
    let info = compared.metric.info();
    let name = language.choose(info.short);
    let unit = match info.group {
        Group::Work => String::new(),
        _ => format!(" {}", info.unit.name()),
    };
    match (compared.statistic, language) {
        (None, _) => format!("{}{unit}", language.choose(info.title).to_lowercase()),
        (Some(Statistic::Mean), Language::Chinese) => {
            format!("平均{}{name}{unit}", if name.is_ascii() { " " } else { "" })
        }
        (Some(statistic), _) => format!("{name} {}{unit}", statistic.name()),
    }
}

/// A share as a percentage with its sign.
pub(super) fn signed(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The verdict on a difference, for the side called `name`.
pub(super) fn called(difference: &Difference, name: &str, language: Language) -> String {
    let (word, values) = match (difference.called, difference.metric.is_time()) {
        (Called::Better, true) => (Word::Faster, vec![]),
        (Called::Better, false) => (Word::Higher, vec![]),
        (Called::Worse, true) => (Word::Slower, vec![]),
        (Called::Worse, false) => (Word::Lower, vec![]),
        (Called::NoLargerThan { share }, _) => (Word::NoLarger, vec![percent(share)]),
        (Called::NotEnough { more_runs: Some(more) }, _) => {
            (Word::MoreRuns, vec![more.to_string()])
        }
        (Called::NotEnough { more_runs: None }, _) => (Word::Hopeless, vec![]),
    };
    let size = || vec![name.to_owned(), percent(difference.change.abs())];
    word.with(language, &if values.is_empty() { size() } else { values })
}

/// The same in a word or two, without the side.
pub(super) fn briefly(difference: &Difference, language: Language) -> String {
    let (word, value) = match (difference.called, difference.metric.is_time()) {
        (Called::Better, true) => (Word::BriefFaster, String::new()),
        (Called::Better, false) => (Word::BriefHigher, String::new()),
        (Called::Worse, true) => (Word::BriefSlower, String::new()),
        (Called::Worse, false) => (Word::BriefLower, String::new()),
        (Called::NoLargerThan { share }, _) => (Word::BriefNoLarger, percent(share)),
        (Called::NotEnough { more_runs: Some(more) }, _) => (Word::BriefMoreRuns, more.to_string()),
        (Called::NotEnough { more_runs: None }, _) => (Word::BriefHopeless, String::new()),
    };
    word.with(language, &[value])
}

/// The tests of one side, summed up in one line.
pub(super) fn headline(comparison: &Comparison, side: usize, language: Language) -> Option<String> {
    let of_side = || comparison.differences.iter().filter(|test| test.side == side);
    let tests = of_side().count();
    let count =
        |is: fn(&Called) -> bool| of_side().filter(|test| is(&test.called)).count().to_string();
    let [first, own] = [0, side].map(|side| comparison.sides[side].name.clone());
    let values = [
        own,
        first,
        tests.to_string(),
        count(|called| matches!(called, Called::Better)),
        count(|called| matches!(called, Called::Worse)),
        percent(comparison.margin),
        count(|called| matches!(called, Called::NoLargerThan { .. })),
        count(|called| matches!(called, Called::NotEnough { .. })),
    ];
    (tests > 0).then(|| Word::Headline.with(language, &values))
}

/// What the intervals are based on.
pub(super) fn rests(comparison: &Comparison, language: Language) -> Option<String> {
    let (word, assumed) = match comparison.differences.first()?.rests {
        Rests::OneRunEach { assumed } => (Word::OneRunEach, percent(assumed)),
        Rests::OneAgainstSeveral => (Word::OneAgainstSeveral, String::new()),
        Rests::Rounds => (Word::Rounds, String::new()),
        Rests::Paired => (Word::Paired, String::new()),
    };
    Some(word.with(language, &[assumed]))
}

/// A note of a comparison.
pub(super) fn note(note: Note, comparison: &Comparison, language: Language) -> String {
    let word = match note {
        Note::Interpolated => Word::Interpolated,
        Note::InvalidLeftOut => Word::InvalidLeftOut,
        Note::OtherModel => Word::OtherModel,
        Note::OtherLengths => Word::OtherLengths,
        Note::OneRunEach => Word::Varies,
        Note::OtherTools => {
            let others = comparison.sides.iter().filter_map(|side| {
                let tool = &side.origin.as_ref()?.tool;
                Some(Word::OtherTools.with(language, &[side.name.clone(), tool.clone()]))
            });
            return others.collect::<Vec<_>>().join(language.choose(["; ", "；"]));
        }
        Note::OtherApi => {
            let apis: Vec<&str> =
                comparison.sides.iter().map(|side| side.api.as_deref().unwrap_or("–")).collect();
            return Word::OtherApi.with(language, &[apis.join(language.comma())]);
        }
        Note::Shed => {
            let shed = shares(comparison, Word::ShareOf, language, Cell::shed);
            return Word::ShedNote.with(language, &[shed]);
        }
        Note::SentAgain => {
            let again = shares(comparison, Word::ShareIn, language, |cell| cell.sent_again);
            return Word::SentAgain.with(language, &[again]);
        }
        Note::Simulated => Word::Simulated,
        Note::NothingInCommon => Word::NothingInCommon,
    };
    word.text(language).to_owned()
}

/// The largest share of each side that has one.
fn shares(
    comparison: &Comparison,
    word: Word,
    language: Language,
    of: impl Fn(&Cell) -> Option<f64>,
) -> String {
    let each = comparison.sides.iter().enumerate().filter_map(|(place, side)| {
        let cells = comparison.points.iter().filter_map(|point| point.cells.get(place)?.as_ref());
        let most = cells.filter_map(&of).filter(|share| *share > 0.0).max_by(f64::total_cmp)?;
        Some(word.with(language, &[percent(most), side.name.clone()]))
    });
    each.collect::<Vec<_>>().join(language.comma())
}

/// What makes the two sides of a gate different work.
pub fn caveats(comparison: &Comparison, language: Language) -> Vec<String> {
    let notes = comparison.notes.iter().filter(|note| note.is_caveat());
    notes.map(|caveat| note(*caveat, comparison, language)).collect()
}

/// The result of one check of a gate, in one line.
pub fn check_line(check: &Check, language: Language) -> String {
    if check.metric.is_shed() {
        let [first, own] = check.values.map(|share| share.map_or_else(|| "–".into(), percent));
        let name = Metric::Shed.label(language).to_lowercase();
        return format!("{}, {name}: {first} → {own}", check.load);
    }
    let change = match (check.change, check.interval) {
        (Some(change), Some([low, high])) => {
            format!("{} ({:+.1} … {:+.1} %)", signed(change), low * 100.0, high * 100.0)
        }
        _ => Word::NoInterval.text(language).to_owned(),
    };
    let more = match check.more_runs {
        None => String::new(),
        Some(1) => Word::OneRound.text(language).to_owned(),
        Some(more) => Word::MoreRounds.with(language, &[more.to_string()]),
    };
    format!("{}, {}: {change}{more}", check.load, metric_title(check.metric, language))
}

/// The answer of a gate, in a word.
pub fn answer(answer: Answer, language: Language) -> &'static str {
    let word = match answer {
        Answer::Pass => Word::Pass,
        Answer::Fail => Word::Fail,
        Answer::CannotTell => Word::CannotTell,
    };
    word.text(language)
}

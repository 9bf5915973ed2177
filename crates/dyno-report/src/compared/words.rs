//! What a comparison says, in English and Chinese.

use dyno_analysis::compare::{
    Answer, Called, Check, Compared, Comparison, Difference, Note, Rests,
};
use dyno_model::Language;
use dyno_model::metric::{Group, Statistic};
use dyno_words::messages;

messages! {
    /// Something that a comparison says.
    pub(super) enum Word;

    Load: "load", "负载";
    Figure: "figure", "指标";
    Change: "change", "变化";
    Interval: "95 % interval", "95 % 置信区间";
    Verdict: "verdict", "结论";
    Capacity: "capacity at", "满足以下目标的容量：";
    Holds: "holds", "可承受";
    NotTried: "inconclusive", "无法判定";
    Cost: "price/M output tokens", "每百万输出 token 价格";
    Faster: "{} is {} faster", "{} 快 {}";
    Slower: "{} is {} slower", "{} 慢 {}";
    Higher: "{} is {} higher", "{} 高 {}";
    Lower: "{} is {} lower", "{} 低 {}";
    NoLarger: "no difference larger than {}", "差异不超过 {}";
    MoreRuns: "not enough data: about {} more {0|run|runs} of each", "数据不足：双方各约需再测 {} 次";
    Hopeless:
        "not enough data, and hundreds of runs would not do",
        "数据不足，且再测数百次也难以判定";
    Headline:
        "{} against {}, {} tests corrected for their number: better in {}, worse in {}, no \
         difference larger than {} in {}, not enough data in {}",
        "{} 对比 {}，共 {} 项检验（已做多重比较校正）：更好 {} 项，更差 {} 项，差异不超过 {} {} 项，\
         数据不足 {} 项";
    OneRunEach:
        "one run of each: that runs differ by {} among themselves is assumed, not measured; repeat \
         with --repeat for intervals that rest on measurements",
        "双方各只有一次测试：假定各次测试之间相差 {}，并非实测；可用 --repeat 重复测试以得到实测区间";
    OneAgainstSeveral:
        "one run against several: it is taken to vary as they do",
        "一次对多次：假定其波动与多次的一方相同";
    Rounds: "intervals rest on the spread between rounds", "区间来自各轮之间的离散程度";
    Paired:
        "intervals rest on the differences within interleaved rounds",
        "区间来自交替测试各轮内的差异";
    Interpolated:
        "~: there was no such level; the figure is read off the curve between two loads, and is not \
         tested",
        "~：没有该负载的测试；数值由相邻负载插值得到，不参与检验";
    InvalidLeftOut: "invalid levels are left out", "无效的负载未计入";
    OtherModel: "the models have different names", "模型名称不同";
    OtherLengths:
        "prompts or answers differ in length by more than 5 %: compare tokens, not requests",
        "提示或回答长度相差超过 5 %：请比较 token，而非请求";
    Varies:
        "with one run of each, day-to-day variation is an assumption",
        "双方各只测一次时，日常波动只是假设";
    OtherTools:
        "some figures are another tool's, and may be defined otherwise; see `dyno lint`",
        "部分数值来自其他工具，定义可能不同；参见 `dyno lint`";
    Simulated: "SIMULATED: a side is no real model", "模拟：其中一方并非真实模型";
    NothingInCommon: "no load is common to the sides", "各方没有相同的负载";
    NoInterval: "no interval: too few samples or rounds", "没有置信区间：样本或轮次过少";
    OneRound: "; about one more round would settle it", "；双方各约需再测 1 轮";
    MoreRounds: "; about {} more rounds of each would settle it", "；双方各约需再测 {} 轮";
    Pass: "pass", "通过";
    Fail: "fail", "未通过";
    CannotTell: "inconclusive", "无法判定";
}

/// The name of a figure in a table.
pub(super) fn metric_title(compared: Compared, language: Language) -> String {
    let info = compared.metric.info();
    let name = language.choose(info.plain());
    let unit = match info.group {
        Group::Work => String::new(),
        _ => format!(" {}", info.unit.name()),
    };
    match (compared.statistic, language) {
        (None, _) => format!("{}{unit}", language.choose(info.title).to_lowercase()),
        (Some(Statistic::Mean), Language::Chinese) => format!("平均{name}{unit}"),
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

/// The verdict on a difference in words, for the side that is called `name`.
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

/// What the tests of one side come to.
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

/// What the intervals rest on.
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
pub(super) fn note(note: Note, language: Language) -> &'static str {
    let word = match note {
        Note::Interpolated => Word::Interpolated,
        Note::InvalidLeftOut => Word::InvalidLeftOut,
        Note::OtherModel => Word::OtherModel,
        Note::OtherLengths => Word::OtherLengths,
        Note::OneRunEach => Word::Varies,
        Note::OtherTools => Word::OtherTools,
        Note::Simulated => Word::Simulated,
        Note::NothingInCommon => Word::NothingInCommon,
    };
    word.text(language)
}

/// What a check of a gate saw, in one line.
pub fn check_line(check: &Check, language: Language) -> String {
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

/// What a gate says, in a word or two.
pub fn answer(answer: Answer, language: Language) -> &'static str {
    let word = match answer {
        Answer::Pass => Word::Pass,
        Answer::Fail => Word::Fail,
        Answer::CannotTell => Word::CannotTell,
    };
    word.text(language)
}

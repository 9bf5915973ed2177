//! What a comparison says, in English and Chinese.

use dyno_analysis::compare::{
    Answer, Called, Check, Compared, Comparison, Difference, Note, Rests,
};
use dyno_model::Language;
use dyno_model::metric::{Group, Statistic};

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

fn pick<T>(language: Language, english: T, chinese: T) -> T {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

/// A share as a percentage with its sign.
pub(super) fn signed(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The verdict on a difference in words, for the side that is called `name`.
pub(super) fn called(difference: &Difference, name: &str, language: Language) -> String {
    let size = percent(difference.change.abs());
    let time = difference.metric.is_time();
    match (difference.called, language) {
        (Called::Better, Language::English) => {
            format!("{name} is {size} {}", if time { "faster" } else { "higher" })
        }
        (Called::Worse, Language::English) => {
            format!("{name} is {size} {}", if time { "slower" } else { "lower" })
        }
        (Called::NoLargerThan { share }, Language::English) => {
            format!("no difference larger than {}", percent(share))
        }
        (Called::NotEnough { more_runs: Some(more) }, Language::English) => {
            format!(
                "not enough data: about {more} more {} of each",
                if more == 1 { "run" } else { "runs" }
            )
        }
        (Called::NotEnough { more_runs: None }, Language::English) => {
            "not enough data, and hundreds of runs would not do".to_owned()
        }
        (Called::Better, Language::Chinese) => {
            format!("{name} {}{size}", if time { "快 " } else { "高 " })
        }
        (Called::Worse, Language::Chinese) => {
            format!("{name} {}{size}", if time { "慢 " } else { "低 " })
        }
        (Called::NoLargerThan { share }, Language::Chinese) => {
            format!("差异不超过 {}", percent(share))
        }
        (Called::NotEnough { more_runs: Some(more) }, Language::Chinese) => {
            format!("数据不足：双方各约需再测 {more} 次")
        }
        (Called::NotEnough { more_runs: None }, Language::Chinese) => {
            "数据不足，且再测数百次也难以判定".to_owned()
        }
    }
}

/// What the tests of one side come to.
pub(super) fn headline(comparison: &Comparison, side: usize, language: Language) -> Option<String> {
    let of_side = || comparison.differences.iter().filter(|test| test.side == side);
    let tests = of_side().count();
    if tests == 0 {
        return None;
    }
    let count = |is: fn(&Called) -> bool| of_side().filter(|test| is(&test.called)).count();
    let better = count(|called| matches!(called, Called::Better));
    let worse = count(|called| matches!(called, Called::Worse));
    let none = count(|called| matches!(called, Called::NoLargerThan { .. }));
    let unsure = count(|called| matches!(called, Called::NotEnough { .. }));
    let [first, own] = [0, side].map(|side| comparison.sides[side].name.as_str());
    let margin = percent(comparison.margin);
    Some(match language {
        Language::English => format!(
            "{own} against {first}, {tests} tests corrected for their number: better in {better}, \
             worse in {worse}, no difference larger than {margin} in {none}, not enough data in \
             {unsure}"
        ),
        Language::Chinese => format!(
            "{own} 对比 {first}，共 {tests} 项检验（已做多重比较校正）：更好 {better} 项，更差 {worse} \
             项，差异不超过 {margin} {none} 项，数据不足 {unsure} 项"
        ),
    })
}

/// What the intervals rest on.
pub(super) fn rests(comparison: &Comparison, language: Language) -> Option<String> {
    let rests = comparison.differences.first()?.rests;
    Some(match (rests, language) {
        (Rests::OneRunEach { assumed }, Language::English) => format!(
            "one run of each: that runs differ by {} among themselves is assumed, not measured; \
             repeat with --repeat for intervals that rest on measurements",
            percent(assumed)
        ),
        (Rests::OneAgainstSeveral, Language::English) => {
            "one run against several: it is taken to vary as they do".to_owned()
        }
        (Rests::Rounds, Language::English) => {
            "intervals rest on the spread between rounds".to_owned()
        }
        (Rests::Paired, Language::English) => {
            "intervals rest on the differences within interleaved rounds".to_owned()
        }
        (Rests::OneRunEach { assumed }, Language::Chinese) => format!(
            "双方各只有一次测试：假定各次测试之间相差 {}，并非实测；可用 --repeat 重复测试以得到实测区间",
            percent(assumed)
        ),
        (Rests::OneAgainstSeveral, Language::Chinese) => {
            "一次对多次：假定其波动与多次的一方相同".to_owned()
        }
        (Rests::Rounds, Language::Chinese) => "区间来自各轮之间的离散程度".to_owned(),
        (Rests::Paired, Language::Chinese) => "区间来自交替测试各轮内的差异".to_owned(),
    })
}

/// A note of a comparison.
pub(super) fn note(note: Note, language: Language) -> &'static str {
    let [english, chinese] = match note {
        Note::Interpolated => [
            "~: there was no such level; the figure is read off the curve between two loads, and \
                 is not tested",
            "~：没有该负载的测试；数值由相邻负载插值得到，不参与检验",
        ],
        Note::InvalidLeftOut => ["invalid levels are left out", "无效的负载未计入"],
        Note::OtherModel => ["the models have different names", "模型名称不同"],
        Note::OtherLengths => [
            "prompts or answers differ in length by more than 5 %: compare tokens, not requests",
            "提示或回答长度相差超过 5 %：请比较 token，而非请求",
        ],
        Note::OneRunEach => [
            "with one run of each, day-to-day variation is an assumption",
            "双方各只测一次时，日常波动只是假设",
        ],
        Note::OtherTools => [
            "some figures are another tool's, and may be defined otherwise; see `dyno lint`",
            "部分数值来自其他工具，定义可能不同；参见 `dyno lint`",
        ],
        Note::Simulated => ["SIMULATED: a side is no real model", "模拟：其中一方并非真实模型"],
        Note::NothingInCommon => ["no load is common to the sides", "各方没有相同的负载"],
    };
    pick(language, english, chinese)
}

/// Words of the tables.
pub(super) enum Word {
    Load,
    Figure,
    Change,
    Interval,
    Verdict,
    Capacity,
    Holds,
    NotTried,
    Cost,
}

impl Word {
    pub(super) fn text(self, language: Language) -> &'static str {
        let [english, chinese] = match self {
            Self::Load => ["load", "负载"],
            Self::Figure => ["figure", "指标"],
            Self::Change => ["change", "变化"],
            Self::Interval => ["95 % interval", "95 % 置信区间"],
            Self::Verdict => ["verdict", "结论"],
            Self::Capacity => ["capacity at", "满足以下目标的容量："],
            Self::Holds => ["holds", "可承受"],
            Self::NotTried => ["cannot be told", "无法判断"],
            Self::Cost => ["price/M output tokens", "每百万输出 token 价格"],
        };
        pick(language, english, chinese)
    }
}

/// What a check of a gate saw, in one line.
pub fn check_line(check: &Check, language: Language) -> String {
    let change = match (check.change, check.interval) {
        (Some(change), Some([low, high])) => {
            format!("{} ({:+.1} … {:+.1} %)", signed(change), low * 100.0, high * 100.0)
        }
        _ => match language {
            Language::English => "no interval: too few samples or rounds".to_owned(),
            Language::Chinese => "没有置信区间：样本或轮次过少".to_owned(),
        },
    };
    let more = check.more_runs.map(|more| match language {
        Language::English if more == 1 => "; about one more round would settle it".to_owned(),
        Language::English => format!("; about {more} more rounds of each would settle it"),
        Language::Chinese => format!("；双方各约需再测 {more} 轮"),
    });
    format!(
        "{}, {}: {change}{}",
        check.load,
        metric_title(check.metric, language),
        more.unwrap_or_default()
    )
}

/// What a gate says, in a word or two.
pub fn answer(answer: Answer, language: Language) -> &'static str {
    match (answer, language) {
        (Answer::Pass, Language::English) => "pass",
        (Answer::Fail, Language::English) => "fail",
        (Answer::CannotTell, Language::English) => "cannot tell",
        (Answer::Pass, Language::Chinese) => "通过",
        (Answer::Fail, Language::Chinese) => "未通过",
        (Answer::CannotTell, Language::Chinese) => "无法判断",
    }
}

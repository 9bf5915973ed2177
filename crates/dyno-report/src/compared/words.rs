//! The texts of a comparison, in English and Chinese.

use dyno_analysis::compare::{
    Called, Compared, ComparedCell, Comparison, ComparisonNote, Difference, GateAnswer, GateCheck,
    Gated, HeldCapacity, Rests, SideSummary, WhyDifferent,
};
use dyno_model::Language;
use dyno_model::metric::{Metric, MetricGroup, Statistic};
use dyno_words::columns::number;
use dyno_words::escape::escape;
use dyno_words::{level_name, messages};

messages! {
    /// A text of a comparison.
    pub(super) enum Word;

    Load: "load", "负载";
    Figure: "metric", "指标";
    Change: "change", "变化";
    Interval: "95 % interval", "95 % 置信区间";
    Verdict: "verdict", "判定";
    Capacity: "capacity at {}: {}", "满足 {} 的容量：{}";
    AtLeast: "{} at least {} {}", "{} 至少 {} {}";
    Below: "{} below {} {}", "{} 低于 {} {}";
    Between: "{} between {} and {} {}", "{} 在 {} 与 {} {}之间";
    About: "{} about {} {} ({}–{}{})", "{} 约 {} {}（{}–{}{}）";
    Sure: ", {} %", "，{} %";
    NotTried: "{} inconclusive", "{} 无法判定";
    NotServed:
        "levels of {} that met the SLO but completed far less than was offered are no capacity: {}",
        "{} 中满足 SLO 但完成量远低于到达量的档位不算容量：{}";
    NotServedOne: "{} of {} req/s", "到达 {1} 请求/秒，完成 {0}";
    Reference: "{}  {} (reference)", "{}  {}（基准）";
    Other: "{}  {}", "{}  {}";
    Marks:
        "✓ better, ✗ worse, = no difference larger than {}, ? not enough data",
        "✓ 更好，✗ 更差，= 差异不超过 {}，? 数据不足";
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
    BriefMoreRounds: "needs {} more {0|round|rounds}", "各再测 {} 轮";
    BriefHopeless: "not enough data", "数据不足";
    NoLarger: "no difference larger than {}", "差异不超过 {}";
    MoreRounds:
        "not enough data: needs {} more {0|round|rounds} of each (--repeat {})",
        "数据不足：各再测 {} 轮（--repeat {}）";
    Hopeless:
        "not enough data; even 100 more rounds would not be enough: make the levels longer",
        "数据不足，再测 100 轮也难以判定：请延长各档位";
    Headline:
        "{} vs {}, {} {2|test|tests}: better in {}, worse in {}, no difference larger than {} in {}, \
         not enough data in {}{}",
        "{} 对比 {}，共 {} 项检验：更好 {} 项，更差 {} 项，差异不超过 {} {} 项，数据不足 {} 项{}";
    HeadlineMore:
        " (needs {} more {0|round|rounds} of each: --repeat {})",
        "（各再测 {} 轮：--repeat {}）";
    Corrected:
        "intervals are those that decide: corrected for {} tests, except where a difference is ruled out",
        "所列置信区间即判定所用的区间：已按 {} 项检验做多重比较校正，判定为差异不超过某值的除外";
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
        "≈: this load was not measured; the value is interpolated between two near loads, and not \
         tested",
        "≈：没有该负载的测试；数值由相近的两个负载插值得到，不参与检验";
    InvalidLeftOut: "invalid levels are left out", "无效的档位未计入";
    OneSided:
        "{} {0|load|loads} that only one run has {0|is|are} left out: {}",
        "只有一方测过的 {} 个负载未列出：{}";
    Suspect: "suspect levels, whose reasons dyno report has: {}", "存疑的档位（原因见 dyno report）：{}";
    Inconsistent:
        "levels that contradict themselves (dyno lint says how): {}",
        "自相矛盾的档位（详见 dyno lint）：{}";
    OfSide: "{} {}", "{} {}";
    WhyTooShort:
        "† no interval for {}: one run of each, and too few requests for one; use --repeat 3, or more \
         requests",
        "† {} 没有置信区间：双方各只测一次，且请求数过少；请使用 --repeat 3，或增加请求数";
    WhyPrinted:
        "† no interval for {}: a single printed value does not show whether a change is real",
        "† {} 没有置信区间：单个打印出来的数值无法说明变化是否真实";
    WhyOffered:
        "† not tested at {}: at a rate, requests/s is what was sent",
        "† {} 未检验：在固定速率下，每秒请求数就是发送的速率";
    WhyTail:
        "† no interval for {}: with one run of each, the tail at a rate is unknown; use --repeat 3",
        "† {} 没有置信区间：双方各只测一次时，固定速率下的尾部时延无法判断；请使用 --repeat 3";
    WhyImprecise:
        "† not tested: {}, which the client could not measure precisely",
        "† 未检验：{}，客户端未能精确测量";
    MetricAt: "{} at {}", "{1} 的 {0}";
    AndMore: "{} and {} more", "{} 等另外 {} 项";
    OtherModel: "different models: {}", "模型不同：{}";
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
    ColumnsHidden:
        "{} {0|column|columns} hidden; a wider terminal or --format markdown shows all",
        "隐藏了 {} 列；加宽终端或使用 --format markdown 可显示全部";
    AtMost: "{}, at most {}", "{}，至多 {}";
    AtLeastChange: "{}, at least {}", "{}，至少 {}";
    Inside: "{}, between {} and {}", "{}，在 {} 与 {} 之间";
    Needs:
        "{}; needs {} more {1|round|rounds} of each (--repeat {})",
        "{}；各再测 {} 轮（--repeat {}）";
    NeedsLonger:
        "{}; even 100 more rounds would not decide it: make the levels longer",
        "{}；再测 100 轮也难以判定：请延长各档位";
    NoTest: "not tested", "未检验";
    NotTestedTooShort:
        "no interval: one run of each, and too few requests; use --repeat 3, or more requests",
        "没有置信区间：双方各只测一次，且请求数过少；请使用 --repeat 3，或增加请求数";
    NotTestedPrinted:
        "no interval: a single printed value does not show whether a change is real",
        "没有置信区间：单个打印出来的数值无法说明变化是否真实";
    NotTestedOffered: "at a rate, requests/s is what was sent", "在固定速率下，每秒请求数就是发送的速率";
    NotTestedTail:
        "no interval: with one run of each, the tail at a rate is unknown; use --repeat 3",
        "没有置信区间：双方各只测一次时，固定速率下的尾部时延无法判断；请使用 --repeat 3";
    NotTestedImprecise:
        "the client could not measure it precisely",
        "客户端未能精确测量";
    LoadsMissing: "the run lacks loads of the baseline: {}", "缺少基线中的负载：{}";
    Pass: "pass", "通过";
    Fail: "fail", "未通过";
    Inconclusive: "inconclusive", "无法判定";
}

/// The name of a metric in a table.
pub(super) fn metric_title(compared: Compared, language: Language) -> String {
    if compared.is_shed() {
        return Word::ShedShare.text(language).to_owned();
    }
    let info = compared.metric.info();
    let name = match language.choose(info.short) {
        "" => &language.choose(info.label).to_lowercase(),
        short => short,
    };
    let unit = match info.group {
        MetricGroup::Work => String::new(),
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
        (Called::NotEnough { more_rounds: Some(more) }, _) => {
            (Word::MoreRounds, vec![more.to_string(), in_all(difference.rounds, more)])
        }
        (Called::NotEnough { more_rounds: None }, _) => (Word::Hopeless, vec![]),
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
        (Called::NotEnough { more_rounds: Some(more) }, _) => {
            (Word::BriefMoreRounds, more.to_string())
        }
        (Called::NotEnough { more_rounds: None }, _) => (Word::BriefHopeless, String::new()),
    };
    word.with(language, &[value])
}

/// The `--repeat` that has so many more rounds than the side with fewer.
fn in_all(rounds: [usize; 2], more: u32) -> String {
    (rounds[0].min(rounds[1]) as u64 + u64::from(more)).to_string()
}

/// The tests of one side, summed up in one line; `names` are those of the table.
pub(super) fn headline(
    comparison: &Comparison,
    names: &[String],
    side: usize,
    language: Language,
) -> Option<String> {
    let of_side = || comparison.differences.iter().filter(|test| test.side == side);
    let tests = of_side().count();
    let count =
        |is: fn(&Called) -> bool| of_side().filter(|test| is(&test.called)).count().to_string();
    let more = of_side().filter_map(|test| match test.called {
        Called::NotEnough { more_rounds } => Some((more_rounds?, test.rounds)),
        _ => None,
    });
    let more = more.max_by_key(|(more, _)| *more).map(|(more, rounds)| {
        Word::HeadlineMore.with(language, &[more.to_string(), in_all(rounds, more)])
    });
    let values = [
        names[side].clone(),
        names[0].clone(),
        tests.to_string(),
        count(|called| matches!(called, Called::Better)),
        count(|called| matches!(called, Called::Worse)),
        percent(comparison.margin),
        count(|called| matches!(called, Called::NoLargerThan { .. })),
        count(|called| matches!(called, Called::NotEnough { .. })),
        more.unwrap_or_default(),
    ];
    (tests > 0).then(|| Word::Headline.with(language, &values))
}

/// That intervals are corrected, where there are several tests.
pub(super) fn corrected(comparison: &Comparison, language: Language) -> Option<String> {
    let tests = comparison.differences.len();
    (tests > 1).then(|| Word::Corrected.with(language, &[tests.to_string()]))
}

/// The capacity of each side.
pub(super) fn capacity(
    comparison: &Comparison,
    names: &[String],
    language: Language,
) -> Vec<String> {
    let Some(capacity) = &comparison.capacity else { return Vec::new() };
    let sides = || names.iter().zip(&capacity.sides);
    let each: Vec<String> =
        sides().map(|(name, held)| edge(name, held.as_ref(), language)).collect();
    let each = each.join(language.semicolon());
    let not_served = sides().filter_map(|(name, held)| {
        let levels = &held.as_ref()?.not_served;
        let each = levels.iter().map(|level| {
            Word::NotServedOne.with(language, &[number(level.completed), number(level.offered)])
        });
        let each = each.collect::<Vec<_>>().join(language.comma());
        (!levels.is_empty()).then(|| Word::NotServed.with(language, &[name.clone(), each]))
    });
    let mut lines: Vec<String> = not_served.collect();
    lines.push(Word::Capacity.with(language, &[escape(&capacity.slo, 200), each]));
    lines
}

fn edge(name: &str, held: Option<&HeldCapacity>, language: Language) -> String {
    use crate::text::{capacity_unit, load, middle};
    let unknown = || Word::NotTried.with(language, &[name]);
    let Some(held) = held else { return unknown() };
    let (name, unit) = (name.to_owned(), capacity_unit(&held.unit, held.trees, language));
    match (held.holds, held.does_not_hold) {
        (Some(holds), Some(fails)) if held.searched => {
            let sure = held.confidence.map(|sure| format!("{:.0}", (100.0 * sure).floor()));
            let sure = sure.map(|sure| Word::Sure.with(language, &[sure])).unwrap_or_default();
            let about = load(middle(holds, fails, &held.unit));
            Word::About.with(language, &[name, about, unit, load(holds), load(fails), sure])
        }
        (Some(holds), Some(fails)) => {
            Word::Between.with(language, &[name, load(holds), load(fails), unit])
        }
        (Some(holds), None) => Word::AtLeast.with(language, &[name, load(holds), unit]),
        (None, Some(fails)) => Word::Below.with(language, &[name, load(fails), unit]),
        (None, None) => unknown(),
    }
}

/// How many loads or metrics are named; further ones are counted.
const NAMED: usize = 6;

/// The name of a level among others.
fn shown_level(label: &str, language: Language) -> String {
    escape(&level_name(label, language), 60)
}

fn listed(items: &[String], language: Language) -> String {
    let named = items[..items.len().min(NAMED)].join(language.comma());
    match items.len().saturating_sub(NAMED) {
        0 => named,
        more => Word::AndMore.with(language, &[named, more.to_string()]),
    }
}

/// Why the changes marked † are not tested, a line for each reason.
pub(super) fn untested(comparison: &Comparison, language: Language) -> Vec<String> {
    let reasons = [
        WhyDifferent::TooShort,
        WhyDifferent::Printed,
        WhyDifferent::Tail,
        WhyDifferent::Offered,
        WhyDifferent::Imprecise,
    ];
    let line = |why: WhyDifferent| {
        let of = || comparison.untested.iter().filter(|one| one.why == why);
        let label = |point: usize| shown_level(&comparison.points[point].label, language);
        let mut items: Vec<String> = Vec::new();
        for one in of() {
            let item = match why {
                WhyDifferent::TooShort | WhyDifferent::Printed | WhyDifferent::Offered => {
                    label(one.point)
                }
                WhyDifferent::Tail | WhyDifferent::Imprecise => {
                    let metric = metric_title(one.metric, language);
                    Word::MetricAt.with(language, &[metric, label(one.point)])
                }
            };
            if !items.contains(&item) {
                items.push(item);
            }
        }
        let word = match why {
            WhyDifferent::TooShort => Word::WhyTooShort,
            WhyDifferent::Printed => Word::WhyPrinted,
            WhyDifferent::Offered => Word::WhyOffered,
            WhyDifferent::Tail => Word::WhyTail,
            WhyDifferent::Imprecise => Word::WhyImprecise,
        };
        (!items.is_empty()).then(|| word.with(language, &[listed(&items, language)]))
    };
    reasons.into_iter().filter_map(line).collect()
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

/// A note of a comparison; `names` are those of the table.
pub(super) fn note(
    note: ComparisonNote,
    comparison: &Comparison,
    names: &[String],
    language: Language,
) -> String {
    let of_sides = |labels: fn(&SideSummary) -> &Vec<String>| {
        let each = names.iter().zip(&comparison.sides).filter_map(|(name, side)| {
            let labels: Vec<String> =
                labels(side).iter().map(|label| shown_level(label, language)).collect();
            let listed = listed(&labels, language);
            (!labels.is_empty()).then(|| Word::OfSide.with(language, &[name.clone(), listed]))
        });
        each.collect::<Vec<_>>().join(language.semicolon())
    };
    let word = match note {
        ComparisonNote::Interpolated => Word::Interpolated,
        ComparisonNote::InvalidLeftOut => Word::InvalidLeftOut,
        ComparisonNote::OtherModel => {
            let mut models: Vec<String> = Vec::new();
            for model in comparison.sides.iter().filter_map(|side| side.model.as_ref()) {
                if !models.contains(model) {
                    models.push(model.clone());
                }
            }
            return Word::OtherModel.with(language, &[models.join(language.comma())]);
        }
        ComparisonNote::Suspect => {
            return Word::Suspect.with(language, &[of_sides(|side| &side.suspect)]);
        }
        ComparisonNote::Inconsistent => {
            return Word::Inconsistent.with(language, &[of_sides(|side| &side.inconsistent)]);
        }
        ComparisonNote::OneSided => {
            let alone = comparison.points.iter().filter(|point| !point.is_shared());
            let labels: Vec<String> =
                alone.map(|point| shown_level(&point.label, language)).collect();
            let count = labels.len().to_string();
            return Word::OneSided.with(language, &[count, listed(&labels, language)]);
        }
        ComparisonNote::OtherLengths => Word::OtherLengths,
        ComparisonNote::OneRunEach => Word::Varies,
        ComparisonNote::OtherTools => {
            let mut tools: Vec<(&String, Vec<&str>)> = Vec::new();
            for (name, side) in names.iter().zip(&comparison.sides) {
                let Some(origin) = &side.origin else { continue };
                match tools.iter_mut().find(|(tool, _)| **tool == origin.tool) {
                    Some((_, of)) => of.push(name),
                    None => tools.push((&origin.tool, vec![name])),
                }
            }
            let each = tools.iter().map(|(tool, of)| {
                Word::OtherTools.with(language, &[of.join(language.comma()), (*tool).clone()])
            });
            return each.collect::<Vec<_>>().join(language.semicolon());
        }
        ComparisonNote::OtherApi => {
            let apis: Vec<&str> =
                comparison.sides.iter().map(|side| side.api.as_deref().unwrap_or("–")).collect();
            return Word::OtherApi.with(language, &[apis.join(language.comma())]);
        }
        ComparisonNote::Shed => {
            let shed = shares(comparison, names, Word::ShareOf, language, ComparedCell::shed);
            return Word::ShedNote.with(language, &[shed]);
        }
        ComparisonNote::SentAgain => {
            let again = shares(comparison, names, Word::ShareIn, language, |c| c.sent_again);
            return Word::SentAgain.with(language, &[again]);
        }
        ComparisonNote::Simulated => Word::Simulated,
        ComparisonNote::NothingInCommon => Word::NothingInCommon,
    };
    word.text(language).to_owned()
}

/// The largest share of each side that has one.
fn shares(
    comparison: &Comparison,
    names: &[String],
    word: Word,
    language: Language,
    of: impl Fn(&ComparedCell) -> Option<f64>,
) -> String {
    let each = names.iter().enumerate().filter_map(|(place, name)| {
        let cells = comparison.points.iter().filter_map(|point| point.cells.get(place)?.as_ref());
        let most = cells.filter_map(&of).filter(|share| *share > 0.0).max_by(f64::total_cmp)?;
        Some(word.with(language, &[percent(most), name.clone()]))
    });
    each.collect::<Vec<_>>().join(language.comma())
}

/// What makes the two sides of a gate different work.
pub fn caveats(comparison: &Comparison, language: Language) -> Vec<String> {
    let names: Vec<String> = comparison.sides.iter().map(|side| side.name.clone()).collect();
    let notes = comparison.notes.iter().filter(|note| note.is_caveat());
    notes.map(|caveat| note(*caveat, comparison, &names, language)).collect()
}

/// The result of one check of a gate, in one line.
pub fn check_line(check: &GateCheck, language: Language) -> String {
    if check.metric.is_shed() {
        let [first, own] = check.values.map(|share| share.map_or_else(|| "–".into(), percent));
        let name = Metric::Shed.label(language).to_lowercase();
        let [comma, colon] = [language.comma(), language.colon()];
        return format!("{}{comma}{name}{colon}{first} → {own}", level_name(&check.load, language));
    }
    let said = match (check.change, check.interval) {
        (Some(change), Some([low, high])) => {
            let change = signed(change);
            match (check.bound(), check.more_rounds.zip(check.rounds)) {
                (Some((bound, true)), _) => Word::AtMost.with(language, &[change, signed(bound)]),
                (Some((bound, false)), _) => {
                    Word::AtLeastChange.with(language, &[change, signed(bound)])
                }
                (None, more) => {
                    let inside = Word::Inside.with(language, &[change, signed(low), signed(high)]);
                    match more {
                        Some((more, rounds)) => Word::Needs
                            .with(language, &[inside, more.to_string(), in_all(rounds, more)]),
                        None => Word::NeedsLonger.with(language, &[inside]),
                    }
                }
            }
        }
        _ => {
            let word = match check.why {
                Some(WhyDifferent::TooShort) => Word::NotTestedTooShort,
                Some(WhyDifferent::Printed) => Word::NotTestedPrinted,
                Some(WhyDifferent::Offered) => Word::NotTestedOffered,
                Some(WhyDifferent::Tail) => Word::NotTestedTail,
                Some(WhyDifferent::Imprecise) => Word::NotTestedImprecise,
                None => Word::NoTest,
            };
            word.text(language).to_owned()
        }
    };
    let title = metric_title(check.metric, language);
    let load = level_name(&check.load, language);
    format!("{load}{}{title}{}{said}", language.comma(), language.colon())
}

/// The loads of the baseline that the run of a gate lacks.
pub fn missing_line(found: &Gated, language: Language) -> Option<String> {
    let loads: Vec<_> = found.missing.iter().map(|load| level_name(load, language)).collect();
    let listed = loads.join(language.comma());
    (!loads.is_empty()).then(|| Word::LoadsMissing.with(language, &[listed]))
}

/// The answer of a gate, in a word.
pub fn answer(answer: GateAnswer, language: Language) -> &'static str {
    let word = match answer {
        GateAnswer::Pass => Word::Pass,
        GateAnswer::Fail => Word::Fail,
        GateAnswer::Inconclusive => Word::Inconclusive,
    };
    word.text(language)
}

//! What makes a table impossible to fit. Every defect is found, so that one refusal names all of
//! them.

use super::table::{FitTable, Offer, Role, TableLevel};
use dyno_engine::twin::reference::ReferenceValue;
use dyno_model::plan::Load;
use dyno_model::{Message, message};

/// Fewer levels show nothing of how load changes the timing.
const FEWEST: usize = 2;

/// Everything that makes `table` impossible to fit; empty if it can be fitted.
pub fn defects(table: &FitTable) -> Vec<Message> {
    let used = table.levels.iter().filter(|level| !matches!(level.role, Role::LeftOut(_)));
    let mut found: Vec<Message> = used
        .flat_map(|level| {
            let defect = |problem| message!(
                "level {label}: {problem}",
                "档位 {label}：{problem}",
                label = level.label,
            );
            level_problems(level).into_iter().map(defect)
        })
        .collect();
    let fitted: Vec<&TableLevel> = table.fitted().collect();
    let kind = |level: &TableLevel| (level.offer, level.input.to_bits(), level.output.to_bits());
    if fitted.len() < FEWEST {
        found.push(too_few(fitted.len(), table.levels.len(), FEWEST));
    } else if fitted.iter().all(|level| kind(level) == kind(fitted[0])) {
        found.push(nothing_varies(&fitted[0].label));
    }
    found
}

fn level_problems(level: &TableLevel) -> Vec<Message> {
    let impossible = |(_, value): &(ReferenceValue, f64)| !(value.is_finite() && *value >= 0.0);
    let all = level.metrics.iter().map(|(figure, value)| (*figure, *value));
    let zero = level.judged().filter(|(_, value)| *value == 0.0);
    let values = all.filter(impossible).chain(zero);
    let mut problems: Vec<Message> = values
        .map(|(figure, value)| {
            message!(
                "{} is {value}; leave out what was not measured",
                "{} 为 {value}；请去掉没有测量的数值",
                figure.name(),
            )
        })
        .collect();
    if level.judged().count() == 0 {
        problems.push(message!(
            "has neither a rate nor a time; leave the level out",
            "既没有速率也没有时间；请去掉该档位",
        ));
    }
    let plausible = 1.0..1e8;
    if !plausible.contains(&level.input) {
        problems.push(message!(
            "a prompt of {} tokens; give at least 1",
            "提示词为 {} 个 token；至少为 1",
            level.input,
        ));
    }
    if !plausible.contains(&level.output) {
        problems.push(message!(
            "a response of {} tokens; give at least 1",
            "响应为 {} 个 token；至少为 1",
            level.output,
        ));
    }
    if level.counted.is_some_and(|counted| counted.is_nan() || counted <= 1.0) {
        problems.push(message!(
            "fewer than 2 tokens counted per response",
            "每个响应的 token 计数少于 2"
        ));
    }
    match level.offer {
        Offer::Load { load: Load::Rate { rate, .. }, .. } if !(rate.is_finite() && rate > 0.0) => {
            problems.push(message!(
                "a rate of {rate} requests per second; give more than 0",
                "请求速率为每秒 {rate} 个；须大于 0",
            ));
        }
        Offer::Load {
            load: Load::Concurrency { concurrency: 0 } | Load::Burst { requests: 0 },
            ..
        }
        | Offer::Cell { requests: 0 } => problems
            .push(message!("no request in flight; give at least 1", "在途请求为 0；至少为 1",)),
        _ => {}
    }
    problems
}

/// Too few levels can be fitted.
pub fn too_few(have: usize, all: usize, fewest: usize) -> Message {
    message!(
        "{have} of {all} levels can be fitted; at least {fewest} with different loads are needed \
         (5 or more, from one request at a time to past the knee, make a useful twin)",
        "{all} 个档位中有 {have} 个可用于拟合；至少需要 {fewest} 个不同负载的档位（从单个\
         请求到超过拐点的 5 个或更多档位才能得到有用的孪生模型）",
    )
}

/// All levels offer the same load.
pub fn nothing_varies(label: &str) -> Message {
    message!(
        "all levels offer the same load ({label}); measure several request rates or concurrencies",
        "所有档位的负载相同（{label}）；请测试多个请求速率或并发数",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::message::clauses;

    fn level(label: &str, requests: u32, latency_s: f64) -> TableLevel {
        TableLevel {
            label: label.to_owned(),
            offer: Offer::burst(requests),
            input: 64.0,
            output: 16.0,
            counted: None,
            timeout_s: None,
            repeated: false,
            metrics: [(ReferenceValue::LatencyS, latency_s)].into(),
            role: Role::Fitted,
        }
    }

    fn table(levels: Vec<TableLevel>) -> FitTable {
        let name = "test".to_owned();
        FitTable { name, levels, max_seqs: None, kv_tokens: None, context: None, varied: false }
    }

    #[test]
    fn all_defects_of_all_levels_are_reported() {
        let wrong = TableLevel { output: 0.0, ..level("burst 8", 8, f64::NAN) };
        let empty = TableLevel { metrics: [].into(), ..level("burst 0", 0, 1.0) };
        let left_out =
            TableLevel { role: Role::LeftOut(Message::quoted("invalid")), ..wrong.clone() };
        let found = defects(&table(vec![left_out, wrong, empty]));
        let text = clauses(&found).to_string();
        assert_eq!(found.len(), 4, "{text}");
        for part in ["latency_s is NaN", "a response of 0 tokens", "neither a rate", "in flight"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn levels_must_be_several_and_differ() {
        assert_eq!(defects(&table(vec![level("a", 1, 1.0), level("b", 2, 1.0)])), []);
        let one = defects(&table(vec![level("a", 1, 1.0)]));
        assert_eq!(one, [too_few(1, 1, FEWEST)]);
        let same = defects(&table(vec![level("a", 4, 1.0), level("b", 4, 1.5)]));
        assert_eq!(same, [nothing_varies("a")]);
    }
}

//! The findings in words: the identity that fails with its figures, and the likely cause.

use super::defect::{Against, Defect};
use dyno_model::Language;

/// Rows whose figures are given; more are only named in the list of rows.
const SHOWN: usize = 12;

/// `row 0.28 (0.95)`, one after the other.
fn each(rows: &[Against], language: Language, show: impl Fn(f64) -> String) -> String {
    let one = |row: &Against| {
        let (label, found, expected) = (&row.row.label, show(row.found), show(row.expected));
        match language {
            Language::English => format!("{label}: {found} against {expected}"),
            Language::Chinese => format!("{label}：{found}，对照 {expected}"),
        }
    };
    let mut texts: Vec<String> = rows.iter().take(SHOWN).map(one).collect();
    if rows.len() > SHOWN {
        let more = rows.len() - SHOWN;
        texts.push(match language {
            Language::English => format!("and {more} more"),
            Language::Chinese => format!("另有 {more} 行"),
        });
    }
    texts.join(match language {
        Language::English => "; ",
        Language::Chinese => "；",
    })
}

fn hundredths(value: f64) -> String {
    format!("{value:.2}")
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn seconds(ms: f64) -> String {
    if ms < 1_000.0 { format!("{ms:.0} ms") } else { format!("{:.2} s", ms / 1e3) }
}

impl Defect {
    /// What was found, and its likely cause.
    pub(super) fn words(&self, language: Language) -> (String, String) {
        match language {
            Language::English => self.english(),
            Language::Chinese => self.chinese(),
        }
    }

    fn english(&self) -> (String, String) {
        let list = |rows: &[Against], show: fn(f64) -> String| each(rows, Language::English, show);
        let (what, cause) = match self {
            Self::Zeros(_) => (
                "every figure is 0".to_owned(),
                "nothing was measured, and 0 was written where there was no data",
            ),
            Self::NotStreamed(_) => (
                "TTFT is equal to the latency".to_owned(),
                "answers were not streamed: there is no TTFT, and the column repeats the latency",
            ),
            Self::Missing(rows) => (
                format!("requests that ended against those expected: {}", list(rows, whole)),
                "requests were lost, or the run was cut short: rates and percentiles are of the rest",
            ),
            Self::Little { rows, failed, above: false } => (
                format!(
                    "Little's law: requests/s × latency ÷ parallelism is less than filling and \
                     draining explain: {}",
                    list(rows, hundredths)
                ),
                if *failed {
                    "requests that failed held the slots, and are in neither figure; or a straggler \
                     stretched the wall time"
                } else {
                    "a straggler or a pause stretched the wall time, so requests/s and tokens/s are \
                     too low"
                },
            ),
            Self::Little { rows, above: true, .. } => (
                format!(
                    "Little's law: requests/s × latency ÷ parallelism is above 1: {}",
                    list(rows, hundredths)
                ),
                "more was in flight than the row says, or latency and rate are of different runs",
            ),
            Self::Tokens(rows) => (
                format!(
                    "tokens/s ÷ requests/s is not the output tokens of a request: {}",
                    list(rows, whole)
                ),
                "tokens and requests are counted over different requests: some that failed or were \
                 left out count in one of them",
            ),
            Self::Runaway { rows, longest } => {
                return (
                    format!(
                        "no request failed, yet answers are longer than in the other rows: {}",
                        list(rows, |tokens| format!("{tokens:.1}"))
                    ),
                    format!(
                        "one runaway answer of about {longest:.0} tokens, which also stretched the \
                         wall time"
                    ),
                );
            }
            Self::Gaps { rows, moved } => (
                format!(
                    "(latency − TTFT) ÷ ITL is not the output tokens less one: {}",
                    list(rows, whole)
                ),
                if *moved > 0 {
                    "the ITL column is shifted against its rows: the figures would fit other rows"
                } else {
                    "ITL, TTFT and latency are of different requests, or tokens came several at once"
                },
            ),
            Self::Grid { first, step, repair, .. } => {
                let repair: Vec<String> =
                    repair.iter().map(|(from, to)| format!("{from:.2}→{to:.2}")).collect();
                let fits = match repair.is_empty() {
                    true => String::new(),
                    false => format!(
                        "; put in the order of their latency, rows would take the places {} (an \
                         inference)",
                        repair.join(", ")
                    ),
                };
                return (
                    format!(
                        "offered rates do not lie on the sweep's own grid, which goes from \
                         {first:.2} in steps of {step:.3}"
                    ),
                    format!("rates were typed wrong, or belong to other rows{fits}"),
                );
            }
            Self::AboveOffered(rows) => (
                format!("more requests/s completed than were offered: {}", list(rows, hundredths)),
                "the level began with requests that an earlier one had left, or the rate belongs to \
                 another row",
            ),
            Self::SlowAtLowRate(rows) => (
                format!("TTFT is far above that of a higher rate: {}", list(rows, seconds)),
                "the level began before the queue of an earlier one was empty, or the row belongs to \
                 another rate",
            ),
            Self::Falls { rows, failed } => (
                format!("requests/s fall while the load rises: {}", list(rows, hundredths)),
                if *failed {
                    "requests failed or timed out under this load; what is left describes survivors"
                } else {
                    "the server is past its best load (preemption, swapping), or stragglers \
                     stretched the wall time"
                },
            ),
            Self::Timeout { rows, failed } => {
                return (
                    format!(
                        "the slowest answers took as long as a round time-out, and {failed} requests \
                         failed: {}",
                        list(rows, seconds)
                    ),
                    "a read time-out cut answers off: latencies are of the survivors and too low"
                        .to_owned(),
                );
            }
            Self::Prefill(rows) => (
                format!(
                    "TTFT under load is far below that of one request: {}",
                    list(rows, seconds)
                ),
                "prompts were served from a prefix cache under load, or the single requests met a \
                 cold server",
            ),
            Self::Clamp { rows, context } => {
                let found = list(rows, hundredths);
                let what = format!(
                    "longer answers took less time for each output token (ms) than shorter: {found}"
                );
                return (
                    what,
                    match context {
                        Some(context) => format!(
                            "answers were cut off where a context of about {context:.0} tokens \
                             ends; tokens/s by the length asked for are too high"
                        ),
                        None => {
                            "answers were shorter than asked for; tokens/s by the length asked \
                                 for are too high"
                                .to_owned()
                        }
                    },
                );
            }
            Self::Unmatched { other, .. } => {
                return (
                    format!("rows stand here or in the {other} of the same results, not in both"),
                    "one of the two was not brought up to date".to_owned(),
                );
            }
            Self::Disagree { other, figure, rows } => {
                return (
                    format!(
                        "{figure} is another in the {other} of the same results: {}",
                        list(rows, |value| format!("{value:.3}"))
                    ),
                    "one of them was typed wrong, or they are of different runs".to_owned(),
                );
            }
        };
        (what, cause.to_owned())
    }

    fn chinese(&self) -> (String, String) {
        let list = |rows: &[Against], show: fn(f64) -> String| each(rows, Language::Chinese, show);
        let (what, cause) = match self {
            Self::Zeros(_) => ("所有数值均为 0".to_owned(), "没有测到任何数据，却在无数据处写了 0"),
            Self::NotStreamed(_) => (
                "首 token 延迟等于请求延迟".to_owned(),
                "没有使用流式输出：并不存在首 token 延迟，该列只是重复了请求延迟",
            ),
            Self::Missing(rows) => (
                format!("结束的请求数少于预期：{}", list(rows, whole)),
                "有请求丢失，或测试中途停止：速率和百分位只反映其余请求",
            ),
            Self::Little { rows, failed, above: false } => (
                format!(
                    "利特尔法则：QPS × 延迟 ÷ 并发数，低于填充与排空所能解释的下限：{}",
                    list(rows, hundredths)
                ),
                if *failed {
                    "失败的请求占用了并发槽位，却不计入这两个数值；或个别超长请求拉长了总用时"
                } else {
                    "个别超长请求或停顿拉长了总用时，因此 QPS 和吞吐量偏低"
                },
            ),
            Self::Little { rows, above: true, .. } => (
                format!("利特尔法则：QPS × 延迟 ÷ 并发数大于 1：{}", list(rows, hundredths)),
                "实际并发高于该行所写，或延迟与速率来自不同的测试",
            ),
            Self::Tokens(rows) => (
                format!("吞吐量 ÷ QPS 与每个请求的输出 token 数不符：{}", list(rows, whole)),
                "token 与请求的统计口径不同：失败或被剔除的请求只计入了其中之一",
            ),
            Self::Runaway { rows, longest } => {
                return (
                    format!(
                        "没有请求失败，但回答比其他行更长：{}",
                        list(rows, |tokens| format!("{tokens:.1}"))
                    ),
                    format!("有一个约 {longest:.0} token 的失控回答，它也拉长了总用时"),
                );
            }
            Self::Gaps { rows, moved } => (
                format!(
                    "（延迟 − 首 token 延迟）÷ token 间延迟，应等于输出 token 数减一：{}",
                    list(rows, whole)
                ),
                if *moved > 0 {
                    "token 间延迟一列与行错位：这些数值与其他行相符"
                } else {
                    "这些延迟来自不同的请求，或一次返回了多个 token"
                },
            ),
            Self::Grid { first, step, repair, .. } => {
                let repair: Vec<String> =
                    repair.iter().map(|(from, to)| format!("{from:.2}→{to:.2}")).collect();
                let fits = match repair.is_empty() {
                    true => String::new(),
                    false => {
                        format!("；按延迟排序后，各行应为 {}（推断）", repair.join("、"))
                    }
                };
                return (
                    format!(
                        "到达率不在该扫描自身的等距网格上，网格从 {first:.2} 起，步长 {step:.3}"
                    ),
                    format!("到达率抄写有误，或属于其他行{fits}"),
                );
            }
            Self::AboveOffered(rows) => (
                format!("每秒完成的请求多于到达的请求：{}", list(rows, hundredths)),
                "该档开始时还有上一档遗留的请求，或该速率属于另一行",
            ),
            Self::SlowAtLowRate(rows) => (
                format!("首 token 延迟远高于更高速率时：{}", list(rows, seconds)),
                "上一档的排队尚未清空就开始了该档，或该行属于另一速率",
            ),
            Self::Falls { rows, failed } => (
                format!("负载上升而 QPS 下降：{}", list(rows, hundredths)),
                if *failed {
                    "该负载下有请求失败或超时，剩下的数值只反映幸存者"
                } else {
                    "服务器已超过最佳负载（抢占、换出），或个别超长请求拉长了总用时"
                },
            ),
            Self::Timeout { rows, failed } => {
                return (
                    format!(
                        "最慢的回答恰为整数超时时间，且有 {failed} 个请求失败：{}",
                        list(rows, seconds)
                    ),
                    "读取超时截断了回答：延迟只反映幸存者，因而偏低".to_owned(),
                );
            }
            Self::Prefill(rows) => (
                format!("负载下的首 token 延迟远低于单请求时：{}", list(rows, seconds)),
                "负载下的提示命中了前缀缓存，或单请求测试时服务器尚未预热",
            ),
            Self::Clamp { rows, context } => {
                let what = format!(
                    "更长的回答，每输出 token 用时（毫秒）反而更短：{}",
                    list(rows, hundredths)
                );
                return (
                    what,
                    match context {
                        Some(context) => format!(
                            "回答在约 {context:.0} token 的上下文末尾被截断；按要求长度算出的吞吐量偏高"
                        ),
                        None => "回答短于要求的长度；按要求长度算出的吞吐量偏高".to_owned(),
                    },
                );
            }
            Self::Unmatched { other, .. } => {
                return (
                    format!("这些行只出现在此处或同一结果的 {other} 中之一"),
                    "两者之一没有更新".to_owned(),
                );
            }
            Self::Disagree { other, figure, rows } => {
                return (
                    format!(
                        "同一结果的 {other} 中，{figure} 与此不同：{}",
                        list(rows, |value| format!("{value:.3}"))
                    ),
                    "其中之一抄写有误，或来自不同的测试".to_owned(),
                );
            }
        };
        (what, cause.to_owned())
    }
}

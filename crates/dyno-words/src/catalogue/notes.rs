//! The notes of `environment.json` in Chinese; their English stands in [`crate::notes`].

use crate::notes::Known;
use crate::template::fill;
use dyno_model::Language;
use dyno_model::environment::Note;

/// A note's words and advice in a language; as they were saved where they are not known.
pub fn noted(note: &Note, language: Language) -> (String, Option<String>) {
    match (language, Known::of(note)) {
        (Language::Chinese, Some(known)) => {
            let (what, advice) = chinese(known);
            let advice = advice.filter(|_| note.advice.is_some());
            (fill(what, &note.values), advice.map(str::to_owned))
        }
        _ => (note.what.clone(), note.advice.clone()),
    }
}

fn chinese(known: Known) -> (&'static str, Option<&'static str>) {
    const UNIQUE_PREFIX: &str = "前缀缓存会使重复的提示词变快；请使用 --unique-prefix";
    const LESS_WORTH: &str = "超出越多，参考价值越低";
    const RESUME: &str = "目标恢复后可用 --resume DIR 继续";
    match known {
        Known::ModelsUnknown => ("/v1/models 没有应答：{}", None),
        Known::PreflightFailed => ("预检的应答不正常（{}）：{}", None),
        Known::LengthNotFixed => (
            "服务器不接受任何固定输出长度的字段：应答长度由模型决定",
            Some("请先比较输出 token 数，再比较其他数值"),
        ),
        Known::NoUsage => (
            "服务器不返回 token 用量：输出 token 按事件计数",
            Some("除非每个事件恰好一个 token，否则 token 数值只是估计"),
        ),
        Known::NotStreamed => (
            "服务器以完整应答回复了流式请求",
            Some("没有 TTFT、TPOT 和 ITL；请检查服务器的流式设置"),
        ),
        Known::FieldRefused => ("服务器不接受 `{}`：{}", None),
        Known::TokenizerEstimate => (
            "提示词长度为估计值：未指定分词器",
            Some("请用 --tokenizer 指定模型目录或 tokenizer.json"),
        ),
        Known::PromptLengthsWrong => {
            ("重新计数的提示词中有 {} 个长度不符", Some("请附上分词器名称报告此问题"))
        }
        Known::TokenCountsDiffer => (
            "本地计数为 {} 个 token 的提示词，服务器计为 {} 个",
            Some("--tokenizer 必须是模型自己的分词器，包括对话模板"),
        ),
        Known::DataSkipped => ("各档位合计跳过的坏记录：{}", None),
        Known::DataShort => ("各档位合计因过短而舍弃的记录：{}", None),
        Known::DataLong => ("各档位合计因过长而舍弃的记录：{}", None),
        Known::DataCut => ("各档位合计截断到最大长度的记录：{}", None),
        Known::PromptsRepeat => ("部分提示词被多次发送", Some(UNIQUE_PREFIX)),
        Known::ConversationsRepeat => ("部分会话被多次使用", Some(UNIQUE_PREFIX)),
        Known::TraceSkipped => ("轨迹中作为坏行跳过的请求：{}", None),
        Known::TraceFailed => ("轨迹中因录制时失败而舍弃的请求：{}", None),
        Known::TraceOutside => ("轨迹中被 from= 和 to= 排除的请求：{}", None),
        Known::TraceShort => ("轨迹中因过短而舍弃的请求：{}", None),
        Known::TraceLong => ("轨迹中因过长而舍弃的请求：{}", None),
        Known::TraceBeyondLimit => ("轨迹中超出数量限制的请求：{}", None),
        Known::TraceCut => ("轨迹中截断到最大长度的请求：{}", None),
        Known::TraceReordered => ("轨迹文件中顺序错乱、已按时间重排的请求：{}", None),
        Known::TraceMismatched => (
            "轨迹中 hash id 数与长度所含块数不符的请求：{}",
            Some("若数量较多，请用 block= 指定每个 hash id 代表多少 token"),
        ),
        Known::TraceWithoutOutput => ("轨迹中录制时没有输出、改为请求一个 token 的请求：{}", None),
        Known::TraceRaised => ("轨迹中短于对话模板、按模板长度发送的请求：{}", None),
        Known::TracePrefixes => ("轨迹的共享前缀只能近似满足：分词器中单 token 的词太少", None),
        Known::MetricsGaps => (
            "向服务器查询其自身指标 {1} 次，失败 {0} 次：{2}",
            Some("服务器自身的指标只覆盖有应答的时间"),
        ),
        Known::TwinMadeUp => (
            "孪生模型 {} 没有用任何实测数据拟合；其数值是虚构的",
            Some("请看趋势而非数值；可用 `dyno fit` 以自己的扫描数据拟合孪生模型"),
        ),
        Known::BeyondInFlight => {
            ("在途 {} 个请求超出孪生模型 {4} 的拟合范围 {2} 到 {3}，为其 {1} 倍", Some(LESS_WORTH))
        }
        Known::BeyondRate => {
            ("每秒 {} 个请求超出孪生模型 {4} 的拟合范围 {2} 到 {3}，为其 {1} 倍", Some(LESS_WORTH))
        }
        Known::BeyondInput => (
            "输入 {} 个 token 超出孪生模型 {4} 的拟合范围 {2} 到 {3}，为其 {1} 倍",
            Some(LESS_WORTH),
        ),
        Known::BeyondOutput => (
            "输出 {} 个 token 超出孪生模型 {4} 的拟合范围 {2} 到 {3}，为其 {1} 倍",
            Some(LESS_WORTH),
        ),
        Known::StoppedOn => ("不再运行后续档位：{1} 时满足了 {0}", None),
        Known::Interleaved => ("这是两方逐档交替测试中的 {} 方；{} 方为 {}，{}", None),
        Known::StoppedOnOther => ("不再运行后续档位：{0} 方在 {2} 时满足了 {1}", None),
        Known::LostOther => ("不再运行后续档位：与之交替测试的 {} 方已失联", None),
        Known::AbortedOther => ("不再运行后续档位：与之交替测试的 {} 方无法继续", None),
        Known::InterruptedOther => ("不再运行后续档位：在轮到 {} 方时被中断", None),
        Known::TargetLost => (
            "目标于 {} 失联（测试开始后 {}）：{}；最后一个应答属于第 {4} 个档位的请求 {3}，在此之前 {5} 结束",
            Some(RESUME),
        ),
        Known::TargetLostUnanswered => {
            ("目标于 {} 失联（测试开始后 {}）：{}；没有任何请求得到应答", Some(RESUME))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;

    #[test]
    fn every_note_is_there_in_chinese() {
        for known in Known::ALL {
            let (what, advice) = chinese(*known);
            check::both(&format!("{known:?}"), [known.what(), what]);
            assert_eq!(advice.is_some(), known.advice().is_some(), "{known:?}");
            if let Some(both) = known.advice().zip(advice) {
                check::both(&format!("advice of {known:?}"), both.into());
            }
        }
    }

    #[test]
    fn a_note_that_is_not_known_keeps_its_words() {
        let known = Known::FieldRefused.note(vec!["min_tokens".into(), "400 {}".into()]);
        assert_eq!(noted(&known, Language::Chinese).0, "服务器不接受 `min_tokens`：400 {}");
        assert_eq!(noted(&known, Language::English).0, known.what);
        let older = Note { values: Vec::new(), ..known };
        assert_eq!(noted(&older, Language::Chinese).0, older.what);
    }
}

//! What is said about data in Chinese: whole sentences, with nothing of English between them but names.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use dyno_model::Language::Chinese;
use dyno_model::Localized;
use dyno_workload::data::{DataSet, DataSpec};
use dyno_workload::random::lengths::Lengths;
use dyno_workload::trace::{
    SessionTraceProfile, Starts, Trace, TraceLimits, TraceProfile, TraceSessions,
};

fn refused(spec: &str, text: &str) -> String {
    let spec: DataSpec = match spec.parse() {
        Ok(spec) => spec,
        Err(error) => return Localized::text(&error, Chinese),
    };
    let name = spec.path.as_ref().unwrap().display().to_string();
    let limits = TraceLimits::default();
    let error = match spec.kind {
        Some(kind) if kind.name() == "trace" => {
            if TraceSessions::named_by(&spec).is_some() {
                TraceSessions::from_bytes(&name, text.as_bytes(), &spec, &limits, Starts::Recorded)
                    .err()
            } else {
                Trace::from_bytes(&name, text.as_bytes(), &spec, &limits).err()
            }
        }
        _ => DataSet::from_bytes(&name, text.as_bytes(), &spec)
            .and_then(|set| set.open()?.try_for_each(|item| item.map(drop)))
            .err(),
    };
    error.expect("refused").text(Chinese)
}

#[test]
fn what_is_wrong_with_data_is_said_in_whole_sentences() {
    for (spec, text, said) in [
        (
            "json:q.jsonl,prompt=b",
            "{\"b\": \"?\"}\n{\"a\": 1, \"c\": 2}\n",
            "q.jsonl:2：没有字段 \"b\"；字段有 a, c；请用 prompt=FIELD 指定提示词所在的字段，或用 \
             skip_bad=true 跳过此类记录",
        ),
        (
            "lines:q.jsonl",
            "[{\"role\": \"user\", \"content\": \"?\"}]\n[{\"role\": \"user\", \"content\": 7}]\n",
            "q.jsonl:2：该记录的第 1 条消息内容是数字；消息请写成 {\"role\": …, \"content\": …} 或 {\"from\": …, \
             \"value\": …}，或用 skip_bad=true 跳过此类记录",
        ),
        (
            "trace:gate.csv,time=sent,unit=ms,input=in,output=tok_out",
            "chat,in,out,sent\n1,300,2,3\n",
            "gate.csv:2：没有 output= 指定的字段 \"tok_out\"；字段有 chat, in, out, sent；请指定其中之一，或用 \
             skip_bad=true 跳过此类记录",
        ),
        (
            "trace:gate.csv,time=sent,unit=ms,input=in,output=out,session=chatt",
            "chat,in,out,sent\n1,300,2,3\n",
            "gate.csv:2：没有 session= 指定的字段 \"chatt\"；字段有 chat, in, out, sent；请指定其中之一",
        ),
        (
            "trace:log.csv",
            "in,out,sent\n300,2,3\n",
            "log.csv 不是 trace：格式未知；字段有 in, out, sent；请写明各字段的含义，例如 \
             trace:FILE,time=FIELD,unit=ms,input=FIELD,output=FIELD；或去掉 trace: 以发送其中的提示词",
        ),
        (
            "trace:g.csv,time=in,input=in,output=out",
            "in,out\n300,2\n",
            "g.csv:2：字段 \"in\" 为 \"300\"，不是日期（例如 2024-05-10 00:00:00）；数字请加 \
             unit=s、unit=ms、unit=us 或 unit=ns；请写明单位，或用 skip_bad=true 跳过此类记录",
        ),
        (
            "trace:g.csv,time=t,unit=ms,input=in,output=out",
            "t,in,out\n1770109200000000000,300,2\n",
            "g.csv:2：字段 \"t\" 为 \"1770109200000000000\"，作为以毫秒表示的时间过大；如果是日期，请写 \
             time=t,unit=ns，或用 skip_bad=true 跳过此类记录",
        ),
        (
            "jsn:q.jsonl",
            "",
            "\"jsn:q.jsonl\" 中的类型 \"jsn\" 未知（是否想写 json？）；可用的类型：openqa, long, lines, json, csv, \
             parquet, sharegpt, random, session, trace, agentic。含冒号的路径请写成 ./jsn:q.jsonl",
        ),
        ("q.jsonl,prompt=a,context=b,turns=2", "", "turns=2 不可用；请写 turns=first 或 turns=all"),
        (
            "openqa,block=2",
            "",
            "未知的键 \"block\"；openqa 可用的键：prompt, context, system, output_tokens, messages, turns, skip_bad, lang",
        ),
    ] {
        assert_eq!(refused(spec, text), said);
    }
    let error = "normal(512,-1)".parse::<Lengths>().unwrap_err();
    assert_eq!(
        error.text(Chinese),
        "长度 `normal(512,-1)`：标准差 -1 不在 0 到 10000000 之间；长度请写成 \
         512、128-1024、normal(512,64)、lognormal(512,0.5) 或 zipf(1.2,1-4096)"
    );
}

#[test]
fn what_data_are_recognised_as_is_said_in_chinese() {
    let text = "{\"instruction\": \"?\", \"output_tokens\": 5}\n";
    let set = DataSet::from_bytes("a.jsonl", text.as_bytes(), &"a.jsonl".parse().unwrap()).unwrap();
    assert_eq!(
        set.recognised().text(Chinese),
        "a.jsonl：json，JSON lines，prompt 取自 \"instruction\"，输出 token 取自 \"output_tokens\""
    );
    let set = DataSet::new(&"openqa".parse().unwrap()).unwrap();
    assert_eq!(
        set.recognised().text(Chinese),
        "内置问题：openqa，JSON lines，prompt 取自 \"question\""
    );
    let limits = TraceLimits::default();
    let text = "t,in,out,id\n0,120,30,1\n250,140,20,1|2\n750,90,1,1|2|3|4|5|6|7|8|9|10\n";
    let spec = "trace:g.csv,time=t,unit=ms,input=in,output=out,hash=id,block=256,to=1s".parse();
    let trace = Trace::from_bytes("g.csv", text.as_bytes(), &spec.unwrap(), &limits).unwrap();
    assert_eq!(
        trace.recognised().text(Chinese),
        "g.csv：按指定字段读取的流量记录，3 个请求，时长 750 ms，每块 256 个 token 的 hash id；从 0 s 到 1 s"
    );
    insta::assert_snapshot!("a_trace", TraceProfile::of(&trace).text(Chinese));
    let spec = "trace:g.csv,session=chat,time=t,unit=ms,input=in,output=out,speed=2".parse();
    let text = "chat,t,in,out\na,0,120,30\na,300,160,20\nb,300,50,0\n";
    let sessions = spec.unwrap();
    let sessions =
        TraceSessions::from_bytes("g.csv", text.as_bytes(), &sessions, &limits, Starts::Recorded)
            .unwrap();
    assert_eq!(
        sessions.recognised().text(Chinese),
        "g.csv：按指定字段读取的会话，2 个会话，共 3 个请求，时长 300 ms；2 倍速"
    );
    insta::assert_snapshot!("sessions", SessionTraceProfile::of(&sessions).text(Chinese));
}

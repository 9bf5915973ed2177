//! The HTML report as text: well-formed, safe, small, and available for every run. Its behaviour in a
//! browser is tested with the program.

#![allow(clippy::unwrap_used)]

use dyno_analysis::{Detail, summarise};
use dyno_model::Language;
use dyno_model::MS;
use dyno_model::frame::{Ending, Frame, LevelStart, RunEnd};
use dyno_model::metric::Time;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{LengthSpec, Load, Plan, Task};
use dyno_model::record::RequestRecord;
use dyno_model::summary::{PercentileIntervals, PredictionIntervals};
use dyno_model::{Diagnostic, Message, Summary, Verdict};
use dyno_report::page::Page;
use dyno_testing::runs::*;
use proptest::prelude::*;
use serde_json::Value;

const LANGUAGES: [Language; 2] = [Language::English, Language::Chinese];

/// A run and what is needed for its page.
struct Made {
    plan: Plan,
    summary: Summary,
    detail: Detail,
}

impl Made {
    fn html(&self, language: Language) -> String {
        let (detail, plan) = (Some(&self.detail), Some(&self.plan));
        Page { summary: &self.summary, detail, plan, environment: None, language }.html()
    }
}

/// Closed loops, one after the other, each of these requests; cut off after the last of them, or
/// ended as they should.
fn made(levels: Vec<Vec<RequestRecord>>, ends: bool) -> Made {
    let load = |i: usize| Load::Concurrency { concurrency: 1 << (i % 16) };
    let plans = levels.iter().enumerate().map(|(i, requests)| {
        level_plan(&format!("level {i}"), load(i), Some(requests.len() as u64))
    });
    let plan = plan(plans.collect());
    let mut frames = Vec::new();
    let mut started = 0;
    for (level, requests) in levels.into_iter().enumerate() {
        let level = level as u32;
        frames.push(Frame::LevelStart(LevelStart { level, started }));
        let requests: Vec<RequestRecord> =
            requests.into_iter().map(|request| moved(request, level, started)).collect();
        let end = level_end(level, &requests);
        started = end.ended + 1000 * MS;
        frames.extend(requests.into_iter().map(|request| Frame::Request(Box::new(request))));
        if ends {
            frames.push(Frame::LevelEnd(Box::new(end)));
        }
    }
    if ends {
        frames.push(Frame::RunEnd(RunEnd { ended: started, ending: Ending::Requests }));
    }
    let source = source(&plan, frames);
    let summary = summarise(&plan, None, &source);
    Made { detail: Detail::gather(&source), plan, summary }
}

fn requests(count: u64) -> Vec<RequestRecord> {
    (0..count).map(|i| stream(i, (i % 4) as u32, i / 4 * 97, 30 + i * 7 % 23, 5, 9)).collect()
}

/// The elements of a page, or what is wrong with it.
fn well_formed(html: &str) -> Result<Vec<String>, String> {
    let mut open: Vec<String> = Vec::new();
    let mut names = Vec::new();
    let mut rest = html.strip_prefix("<!doctype html>\n").ok_or("no doctype")?;
    while let Some(at) = rest.find('<') {
        if rest[..at].contains('>') {
            return Err(format!("a lone > in {}", &rest[..at]));
        }
        rest = &rest[at + 1..];
        let end = rest.find('>').ok_or("a tag without an end")?;
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop().ok_or("one end too many")?;
            if last != name {
                return Err(format!("</{name}> ends <{last}>"));
            }
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if attributes.matches('"').count() % 2 == 1 || attributes.contains('<') {
            return Err(format!("<{tag}>"));
        }
        names.push(tag.to_owned());
        match name {
            "meta" | "img" => {}
            "script" | "style" => {
                let end = rest.find(&format!("</{name}>")).ok_or("raw text without an end")?;
                rest = &rest[end + name.len() + 3..];
            }
            _ => open.push(name.to_owned()),
        }
    }
    match open.is_empty() {
        true => Ok(names),
        false => Err(format!("still open: {open:?}")),
    }
}

/// What the script draws from.
fn data(html: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = html.split_once(start).unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    assert!(!json.contains(['<', '>', '&']));
    serde_json::from_str(json).unwrap()
}

#[track_caller]
fn check(made: &Made) -> [String; 2] {
    LANGUAGES.map(|language| {
        let html = made.html(language);
        let tags = well_formed(&html).unwrap();
        data(&html);
        // The page makes no network requests.
        for tag in tags.iter().filter(|tag| tag.contains(" src=") || tag.contains(" href=")) {
            let inside = tag.contains(" href=\"#") || tag.contains(" src=\"data:");
            assert!(inside, "<{tag}>");
        }
        html
    })
}

#[test]
fn what_was_shed_is_told_from_what_failed() {
    let mut all = requests(80);
    for record in all.iter_mut().skip(60) {
        record.outcome = Outcome::Shed(FailureClass::Http(429));
        record.detail = Some(Message::quoted("slow <down>"));
    }
    all[0].outcome = Outcome::Failed(FailureClass::StreamReset);
    let made = made(vec![all], true);
    let html = made.html(Language::English);
    let details = &data(&html)["details"][0];
    let sum = |name: &str| -> u64 {
        details[name].as_array().unwrap().iter().filter_map(Value::as_u64).sum()
    };
    assert_eq!((sum("completed"), sum("failed"), sum("shed")), (59, 1, 20));
    assert_eq!(details["classes"], serde_json::json!(["stream.reset", "http.429"]));
    assert_eq!(details["shedClasses"], serde_json::json!([false, true]));
    let late = "counting failed and shed requests as never answered (21 of 80)";
    let title = "Failures and refusals";
    for part in
        [">Shed</th>", "http.429</code>", "slow &lt;down&gt;", "1 failed, 20 shed", late, title]
    {
        assert!(html.contains(part), "{part}");
    }
    let chinese = made.html(Language::Chinese);
    assert!(
        chinese.contains("过载拒绝")
            && chinese.contains("将失败和被拒绝的请求的时延视为无穷大（80 个中有 21 个）")
    );

    let html = self::made(vec![requests(80)], true).html(Language::English);
    assert!(
        !html.contains(">Shed</th>") && data(&html)["details"][0]["shed"] == serde_json::json!([])
    );
}

#[test]
fn embeddings_have_inputs_and_no_first_token() {
    let mut all = requests(40);
    for record in &mut all {
        (record.inputs, record.streamed, record.first) = (Some(37), false, None);
        record.chunks = Default::default();
    }
    let mut made = made(vec![all], true);
    made.plan.request.task = Task::Embed;
    made.plan.levels[0].inputs = Some(37);
    made.plan.levels[0].output_tokens = LengthSpec("none".to_owned());
    let [html, chinese] = check(&made);
    assert!(
        html.contains("from sending to the end of the response")
            && chinese.contains("从发送到响应结束")
    );
    for page in [&html, &chinese] {
        let planned = page.split("plan.json").next().unwrap();
        assert!(!planned.contains(">none<") && planned.contains(">37</td>"), "{planned}");
    }
    assert!(html.contains(">Inputs per request</th>"), "{html}");
}

#[test]
fn every_run_has_a_page() {
    let failed = |i| failure(i, 0, i * 10, i * 10 + 50, FailureClass::Http(503), "overloaded");
    let runs = [
        made(vec![], true),
        made(vec![requests(40)], true),
        made(vec![requests(40), requests(80)], false),
        made(vec![(0..30).map(failed).collect()], true),
        made(vec![vec![], requests(40)], true),
    ];
    for run in &runs {
        check(run);
    }
    let [cut, chinese] = check(&runs[2]);
    assert!(cut.contains("PARTIAL") && chinese.contains("不完整"));
    let [failed, _] = check(&runs[3]);
    assert!(failed.contains("overloaded") && failed.contains("http.503"));
    let [none, _] = check(&runs[0]);
    assert!(none.contains("No level was started.") && !none.contains("id=\"charts\""));
}

#[test]
fn a_valid_run_shows_how_exactly_it_was_measured() {
    let html = made(vec![requests(40)], true).html(Language::English);
    let shown = html.split("Instrument ranges and client delays").nth(1).unwrap();
    let shown = shown.split("</details>").next().unwrap();
    assert!(shown.contains("level 0") && shown.contains("send delay p99"), "{shown}");
}

#[test]
fn two_hundred_levels_have_a_page() {
    let made = made((0..200).map(|_| requests(30)).collect(), true);
    let [html, _] = check(&made);
    assert_eq!(data(&html)["levels"].as_array().unwrap().len(), 200);
    assert!(html.len() < 3_000_000, "{}", html.len());
}

#[test]
fn twenty_levels_of_a_thousand_requests_are_less_than_a_megabyte() {
    let made = made((0..20).map(|_| requests(1_000)).collect(), true);
    for html in check(&made) {
        assert!(html.len() < 1_000_000, "{}", html.len());
        let details = &data(&html)["details"][3];
        assert_eq!(details["of"], 1_000);
        assert!(details["bars"].as_array().unwrap().len() <= 500);
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let [first, second] =
        [0, 1].map(|_| made(vec![requests(60), requests(90)], true).html(Language::English));
    assert_eq!(first, second);
}

#[test]
fn an_absent_value_is_a_gap_and_not_zero() {
    let mut run = made(vec![requests(60), requests(60)], true);
    run.summary.levels[0].times[Time::Ttft] = None;
    run.summary.levels[0].throughput = Default::default();
    run.summary.levels[0].steady = None;
    let html = run.html(Language::English);
    let data = data(&html);
    let metric = |id: &str| {
        data["metrics"]
            .as_array()
            .unwrap()
            .iter()
            .find(|metric| metric["id"] == id)
            .unwrap()
            .clone()
    };
    for id in ["ttft.p50", "tokens", "throughput"] {
        assert!(metric(id)["y"][0].is_null(), "{id}");
        assert!(metric(id)["y"][1].is_number(), "{id}");
    }
}

#[test]
fn values_are_those_of_the_summary() {
    let run = made(vec![requests(200)], true);
    let data = data(&run.html(Language::English));
    let metrics = data["metrics"].as_array().unwrap();
    let level = &run.summary.levels[0];
    let known = [
        ("ttft.p50", level.times[Time::Ttft].as_ref().unwrap().p50),
        ("latency.p99", level.times[Time::Latency].as_ref().unwrap().p99),
        ("itl.mean", level.times[Time::Itl].as_ref().unwrap().mean),
        ("completed", Some(200.0)),
    ];
    for (id, value) in known {
        let found = metrics.iter().find(|metric| metric["id"] == id).unwrap();
        let (found, value) = (found["y"][0].as_f64().unwrap(), value.unwrap());
        assert!((found - value).abs() <= value * 1e-4, "{id}: {found} and {value}");
    }
}

/// A percentile that the SLO bounds is among those of its time, with its values.
#[test]
fn a_percentile_of_the_slo_is_in_the_chart_of_its_time() {
    let mut run = made(vec![requests(200), requests(200)], true);
    let ttft = |run: &Made| {
        let data = data(&run.html(Language::English));
        let groups = data["choices"].as_array().unwrap().iter();
        let mut items = groups.flat_map(|group| group["items"].as_array().unwrap());
        let item = items.find(|item| item["id"] == "ttft").unwrap();
        let parts = item["parts"].as_array().unwrap().iter();
        let parts = parts.map(|part| data["metrics"][part.as_u64().unwrap() as usize].clone());
        (item["name"].as_str().unwrap().to_owned(), parts.collect::<Vec<Value>>())
    };
    assert_eq!(ttft(&run).0, "TTFT p50 · p90 · p99");
    run.summary.run.slo = Some("ttft.p95<500ms".to_owned());
    let (name, parts) = ttft(&run);
    assert_eq!(name, "TTFT p50 · p90 · p95 · p99");
    let ids: Vec<&str> = parts.iter().map(|part| part["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["ttft.p50", "ttft.p90", "ttft.p95", "ttft.p99"]);
    let p95 = run.summary.levels[0].times[Time::Ttft].as_ref().unwrap().p95.unwrap();
    assert!((parts[2]["y"][0].as_f64().unwrap() - p95).abs() <= p95 * 1e-4);
}

/// In Chinese, short names stand in full-width brackets, and statistics have Chinese names.
#[test]
fn charts_have_chinese_titles_in_chinese() {
    let run = made(vec![requests(200)], true);
    let data = data(&run.html(Language::Chinese));
    let known = |list: &Value, id: &str| {
        let found = list.as_array().unwrap().iter().find(|one| one["id"] == id).unwrap();
        found["name"].as_str().unwrap().to_owned()
    };
    for (id, name) in [
        ("ttft.mean", "首 token 时延（TTFT）平均值"),
        ("ttft.p99", "首 token 时延（TTFT）p99"),
        ("latency.mean", "端到端时延平均值"),
        ("latency.max", "端到端时延最大值"),
        ("latency.p99", "端到端时延 p99"),
    ] {
        assert_eq!(known(&data["metrics"], id), name);
    }
    let times = data["choices"].as_array().unwrap().iter();
    let several: Vec<Value> =
        times.flat_map(|group| group["items"].as_array().unwrap().clone()).collect();
    assert_eq!(known(&Value::Array(several), "ttft"), "首 token 时延（TTFT）p50 · p90 · p99");
}

/// Section 4: levels had English names in Chinese pages.
#[test]
fn levels_have_chinese_names_in_a_chinese_page() {
    let mut run = made(vec![requests(60), requests(60)], true);
    for (level, load) in run.summary.levels.iter_mut().zip([8, 16]) {
        level.label = format!("concurrency {load}");
    }
    let [english, chinese] = check(&run);
    let names = |html: &str| -> Vec<String> {
        let levels = data(html)["levels"].as_array().unwrap().clone();
        levels.iter().map(|level| level["label"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&english), ["concurrency 8", "concurrency 16"]);
    assert_eq!(names(&chinese), ["并发 8", "并发 16"]);
    // Also in what is there without the script.
    assert!(chinese.matches("并发 16").count() > 1 && !chinese.contains("concurrency 16"));
    assert!(english.matches("concurrency 16").count() > 1);
}

#[test]
fn an_invalid_level_is_struck_and_not_in_the_headlines() {
    let mut run = made(vec![requests(60), requests(60)], true);
    for level in &mut run.summary.levels {
        level.verdict = Verdict::Invalid;
        level.reasons = vec![Diagnostic::new("send_lag", "requests were sent late", None::<&str>)];
    }
    let [html, chinese] = check(&run);
    assert_eq!(html.matches("<tr class=\"struck\">").count(), 2);
    assert!(html.contains("INVALID") && html.contains("2 of 2 levels"));
    assert!(chinese.contains("无效") && chinese.contains("2 档（共 2 档）"));
    let (_, cards) = html.split_once("class=\"cards\"").unwrap();
    let (cards, _) = cards.split_once("<h3>").unwrap();
    assert_eq!(cards.matches("class=\"value\">–").count(), 2, "{cards}");
}

#[test]
fn a_prediction_shows_where_measurements_are_expected() {
    let mut made = made(vec![requests(20), requests(20)], true);
    let [english, chinese] = check(&made);
    assert!(!english.contains("Expected measurements"), "nothing is expected of a measurement");
    let of = |p50| PercentileIntervals { p50: Some(p50), p90: None };
    made.summary.levels[1].prediction = Some(PredictionIntervals {
        requests_per_s: Some([1234.0, 1300.0]),
        ttft: of([90.0, 110.0]),
        itl: of([9.0, 12.0]),
        latency: of([1900.0, 2100.0]),
    });
    let [after, chinese_after] = check(&made);
    let table = after.split("Expected measurements</h3>").nth(1).unwrap();
    let table = table.split("</table>").next().unwrap();
    for cell in ["1,234–1,300", "90.0–110", "9.00–12.0", "1,900–2,100", "level 1"] {
        assert!(table.contains(cell), "{cell}: {table}");
    }
    assert!(!table.contains("level 0"), "it has no intervals");
    assert!(chinese_after.contains("预计的实测值") && !chinese.contains("预计的实测值"));
}

#[test]
fn a_prediction_is_titled_as_one_and_an_extrapolation_is_never_called_fine() {
    let mut run = made(vec![requests(60), requests(60)], true);
    for level in &mut run.summary.levels {
        (level.verdict, level.reasons) = (Verdict::Valid, vec![]);
    }
    let [measured, _] = check(&run);
    assert!(measured.contains("No findings: every level is valid."));
    assert!(measured.contains(">Benchmark report<") && !measured.contains("Prediction"));
    (run.summary.run.simulated, run.summary.run.predicted) = (true, true);
    let [predicted, chinese] = check(&run);
    assert!(predicted.contains("<h1>Prediction: ") && chinese.contains("<h1>预测："));
    assert!(predicted.contains("<title>SIMULATED · Prediction: "));
    assert!(!predicted.contains("every level is valid"));
    run.summary.notes.push(Diagnostic::new("beyond_range", "far beyond", None::<&str>));
    let [beyond, _] = check(&run);
    assert!(beyond.contains("class=\"caution\">Extrapolated:"));
    assert!(!beyond.contains("No findings"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn untrusted_text_is_never_markup(words in "(?s).{0,40}|(<|>|&|\"|'|/|script|!--|\u{202e}|\u{2028}){0,12}") {
        let mut run = made(vec![requests(24)], true);
        let plain = well_formed(&run.html(Language::English)).unwrap();
        let own = &mut run.summary.run;
        (own.label, own.note, own.model) =
            (Some(words.clone()), Some(format!("x{words}")), Some(words.clone()));
        let level = &mut run.summary.levels[0];
        level.label = words.clone();
        level.requests.failures.insert(words.clone(), 1);
        level.failure_samples.insert(words.clone(), vec![words.clone()]);
        run.plan.note = Some(words.clone());
        let html = run.html(Language::English);
        let tags = well_formed(&html).unwrap();
        let scripts = |tags: &[String]| tags.iter().filter(|tag| tag.starts_with("script")).count();
        prop_assert_eq!(scripts(&tags), scripts(&plain));
        let hidden = |c: char| c.is_control() && c != '\n' || c == '\u{202e}' || c == '\u{2028}';
        prop_assert!(!html.contains(hidden));
        data(&html);
    }
}

#[test]
fn agents_have_a_table_with_escaped_names_and_only_where_there_are_several() {
    let (plan, records, mut agents) = dyno_testing::agents::fleet(4, 8, 25);
    agents[1].name = "<script>alert(1)</script>".to_owned();
    agents[1].start_error_ns = Some(40 * MS as i64);
    let summary = dyno_testing::agents::fleet_summary(&plan, records, agents);
    for language in LANGUAGES {
        let page =
            Page { summary: &summary, detail: None, plan: None, environment: None, language };
        let html = page.html();
        well_formed(&html).unwrap();
        let (_, table) = html.split_once("id=\"agents\"").unwrap();
        assert!(
            table.contains("&lt;script&gt;alert(1)&lt;/script&gt;")
                && !html.contains("<script>alert")
        );
        assert_eq!(table.matches("local-").count(), 3);
    }
    let alone = made(vec![requests(40)], true);
    assert!(!alone.html(Language::English).contains("id=\"agents\""));
}

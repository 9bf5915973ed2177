//! A list of runs as a table that fits the terminal.

use dyno_model::load::LoadKind;
use dyno_model::run_entry::{LevelChoice, LoadRange, RunEntry, RunState};
use dyno_model::{Language, Localized};
use dyno_words::columns::{ABSENT, cut, left, number, right, width};
use dyno_words::escape::escape;
use dyno_words::messages;

messages! {
    /// Heads and cells of the list of runs.
    pub(crate) enum Head;

    Run: "RUN", "测试";
    Age: "STARTED", "开始";
    Label: "LABEL", "标签";
    Tags: "TAGS", "标记";
    Kind: "KIND", "类型";
    Model: "MODEL", "模型";
    Target: "TARGET", "目标";
    Load: "LOAD", "负载";
    Levels: "LEVELS", "档位数";
    Verdict: "VERDICT", "判定";
    Api: "API", "接口";
    Inputs: "INPUTS/S", "条/秒";
    Output: "OUT TOK/S", "输出 TOK/S";
    SecondsAgo: "{}s ago", "{} 秒前";
    MinutesAgo: "{}min ago", "{} 分钟前";
    HoursAgo: "{}h ago", "{} 小时前";
    DaysAgo: "{}d ago", "{} 天前";
    Running: "running", "运行中";
    Unfinished: "unfinished", "未完成";
    Damaged: "damaged", "已损坏";
    Interrupted: "{}, interrupted", "{}，已中断";
    Lost: "{}, target lost", "{}，目标失联";
    Predicted: "predicted", "预测";
    Simulated: "simulated", "模拟";
    Sweep: "sweep {}", "扫描 {}";
    Auto: "auto {}", "自动 {}";
    Capacity: "capacity {}", "容量 {}";
    Concurrency: "concurrency {}", "并发 {}";
    Rate: "rate {}/s", "速率 {}/s";
    Burst: "burst {}", "突发 {}";
    Trace: "trace ×{}", "流量记录 ×{}";
    Ramp: "ramp {}/s", "爬坡 {}/s";
}

/// The narrowest that a column of text may become.
const NARROWEST: usize = 8;
const LABEL_LIMIT: usize = 28;

struct Column {
    head: Head,
    cells: Vec<String>,
    width: usize,
    /// May be narrowed to [`NARROWEST`].
    flexible: bool,
    numeric: bool,
    /// Left out in this order where even the narrowest columns do not fit; 0: never.
    dispensable: u8,
}

/// The runs as a table of at most `columns`, as far as that is possible. `now` is in nanoseconds
/// since 1970.
pub fn table(runs: &[RunEntry], now: u64, language: Language, columns: usize) -> String {
    let cells = |cell: &dyn Fn(&RunEntry) -> String| runs.iter().map(cell).collect::<Vec<_>>();
    let text = |value: &Option<String>| escape(value.as_deref().unwrap_or_default(), 100);
    let column = |head, dispensable, cells: Vec<String>| {
        let widest = cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        Column { head, width: widest, cells, flexible: false, numeric: false, dispensable }
    };
    let flexible =
        |column: Column| Column { width: column.width.min(LABEL_LIMIT), flexible: true, ..column };
    let numeric = |column: Column| Column { numeric: true, ..column };
    let tags = |run: &RunEntry| run.tags.iter().cloned().collect::<Vec<_>>().join(" ");
    // A twin is its own target.
    let target = |run: &RunEntry| match run.target == run.model {
        true => String::new(),
        false => address(&text(&run.target)).to_owned(),
    };
    // Which API it was tells nothing where all have the same.
    let differ = |of: &dyn Fn(&RunEntry) -> String| {
        let mut known = runs.iter().map(of).filter(|text| !text.is_empty());
        known.next().is_some_and(|first| known.any(|other| other != first))
    };
    let (apis, models) = (differ(&|run| text(&run.api)), differ(&|run| text(&run.model)));
    let targets = differ(&target);
    // Measured beside simulated or predicted.
    let of_kind = |run: &RunEntry| kind(run, language);
    let kinds = runs.iter().any(|run| of_kind(run) != of_kind(&runs[0]));
    let api = |run: &RunEntry| if apis { text(&run.api) } else { String::new() };
    let embeds = |run: &RunEntry| run.inputs_per_s.is_some();
    let rate = |rate: Option<f64>| rate.map_or_else(|| ABSENT.to_owned(), number);
    let mut all = vec![
        column(Head::Run, 0, cells(&|run| cut(&escape(&run.name, 100), 40))),
        column(Head::Age, 3, cells(&|run| started(run, now, language))),
        flexible(column(Head::Label, 9, cells(&|run| text(&run.label)))),
        flexible(column(Head::Tags, 2, cells(&tags))),
        column(Head::Kind, if kinds { 0 } else { 6 }, cells(&|run| kind(run, language))),
        flexible(column(Head::Model, if models { 8 } else { 4 }, cells(&|run| text(&run.model)))),
        flexible(column(Head::Target, if targets { 5 } else { 3 }, cells(&target))),
        column(Head::Api, 5, cells(&api)),
        column(Head::Load, 10, cells(&|run| load(run.load, language))),
        numeric(column(
            Head::Levels,
            1,
            cells(&|run| run.levels.map_or_else(|| ABSENT.to_owned(), |levels| levels.to_string())),
        )),
        column(Head::Verdict, 0, cells(&|run| verdict(run, language))),
    ];
    if runs.iter().any(embeds) {
        all.push(numeric(column(Head::Inputs, 0, cells(&|run| rate(run.inputs_per_s)))));
    }
    if runs.is_empty() || !runs.iter().all(embeds) {
        all.push(numeric(column(Head::Output, 0, cells(&|run| rate(run.output_tokens_per_s)))));
    }
    all.retain(|column| column.width > 0);
    for column in &mut all {
        column.width = column.width.max(width(column.head.text(language)));
    }
    fit(&mut all, columns);
    let mut out = line(&all, |column| column.head.text(language).to_owned());
    for row in 0..runs.len() {
        out.push_str(&line(&all, |column| column.cells[row].clone()));
    }
    for run in runs {
        if let Some(problem) = &run.problem {
            let problem = escape(&problem.text(language), 300);
            out.push_str(&format!("{}{}{problem}\n", escape(&run.name, 60), language.colon()));
        }
    }
    out
}

/// Leaves out as few columns as possible, and narrows those that may be, until a line fits.
fn fit(columns: &mut Vec<Column>, limit: usize) {
    let narrow = |column: &Column| match column.flexible {
        true => column.width.min(NARROWEST),
        false => column.width,
    };
    let gaps = |columns: &[Column]| 2 * columns.len().saturating_sub(1);
    while columns.iter().map(narrow).sum::<usize>() + gaps(columns) > limit {
        let next = columns.iter().map(|column| column.dispensable).filter(|rank| *rank > 0).min();
        let Some(next) = next else { break };
        columns.retain(|column| column.dispensable != next);
    }
    let room = limit.saturating_sub(gaps(columns));
    while columns.iter().map(|column| column.width).sum::<usize>() > room {
        let narrowable = columns.iter_mut().filter(|c| c.flexible && c.width > NARROWEST);
        let Some(widest) = narrowable.max_by_key(|column| column.width) else { return };
        widest.width -= 1;
    }
}

fn line(columns: &[Column], cell: impl Fn(&Column) -> String) -> String {
    let cells = columns.iter().map(|column| {
        let text = cut(&cell(column), column.width);
        if column.numeric { right(&text, column.width) } else { left(&text, column.width) }
    });
    format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
}

/// Where a target is, without how it is spoken to: there is little room.
fn address(target: &str) -> &str {
    target.split_once("://").map_or(target, |(_, address)| address)
}

/// How long ago it started: the exact time is in its name.
fn started(run: &RunEntry, now: u64, language: Language) -> String {
    let Some(started) = run.started_unix_ns else { return ABSENT.to_owned() };
    let seconds = now.saturating_sub(started) / 1_000_000_000;
    let age = match seconds {
        0..60 => (Head::SecondsAgo, seconds),
        60..3600 => (Head::MinutesAgo, seconds / 60),
        3600..172_800 => (Head::HoursAgo, seconds / 3600),
        _ => (Head::DaysAgo, seconds / 86_400),
    };
    age.0.with(language, &[age.1.to_string()])
}

/// Whether it is a measurement of a real model; nothing if so.
fn kind(run: &RunEntry, language: Language) -> String {
    let kind = match (run.predicted, run.simulated) {
        (true, _) => Head::Predicted.text(language),
        (false, true) => Head::Simulated.text(language),
        (false, false) => "",
    };
    kind.to_owned()
}

fn load(range: Option<LoadRange>, language: Language) -> String {
    let Some(LoadRange { choice, kind, low, high }) = range else { return String::new() };
    let plain = |value: f64| if value.fract() == 0.0 { format!("{value}") } else { number(value) };
    let span = match low == high {
        true => plain(low),
        false => format!("{}–{}", plain(low), plain(high)),
    };
    let words = match kind {
        LoadKind::Rate => Head::Rate,
        LoadKind::Burst => Head::Burst,
        LoadKind::Trace => Head::Trace,
        LoadKind::Ramp => Head::Ramp,
        _ => Head::Concurrency,
    };
    match choice {
        LevelChoice::Given => words.with(language, &[span]),
        LevelChoice::Sweep => Head::Sweep.with(language, &[span + "/s"]),
        LevelChoice::Auto => Head::Auto.with(language, &[span]),
        LevelChoice::Capacity => Head::Capacity.with(language, &[words.with(language, &[span])]),
    }
}

fn verdict(run: &RunEntry, language: Language) -> String {
    let word = run.verdict.map_or(ABSENT, |verdict| verdict.name(language));
    match run.state {
        RunState::Complete => word.to_owned(),
        RunState::Interrupted if run.target_lost => Head::Lost.with(language, &[word]),
        RunState::Interrupted => Head::Interrupted.with(language, &[word]),
        RunState::Running => Head::Running.text(language).to_owned(),
        RunState::Unfinished => Head::Unfinished.text(language).to_owned(),
        RunState::Damaged => Head::Damaged.text(language).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, api: &str, [output, inputs]: [Option<f64>; 2]) -> RunEntry {
        RunEntry {
            name: name.to_owned(),
            path: name.into(),
            id: None,
            started: None,
            started_unix_ns: None,
            state: RunState::Complete,
            target_lost: false,
            problem: None,
            label: None,
            tags: Default::default(),
            model: None,
            target: None,
            api: Some(api.to_owned()),
            simulated: false,
            predicted: false,
            load: None,
            levels: Some(1),
            verdict: None,
            requests_per_s: None,
            output_tokens_per_s: output,
            inputs_per_s: inputs,
        }
    }

    #[test]
    fn runs_of_embeddings_have_inputs_and_runs_of_several_apis_their_names() {
        let chat = run("a", "of-chat", [Some(100.0), None]);
        let embeddings = run("b", "of-embeddings", [None, Some(314.0)]);
        let shown = |runs: &[RunEntry]| table(runs, 0, Language::English, 100);
        let both = shown(&[chat.clone(), embeddings.clone()]);
        for word in ["API", "of-embeddings", "INPUTS/S", "314", "OUT TOK/S", "100"] {
            assert!(both.contains(word), "{word}: {both}");
        }
        let one = shown(&[chat.clone(), chat]);
        assert!(!one.contains("API") && !one.contains("INPUTS/S"), "{one}");
        assert!(!shown(&[embeddings]).contains("OUT TOK/S"));
    }

    #[test]
    fn model_target_and_what_is_no_measurement_are_shown() {
        let named = |name: &str, model: &str, target: &str| RunEntry {
            model: Some(model.to_owned()),
            target: Some(target.to_owned()),
            ..run(name, "chat", [Some(100.0), None])
        };
        let real = named("20261116T141411Z-debd", "qwen2-72b", "http://gpu:8000");
        let twin = RunEntry {
            predicted: true,
            ..named("20261116T141411Z-9dcd", "generic-7b", "generic-7b")
        };
        let wide = table(&[real.clone(), twin.clone()], 0, Language::English, 120);
        for word in ["MODEL", "qwen2-72b", "TARGET", "  gpu:8000", "KIND", "predicted"] {
            assert!(wide.contains(word), "{word}: {wide}");
        }
        assert_eq!(wide.matches("generic-7b").count(), 1, "{wide}");
        let narrow = table(&[real.clone(), twin], 0, Language::English, 64);
        assert!(narrow.contains("qwen2-7") && narrow.contains("predicted"), "{narrow}");
        // A twin has no target that the other one could differ from.
        let twin = RunEntry { predicted: true, ..named("t", "qwen2-72b", "qwen2-72b") };
        let alike = table(&[real.clone(), twin], 0, Language::English, 70);
        assert!(alike.contains("qwen2-72b") && !alike.contains("TARGET"), "{alike}");
        // One model alone says little.
        let same = table(&[real.clone(), real], 0, Language::English, 50);
        assert!(!same.contains("qwen2") && !same.contains("KIND"), "{same}");
    }
}

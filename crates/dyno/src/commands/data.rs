//! `dyno data`: shows a data file, or converts it.

mod agentic;
mod trace;

use super::cannot_write;
use crate::args::data::{ConvertArgs, DataCommand, ShowArgs, SourceArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::choice_plan;
use crate::usage::UsageError;
use dyno_model::prompt::Content;
use dyno_model::{Language, Localized, Message, message};
use dyno_run::workload::{counting_user_messages, not_truncated, selection};
use dyno_workload::data::{
    Count, DataKind, DataSet, DataSpec, DataTally, PromptSelection, Selected, convert, profile,
    shown,
};
use dyno_workload::session::{SessionOptions, SessionProfile};
use dyno_workload::tokenizer::Tokenizer;
use std::fs::File;
use std::io::{BufWriter, Write};

/// Shows or converts.
pub(crate) fn run(command: &DataCommand, printer: &Printer) -> Exit {
    let done = match command {
        DataCommand::Show(args) => show(args, printer),
        DataCommand::Convert(args) => write(args, printer),
    };
    done.unwrap_or_else(|error| {
        printer.error(&error);
        Exit::Usage
    })
}

/// The selected prompts and their source.
struct Chosen {
    set: DataSet,
    tokenizer: Tokenizer,
    selected: Selected<'static>,
    /// How they would be sent, if they are conversations.
    sessions: Option<SessionOptions>,
}

fn in_spec(error: impl Localized) -> UsageError {
    UsageError::new("SPEC", error)
}

fn count(tokenizer: &Tokenizer, content: &Content) -> Result<u32, Message> {
    tokenizer.count_content(content, true).map_err(Message::of)
}

fn choose(args: &SourceArgs, spec: &DataSpec) -> Result<Chosen, UsageError> {
    match (spec.kind, &spec.path) {
        (Some(DataKind::Random), _) => {
            return Err(UsageError::new(
                "SPEC",
                message!(
                    "`random` is generated during a run; there is no file to read",
                    "`random` 在测试过程中生成，没有可读取的文件"
                ),
            ));
        }
        (Some(DataKind::Session), None) => {
            let message = message!(
                "`session` without a file is generated during a run; name a file of \
                 conversations with session:FILE",
                "没有文件的 `session` 在测试过程中生成；请用 session:FILE 指定会话文件"
            );
            return Err(UsageError::new("SPEC", message));
        }
        _ => {}
    }
    let plan = choice_plan(&args.choice);
    let sessions = (spec.kind == Some(DataKind::Session)).then(|| SessionOptions::new(spec));
    let sessions = sessions.transpose().map_err(in_spec)?;
    if sessions.is_some() && plan.truncate {
        return Err(UsageError::new("--truncate", not_truncated()));
    }
    let tokenizer = match &args.choice.tokenizer {
        Some(path) => {
            Tokenizer::load(path).map_err(|error| UsageError::new("--tokenizer", error))?
        }
        None => Tokenizer::estimate(),
    };
    let set = DataSet::new(spec).map_err(in_spec)?;
    let selection = PromptSelection { repeat: false, ..selection(&plan, args.seed) };
    let bounded = plan.min_input_tokens.is_some() || plan.max_input_tokens.is_some();
    let counter = tokenizer.clone();
    let counting: Option<Count<'static>> = bounded.then(|| {
        let whole: Count<'static> = Box::new(move |content| count(&counter, content));
        if sessions.is_some() { counting_user_messages(whole) } else { whole }
    });
    let selected = selection.of(&set, counting).map_err(in_spec)?;
    Ok(Chosen { set, tokenizer, selected, sessions })
}

fn parsed(args: &SourceArgs) -> Result<DataSpec, UsageError> {
    args.spec.parse().map_err(in_spec)
}

fn show(args: &ShowArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let spec = parsed(&args.source)?;
    let plan = choice_plan(&args.source.choice);
    if agentic::is_named(&spec, &plan, args.json) {
        return agentic::show(&spec, (&plan, args.source.seed), args.json, printer);
    }
    if args.json {
        return Err(UsageError::new("--json", agentic::only_agentic()));
    }
    let args = &args.source;
    if trace::is_named(&spec) {
        return trace::show(&spec, &plan, printer);
    }
    let Chosen { set, tokenizer, mut selected, sessions } = choose(args, &spec)?;
    let counted = |content: &Content| count(&tokenizer, content);
    let estimated = tokenizer.is_estimate();
    let (language, recognised) = (printer.language(), set.recognised());
    let (profile, first) = match &sessions {
        Some(options) => SessionProfile::of(&mut selected, options, args.seed, &counted, estimated)
            .map(|profile| (profile.text(language), profile.first)),
        None => profile(&mut selected, &counted, estimated)
            .map(|profile| (profile.text(language), profile.first)),
    }
    .map_err(in_spec)?;
    let fields = Some(shown::fields(recognised, language)).filter(|fields| !fields.is_empty());
    let parts = [
        Some(recognised.text(language) + "\n"),
        fields.map(|fields| fields + "\n"),
        Some(profile),
        first.map(|first| format!("\n{}", shown::first(&first, estimated, language))),
        Some(left_out(selected.tally(), language)),
    ];
    recognised.warnings().iter().for_each(|warning| printer.warn(&warning));
    Ok(printer.result(&parts.into_iter().flatten().collect::<String>()))
}

fn write(args: &ConvertArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let spec = parsed(&args.source)?;
    if trace::is_named(&spec) {
        return Err(UsageError::new(
            "SPEC",
            message!(
                "a trace has times and lengths, but no prompts to convert",
                "流量记录只有时间和长度，没有可转换的提示词"
            ),
        ));
    }
    let Chosen { set, mut selected, sessions, .. } = choose(&args.source, &spec)?;
    let wrong = |error: std::io::Error| UsageError::new("--out", cannot_write(&args.out, &error));
    let file = File::create_new(&args.out).map_err(wrong)?;
    let mut out = BufWriter::new(file);
    let written = convert(&mut selected, args.to, &mut out)
        .map_err(in_spec)
        .and_then(|written| out.flush().map(|()| written).map_err(wrong));
    // An incomplete file could be mistaken for a complete one.
    let written = written.inspect_err(|_| drop(std::fs::remove_file(&args.out)))?;
    let left_out = left_out(selected.tally(), printer.language());
    let (to, recognised) = (args.out.display(), set.recognised());
    let done = match sessions {
        Some(_) => message!(
            "{written} {written|conversation|conversations} written to {to}",
            "已将 {written} 个会话写入 {to}"
        ),
        None => message!(
            "{written} {written|prompt|prompts} written to {to}",
            "已将 {written} 条提示词写入 {to}"
        ),
    };
    let done = done.text(printer.language());
    printer.note(&recognised);
    recognised.warnings().iter().for_each(|warning| printer.warn(&warning));
    Ok(printer.result(&format!("{done}\n{left_out}")))
}

/// What was left out or changed, so that nothing is dropped silently.
fn left_out(tally: DataTally, language: Language) -> String {
    let DataTally { skipped, blank, dropped_short, dropped_long, truncated, .. } = tally;
    let lines = [
        (
            skipped,
            message!(
                "{skipped} bad {skipped|record|records} skipped",
                "跳过 {skipped} 条格式错误的记录"
            ),
        ),
        (
            blank,
            message!("{blank} empty {blank|prompt|prompts} skipped", "跳过 {blank} 条空提示词"),
        ),
        (
            dropped_short,
            message!("{dropped_short} skipped as too short", "因过短跳过 {dropped_short} 条"),
        ),
        (
            dropped_long,
            message!("{dropped_long} skipped as too long", "因过长跳过 {dropped_long} 条"),
        ),
        (
            truncated,
            message!(
                "{truncated} truncated to the maximum length",
                "截断到最大长度 {truncated} 条"
            ),
        ),
    ];
    let lines = lines.iter().filter(|(count, _)| *count > 0);
    lines.map(|(_, line)| line.text(language) + "\n").collect()
}

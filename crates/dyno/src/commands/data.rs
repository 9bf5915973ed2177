//! `dyno data`: shows a data file, or converts it.

mod trace;

use crate::args::data::{ConvertArgs, DataCommand, DataCommandArgs, SourceArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::choice_plan;
use crate::usage::UsageError;
use dyno_model::Language;
use dyno_model::prompt::Content;
use dyno_run::workload::{counting_user_messages, not_truncated, selection};
use dyno_words::{messages, translated};
use dyno_workload::data::{
    Count, DataSet, DataSpec, Kind, Selected, Selection, SpecError, Tally, convert, profile, shown,
};
use dyno_workload::session::{SessionOptions, SessionProfile};
use dyno_workload::tokenizer::Tokenizer;
use std::fs::File;
use std::io::{BufWriter, Write};

messages! {
    /// What was written, and what was left out or changed.
    enum Text;

    Prompts: "{} {0|prompt|prompts} written to {}", "已将 {} 条提示词写入 {}";
    Conversations: "{} {0|conversation|conversations} written to {}", "已将 {} 个会话写入 {}";
    Skipped: "{} bad {0|record|records} skipped", "跳过 {} 条格式错误的记录";
    Blank: "{} empty {0|prompt|prompts} skipped", "跳过 {} 条空提示词";
    Short: "{} skipped as too short", "因过短跳过 {} 条";
    Long: "{} skipped as too long", "因过长跳过 {} 条";
    Truncated: "{} truncated to the maximum length", "截断到最大长度 {} 条";
}

/// Shows or converts.
pub(crate) fn run(args: &DataCommandArgs, printer: &Printer) -> Exit {
    let done = match &args.command {
        DataCommand::Show(args) => show(&args.source, printer),
        DataCommand::Convert(args) => write(args, printer),
    };
    done.unwrap_or_else(|error| {
        printer.error(error);
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

fn in_spec(error: impl std::fmt::Display) -> UsageError {
    UsageError::new("SPEC", error.to_string())
}

fn count(tokenizer: &Tokenizer, content: &Content) -> Result<u32, String> {
    tokenizer.count_content(content, true).map_err(|error| error.to_string())
}

fn choose(args: &SourceArgs, spec: &DataSpec) -> Result<Chosen, UsageError> {
    match (spec.kind, &spec.path) {
        (Some(Kind::Random), _) => {
            return Err(in_spec("`random` is generated during a run; there is no file to read"));
        }
        (Some(Kind::Session), None) => {
            let message = "`session` without a file is generated during a run; name a file of \
                           conversations with session:FILE";
            return Err(in_spec(message));
        }
        _ => {}
    }
    let plan = choice_plan(&args.choice);
    let sessions = (spec.kind == Some(Kind::Session)).then(|| SessionOptions::new(spec));
    let sessions = sessions.transpose().map_err(in_spec)?;
    if sessions.is_some() && plan.truncate {
        return Err(UsageError::new("--truncate", not_truncated().to_string()));
    }
    let tokenizer = match &args.choice.tokenizer {
        Some(path) => Tokenizer::load(path)
            .map_err(|error| UsageError::new("--tokenizer", error.to_string()))?,
        None => Tokenizer::estimate(),
    };
    let set = DataSet::new(spec).map_err(in_spec)?;
    let selection = Selection { repeat: false, ..selection(&plan, args.seed) };
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
    args.spec.parse().map_err(|error: SpecError| in_spec(error))
}

fn show(args: &SourceArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let spec = parsed(args)?;
    if trace::is_named(&spec) {
        return trace::show(&spec, &choice_plan(&args.choice), printer);
    }
    let Chosen { set, tokenizer, mut selected, sessions } = choose(args, &spec)?;
    let counted = |content: &Content| count(&tokenizer, content);
    let estimated = tokenizer.is_estimate();
    let (profile, first) = match &sessions {
        Some(options) => SessionProfile::of(
            &mut selected,
            options,
            args.seed,
            &counted,
            estimated,
            printer.language(),
        )
        .map(|profile| (profile.to_string(), profile.first)),
        None => profile(&mut selected, &counted, estimated, printer.language())
            .map(|profile| (profile.to_string(), profile.first)),
    }
    .map_err(in_spec)?;
    let (language, recognised) = (printer.language(), set.recognised());
    let fields = Some(shown::fields(recognised, language)).filter(|fields| !fields.is_empty());
    let parts = [
        Some(translated(&recognised.to_string(), language).into_owned() + "\n"),
        fields.map(|fields| fields + "\n"),
        Some(spoken(&profile, language)),
        first.map(|first| format!("\n{}", shown::first(&first, estimated, language))),
        Some(left_out(selected.tally(), language)),
    ];
    recognised.warnings().iter().for_each(|warning| printer.warn(warning));
    Ok(printer.result(&parts.into_iter().flatten().collect::<String>()))
}

/// Where the samples of a description begin, at its end.
fn samples_of(text: &str) -> usize {
    const SAMPLES: &str = "\nsamples\n";
    text.find(SAMPLES).map_or(text.len(), |at| at + SAMPLES.len())
}

/// A description in the user's language; the samples at its end are the user's own text.
fn spoken(text: &str, language: Language) -> String {
    let (words, samples) = text.split_at(samples_of(text));
    let lines: Vec<_> = words.split('\n').map(|line| translated(line, language)).collect();
    lines.join("\n") + samples
}

fn write(args: &ConvertArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let spec = parsed(&args.source)?;
    if trace::is_named(&spec) {
        return Err(in_spec("a trace has times and lengths, but no prompts to convert"));
    }
    let Chosen { set, mut selected, sessions, .. } = choose(&args.source, &spec)?;
    let wrong = |error: std::io::Error| {
        UsageError::new("--out", format!("cannot write `{}`: {error}", args.out.display()))
    };
    let file = File::create_new(&args.out).map_err(wrong)?;
    let mut out = BufWriter::new(file);
    let written = convert(&mut selected, args.to, &mut out)
        .map_err(in_spec)
        .and_then(|written| out.flush().map(|()| written).map_err(wrong));
    // An incomplete file could be mistaken for a complete one.
    let written = written.inspect_err(|_| drop(std::fs::remove_file(&args.out)))?;
    let left_out = left_out(selected.tally(), printer.language());
    let (to, recognised) = (args.out.display(), set.recognised());
    let done = if sessions.is_some() { Text::Conversations } else { Text::Prompts };
    let done = done.with(printer.language(), &[written.to_string(), to.to_string()]);
    printer.note(recognised);
    recognised.warnings().iter().for_each(|warning| printer.warn(warning));
    Ok(printer.result(&format!("{done}\n{left_out}")))
}

/// What was left out or changed, so that nothing is dropped silently.
fn left_out(tally: Tally, language: Language) -> String {
    let Tally { skipped, blank, dropped_short, dropped_long, truncated, .. } = tally;
    let lines = [
        (skipped, Text::Skipped),
        (blank, Text::Blank),
        (dropped_short, Text::Short),
        (dropped_long, Text::Long),
        (truncated, Text::Truncated),
    ];
    let lines = lines.iter().filter(|(count, _)| *count > 0);
    lines.map(|(count, text)| text.with(language, &[count.to_string()]) + "\n").collect()
}

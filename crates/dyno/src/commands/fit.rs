//! `dyno fit`: makes a twin of a measured server.

use super::loaded;
use crate::args::fit::{FitArgs, FitFrom};
use crate::exit::Exit;
use crate::printer::{Manners, Printer};
use crate::resolve::Surroundings;
use crate::usage::UsageError;
use crate::why::{Status, Why};
use dyno_engine::twin::Twin;
use dyno_model::{Language, Localized};
use dyno_twins::{About, Measured, Source, Wanted};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

dyno_words::messages! {
    /// A text about the file of a twin.
    enum Message;

    Exists: "`{}` exists; name another file", "`{}` 已存在；请指定其他文件";
    NoDirectory: "there is no directory `{}`; create it first", "目录 `{}` 不存在；请先创建";
    CannotWrite: "cannot write `{}`: {}", "无法写入 `{}`：{}";
    Written: "written to {}", "已写入 {}";
}

/// Reads the runs, fits a twin, writes it and reports how close it is.
pub(crate) fn run(args: &FitArgs, printer: &Printer) -> Exit {
    let manners =
        Manners { quiet: args.quiet, no_progress: args.no_progress, ..Manners::default() };
    let printer = &printer.with(manners);
    match fitted(args, printer, Surroundings::of_process().language) {
        Ok((text, exit)) => {
            let mut status = Status::from(printer.result(&text));
            if exit != Exit::Fine {
                let why = Why::PoorFit.text(printer.language());
                status = status.and(Status::because(exit, why));
            }
            status.told(printer)
        }
        Err(errors) => {
            errors.iter().for_each(|error| printer.error(error));
            errors.iter().map(|error| error.exit).max().unwrap_or(Exit::Usage)
        }
    }
}

/// The report on a new twin file and whether it is a good fit, or everything that prevents one.
fn fitted(
    args: &FitArgs,
    printer: &Printer,
    language: Language,
) -> Result<(String, Exit), Vec<UsageError>> {
    let in_run =
        |message: dyno_model::Message| UsageError::new("RUN", message.text(printer.language()));
    let mut errors: Vec<UsageError> = unwritable(&args.out, language).into_iter().collect();
    let mut runs: Vec<Measured> = Vec::new();
    for path in &args.runs {
        match measured(path, printer) {
            Ok(mut found) => runs.append(&mut found),
            Err(error) => errors.push(error),
        }
    }
    if runs.is_empty() {
        return Err(errors);
    }
    let wanted = wanted(args);
    let (notes, job) = match dyno_twins::prepare(&runs, &wanted, language) {
        Ok(job) if errors.is_empty() => (job.notes.clone(), Some(job)),
        Ok(_) => (Vec::new(), None),
        Err(refused) => {
            errors.extend(refused.errors.into_iter().map(in_run));
            (refused.notes, None)
        }
    };
    notes.into_iter().for_each(|note| printer.note(note.text(printer.language())));
    let Some(job) = job else { return Err(errors) };
    let found = dyno_live::while_shown(printer, |elapsed| job.line(elapsed), || job.work())
        .map_err(|error| vec![in_run(error)])?;
    write(&args.out, &found.twin, language).map_err(|error| vec![error])?;
    let exit = if found.warning.is_some() { Exit::Inconclusive } else { Exit::Fine };
    if let Some(warning) = found.warning {
        printer.warn(warning.text(printer.language()));
    }
    let written = Message::Written.with(language, &[args.out.display().to_string()]);
    Ok((format!("{}\n{written}\n", found.text), exit))
}

fn wanted(args: &FitArgs) -> Wanted {
    let name = args.out.file_stem().map_or("twin".into(), |stem| stem.to_string_lossy());
    Wanted {
        name: name.into_owned(),
        about: About {
            engine: args.engine.clone(),
            model: args.model.clone(),
            hardware: args.hardware.clone(),
        },
        source: match args.from {
            FitFrom::Auto => Source::Auto,
            FitFrom::Records => Source::Records,
            FitFrom::Table => Source::Table,
        },
        max_seqs: args.max_seqs,
        token_budget: args.token_budget,
    }
}

/// Why no twin file can be created at `out`, as far as that can be known before fitting.
fn unwritable(out: &Path, language: Language) -> Option<UsageError> {
    let error = |message: Message, path: &Path| {
        UsageError::new("--out", message.with(language, &[path.display().to_string()]))
    };
    if out.exists() {
        return Some(error(Message::Exists, out));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (!folder.is_dir()).then(|| error(Message::NoDirectory, folder))
}

/// The runs at `path`.
pub(super) fn measured(path: &Path, printer: &Printer) -> Result<Vec<Measured>, UsageError> {
    let wrong = |error: dyno_record::RecordError| UsageError::new("RUN", error.to_string());
    let all = loaded::all(&[path.to_owned()], "RUN")?;
    all.print_problems(true, printer);
    let runs = all.runs.into_iter().map(|run| match run.dir {
        Some(dir) => Measured::recorded(run.summary, dir).map_err(wrong),
        None => Ok(Measured::stated(run.summary)),
    });
    runs.collect()
}

fn write(out: &Path, twin: &Twin, language: Language) -> Result<(), UsageError> {
    let unwritable = |error: std::io::Error| {
        let values = [out.display().to_string(), error.to_string()];
        UsageError::new("--out", Message::CannotWrite.with(language, &values))
    };
    let mut file = File::create_new(out).map_err(unwritable)?;
    file.write_all(twin.to_toml().as_bytes()).map_err(unwritable)
}

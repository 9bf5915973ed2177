//! `dyno fit`: makes a twin of a measured server.

use super::{cannot_write, loaded};
use crate::args::fit::{FitArgs, FitFrom};
use crate::exit::Exit;
use crate::printer::{OutputOptions, Printer};
use crate::resolve::ProcessEnv;
use crate::usage::UsageError;
use crate::why::Status;
use dyno_engine::twin::Twin;
use dyno_model::{Language, Localized, Message, message};
use dyno_twins::{AboutTwin, FitWanted, MeasuredRun, Source};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// Reads the runs, fits a twin, writes it and reports how close it is.
pub(crate) fn run(args: &FitArgs, printer: &Printer) -> Exit {
    let manners = OutputOptions {
        quiet: args.quiet,
        no_progress: args.no_progress,
        ..OutputOptions::default()
    };
    let printer = &printer.with(manners);
    match fitted(args, printer, ProcessEnv::of_process().language) {
        Ok((text, exit)) => {
            let mut status = Status::from(printer.result(&text));
            if exit != Exit::Fine {
                status = status.and(exit.because(message!(
                    "the twin fits poorly; see the warning above",
                    "孪生模型拟合不佳，见上文的警告"
                )));
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
    let in_run = |message: Message| UsageError::new("RUN", message);
    let mut errors: Vec<UsageError> = unwritable(&args.out).into_iter().collect();
    let mut runs: Vec<MeasuredRun> = Vec::new();
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
    notes.iter().for_each(|note| printer.note(note));
    let Some(job) = job else { return Err(errors) };
    let found = dyno_live::while_shown(printer, |elapsed| job.line(elapsed), || job.work())
        .map_err(|error| vec![in_run(error)])?;
    write(&args.out, &found.twin).map_err(|error| vec![error])?;
    let exit = if found.warning.is_some() { Exit::Inconclusive } else { Exit::Fine };
    if let Some(warning) = found.warning {
        printer.warn(&warning);
    }
    let written = message!("written to {}", "已写入 {}", args.out.display()).text(language);
    Ok((format!("{}\n{written}\n", found.text), exit))
}

fn wanted(args: &FitArgs) -> FitWanted {
    let name = args.out.file_stem().map_or("twin".into(), |stem| stem.to_string_lossy());
    FitWanted {
        name: name.into_owned(),
        about: AboutTwin {
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
fn unwritable(out: &Path) -> Option<UsageError> {
    if out.exists() {
        let wrong = message!(
            "`{}` exists; name another file",
            "`{}` 已存在；请指定其他文件",
            out.display()
        );
        return Some(UsageError::new("--out", wrong));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    let wrong = message!(
        "there is no directory `{}`; create it first",
        "目录 `{}` 不存在；请先创建",
        folder.display()
    );
    (!folder.is_dir()).then(|| UsageError::new("--out", wrong))
}

/// The runs at `path`.
pub(super) fn measured(path: &Path, printer: &Printer) -> Result<Vec<MeasuredRun>, UsageError> {
    let wrong = |error: dyno_record::RecordError| UsageError::new("RUN", error);
    let all = loaded::all(&[path.to_owned()], "RUN")?;
    all.print_problems(true, printer);
    let runs = all.runs.into_iter().map(|run| match run.dir {
        Some(dir) => MeasuredRun::recorded(run.summary, dir).map_err(wrong),
        None => Ok(MeasuredRun::stated(run.summary)),
    });
    runs.collect()
}

fn write(out: &Path, twin: &Twin) -> Result<(), UsageError> {
    let unwritable = |error: io::Error| UsageError::new("--out", cannot_write(out, &error));
    let mut file = File::create_new(out).map_err(unwritable)?;
    file.write_all(twin.to_toml().as_bytes()).map_err(unwritable)
}

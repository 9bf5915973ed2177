//! `dyno init`: asks a server what it is, and writes settings for it.

mod settings;

use super::bench::{exit_by, slow};
use super::cannot_write;
use crate::args::init::InitArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::{ProcessEnv, order_to_inspect};
use crate::usage::UsageError;
use dyno_model::message;
use dyno_run::inspect;
use settings::Settings;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Asks, and writes what was found.
pub(crate) fn run(args: InitArgs, printer: &Printer) -> Exit {
    let printed = args.out == Path::new("-");
    let (out, force) = (args.out.clone(), args.force);
    if !printed && !force && out.exists() {
        printer.error(&exists(&out));
        return Exit::Usage;
    }
    let mut settings = Settings::of(&args, printer.language());
    let mut order = match order_to_inspect(args, &ProcessEnv::of_process()) {
        Ok((order, warnings)) => {
            warnings.iter().for_each(|warning| printer.warn(warning));
            order
        }
        Err(error) => {
            printer.error(&error);
            return Exit::Usage;
        }
    };
    order.reach.slow = Some(slow(&order.plan, printer));
    let url = order.plan.target.to_string();
    printer.note(&message!("asking {url}", "正在询问 {url}"));
    match inspect(order) {
        Ok(found) => settings.found(&found),
        Err(error) => {
            printer.error(&error);
            return exit_by(&error);
        }
    }
    if printed {
        return printer.result(&settings.text());
    }
    if let Err(error) = write(&out, &settings.text(), force) {
        printer.error(&error);
        return Exit::Usage;
    }
    let file = out.display();
    printer.remark(&message!(
        "wrote {file}. Next: dyno bench --config {file}",
        "已写入 {file}。下一步：dyno bench --config {file}"
    ));
    Exit::Fine
}

/// Writes a new file; an existing one only if that is wanted.
fn write(out: &Path, text: &str, force: bool) -> Result<(), UsageError> {
    let mut options = OpenOptions::new();
    options.write(true).truncate(force).create(force).create_new(!force);
    let written = options.open(out).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(out),
        _ => UsageError::new("--out", cannot_write(out, &error)),
    })
}

fn exists(out: &Path) -> UsageError {
    UsageError::new("--out", message!("`{}` exists", "`{}` 已存在", out.display())).hint(message!(
        "--force replaces it, --out FILE writes another, --out - prints it",
        "--force 覆盖它，--out FILE 写到其他文件，--out - 直接打印"
    ))
}

//! `dyno open`: the HTML report of a run in a browser, or how to look at it from elsewhere.

use super::baseline::one;
use super::cannot_write;
use super::report::{language, load};
use crate::args::runs::OpenArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_model::{Language, Message, message};
use dyno_report::layout::{Layout, Options};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that cannot show the page has ended by then; a browser that is still running has it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Shows the page; the path goes to stdout, so that scripts have it.
pub(crate) fn run(args: &OpenArgs, printer: &Printer) -> Exit {
    opened(args, printer).unwrap_or_else(|error| {
        printer.error(&error);
        Exit::Usage
    })
}

fn opened(args: &OpenArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let language = language(args.language);
    let page = page(args, language, printer)?;
    match viewer(&|name| std::env::var_os(name).filter(|value| !value.is_empty())) {
        Viewer::Program(program) => {
            if let Err(why) = show(&program, &page) {
                let program = program.first().map(|name| name.to_string_lossy().into_owned());
                let program = program.unwrap_or_default();
                printer.warn(&message!(
                    "{program} did not open the page ({why}); open this file yourself",
                    "{program} 未能打开页面（{why}）；请自行打开此文件"
                ));
            }
        }
        Viewer::None => {
            printer.note(&message!(
                "there is no display and no $BROWSER; open this file in a browser, or copy it: \
                 scp HOST:{} .",
                "没有显示器，也未设置 $BROWSER；请用浏览器打开此文件，或将其复制：scp 主机:{} .",
                page.display()
            ));
        }
        Viewer::Remote(host) => {
            let (dir, page) = (page.parent().unwrap_or(&page).display(), page.display());
            printer.note(&message!(
                "this is a remote machine. To view the page on your own machine, copy it there:\
                 \n  scp {host}:{page} .\nor serve it here and open \
                 http://localhost:8001/report.html through `ssh -L 8001:localhost:8001`:\n  \
                 python3 -m http.server -b 127.0.0.1 -d {dir} 8001",
                "这是远程主机。如需在本机查看，请将页面复制到本机：\n  \
                 scp {host}:{page} .\n或在此启动服务，并通过 `ssh -L 8001:localhost:8001` 打开 \
                 http://localhost:8001/report.html：\n  python3 -m http.server -b 127.0.0.1 -d \
                 {dir} 8001"
            ));
        }
    }
    Ok(printer.result(&format!("{}\n", page.display())))
}

/// Where the page is, written if it is missing or older than what it shows.
fn page(args: &OpenArgs, language: Language, printer: &Printer) -> Result<PathBuf, UsageError> {
    let wrong = |message: Message| UsageError::new("RUN", message);
    let run = one(args.run.as_ref(), "RUN")?;
    if !run.path.is_dir() {
        let hint = message!(
            "dyno report FILE --format html --out page.html writes a page",
            "用 `dyno report FILE --format html --out page.html` 写出页面"
        );
        return Err(wrong(message!("this is a file, not a run", "这是文件，不是测试")).hint(hint));
    }
    let dir = std::fs::canonicalize(&run.path).map_err(|error| wrong(Message::of(error)))?;
    let layout = Layout::Html;
    let page = dir.join(layout.file_name());
    let changed = |name: &str| dir.join(name).metadata().and_then(|found| found.modified()).ok();
    let drawn = changed(layout.file_name());
    let sources = ["records.dyno", "summary.json", "annotations.json"];
    let fresh = drawn.is_some() && sources.iter().all(|name| changed(name) <= drawn);
    // A page in another language was asked for by name.
    if fresh && args.language.lang.is_none() {
        return Ok(page);
    }
    let run = load(run, layout).map_err(|error| wrong(Message::of(error)))?;
    let options = Options { language, ..Options::default() };
    let printed = layout
        .print(std::slice::from_ref(&run), &options)
        .map_err(|error| wrong(Message::of(error)))?;
    std::fs::write(&page, &printed.bytes).map_err(|error| {
        let message = cannot_write(&page, &error);
        UsageError::new("RUN", message).hint(message!(
            "dyno report RUN --format html --out FILE writes it",
            "用 `dyno report RUN --format html --out FILE` 写出页面"
        ))
    })?;
    printer.note(&message!("wrote {}", "已写入 {}", page.display()));
    Ok(page)
}

/// Who shows the page.
#[derive(Debug, PartialEq, Eq)]
enum Viewer {
    /// A program and its arguments; `%s` stands for the page.
    Program(Vec<OsString>),
    /// Nobody: this is the named machine, reached over ssh.
    Remote(String),
    /// Nobody: there is no display.
    None,
}

/// `$BROWSER` comes first: editors set it on remote machines to reach the local browser.
fn viewer(variable: &dyn Fn(&str) -> Option<OsString>) -> Viewer {
    if let Some(browser) = variable("BROWSER") {
        let text = browser.to_string_lossy();
        let first = text.split(':').find(|part| !part.trim().is_empty()).unwrap_or_default();
        let words: Vec<OsString> = first.split_whitespace().map(OsString::from).collect();
        if !words.is_empty() {
            return Viewer::Program(words);
        }
    }
    if variable("DISPLAY").is_some() || variable("WAYLAND_DISPLAY").is_some() {
        return Viewer::Program(vec!["xdg-open".into()]);
    }
    let ours = |connection: OsString| {
        // Client address and port, then ours.
        connection.to_string_lossy().split_whitespace().nth(2).map(str::to_owned)
    };
    match variable("SSH_CONNECTION") {
        Some(connection) => Viewer::Remote(ours(connection).unwrap_or_else(|| "HOST".to_owned())),
        None => Viewer::None,
    }
}

/// Starts the program and waits only long enough to see it fail.
fn show(program: &[OsString], page: &Path) -> Result<(), Message> {
    let Some((name, arguments)) = program.split_first() else { return Ok(()) };
    let mut command = Command::new(name);
    let takes_page = arguments.iter().any(|argument| argument == "%s");
    for argument in arguments {
        command.arg(if argument == "%s" { page.as_os_str() } else { argument });
    }
    if !takes_page {
        command.arg(page);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(Message::of)?;
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(Message::of(status)),
            Err(error) => return Err(Message::of(error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Viewer {
        viewer(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn browser_then_display_then_a_hint() {
        let program = |words: &[&str]| Viewer::Program(words.iter().map(OsString::from).collect());
        let ssh = ("SSH_CONNECTION", "10.0.0.1 5000 10.0.0.2 22");
        assert_eq!(with(&[("BROWSER", "firefox:lynx"), ssh]), program(&["firefox"]));
        assert_eq!(with(&[("BROWSER", "open -n %s")]), program(&["open", "-n", "%s"]));
        assert_eq!(with(&[("DISPLAY", ":0"), ("BROWSER", " ")]), program(&["xdg-open"]));
        assert_eq!(with(&[("WAYLAND_DISPLAY", "wayland-0")]), program(&["xdg-open"]));
        assert_eq!(with(&[ssh]), Viewer::Remote("10.0.0.2".to_owned()));
        assert_eq!(with(&[]), Viewer::None);
    }

    #[test]
    fn a_program_that_fails_is_named() {
        let page = Path::new("/nowhere/report.html");
        assert!(show(&["/nowhere/browser".into()], page).is_err());
        assert!(show(&["false".into()], page).unwrap_err().to_string().contains('1'));
        assert!(show(&["test".into(), "%s".into(), "=".into(), page.into()], page).is_ok());
    }
}

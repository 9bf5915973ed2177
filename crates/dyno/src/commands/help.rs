//! `dyno help`: the help page of a command, or a topic.

use crate::args::HelpArgs;
use crate::exit::{self, Exit};
use crate::printer::Printer;
use crate::reference;
use crate::usage::UsageError;

/// Prints the page.
pub(crate) fn run(args: &HelpArgs, printer: &Printer) -> Exit {
    let topic = args.topic.as_deref().unwrap_or("dyno");
    if topic == "exit-codes" {
        return printer.result(&exit::help());
    }
    match reference::find(topic) {
        Some(mut command) => printer.result(&command.render_help().to_string()),
        None => {
            let names = reference::names().join(", ");
            let wrong =
                format!("`{topic}` is no command or topic; write one of {names}, exit-codes");
            printer.error(UsageError::new("", wrong));
            Exit::Usage
        }
    }
}

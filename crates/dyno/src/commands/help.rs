//! `dyno help`: the help page of a command, or of a topic.

use crate::exit::Exit;
use crate::help;
use crate::printer::Printer;
use crate::reference;
use crate::usage::UsageError;
use dyno_model::message;
use dyno_model::nearest::nearest;

/// Prints the page.
pub(crate) fn run(topic: Option<&str>, printer: &Printer) -> Exit {
    let topic = topic.unwrap_or("dyno");
    if let Some(topic) = help::find(topic) {
        return printer.result(&(topic.page)());
    }
    match reference::find(topic) {
        Some(mut command) => printer.result(&command.render_help().to_string()),
        None => {
            let (commands, topics) = (reference::names(), help::TOPICS.iter().map(|t| t.name));
            let topics = topics.filter(|topic| !commands.iter().any(|name| name == topic));
            let known: Vec<&str> = commands.iter().map(String::as_str).chain(topics).collect();
            let wrong = UsageError::new(
                "",
                message!("`{topic}` is not a command or a topic", "`{topic}` 不是命令，也不是主题"),
            );
            printer.error(&match nearest(topic, &known) {
                Some(near) => wrong.hint(message!(
                    "did you mean `dyno help {near}`?",
                    "是否想写 `dyno help {near}`？"
                )),
                None => {
                    wrong.hint(message!("write one of {}", "请写以下之一：{}", known.join(", ")))
                }
            });
            Exit::Usage
        }
    }
}

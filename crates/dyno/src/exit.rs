//! The exit statuses. Help, documentation and code all use this table.

use crate::resolve::ProcessEnv;
use dyno_model::{Message, message};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// How a command ended, in ascending order of severity: when several apply, the most severe one is
/// the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Success.
    Fine,
    /// The measurements do not decide whether a requirement is met.
    Inconclusive,
    /// A requirement was not met.
    RequirementMissed,
    /// The results describe the load generator, not the server.
    RunInvalid,
    /// The target could not be measured.
    TargetUnusable,
    /// Invalid flags or settings.
    Usage,
    /// An internal error.
    Bug,
    /// Ctrl-C.
    Interrupted,
}

/// Each status with its meaning and details, by number.
const TABLE: &[(Exit, &str, &str)] = &[
    (Exit::Fine, "success", "the command did what it was asked to do"),
    (
        Exit::Bug,
        "internal error",
        "a bug in Dyno, or a problem of the machine such as a full disk, damaged records or a --report \
         that cannot be written; what was recorded is kept",
    ),
    (
        Exit::Usage,
        "invalid flags or settings",
        "nothing was measured; the message names the flag and says what would be valid",
    ),
    (
        Exit::TargetUnusable,
        "target unusable",
        "the server is down, rejects the key, the path, the model or prompts of that length, \
         completed nothing for 30 s while it failed at least 50 requests, or stopped responding and \
         failed its health check; the message quotes its response, and --resume continues the run \
         once it is back. Or files contain no results: they were recognised, and the message says \
         what was seen",
    ),
    (
        Exit::RunInvalid,
        "the run is invalid",
        "the results of a level describe this machine rather than the server, or an agent was lost; \
         the report gives the reasons. The status of dyno capacity depends on its result instead",
    ),
    (
        Exit::RequirementMissed,
        "a requirement was not met",
        "more requests failed or were shed than --allow-failures allows, --max-failures ended the \
         run, not one completed, every level misses the --slo, dyno capacity found that no load meets \
         it, dyno lint found an error, dyno gate found a regression, or dyno twins check found a server \
         that is not what its twin says",
    ),
    (
        Exit::Inconclusive,
        "inconclusive",
        "not a failure: the measurements do not decide whether the --slo is met, what the capacity \
         is, or whether dyno gate passes; dyno compare found no common load; dyno fit wrote a twin \
         that fits poorly; dyno twins check found no level to compare; --until-stable gave up; or every request was still running when a level \
         ended. The report says what would decide it",
    ),
    (
        Exit::Interrupted,
        "interrupted",
        "Ctrl-C; what was recorded until then is kept, and --resume continues the run",
    ),
];

const PRECEDENCE: &str = "When several apply, the first of 130, 3, 4, 5, 6 is the exit status.";

impl Exit {
    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Bug => 1,
            Self::Usage => 2,
            Self::TargetUnusable => 3,
            Self::RunInvalid => 4,
            Self::RequirementMissed => 5,
            Self::Inconclusive => 6,
            Self::Interrupted => 130,
        }
    }

    /// The more severe of two endings.
    pub(crate) fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Runs a command; a panic becomes a message that asks for a report, and [`Exit::Bug`].
pub(crate) fn guarded(command: impl FnOnce() -> Exit) -> Exit {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let what = text.or(payload.downcast_ref::<String>().map(String::as_str));
        let what = what.map_or_else(|| message!("no message", "没有消息"), Message::quoted);
        let version = env!("CARGO_PKG_VERSION");
        let text = message!(
            "a bug in Dyno {version}: {what} ({place})",
            "Dyno {version} 的缺陷：{what}（{place}）"
        );
        let text = text.with_hint(message!(
            "please report it, with the command you ran and this message; what was recorded is \
             kept",
            "请附上所运行的命令和此消息进行报告；已记录的内容会保留"
        ));
        crate::printer::emergency(&text, ProcessEnv::of_process().language);
    }));
    // What the command borrowed is not used again after a panic.
    catch_unwind(AssertUnwindSafe(command)).unwrap_or(Exit::Bug)
}

/// `dyno help exit-codes`.
pub(crate) fn help() -> String {
    let mut text = String::from("Exit status of dyno:\n\n");
    for (exit, name, more) in TABLE {
        text.push_str(&format!("  {:>3}  {name}\n", exit.code()));
        text.push_str(&dyno_words::columns::wrap("       ", more, 90));
    }
    text.push_str(&format!("\n{PRECEDENCE}\n"));
    text
}

/// The reference page.
pub(crate) fn markdown() -> String {
    let mut text = String::from(
        "# Exit status\n\n<!-- Generated: cargo run -q -- man --markdown exit-codes > \
         docs/reference/exit-codes.md -->\n\n| status | meaning | more |\n| ---: | --- | --- |\n",
    );
    for (exit, name, more) in TABLE {
        text.push_str(&format!("| {} | {name} | {more} |\n", exit.code()));
    }
    text.push_str(&format!("\n{PRECEDENCE}\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_severe_ending_wins() {
        let order = [130, 3, 4, 5, 6, 0];
        let mut exits: Vec<Exit> = TABLE.iter().map(|(exit, ..)| *exit).collect();
        exits.retain(|exit| order.contains(&exit.code()));
        for a in &exits {
            for b in &exits {
                let first = order.iter().find(|code| [a.code(), b.code()].contains(code));
                assert_eq!(Some(&a.and(*b).code()), first);
            }
        }
    }

    #[test]
    fn a_panic_is_status_1() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Bug);
        assert_eq!(guarded(|| Exit::RunInvalid), Exit::RunInvalid);
        drop(std::panic::take_hook());
    }
}

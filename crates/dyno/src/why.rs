//! Why a command ends with its exit status: one line, the last that it prints. Errors that are
//! printed when they occur need none.

use crate::exit::Exit;
use crate::printer::Printer;
use dyno_model::message::clauses;
use dyno_model::{Message, message};
use dyno_words::messages;

messages! {
    /// A reason.
    pub(crate) enum Why;

    Interrupted: "interrupted", "测试被中断";
    TargetLost: "the target is unusable", "目标不可用";
    MaxFailures: "--max-failures ended the run", "失败数达到 --max-failures，测试提前结束";
    AgentLost: "an agent was lost", "有压测端丢失";
    NotWritten: "not everything could be written; see the error above", "有内容未能写入，见上文的错误";
    DataFailed: "the data could not be read; see the error above", "数据读取失败，见上文的错误";
    Invalid:
        "{} of {} {1|level|levels} {0|is|are} invalid: the results describe this machine, not the server",
        "{1} 个档位中有 {0} 个无效：结果反映的是本机，而不是服务器";
    NothingCompleted: "no request completed in {} of {} {1|level|levels}", "{1} 个档位中有 {0} 个没有任何请求成功";
    TooManyFailed:
        "{} of {} {1|level|levels} {0|has|have} more failed or shed requests than --allow-failures allows",
        "{1} 个档位中有 {0} 个的失败或被拒绝的请求超过 --allow-failures";
    NotConverged: "--until-stable gave up in {} of {} {1|level|levels}", "{1} 个档位中有 {0} 个未达到 --until-stable 的要求";
    NoneEnded:
        "in {} of {} {1|level|levels} every request was still running at the end",
        "{1} 个档位中有 {0} 个在结束时所有请求仍在进行";
    SloMissed: "the SLO {} was missed", "未满足 SLO {}";
    SloMissedByAll: "the SLO {} was missed at all {} levels", "所有 {1} 个档位均未满足 SLO {0}";
    SloMissedBySome:
        "the SLO {} was met at {} of {} levels; 5 means that no level meets it",
        "{2} 个档位中有 {1} 个满足 SLO {0}；所有档位都不满足时为 5";
    SloOpen: "the measurements do not decide whether the SLO {} is met", "现有数据无法判定是否满足 SLO {}";
    NoCapacity: "no load that was tried meets the SLO {}", "测试过的负载均不满足 SLO {}";
    CapacityOpen: "the capacity is inconclusive", "容量无法判定";
    GateFailed: "{} of {} {1|check|checks} failed", "{1} 项检查中有 {0} 项未通过";
    GateOpen: "{} of {} {1|check|checks} {0|is|are} inconclusive", "{1} 项检查中有 {0} 项无法判定";
    LoadsMissing: "{} {0|load|loads} of the baseline {0|is|are} missing", "缺少基线中的 {} 个负载";
    NoChecks: "there was nothing to check", "没有可检查的内容";
    NothingCompared: "the runs have no load in common", "这些测试没有相同的负载";
    LintErrors: "{} {0|error|errors} found", "发现 {} 个错误";
    TwinDiffers: "the server differs from its twin", "服务器与孪生模型不一致";
    TwinUnchecked: "no level could be compared with the twin", "没有可与孪生模型对比的档位";
    PoorFit: "the twin fits poorly; see the warning above", "孪生模型拟合不佳，见上文的警告";
}

/// An exit status with its reason, as far as one has to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    exit: Exit,
    why: Vec<Message>,
}

impl Status {
    /// The status for this reason.
    pub(crate) fn because(exit: Exit, why: impl Into<Message>) -> Self {
        Self { exit, why: vec![why.into()] }
    }

    /// The more severe one; both reasons where they are equally severe.
    pub(crate) fn and(mut self, other: impl Into<Self>) -> Self {
        let mut other = other.into();
        if other.exit > self.exit {
            return other;
        }
        if other.exit == self.exit {
            other.why.retain(|why| !self.why.contains(why));
            self.why.append(&mut other.why);
        }
        self
    }

    /// Prints the reason.
    pub(crate) fn told(self, printer: &Printer) -> Exit {
        if let Some(line) = self.line() {
            printer.remark(&line);
        }
        self.exit
    }

    fn line(&self) -> Option<Message> {
        let (code, why) = (self.exit.code(), clauses(&self.why));
        (!self.why.is_empty())
            .then(|| message!("exit status {code}: {why}", "退出状态 {code}：{why}"))
    }
}

impl From<Exit> for Status {
    fn from(exit: Exit) -> Self {
        Self { exit, why: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c2_the_reasons_of_the_gravest_status_are_said() {
        let because = |exit, why: &str| Status::because(exit, Message::quoted(why));
        let missed = because(Exit::BarNotMet, "missed");
        let open = because(Exit::Inconclusive, "open");
        let both = open.clone().and(missed.clone()).and(missed.clone());
        assert_eq!(both.line().unwrap().to_string(), "exit status 5: missed");
        let failed = because(Exit::BarNotMet, "failed");
        let both = missed.and(open).and(failed).and(Exit::Fine);
        assert_eq!(both.line().unwrap().to_string(), "exit status 5: missed; failed");
        assert_eq!(Status::from(Exit::Fine).line(), None);
    }
}

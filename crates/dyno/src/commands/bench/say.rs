//! What `dyno bench` says around a run, in the language of the user.

use crate::resolve::may_resume;
use dyno_model::Message;
use dyno_model::plan::Plan;
use dyno_words::escape::shell;
use dyno_words::messages;
use std::path::Path;

messages! {
    /// A message.
    pub(crate) enum Say;

    Resuming: "resuming {}; levels already finished: {}", "继续测试 {}；已完成的级数：{}";
    Stopping: "stopping: waiting for running requests; press Ctrl-C again to stop immediately", "正在停止：等待进行中的请求；再按一次 Ctrl-C 立即停止";
    StoppingNow: "stopping immediately: requests in flight are recorded as censored", "立即停止：在途请求记为截尾";
    StillWaiting: "no response yet from {} to {}; waiting for up to {}", "{} 尚未响应 {}；最多等待 {}";
    RunDirectory: "run directory: {}", "测试目录：{}";
    ToName: "to see it again: dyno report {0}, or dyno open {0}", "再次查看：dyno report {0} 或 dyno open {0}";
    Report: "report: {}", "报告：{}";
    Damaged: "the records of this run were damaged by somebody else while it ran; what could be read is reported, and the rest is lost", "本次测试的记录在运行中被他人损坏；已报告可读取的部分，其余已丢失";
    OnceBack: "once it is back: dyno bench --resume {}", "待其恢复后：dyno bench --resume {}";
    ToResume: "to resume: dyno bench --resume {}", "继续测试：dyno bench --resume {}";
    TooManyFailures: "the run was stopped after {} failures (--max-failures)",
        "失败达到 {} 个，测试已停止（--max-failures）";
    OthersKept: "the level is invalid, and its other agents stopped sending; their records are kept",
        "该档位无效，其他压测端已停止发送；它们的记录已保留";
    LastResponse: "the last request with a response was number {} of level {}, {} earlier", "最后一个得到响应的请求是第 {1} 级的第 {0} 个，在此之前 {2}";
    NoResponse: "no request had got a response", "没有任何请求得到响应";
    FirstEstimate: "estimated from the first response: about {} for {} levels", "根据首个响应估计：{1} 级约需 {0}";
    Estimate: "{} of {} levels done; about {} left", "已完成 {}/{} 级；约剩 {}";
    CompareAgain: "to compare again: dyno compare {} {}", "再次对比：dyno compare {} {}";
}

/// The command that runs the rest of the run at `path`, in these words; nothing where it cannot be resumed.
pub(crate) fn to_resume(say: Say, path: &Path, plan: &Plan) -> Option<Message> {
    let path = shell(&[path.display().to_string()])?;
    may_resume(plan).then(|| say.said(&[path]))
}

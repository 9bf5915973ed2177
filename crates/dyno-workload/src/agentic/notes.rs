//! What was left out of agentic traffic and why, and what is remarkable about what was not: counted, with the first places.

use std::collections::BTreeMap;

use dyno_model::{Message, message};

use super::tree::Tree;
use crate::data::DataError;
use crate::trace::words::{grouped, requests};

/// How many reasons of each kind are kept.
const KEPT: usize = 5;

/// What of the input is not in any tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOutKind {
    /// Files in a folder that could not be read, or are no agentic traffic.
    Files,
    /// Trees, because something in them is wrong or missing: a tree is used whole or not at all.
    Trees,
    /// Records that could not be read.
    Records,
}

/// What was left out, of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOutCount {
    /// How many.
    pub count: u64,
    /// How many requests of trees are lost with them.
    pub requests: u64,
    /// Where, and why: the first of them.
    pub first: Vec<Message>,
}

/// What is said about requests that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgenticRemark {
    /// Failed when they were recorded.
    Failed,
    /// Without a number of input tokens.
    WithoutInput,
    /// Without output tokens: they are replayed with one.
    WithoutOutput,
    /// Sent before what they wait for had ended: their gap is 0.
    Overlapping,
    /// Without the time at which the response before was complete: their gap contains that response.
    GapWithResponse,
    /// Reports of usage that repeat the one before.
    RepeatedUsage,
    /// Responses without a report of usage: not counted as requests.
    WithoutUsage,
    /// Messages that the program wrote in the name of the model.
    Synthetic,
    /// Spans of a request that another span stands for.
    SameRequest,
    /// Records that are no requests.
    OtherRecords,
    /// Sessions whose rows were not in the order of their times or numbers.
    Reordered,
    /// Steps of a trajectory that the model was not asked about.
    Unasked,
}

impl AgenticRemark {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::WithoutInput => "without_input_tokens",
            Self::WithoutOutput => "without_output_tokens",
            Self::Overlapping => "sent_before_previous_end",
            Self::GapWithResponse => "gap_contains_response",
            Self::RepeatedUsage => "repeated_usage",
            Self::WithoutUsage => "without_usage",
            Self::Synthetic => "synthetic",
            Self::SameRequest => "spans_of_same_request",
            Self::OtherRecords => "other_records",
            Self::Reordered => "reordered",
            Self::Unasked => "unasked_steps",
        }
    }

    /// It in words, with how often.
    pub fn said(self, count: u64) -> Message {
        let requests = requests(count);
        let of = |one: [&str; 2]| counted(count, one);
        match self {
            Self::Failed => message!("{requests} failed when recorded", "{requests}在录制时失败"),
            Self::WithoutInput => message!(
                "{requests} without a number of input tokens",
                "{requests}没有给出输入 token 数"
            ),
            Self::WithoutOutput => message!(
                "{requests} without output tokens; a replay asks for one",
                "{requests}没有输出 token；回放时请求 1 个"
            ),
            Self::Overlapping => message!(
                "{requests} sent before the end of what comes before; the gap is 0",
                "{requests}在前面的响应结束之前已发送；间隔记为 0"
            ),
            Self::GapWithResponse => message!(
                "{} with the time of the response before, which the file does not say",
                "{}包含前一个响应的时间，文件没有给出该时间",
                of(["gap", "个间隔"])
            ),
            Self::RepeatedUsage => message!(
                "{} the same as before: no request",
                "{}与前一条相同，不算作请求",
                of(["report of usage", "条用量记录"])
            ),
            Self::WithoutUsage => message!(
                "{} without a report of usage: no request",
                "{}没有用量记录，不算作请求",
                of(["response", "个响应"])
            ),
            Self::Synthetic => message!(
                "{} of the program in the name of the model: no request",
                "{}由程序以模型的名义写入，不算作请求",
                of(["message", "条消息"])
            ),
            Self::SameRequest => message!(
                "{} of a request that another span stands for",
                "{}所属的请求由另一个 span 代表",
                of(["span", "个 span "])
            ),
            Self::OtherRecords => {
                message!("{} of other kinds", "{}不是请求", of(["record", "条记录"]))
            }
            Self::Reordered => message!(
                "{} sorted, since rows were not in the order of times or numbers",
                "{}未按时间或编号排列，已排序",
                of(["session", "个会话"])
            ),
            Self::Unasked => message!(
                "{} without a response of the model: no request",
                "{}没有模型的响应，不算作请求",
                of(["step", "个步骤"])
            ),
        }
    }
}

/// A number of things, by their English and their Chinese name.
fn counted(count: u64, [one, chinese]: [&str; 2]) -> Message {
    let n = grouped(count);
    let english = if count == 1 { one.to_owned() } else { many(one) };
    Message::new([format!("{n} {english}"), format!("{n} {chinese}")])
}

/// The plural of an English name, whose first word is the thing.
fn many(one: &str) -> String {
    match one.split_once(' ') {
        Some((thing, rest)) => format!("{thing}s {rest}"),
        None => format!("{one}s"),
    }
}

/// What was left out and what is remarkable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgenticNotes {
    left: BTreeMap<LeftOutKind, LeftOutCount>,
    remarks: BTreeMap<AgenticRemark, u64>,
}

impl AgenticNotes {
    /// What was left out.
    pub fn left_out(&self) -> impl Iterator<Item = (LeftOutKind, &LeftOutCount)> {
        self.left.iter().map(|(kind, left)| (*kind, left))
    }

    /// How many files, trees or records were left out.
    pub fn left(&self, kind: LeftOutKind) -> u64 {
        self.left.get(&kind).map_or(0, |left| left.count)
    }

    /// What is remarkable about what was not left out, and how often.
    pub fn remarks(&self) -> impl Iterator<Item = (AgenticRemark, u64)> + '_ {
        self.remarks.iter().map(|(remark, count)| (*remark, *count))
    }

    /// Counts a remark.
    pub(super) fn remark(&mut self, remark: AgenticRemark, count: u64) {
        if count > 0 {
            *self.remarks.entry(remark).or_default() += count;
        }
    }

    /// Counts a file or a record that was left out.
    pub(super) fn leave(&mut self, kind: LeftOutKind, why: &DataError) {
        self.leave_because(kind, 0, why.plain());
    }

    /// Counts a tree that was left out, with its requests as far as they are known.
    pub(super) fn leave_tree(&mut self, requests: usize, why: &DataError) {
        self.leave_because(LeftOutKind::Trees, requests as u64, why.plain());
    }

    fn leave_because(&mut self, kind: LeftOutKind, requests: u64, why: Message) {
        let left = self.left.entry(kind).or_default();
        left.count += 1;
        left.requests += requests;
        if left.first.len() < KEPT {
            left.first.push(why);
        }
    }

    /// Counts what is remarkable about a tree that is used.
    pub(super) fn look_at(&mut self, tree: &Tree) {
        let count = |is: fn(&super::tree::TreeTurn) -> bool| {
            tree.all().filter(|(_, turn)| is(turn)).count() as u64
        };
        self.remark(AgenticRemark::Failed, count(|turn| turn.failed));
        self.remark(AgenticRemark::WithoutOutput, count(|turn| turn.output == Some(0)));
        if tree.totals.is_none() && tree.all().any(|(_, turn)| turn.input.is_some()) {
            self.remark(AgenticRemark::WithoutInput, count(|turn| turn.input.is_none()));
        }
    }
}

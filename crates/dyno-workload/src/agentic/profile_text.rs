//! The description of agentic traffic for people.

use std::fmt;

use dyno_model::message::In;
use dyno_model::{Language, Localized, MS, Message, message};

use super::notes::LeftOutKind;
use super::profile::AgenticProfile;
use crate::trace::words::{grouped, requests, sessions, spoken};

impl Localized for AgenticProfile {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        let mut put = |said: Message| write!(f, "{}", In(&said, language));
        put(self.recognised())?;
        put(self.tree_lines())?;
        put(self.token_lines())?;
        put(self.cache_lines())?;
        if self.gaps.total() > 0 {
            let at = |percent| spoken(u64::from(self.gaps.percentile(percent).unwrap_or(0)) * MS);
            let (half, most, longest) = (at(50), at(90), at(100));
            put(message!(
                "\ngaps before requests\n  p50 {half}   p90 {most}   max {longest}   {} in all\n",
                "\n请求前的间隔\n  p50 {half}   p90 {most}   最长 {longest}   共 {}\n",
                spoken(self.gaps_total)
            ))?;
        }
        if self.sessions.is_some() {
            put(message!("\nrequests of a session\n{}", "\n每个会话的请求数\n{}", self.turns))?;
        }
        if self.input.total() > 0 {
            put(message!("\ninput tokens\n{}", "\n输入 token\n{}", self.input))?;
        }
        if self.output.total() > 0 {
            put(message!("\noutput tokens\n{}", "\n输出 token\n{}", self.output))?;
        }
        let notes: Vec<Message> = self.note_lines();
        if !notes.is_empty() {
            put(message!("\nnotes\n", "\n说明\n"))?;
        }
        notes.into_iter().try_for_each(|note| put(message!("  {note}\n", "  {note}\n")))
    }
}

impl fmt::Display for AgenticProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}

fn nothing() -> Message {
    Message::quoted("")
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

impl AgenticProfile {
    /// What it was recognised as, in a line.
    fn recognised(&self) -> Message {
        let formats: Vec<String> = self.formats.iter().map(ToString::to_string).collect();
        let formats = formats.join(", ");
        let files = match self.files {
            0 | 1 => nothing(),
            files => message!(", {} files", "，{} 个文件", grouped(files)),
        };
        let name = &self.name;
        message!(
            "{name}: agentic traffic, {formats}{files}\n",
            "{name}：agentic 流量，{formats}{files}\n"
        )
    }

    fn tree_lines(&self) -> Message {
        let trees = match self.trees {
            1 => message!("1 tree", "1 棵树"),
            trees => message!("{} trees", "{} 棵树", grouped(trees)),
        };
        let sessions = self.sessions.map_or_else(
            || {
                message!(
                    " of sessions that the file does not tell apart",
                    "，文件没有区分其中的会话"
                )
            },
            |count| message!(" of {}", "，{}", sessions(count)),
        );
        let subagents = match (self.subagents, self.background) {
            (Some(0) | None, _) => nothing(),
            (Some(count), Some(0) | None) => {
                message!(", {} of them sub-agents", "，其中 {} 个子代理", grouped(count))
            }
            (Some(count), Some(alone)) => message!(
                ", {} of them sub-agents ({} that no request waits for)",
                "，其中 {} 个子代理（{} 个没有请求等待）",
                grouped(count),
                grouped(alone)
            ),
        };
        let joins = match self.joins {
            0 => nothing(),
            1 => message!(", 1 join", "，1 处汇合"),
            joins => message!(", {} joins", "，{} 处汇合", grouped(joins)),
        };
        let parallel = match self.peak_parallel {
            None | Some(0 | 1) => nothing(),
            Some(most) => message!(", at most {most} at a time", "，同时最多 {most} 个"),
        };
        let copies = match self.copies {
            0 => nothing(),
            1 => message!("\n  1 tree repeats another", "\n  1 棵树与另一棵相同"),
            copies => {
                message!("\n  {} trees repeat others", "\n  {} 棵树与其他树相同", grouped(copies))
            }
        };
        let requests = requests(self.requests);
        message!(
            "{trees}{sessions}{subagents}: {requests}{joins}{parallel}{copies}\n",
            "{trees}{sessions}{subagents}：{requests}{joins}{parallel}{copies}\n"
        )
    }

    fn token_lines(&self) -> Message {
        let tokens = match (self.input_tokens, self.output_tokens) {
            (None, None) => {
                message!("tokens: the file does not say how many\n", "token：文件没有给出数量\n")
            }
            (input, output) => {
                let shown = |tokens: Option<u64>| tokens.map_or_else(|| "–".to_owned(), grouped);
                message!(
                    "tokens: {} in, {} out\n",
                    "token：输入 {}，输出 {}\n",
                    shown(input),
                    shown(output)
                )
            }
        };
        let changed = match (self.responses_trimmed, self.histories_cut) {
            (Some(trimmed), Some(cut)) => message!(
                "responses trimmed: {}   histories cut: {}\n",
                "被截短的响应：{}   被改写的历史：{}\n",
                grouped(trimmed),
                grouped(cut)
            ),
            _ => nothing(),
        };
        let tools = match (self.tool_calls, self.tool_results) {
            (0, (0, _)) => nothing(),
            (calls, (turns, results)) => message!(
                "tool calls: {}   results: {}, in {}\n",
                "工具调用：{}   结果：{}，分布于 {}\n",
                grouped(calls),
                grouped(results),
                requests(turns)
            ),
        };
        message!("{tokens}{changed}{tools}", "{tokens}{changed}{tools}")
    }

    fn cache_lines(&self) -> Message {
        let of = match self.unit {
            Some(_) => message!("characters of input", "输入字符"),
            None => message!("input tokens", "输入 token"),
        };
        let ideal = match self.ideal_cache_share {
            None => message!(
                "ideal cache share: the file does not show which prefixes are shared\n",
                "理想缓存占比：文件没有显示哪些前缀是共享的\n"
            ),
            ideal => message!(
                "ideal cache share: {} of {of}, {} with responses\n",
                "理想缓存占比：占{of} {}，计入响应为 {}\n",
                percent(ideal),
                percent(self.ideal_with_responses)
            ),
        };
        let recorded = match self.recorded_cache_share {
            None => nothing(),
            share => message!(
                "cached when recorded: {} of input tokens\n",
                "录制时已缓存：占输入 token {}\n",
                percent(share)
            ),
        };
        message!("{ideal}{recorded}", "{ideal}{recorded}")
    }

    fn note_lines(&self) -> Vec<Message> {
        let mut lines: Vec<Message> =
            self.notes.remarks().map(|(remark, count)| remark.said(count)).collect();
        for (kind, left) in self.notes.left_out() {
            let n = grouped(left.count);
            lines.push(match kind {
                LeftOutKind::Files => {
                    message!("{n} {n|file|files} left out:", "{n} 个文件未使用：")
                }
                LeftOutKind::Records => {
                    message!("{n} {n|record|records} could not be read:", "{n} 条记录无法读取：")
                }
                LeftOutKind::Trees => message!(
                    "{n} {n|tree|trees} left out, with {} or more:",
                    "{n} 棵树未使用，至少含 {}：",
                    requests(left.requests)
                ),
            });
            lines.extend(left.first.iter().map(|why| message!("  {why}", "  {why}")));
            let more = left.count.saturating_sub(left.first.len() as u64);
            if more > 0 {
                lines.push(message!("  and {} more", "  以及另外 {} 个", grouped(more)));
            }
        }
        lines
    }
}

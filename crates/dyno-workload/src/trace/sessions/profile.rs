//! A description of recorded sessions: how many, how long, the pauses in them, and what they share.

use std::fmt;

use dyno_model::message::{In, clauses};
use dyno_model::{Language, Localized, Message, Nanos, message};

use super::{Kept, TraceSessions};
use crate::data::{DataSpread, samples};
use crate::trace::words::{self, grouped, spoken};

const SAMPLES: u64 = 3;
const SAMPLE_TURNS: usize = 4;

/// What recorded sessions hold, as they are replayed.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionTraceProfile {
    /// How many there are.
    pub sessions: u64,
    /// How many requests they have.
    pub requests: u64,
    /// When the last one starts; absent where a load starts them.
    pub duration: Option<Nanos>,
    /// Requests of a session.
    pub turns: DataSpread,
    /// Input tokens of a request; none where the recording has text.
    pub input: DataSpread,
    /// Output tokens of a request, where they were recorded.
    pub output: DataSpread,
    /// The pauses before requests after the first: the median, nine of ten, and the longest.
    pub pauses: Option<[Nanos; 3]>,
    /// Pauses that include the time of the recorded response.
    pub with_response: u64,
    /// How much later requests share with the one before; absent where the recording does not say.
    pub kept: Option<Kept>,
    /// The first sessions.
    pub samples: Vec<Message>,
}

impl SessionTraceProfile {
    /// Describes recorded sessions.
    pub fn of(sessions: &TraceSessions) -> Self {
        let (mut turns, mut input, mut output) = Default::default();
        let mut pauses = Vec::new();
        let all = |index| sessions.session(index).into_iter().flatten();
        let has_text = sessions.have_text();
        for index in 0..sessions.len() {
            let mut count = 0;
            for (number, (pause, asked, answered)) in all(index).enumerate() {
                count += 1;
                pauses.extend((number > 0).then_some(pause));
                if !has_text {
                    DataSpread::add(&mut input, asked);
                }
                if answered > 0 {
                    DataSpread::add(&mut output, answered);
                }
            }
            DataSpread::add(&mut turns, count);
        }
        pauses.sort_unstable();
        let samples = (0..sessions.len().min(SAMPLES)).map(|index| {
            let shown = all(index).take(SAMPLE_TURNS).enumerate().map(|(number, turn)| {
                let (pause, asked, answered) = turn;
                let asked = match has_text {
                    true => message!("a message", "一条消息"),
                    false => message!("{} in", "输入 {}", grouped(asked.into())),
                };
                let answered = match answered {
                    0 if has_text => Message::quoted(""),
                    0 => message!(", no output recorded", "，没有录制的输出"),
                    tokens => message!(", {} out", "，输出 {}", grouped(tokens.into())),
                };
                match number {
                    0 => message!("{asked}{answered}", "{asked}{answered}"),
                    _ => message!(
                        "after {}: {asked}{answered}",
                        "{} 后：{asked}{answered}",
                        spoken(pause)
                    ),
                }
            });
            let more = all(index).count().saturating_sub(SAMPLE_TURNS);
            let more = (more > 0).then(|| message!("… ({more} more)", "……（另有 {more} 个）"));
            Message::of(clauses(shown.chain(more)))
        });
        Self {
            sessions: sessions.len(),
            requests: sessions.requests(),
            duration: sessions.schedule().max(),
            turns,
            input,
            output,
            pauses: quantiles(&pauses),
            with_response: sessions.inner.with_response,
            kept: sessions.inner.kept,
            samples: samples.collect(),
        }
    }
}

/// The median, the ninth of ten and the longest of values in order.
fn quantiles(sorted: &[Nanos]) -> Option<[Nanos; 3]> {
    let last = *sorted.last()?;
    let at = |percent: usize| {
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or(last)
    };
    Some([at(50), at(90), last])
}

impl Localized for SessionTraceProfile {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        let mut put = |said: Message| write!(f, "{}", In(&said, language));
        let sessions = words::sessions(self.sessions);
        let requests = words::requests(self.requests);
        put(match self.duration {
            Some(duration) => message!(
                "replayed: {sessions} with {requests}; the last starts after {}\n",
                "回放：{sessions}，共 {requests}；最后一个在 {} 后开始\n",
                spoken(duration)
            ),
            None => message!(
                "replayed: {sessions} with {requests}, started by the load\n",
                "回放：{sessions}，共 {requests}，由负载启动\n"
            ),
        })?;
        let turns = &self.turns;
        put(message!("\nrequests of a session\n{turns}", "\n每个会话的请求数\n{turns}"))?;
        if let Some([half, most, longest]) = self.pauses {
            let (half, most, longest) = (spoken(half), spoken(most), spoken(longest));
            put(message!(
                "\npauses after a response\n  p50 {half}   p90 {most}   max {longest}\n",
                "\n响应后的停顿\n  p50 {half}   p90 {most}   最长 {longest}\n"
            ))?;
            if self.with_response > 0 {
                put(message!(
                    "  {} of them include the time of the recorded response\n",
                    "  其中 {} 个包含录制响应的时间\n",
                    grouped(self.with_response)
                ))?;
            }
        }
        if self.input.total() > 0 {
            put(message!("\ninput tokens\n{}", "\n输入 token\n{}", self.input))?;
        }
        if self.output.total() > 0 {
            put(message!("\noutput tokens\n{}", "\n输出 token\n{}", self.output))?;
        }
        if let Some(Kept { input, recorded, replayed }) = self.kept.filter(|kept| kept.input > 0) {
            let percent = |part: u64| 100.0 * part as f64 / input as f64;
            put(message!(
                "\nshared with the request before\n  {:.1} % of later input in the recording, {:.1} % in \
                 the replay\n",
                "\n与前一个请求共享\n  后续输入中，录制为 {:.1} %，回放为 {:.1} %\n",
                percent(recorded),
                percent(replayed)
            ))?;
        }
        samples(f, &self.samples, language)
    }
}

impl fmt::Display for SessionTraceProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}

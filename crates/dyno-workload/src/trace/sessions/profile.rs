//! A description of recorded sessions: how many, how long, the pauses in them, and what they share.

use std::fmt;

use dyno_model::Nanos;

use super::{Kept, TraceSessions};
use crate::data::Spread;
use crate::trace::words::{counted, grouped, spoken};

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
    pub turns: Spread,
    /// Input tokens of a request; none where the recording has text.
    pub input: Spread,
    /// Output tokens of a request, where they were recorded.
    pub output: Spread,
    /// The pauses before requests after the first: the median, nine of ten, and the longest.
    pub pauses: Option<[Nanos; 3]>,
    /// Pauses that include the time of the recorded response.
    pub with_response: u64,
    /// How much later requests share with the one before; absent where the recording does not say.
    pub kept: Option<Kept>,
    /// The first sessions.
    pub samples: Vec<String>,
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
                    Spread::add(&mut input, asked);
                }
                if answered > 0 {
                    Spread::add(&mut output, answered);
                }
            }
            Spread::add(&mut turns, count);
        }
        pauses.sort_unstable();
        let samples = (0..sessions.len().min(SAMPLES)).map(|index| {
            let shown = all(index).take(SAMPLE_TURNS).enumerate().map(|(number, turn)| {
                let (pause, asked, answered) = turn;
                let asked = match has_text {
                    true => "a message".to_owned(),
                    false => format!("{} in", grouped(asked.into())),
                };
                let answered = match answered {
                    0 if has_text => String::new(),
                    0 => ", no output recorded".to_owned(),
                    tokens => format!(", {} out", grouped(tokens.into())),
                };
                match number {
                    0 => format!("{asked}{answered}"),
                    _ => format!("after {}: {asked}{answered}", spoken(pause)),
                }
            });
            let shown = shown.collect::<Vec<_>>().join("; ");
            match all(index).count().saturating_sub(SAMPLE_TURNS) {
                0 => shown,
                more => format!("{shown}; … ({more} more)"),
            }
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

impl fmt::Display for SessionTraceProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sessions = counted(self.sessions, "session");
        let requests = counted(self.requests, "request");
        match self.duration {
            Some(duration) => writeln!(
                f,
                "replayed: {sessions} with {requests}; the last starts after {}",
                spoken(duration)
            )?,
            None => writeln!(f, "replayed: {sessions} with {requests}, started by the load")?,
        }
        write!(f, "\nrequests of a session\n{}", self.turns)?;
        if let Some([half, most, longest]) = self.pauses {
            let (half, most, longest) = (spoken(half), spoken(most), spoken(longest));
            writeln!(f, "\npauses after a response\n  p50 {half}   p90 {most}   max {longest}")?;
            if self.with_response > 0 {
                let some = grouped(self.with_response);
                writeln!(f, "  {some} of them include the time of the recorded response")?;
            }
        }
        if self.input.total() > 0 {
            write!(f, "\ninput tokens\n{}", self.input)?;
        }
        if self.output.total() > 0 {
            write!(f, "\noutput tokens\n{}", self.output)?;
        }
        if let Some(Kept { input, recorded, replayed }) = self.kept.filter(|kept| kept.input > 0) {
            let percent = |part: u64| 100.0 * part as f64 / input as f64;
            writeln!(
                f,
                "\nshared with the request before\n  {:.1} % of later input in the recording, {:.1} % \
                 in the replay",
                percent(recorded),
                percent(replayed)
            )?;
        }
        writeln!(f, "\nsamples")?;
        for (index, sample) in self.samples.iter().enumerate() {
            writeln!(f, "  {}  {sample}", index + 1)?;
        }
        Ok(())
    }
}

//! Whether the field that fixes the output length is obeyed.
//!
//! A response of the requested length does not show it: the model may have had that much to say. A
//! response that ended before that shows that the field is not obeyed. And where the model ends the same
//! response by itself without the field, but goes on for several times that length with it, the field
//! is obeyed.

use super::PreflightError;
use super::probe::{Probe, TOKENS};
use crate::dialect::{Does, FinishKind, Optional};
use dyno_model::outcome::Outcome;
use dyno_model::record::{RequestRecord, TokenSource};

/// How long the model may go on without the field. Models that think take longer, and the preflight
/// would, too.
const NATURAL: u32 = 64;
/// How many times longer than by itself a response has to be, so that it does not get there by chance:
/// sampled responses differ in length.
const TIMES: u32 = 4;

/// Whether the output length is forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    /// No field does it.
    No,
    /// A field is accepted, and nothing shows that it is not obeyed.
    Unproven,
    /// A field is obeyed, which was seen.
    Yes,
}

/// A test response.
#[derive(Debug, Clone, Copy)]
struct Said {
    tokens: u64,
    /// The model ended it.
    stopped: bool,
}

impl Said {
    /// What a record says; nothing if the request failed.
    fn of(record: &RequestRecord) -> Option<Self> {
        let tokens = record.output.map_or(0, |count| match count.source {
            // An event can carry several tokens, and a finish event none.
            TokenSource::Events => count.tokens + 1,
            _ => count.tokens,
        });
        let reason = record.finish_reason.as_deref().map(FinishKind::of);
        let stopped = reason == Some(FinishKind::Stop);
        // Without a finish reason, what arrived is all that is known.
        matches!(record.outcome, Outcome::Completed | Outcome::Unconfirmed)
            .then_some(Self { tokens, stopped })
    }
}

impl Probe<'_> {
    /// Finds a field that is obeyed. Also returns the response to the first accepted request.
    pub(super) fn find_force(&mut self) -> Result<(RequestRecord, Force), PreflightError> {
        let mut record = self.accepted(TOKENS)?;
        while let Some(field) = self.sent(Does::FixLength) {
            let said = Said::of(&record);
            let force = match self.may_end_early() {
                true => Force::Unproven,
                false => decide(said, |with, tokens| self.try_length(field, with, tokens))?,
            };
            if force != Force::No {
                return Ok((record, force));
            }
            let has_other = self.alternative(field).is_some();
            self.leave_out(field, "accepted, but not obeyed");
            self.ignored.push(field);
            if has_other {
                record = self.accepted(TOKENS)?;
            }
        }
        Ok((record, Force::No))
    }

    /// A request of this length, with the field or without. A server may refuse it, as its context may be
    /// too short for it: that shows nothing.
    fn try_length(
        &mut self,
        field: &'static Optional,
        with: bool,
        tokens: u32,
    ) -> Result<Option<Said>, PreflightError> {
        let (all, refused) = (self.shape.fields.clone(), self.refused.len());
        self.shape.fields.retain(|name| with || *name != field.name);
        let record = self.accepted(tokens);
        self.shape.fields = all;
        self.refused.truncate(refused);
        match record {
            Ok(record) => Ok(Said::of(&record)),
            Err(PreflightError::Interrupted) => Err(PreflightError::Interrupted),
            Err(_) => Ok(None),
        }
    }

    /// The user allows responses to end early.
    fn may_end_early(&self) -> bool {
        let mut shape = self.shape.clone();
        shape.forced = true;
        !shape.fixes_length(self.about)
    }
}

/// Decides by the response to the first request, which had the field, and further ones with or without it.
fn decide<E>(
    first: Option<Said>,
    mut ask: impl FnMut(bool, u32) -> Result<Option<Said>, E>,
) -> Result<Force, E> {
    let Some(first) = first else { return Ok(Force::Unproven) };
    if first.tokens < u64::from(TOKENS) {
        return Ok(Force::No);
    }
    let natural = match ask(false, NATURAL)? {
        Some(said) if said.stopped && said.tokens < u64::from(NATURAL) => said.tokens as u32,
        _ => return Ok(Force::Unproven),
    };
    let long = (natural * TIMES).max(TOKENS);
    Ok(match ask(true, long)? {
        Some(said) if said.tokens >= u64::from(long) => Force::Yes,
        Some(_) => Force::No,
        None => Force::Unproven,
    })
}

#[cfg(test)]
mod held_out;

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Random numbers for imitated servers.
    pub(super) struct Dice(pub(super) u64);

    impl Dice {
        /// Between 0 and 1.
        pub(super) fn roll(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// How long a model's responses to the test prompt are.
    type Natural = fn(&mut Dice) -> u32;

    const MODELS: [(&str, Natural); 8] = [
        ("a word or two", |dice| 2 + (dice.roll() * 2.0) as u32),
        ("a sentence", |dice| 6 + (dice.roll() * 20.0) as u32),
        ("erratic: 1 to 40 tokens", |dice| 1 + (dice.roll() * 40.0) as u32),
        ("erratic: mostly a word, else a paragraph", |dice| match dice.roll() < 0.8 {
            true => 2,
            false => 30 + (dice.roll() * 60.0) as u32,
        }),
        ("log-normal, median 8, spread 3", |dice| {
            let normal: f64 = (0..12).map(|_| dice.roll()).sum::<f64>() - 6.0;
            (8.0 * 3_f64.powf(normal)).ceil() as u32
        }),
        ("a paragraph", |dice| 40 + (dice.roll() * 40.0) as u32),
        ("thinks first", |dice| 120 + (dice.roll() * 800.0) as u32),
        ("never ends", |_| u32::MAX),
    ];

    /// How often servers with this model are said to force the length: no, unproven, yes.
    fn decisions(natural: Natural, obeys: bool) -> [u32; 3] {
        let mut decided = [0; 3];
        for seed in 0..2_000 {
            let mut dice = Dice(seed * 7_919 + 13);
            dice.roll();
            let mut say = |with: bool, asked: u32| {
                let natural = natural(&mut dice);
                let tokens = if with && obeys { asked } else { asked.min(natural) };
                let stopped = natural < asked && !(with && obeys);
                Some(Said { tokens: u64::from(tokens), stopped })
            };
            let first = say(true, TOKENS);
            let force = decide(first, |with, asked| Ok::<_, Infallible>(say(with, asked)));
            decided[force.unwrap() as usize] += 1;
        }
        decided
    }

    const TABLE: &str = "\
obeys, a word or two: no 0, unproven 0, yes 2000
obeys, a sentence: no 0, unproven 0, yes 2000
obeys, erratic: 1 to 40 tokens: no 0, unproven 0, yes 2000
obeys, erratic: mostly a word, else a paragraph: no 0, unproven 174, yes 1826
obeys, log-normal, median 8, spread 3: no 0, unproven 55, yes 1945
obeys, a paragraph: no 0, unproven 800, yes 1200
obeys, thinks first: no 0, unproven 2000, yes 0
obeys, never ends: no 0, unproven 2000, yes 0
ignores, a word or two: no 2000, unproven 0, yes 0
ignores, a sentence: no 1995, unproven 0, yes 5
ignores, erratic: 1 to 40 tokens: no 1865, unproven 0, yes 135
ignores, erratic: mostly a word, else a paragraph: no 1904, unproven 35, yes 61
ignores, log-normal, median 8, spread 3: no 1909, unproven 13, yes 78
ignores, a paragraph: no 1200, unproven 800, yes 0
ignores, thinks first: no 0, unproven 2000, yes 0
ignores, never ends: no 0, unproven 2000, yes 0
";

    /// The table of docs/wire.md: 2,000 imitated servers of each kind.
    #[test]
    fn the_confusion_table() {
        let mut table = String::new();
        for obeys in [true, false] {
            for (name, natural) in MODELS {
                let [no, unproven, yes] = decisions(natural, obeys);
                let rule = if obeys { "obeys" } else { "ignores" };
                table.push_str(&format!(
                    "{rule}, {name}: no {no}, unproven {unproven}, yes {yes}\n"
                ));
                match obeys {
                    // A server that obeys is never said not to.
                    true => assert_eq!(no, 0, "{table}"),
                    // One that does not is hardly ever said to; where replies vary wildly, seldom.
                    false if name.starts_with("erratic") => assert!(yes <= 200, "{table}"),
                    false => assert!(yes <= 100, "{table}"),
                }
            }
        }
        assert_eq!(table, TABLE);
    }

    #[test]
    fn a_failed_request_decides_nothing() {
        let none = |_, _| Ok::<_, Infallible>(None);
        assert_eq!(decide(None, none).unwrap(), Force::Unproven);
        let first = Some(Said { tokens: 16, stopped: false });
        assert_eq!(decide(first, none).unwrap(), Force::Unproven);
    }
}

//! The stored form of one agent's part of a level.

use crate::fields::{Bad, Fields, put_bytes, put_plain, put_some, put_text, unzigzag, zigzag};
use crate::level::{decode_client, encode_client, ending, ending_number};
use dyno_model::fleet::{AgentEnd, ClockFit};
use dyno_model::{Language, Localized, Message};

pub(crate) fn encode(agent: &AgentEnd, out: &mut Vec<u8>) {
    put_plain(out, 1, agent.agent.into());
    put_text(out, 2, Some(&agent.name));
    put_text(out, 3, Some(&agent.host));
    if let Some(clock) = &agent.clock {
        put_plain(out, 4, 1);
        put_plain(out, 5, zigzag(clock.offset_ns));
        put_plain(out, 6, clock.bound_ns);
        put_plain(out, 7, zigzag(clock.drift_ppb));
        put_plain(out, 8, clock.at);
        put_plain(out, 9, clock.round_trip_ns);
        put_some(out, 20, Some(u64::from(clock.steps)).filter(|steps| *steps > 0));
    }
    put_some(out, 10, agent.start_error_ns.map(zigzag));
    put_some(out, 11, agent.ending.map(ending_number));
    put_some(out, 12, agent.sending_stopped);
    put_some(out, 13, agent.planned);
    put_plain(out, 14, agent.issued);
    put_plain(out, 15, agent.warmup);
    put_plain(out, 16, agent.beats);
    put_plain(out, 17, agent.longest_silence_ns);
    let mut client = Vec::new();
    encode_client(&agent.client, &mut client);
    put_bytes(out, 18, &client);
    let [english, chinese] = [Language::English, Language::Chinese]
        .map(|language| agent.lost.as_ref().map(|why| why.text(language)));
    put_text(out, 19, english.as_deref());
    put_text(out, 21, chinese.filter(|text| english.as_ref() != Some(text)).as_deref());
}

pub(crate) fn decode(payload: &[u8]) -> Result<AgentEnd, Bad> {
    let mut agent = AgentEnd::new(0, "", "");
    let mut clock = ClockFit::default();
    let (mut lost, mut in_chinese) = (None, None);
    for field in Fields(payload) {
        match field? {
            (1, value) => agent.agent = value.narrow()?,
            (2, value) => agent.name = value.text()?,
            (3, value) => agent.host = value.text()?,
            (4, _) => agent.clock = Some(clock),
            (5, value) => clock.offset_ns = unzigzag(value.number()?),
            (6, value) => clock.bound_ns = value.number()?,
            (7, value) => clock.drift_ppb = unzigzag(value.number()?),
            (8, value) => clock.at = value.number()?,
            (9, value) => clock.round_trip_ns = value.number()?,
            (10, value) => agent.start_error_ns = Some(unzigzag(value.number()?)),
            (11, value) => agent.ending = Some(ending(value)?),
            (12, value) => agent.sending_stopped = Some(value.number()?),
            (13, value) => agent.planned = Some(value.number()?),
            (14, value) => agent.issued = value.number()?,
            (15, value) => agent.warmup = value.number()?,
            (16, value) => agent.beats = value.number()?,
            (17, value) => agent.longest_silence_ns = value.number()?,
            (18, value) => agent.client = decode_client(value.bytes()?)?,
            (19, value) => lost = Some(value.text()?),
            (20, value) => clock.steps = value.narrow()?,
            (21, value) => in_chinese = Some(value.text()?),
            _ => {}
        }
    }
    agent.clock = agent.clock.map(|_| clock);
    agent.lost = lost.map(|english| {
        let chinese = in_chinese.unwrap_or_else(|| english.clone());
        Message::new([english, chinese])
    });
    Ok(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_it_was_lost_comes_back_in_each_language() {
        for why in [dyno_model::message!("late", "迟到"), Message::quoted("killed")] {
            let agent = AgentEnd { lost: Some(why), ..AgentEnd::new(1, "b", "node-2") };
            let mut stored = Vec::new();
            encode(&agent, &mut stored);
            assert_eq!(decode(&stored).unwrap(), agent);
        }
    }

    #[test]
    fn clock_comes_back_as_it_was() {
        let clock = ClockFit {
            offset_ns: -5_000_000_000_000,
            bound_ns: 120_000,
            drift_ppb: -20_123,
            at: 7,
            round_trip_ns: 200_000,
            steps: 0,
        };
        for steps in [0, 3] {
            let mut agent = AgentEnd::new(1, "b", "node-2");
            agent.clock = Some(ClockFit { steps, ..clock });
            let mut stored = Vec::new();
            encode(&agent, &mut stored);
            assert_eq!(decode(&stored).unwrap(), agent);
        }
    }
}

//! One level of all agents: how it ended, and whose fault it was.

use super::served::Signs;
use dyno_drive::LevelOutcome;
use dyno_fleet::{AgentLevelEnd, AgentPart};
use dyno_model::fleet::{AgentEnd, merged_health};
use dyno_model::frame::{ClientHealth, Ending, LevelEnd};
use dyno_model::{Message, Nanos};

/// What went wrong with one agent alone is its own: it could not go on as planned, or gave up a target that
/// served others.
pub(super) fn blame(part: &mut AgentPart, end: Option<&LevelEnd>, signs: &Signs) {
    let (Some(done), Some(end)) = (&part.done, end) else { return };
    let gave_up = done.ending == Ending::TargetLost && signs.served_at(end.sending_stopped);
    let why = match gave_up {
        true => done.lost_target.clone(),
        false => done.trouble.clone().filter(|_| done.ending.carried_out()),
    };
    part.lost = part.lost.take().or(why);
}

/// A level that did not begin, because an agent was lost since the last one.
pub(super) fn lost_before(level: u32, name: &str, why: Message, now: Nanos) -> LevelOutcome {
    let agent = AgentEnd { lost: Some(why), ..AgentEnd::new(0, name, "") };
    LevelOutcome {
        started: now,
        end: LevelEnd { agents: vec![agent], ..LevelEnd::at(level, Ending::AgentLost, now) },
        taken: 0,
        failed: 0,
        lost: None,
        lost_to_agent: None,
    }
}

/// One level of all parts.
pub(super) fn together(
    level: u32,
    parts: &[AgentPart],
    ends: Vec<Option<LevelEnd>>,
    started: Nanos,
    now: Nanos,
) -> LevelOutcome {
    let done = || parts.iter().filter_map(|part| part.done.as_ref());
    let agents: Vec<AgentEnd> = (0..).zip(parts.iter().zip(ends.iter())).map(agent_end).collect();
    let ends: Vec<LevelEnd> = ends.into_iter().flatten().collect();
    let client = merged_health(ends.iter().map(|end| &end.client));
    let last = |of: fn(&LevelEnd) -> Nanos| ends.iter().map(of).max().unwrap_or(now);
    let planned: Option<Vec<u64>> = ends.iter().map(|end| end.planned).collect();
    LevelOutcome {
        started,
        end: LevelEnd {
            sending_stopped: last(|end| end.sending_stopped),
            starved: ends.iter().filter_map(|end| end.starved).min(),
            planned: planned.map(|each| each.into_iter().sum()),
            issued: ends.iter().map(|end| end.issued).sum(),
            warmup: ends.iter().map(|end| end.warmup).sum(),
            client,
            agents,
            ..LevelEnd::at(level, weightiest(done()), last(|end| end.ended))
        },
        taken: done().map(|done| done.taken).max().unwrap_or(0),
        failed: done().map(|done| done.failed).sum(),
        lost: None,
        lost_to_agent: done().find_map(|done| done.lost_target.clone()),
    }
}

fn agent_end((number, (part, end)): (u32, (&AgentPart, &Option<LevelEnd>))) -> AgentEnd {
    let done = part.done.as_ref();
    AgentEnd {
        clock: part.clock,
        start_error_ns: part.start_error_ns,
        ending: done.map(|done| done.ending),
        sending_stopped: end.as_ref().map(|end| end.sending_stopped),
        planned: end.as_ref().and_then(|end| end.planned),
        issued: end.as_ref().map_or(0, |end| end.issued),
        warmup: end.as_ref().map_or(0, |end| end.warmup),
        beats: part.beats,
        longest_silence_ns: part.longest_silence_ns,
        client: end.as_ref().map_or_else(ClientHealth::default, |end| end.client.clone()),
        lost: part.lost.clone().or_else(|| done.and_then(|done| done.trouble.clone())),
        ..AgentEnd::new(number, &part.name, &part.host)
    }
}

/// How the level ended: as planned where all parts did.
fn weightiest<'a>(done: impl Iterator<Item = &'a AgentLevelEnd>) -> Ending {
    let weight = |ending: Ending| match ending {
        Ending::Requests => 0,
        Ending::Duration => 1,
        Ending::Stable => 2,
        Ending::BehindSchedule => 3,
        Ending::Interrupted => 4,
        Ending::Aborted => 5,
        Ending::MaxFailures => 6,
        Ending::TargetLost => 7,
        Ending::AgentLost => 8,
    };
    done.map(|done| done.ending).max_by_key(|ending| weight(*ending)).unwrap_or(Ending::Requests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::SEC;
    use dyno_model::outcome::Outcome;
    use dyno_model::record::{Phase, RequestRecord};

    fn part(ending: Ending, lost_target: Option<&str>, trouble: Option<&str>) -> AgentPart {
        let done = AgentLevelEnd {
            level: 0,
            ending,
            start_error_ns: 0,
            taken: 0,
            failed: 0,
            lost_target: lost_target.map(Message::quoted),
            trouble: trouble.map(Message::quoted),
            told: serde_json::Value::Null,
            bytes: 0,
        };
        AgentPart {
            name: "a".to_owned(),
            host: String::new(),
            done: Some(done),
            lost: None,
            start_error_ns: None,
            clock: None,
            beats: 0,
            longest_silence_ns: 0,
        }
    }

    fn blamed(mut part: AgentPart, served: Nanos) -> Option<String> {
        let mut signs = Signs::default();
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        (record.outcome, record.end) = (Outcome::Completed, served);
        signs.note(&record);
        let ending = part.done.as_ref().map_or(Ending::Requests, |done| done.ending);
        let end = LevelEnd::at(0, ending, 10 * SEC);
        blame(&mut part, Some(&end), &signs);
        part.lost.map(|why| why.to_string())
    }

    #[test]
    fn an_agent_that_gave_up_a_target_that_serves_others_is_the_one_that_is_lost() {
        let gave_up = || part(Ending::TargetLost, Some("no connection"), None);
        assert_eq!(blamed(gave_up(), 9 * SEC).as_deref(), Some("no connection"));
        assert_eq!(blamed(gave_up(), 6 * SEC), None, "the target is gone for all");
        assert_eq!(blamed(part(Ending::Requests, None, None), 9 * SEC), None);
    }

    #[test]
    fn trouble_of_a_level_that_went_on_is_the_agents() {
        let trouble = |ending| part(ending, None, Some("it no longer counts"));
        assert_eq!(blamed(trouble(Ending::Requests), 0).as_deref(), Some("it no longer counts"));
        assert_eq!(blamed(trouble(Ending::Aborted), 0), None, "the end says it");
    }
}

//! The loads that are measured, and those that are predicted.

use super::random::Draws;
use dyno_fit::{SentRequest, Shared, Trial, TrialKind, TrialTime};
use dyno_model::{MS, Nanos};

/// A client sends the next request so long after a response.
const NEXT: Nanos = 20_000;

/// The shortest and the longest of the lengths of requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    pub(super) input: [u32; 2],
    pub(super) output: [u32; 2],
}

impl Lengths {
    /// All of the same length.
    pub(super) fn fixed(input: u32, output: u32) -> Self {
        Self { input: [input; 2], output: [output; 2] }
    }

    fn request(&self, draws: &mut Draws, when: TrialTime, measured: bool) -> SentRequest {
        let [input, output] =
            [self.input, self.output].map(|[low, high]| draws.length(low.max(1), high.max(1)));
        SentRequest { when, input, output, shared: Shared::Nothing, measured, seen: Vec::new() }
    }
}

/// So many in flight, whose first requests only load the engine.
pub(super) fn closed(draws: &mut Draws, slots: usize, requests: usize, of: Lengths) -> Trial {
    let sent = |place: usize| {
        let when = match place.checked_sub(slots) {
            None => TrialTime::At(place as Nanos * MS / 4),
            Some(request) => TrialTime::After { request, pause: NEXT },
        };
        of.request(draws, when, place >= slots || slots == 1)
    };
    let requests = (0..requests.max(2 * slots)).map(sent).collect();
    Trial { label: format!("concurrency {slots}"), kind: TrialKind::Closed, requests, until: None }
}

/// Poisson arrivals, whose first tenth only loads the engine.
pub(super) fn open(draws: &mut Draws, rate: f64, requests: usize, of: Lengths) -> Trial {
    let mut at = 0.0;
    let sent = |place: usize| {
        at += draws.exponential(1.0 / rate);
        of.request(draws, TrialTime::At(nanos(at)), 10 * place >= requests)
    };
    let requests = (0..requests).map(sent).collect();
    Trial { label: format!("rate {rate:.3}"), kind: TrialKind::Open, requests, until: None }
}

/// Poisson arrivals whose rate rises steadily.
pub(super) fn ramp(draws: &mut Draws, rates: [f64; 2], requests: usize, of: Lengths) -> Trial {
    let [from, to] = rates;
    let lasts = 2.0 * requests as f64 / (from + to);
    let mut at = 0.0;
    let sent = |_| {
        let rate = from + (to - from) * (at / lasts).min(1.0);
        at += draws.exponential(1.0 / rate);
        of.request(draws, TrialTime::At(nanos(at)), true)
    };
    let requests = (0..requests).map(sent).collect();
    Trial { label: "ramp".to_owned(), kind: TrialKind::Open, requests, until: None }
}

/// All at once.
pub(super) fn burst(draws: &mut Draws, count: usize, of: Lengths) -> Trial {
    let sent = |_| of.request(draws, TrialTime::At(0), true);
    let requests = (0..count).map(sent).collect();
    Trial { label: format!("burst of {count}"), kind: TrialKind::Burst, requests, until: None }
}

/// Conversations of several turns, one after another by each user, whose prompts have all that was said
/// before.
pub(super) fn sessions(draws: &mut Draws, users: usize, of: Lengths) -> Trial {
    const TURNS: usize = 5;
    const EACH: usize = 3;
    let mut requests: Vec<SentRequest> = Vec::new();
    let mut last: Vec<Option<usize>> = vec![None; users];
    let mut said = vec![0; users];
    for number in 0..TURNS * EACH {
        for user in 0..users {
            if number % TURNS == 0 {
                said[user] = 0;
            }
            let pause = nanos(draws.exponential(0.2));
            let when = match last[user] {
                None => TrialTime::At(pause),
                Some(request) => TrialTime::After { request, pause },
            };
            let mut sent = of.request(draws, when, number > 0);
            sent.input += said[user];
            said[user] = sent.input + sent.output;
            sent.shared = Shared::Conversation((user * EACH + number / TURNS) as u64 + 1);
            last[user] = Some(requests.len());
            requests.push(sent);
        }
    }
    Trial { label: format!("sessions {users}"), kind: TrialKind::Sessions, requests, until: None }
}

fn nanos(seconds: f64) -> Nanos {
    (1e9 * seconds) as Nanos
}

//! The front end as a queue: one server that takes requests in and sends tokens out, first come,
//! first served. The engine never waits for it, so its state is the time when all its work is done.

use super::clock::Fine;
use super::cost::Cost;
use dyno_model::Nanos;

/// The work of the front end, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Front {
    /// For each request, before it can be queued.
    pub request: f64,
    /// For each token of its prompt, in addition.
    pub input: f64,
    /// How often a request has to wait for its turn before it is queued, at least 1. Its work is done
    /// in as many parts, and what comes meanwhile is done in between.
    pub turns: u32,
    /// For each token that the engine hands out.
    pub chunk: f64,
    /// The most tokens of a step that join those of the step before where all of these still wait, which
    /// costs nothing; 0 if they never do.
    pub merges: u32,
}

impl Default for Front {
    fn default() -> Self {
        Self { request: 0.0, input: 0.0, turns: 1, chunk: 0.0, merges: 0 }
    }
}

/// The state of the front end.
#[derive(Debug, Clone)]
pub(crate) struct FrontEnd {
    /// Whether it has no work, so that only its latency matters.
    idle: bool,
    /// One turn of a request.
    request: Fine,
    /// One turn's share of a token of its prompt.
    input: Fine,
    turns: u32,
    chunk: Fine,
    merges: u32,
    /// From the end of its work on a request until that is queued.
    latency: Nanos,
    /// When all work so far is done.
    free: Fine,
    /// When the tokens of the last step that did not merge are seen.
    last: Seen,
}

/// When the tokens of one step are seen: one after another within a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    pub(crate) from: Nanos,
    pub(crate) span: Nanos,
}

impl Seen {
    /// All of them at once.
    pub(crate) fn at(time: Nanos) -> Self {
        Self { from: time, span: 0 }
    }

    /// The first token of a response, which comes last.
    pub(crate) fn first(self) -> Nanos {
        self.from + self.span
    }

    /// A further token of the request with this place in the span.
    pub(crate) fn further(self, place: Place) -> Nanos {
        let within = (u128::from(self.span) * (u128::from(place.0) + 1)) >> 64;
        self.from + within as Nanos
    }
}

/// The place of a request among the tokens of each step, in parts of 2⁶⁴.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place(u64);

impl Place {
    /// Places by the order of admission: multiples of the golden ratio lie evenly, however many
    /// there are.
    pub(crate) fn of(admission: u64) -> Self {
        Self(admission.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

impl FrontEnd {
    /// An idle one.
    pub(crate) fn new(cost: &Cost) -> Self {
        let Front { request, input, turns, chunk, merges } = cost.front;
        let turn = f64::from(turns);
        Self {
            idle: request == 0.0 && input == 0.0 && chunk == 0.0,
            request: Fine::from_seconds(request / turn),
            input: Fine::from_seconds(input / turn),
            turns,
            chunk: Fine::from_seconds(chunk),
            merges,
            latency: Fine::from_seconds(cost.front_end).plus(Fine::HALF).nanos(),
            free: Fine::default(),
            last: Seen::default(),
        }
    }

    /// Whether it has no work, so that only its latency matters.
    pub(crate) fn is_idle(&self) -> bool {
        self.idle
    }

    /// The turns that a request takes.
    pub(crate) fn turns(&self) -> u32 {
        self.turns
    }

    /// One turn of a request with so many prompt tokens, for which it has waited since `at`; returns
    /// when it is over.
    pub(crate) fn turn(&mut self, at: Nanos, input: u32) -> Nanos {
        if self.idle {
            return at;
        }
        let work = self.request.plus(self.input.times(u128::from(input)));
        self.free = self.free.max(Fine::from_nanos(at)).plus(work);
        self.free.nanos()
    }

    /// When a request is queued whose last turn is over.
    pub(crate) fn queues(&self, over: Nanos) -> Nanos {
        over.saturating_add(self.latency)
    }

    /// Takes the tokens of a step that are handed out at `at`.
    pub(crate) fn hand_out(&mut self, at: Fine, tokens: u32) -> Seen {
        if self.is_idle() {
            return Seen::at(at.nanos());
        }
        // All still wait for the tokens before, and get these with them.
        if tokens <= self.merges && self.last.from > at.nanos() {
            return self.last;
        }
        let from = self.free.max(at);
        self.free = from.plus(self.chunk.times(u128::from(tokens)));
        self.last = Seen { from: from.nanos(), span: self.free.nanos() - from.nanos() };
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::MS;

    fn front(front: Front) -> FrontEnd {
        FrontEnd::new(&Cost { front_end: 0.005, front, ..Cost::default() })
    }

    const WORK: Front = Front { request: 0.002, input: 0.0, turns: 1, chunk: 0.001, merges: 0 };

    impl FrontEnd {
        /// Takes in a request without a prompt; returns when it is queued.
        fn take_in(&mut self, at: Nanos) -> Nanos {
            let over = self.turn(at, 0);
            self.queues(over)
        }
    }

    fn ms(time: u64) -> Fine {
        Fine::from_nanos(time * MS)
    }

    /// From when to when the tokens are seen, in milliseconds.
    fn span(seen: Seen) -> (u64, u64) {
        (seen.from / MS, seen.first() / MS)
    }

    #[test]
    fn without_work_it_only_delays() {
        let mut front = front(Front::default());
        assert_eq!((front.take_in(7), front.take_in(8)), (5 * MS + 7, 5 * MS + 8));
        assert_eq!(front.hand_out(ms(3), 100), Seen::at(3 * MS));
    }

    #[test]
    fn work_waits_for_work() {
        let mut front = front(WORK);
        // Requests at 0 and 1: the second starts at 2.
        assert_eq!([front.take_in(0), front.take_in(MS)], [7 * MS, 9 * MS]);
        // Tokens at 3 wait until 4 for the second request, and the next request waits for them.
        assert_eq!(span(front.hand_out(ms(3), 10)), (4, 14));
        assert_eq!(front.take_in(5 * MS), 21 * MS);
        assert_eq!(span(front.hand_out(ms(15), 2)), (16, 18));
        assert_eq!(span(front.hand_out(ms(30), 2)), (30, 32));
    }

    #[test]
    fn tokens_that_merge_are_no_work() {
        let mut front = front(Front { merges: 100, ..WORK });
        assert_eq!(span(front.hand_out(ms(0), 10)), (0, 10));
        // At 6, some of the ten are sent: the next ten wait for the rest.
        assert_eq!(span(front.hand_out(ms(6), 10)), (10, 20));
        // At 8, none of these is: what comes goes with them.
        assert_eq!(span(front.hand_out(ms(8), 10)), (10, 20));
        assert_eq!(front.free, ms(20));
    }

    #[test]
    fn a_request_waits_for_each_of_its_turns() {
        // Four turns of half a millisecond, and a quarter for each of two prompt tokens.
        let mut front = front(Front { turns: 4, input: 0.0005, ..WORK });
        assert_eq!(front.turn(0, 2), 750_000);
        // Ten tokens come in between.
        assert_eq!(span(front.hand_out(ms(0), 10)).1, 10);
        assert_eq!(front.turn(750_000, 2), 11_500_000);
        assert_eq!(front.turns(), 4);
    }

    #[test]
    fn large_steps_do_not_merge() {
        let mut front = front(Front { merges: 9, ..WORK });
        assert_eq!(span(front.hand_out(ms(0), 10)), (0, 10));
        assert_eq!(span(front.hand_out(ms(6), 10)), (10, 20));
        assert_eq!(front.free, ms(20));
    }

    #[test]
    fn places_lie_evenly_and_a_first_token_is_last() {
        let seen = Seen { from: 1_000, span: 100 };
        let mut times: Vec<u64> = (0..10).map(|k| seen.further(Place::of(k))).collect();
        assert_eq!(times[0], 1_061);
        times.sort_unstable();
        assert!(times.windows(2).all(|pair| (5..=16).contains(&(pair[1] - pair[0]))), "{times:?}");
        assert!(times[9] <= seen.first());
        assert_eq!(seen.first(), 1_100);
    }
}

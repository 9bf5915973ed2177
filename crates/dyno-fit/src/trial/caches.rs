//! What the server's metrics and the usage of its responses say of its caches: whether there is a prefix
//! cache, how much of the prompts it held, and how many tokens the KV cache holds.

use dyno_model::Nanos;
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::server::ServerSample;
use std::collections::BTreeSet;

/// With a smaller share of the KV cache in use, its size is guessed from roundings.
const IN_USE: f64 = 0.02;
/// Tokens of a block of the KV cache where nothing shows it: each request fills whole ones.
pub(crate) const BLOCK: u32 = 16;
/// Smaller blocks than this make no difference,
const SMALLEST: u64 = 8;
/// and none is larger.
const LARGEST: u64 = 4_096;
/// Different numbers of tokens that were found in the prefix cache, which show how large blocks are: one prefix of all
/// prompts may be of any length.
const HITS: usize = 4;
/// Later turns of conversations that show that nothing is found in a prefix cache.
const LATER_TURNS: usize = 4;
/// Prompts with fewer tokens may have no whole block in common with the turn before.
const LONG_ENOUGH: u64 = 64;
/// With this share of the prompts from the cache or less, a step computes about what it was sent.
const FEW_HITS: f64 = 0.05;

/// What is known of the caches of a server from one level.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialCaches {
    /// Whether it has a prefix cache; absent where nothing shows it.
    pub prefix: Option<bool>,
    /// The tokens that the KV cache holds, once for each sample that shows it.
    pub kv_tokens: Vec<f64>,
    /// The same, as the server states it.
    pub stated_tokens: Option<u64>,
    /// Tokens of a block of it: as the server states it, or such that all that was found was whole blocks.
    pub block: Option<u32>,
}

/// The caches of the server of a level. `shared` says that prompts begin alike on purpose.
pub fn caches(requests: &[RequestRecord], samples: &[ServerSample], shared: bool) -> TrialCaches {
    // Common prefixes are there once, and how many requests have them at a time is not known.
    let apart = !shared && !begin_alike(requests);
    let block = block(requests, samples);
    let kv_tokens =
        if apart { kv_tokens(requests, samples, block.unwrap_or(BLOCK)) } else { Vec::new() };
    let stated = samples.iter().rev().find_map(|of| of.prefix_cache);
    TrialCaches {
        prefix: stated.or_else(|| prefix(requests, samples)),
        kv_tokens,
        stated_tokens: samples.iter().rev().find_map(|of| of.kv_tokens),
        block,
    }
}

/// Tokens of a block of the KV cache.
fn block(requests: &[RequestRecord], samples: &[ServerSample]) -> Option<u32> {
    let stated = samples.iter().rev().find_map(|of| of.kv_block);
    let found: BTreeSet<u64> =
        requests.iter().filter_map(|of| of.cached).filter(|tokens| *tokens > 0).collect();
    let whole = found.iter().copied().reduce(common_divisor).filter(|size| size.is_power_of_two());
    let whole = whole.filter(|_| found.len() >= HITS);
    let size = stated.or(whole).filter(|size| (SMALLEST..=LARGEST).contains(size))?;
    u32::try_from(size).ok()
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Whether more than the first blocks of a template were found in the prefix cache, apart from conversations.
fn begin_alike(requests: &[RequestRecord]) -> bool {
    let alone = || requests.iter().filter(|of| of.turn.is_none());
    let cached: u64 = alone().filter_map(|of| of.cached).sum();
    let prompts: u64 = alone().filter_map(|of| of.input).map(|count| count.tokens).sum();
    cached as f64 > FEW_HITS * prompts as f64
}

/// Requests with prompts of which an unknown part was in the prefix cache; none if the rest is computed in
/// steps that can be counted. `shared` says that prompts begin alike on purpose.
pub(crate) fn unknown_hits(
    requests: &[RequestRecord],
    samples: &[ServerSample],
    shared: bool,
) -> usize {
    let unknown = requests.iter().filter(|of| !of.chunks.is_empty() && of.cached.is_none()).count();
    let hits = match found(requests, samples) {
        Some((_, 0)) => false,
        Some((asked, hits)) => hits as f64 > FEW_HITS * asked as f64,
        None => shared || requests.iter().any(is_later_turn),
    };
    if hits { unknown } else { 0 }
}

fn prefix(requests: &[RequestRecord], samples: &[ServerSample]) -> Option<bool> {
    let counted = found(requests, samples);
    let reported = requests.iter().any(|request| request.cached.is_some_and(|cached| cached > 0));
    let share =
        during(requests, samples).any(|of| of.prefix_share.is_some_and(|share| share > 0.0));
    if reported || share || counted.is_some_and(|(_, hits)| hits > 0) {
        return Some(true);
    }
    // A cache would have found what later turns begin with.
    let long = |of: &&RequestRecord| of.input.is_some_and(|input| input.tokens >= LONG_ENOUGH);
    let done = |of: &&RequestRecord| of.outcome == Outcome::Completed && is_later_turn(of);
    let later: Vec<&RequestRecord> = requests.iter().filter(done).filter(long).collect();
    if later.len() >= LATER_TURNS {
        let told = counted.is_some() || later.iter().all(|request| request.cached.is_some());
        return told.then_some(false);
    }
    // Servers look nothing up without one.
    counted.filter(|(asked, _)| *asked > 0).map(|_| true)
}

fn is_later_turn(request: &RequestRecord) -> bool {
    request.turn.is_some_and(|turn| turn.number > 1)
}

/// Prompt tokens that were looked up in the prefix cache during a level, and those that were found.
fn found(requests: &[RequestRecord], samples: &[ServerSample]) -> Option<(u64, u64)> {
    let [start, end] = span(requests);
    let counts = |of: &ServerSample| Some([of.prefix_queries?, of.prefix_hits?]);
    let counted = |of: &ServerSample| Some((of.at, counts(of)?));
    let all: Vec<(Nanos, [u64; 2])> = samples.iter().filter_map(counted).collect();
    let before = all.iter().rev().find(|(at, _)| *at <= start).or(all.first())?;
    let after = all.iter().rev().find(|(at, _)| *at <= end)?;
    // A server that was started again counts from 0, and several servers count each for itself.
    let falls =
        |pair: &[(Nanos, [u64; 2])]| (0..2).any(|place| pair[1].1[place] < pair[0].1[place]);
    if all.windows(2).any(falls) {
        return None;
    }
    let by = |place: usize| after.1[place].checked_sub(before.1[place]);
    (after.0 > before.0).then(|| by(0).zip(by(1)))?
}

/// Estimates of the tokens that the KV cache holds: those of the requests in the batch over its share in use.
fn kv_tokens(requests: &[RequestRecord], samples: &[ServerSample], block: u32) -> Vec<f64> {
    let estimate = |sample: &ServerSample| {
        let in_use = sample.kv_use.filter(|share| *share > IN_USE)?;
        let held = held(requests, sample.at, sample.running, block)?;
        (held > 0).then(|| held as f64 / in_use)
    };
    during(requests, samples).filter_map(estimate).collect()
}

/// Tokens of the requests in the batch at this time; nothing if a prompt is not known.
fn held(requests: &[RequestRecord], at: Nanos, running: Option<u64>, block: u32) -> Option<u64> {
    let whole_blocks = |tokens: u64| tokens.next_multiple_of(block.into());
    let mut tokens = 0;
    let mut decoding = 0;
    let mut waiting: Vec<(Nanos, u64)> = Vec::new();
    for request in requests {
        let Some(sent) = request.sent.filter(|sent| *sent <= at && at < request.end) else {
            continue;
        };
        let prompt =
            request.input.map(|of| of.tokens).or(request.requested_input.map(u64::from))?;
        if request.first.is_none_or(|first| at < first) {
            waiting.push((sent, prompt));
            continue;
        }
        let so_far = request.chunks.iter().take_while(|chunk| 1_000 * chunk.at_us <= at);
        let so_far: u64 = so_far.map(|chunk| u64::from(chunk.tokens.max(1))).sum();
        tokens += whole_blocks(prompt + so_far);
        decoding += 1;
    }
    // The first that came are in the batch; the others wait for a place in it.
    waiting.sort_unstable();
    let prefilling = running.map_or(0, |running| running.saturating_sub(decoding) as usize);
    let prompts = waiting.iter().take(prefilling).map(|(_, prompt)| whole_blocks(*prompt));
    Some(tokens + prompts.sum::<u64>())
}

/// The samples that were taken while requests were in flight.
fn during<'a>(
    requests: &[RequestRecord],
    samples: &'a [ServerSample],
) -> impl Iterator<Item = &'a ServerSample> {
    let [start, end] = span(requests);
    samples.iter().filter(move |sample| (start..=end).contains(&sample.at))
}

/// From the first request to the end of the last.
fn span(requests: &[RequestRecord]) -> [Nanos; 2] {
    let start = requests.iter().filter_map(|request| request.sent).min();
    let end = requests.iter().filter(|of| of.sent.is_some()).map(|request| request.end).max();
    [start.unwrap_or(0), end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::record::{Phase, TokenCount, TokenSource, TurnOfSession};
    use dyno_model::{MS, SEC};

    /// Requests one second apart, each of 100 tokens in and of 9 tokens a tenth of a second apart; turns of
    /// conversations of five if asked for.
    fn records(count: u64, turns: bool, cached: Option<u64>) -> Vec<RequestRecord> {
        let usage = |tokens| Some(TokenCount { tokens, source: TokenSource::Usage });
        let record = |index: u64| {
            let sent = index * SEC;
            let mut of = RequestRecord::new(0, index, 0, Phase::Measured, sent);
            let turn = TurnOfSession { session: index / 5, number: (index % 5) as u32 + 1 };
            (of.outcome, of.sent, of.cached) = (Outcome::Completed, Some(sent), cached);
            (of.input, of.turn) = (usage(100), turns.then_some(turn));
            (1..10).for_each(|token| of.chunks.push(sent + token * 100 * MS, false, 1));
            (of.first, of.end) = (Some(sent + 100 * MS), sent + 900 * MS);
            of
        };
        (0..count).map(record).collect()
    }

    /// A sample every second, with counters that grow by so much.
    fn samples(queries: u64, hits: u64) -> Vec<ServerSample> {
        let sample = |second: u64| ServerSample {
            at: second * SEC + 450 * MS,
            prefix_queries: Some(7_000 + second * queries),
            prefix_hits: Some(900 + second * hits),
            ..ServerSample::default()
        };
        (0..20).map(sample).collect()
    }

    #[test]
    fn the_servers_own_counters_tell_whether_it_has_a_prefix_cache() {
        let of = |turns, cached, samples: &[ServerSample]| {
            caches(&records(20, turns, cached), samples, false).prefix
        };
        assert_eq!(of(true, None, &samples(100, 60)), Some(true));
        // Nothing of later turns was found, by the counters or by the usage.
        assert_eq!(of(true, None, &samples(0, 0)), Some(false));
        assert_eq!(of(true, Some(0), &[]), Some(false));
        assert_eq!(of(true, Some(48), &[]), Some(true));
        // Prompts that have nothing in common are looked up only where there is a cache.
        assert_eq!(of(false, None, &samples(100, 0)), Some(true));
        assert_eq!(of(false, None, &samples(0, 0)), None);
        assert_eq!(of(false, Some(0), &[]), None);
        assert_eq!(of(true, None, &[]), None);
    }

    #[test]
    fn counters_of_another_time_are_not_of_this_level() {
        let mut early = samples(100, 60);
        early.truncate(1);
        assert_eq!(caches(&records(20, true, None), &early, false).prefix, None);
        let again: Vec<ServerSample> = samples(100, 60).into_iter().rev().collect();
        let again = again.into_iter().zip(samples(0, 0));
        let again: Vec<ServerSample> =
            again.map(|(of, at)| ServerSample { at: at.at, ..of }).collect();
        assert_eq!(caches(&records(20, true, None), &again, false).prefix, None);
    }

    #[test]
    fn prompts_that_may_be_cached_are_unknown_unless_someone_counted() {
        let of = |turns, cached, samples: &[ServerSample], shared| {
            unknown_hits(&records(20, turns, cached), samples, shared)
        };
        assert_eq!(of(true, None, &[], false), 20);
        assert_eq!(of(true, Some(32), &[], false), 0);
        assert_eq!(of(false, None, &[], false), 0);
        assert_eq!(of(false, None, &[], true), 20);
        assert_eq!(of(true, None, &samples(100, 0), true), 0);
        assert_eq!(of(false, None, &samples(100, 60), false), 20);
        // The first blocks of a chat template.
        assert_eq!(of(false, None, &samples(1_000, 16), false), 0);
    }

    #[test]
    fn the_kv_cache_is_what_is_in_flight_over_its_share_in_use() {
        // At each sample one request has its prompt of 100 and 4 tokens more: 7 blocks of 16.
        let with = |in_use: f64, cached: Option<u64>, shared: bool| {
            let share = |sample| ServerSample { kv_use: Some(in_use), running: Some(1), ..sample };
            let samples: Vec<ServerSample> = samples(0, 0).into_iter().map(share).collect();
            caches(&records(20, false, cached), &samples, shared).kv_tokens
        };
        let found = with(0.056, None, false);
        assert_eq!(found.len(), 20);
        assert!(found.iter().all(|tokens| (tokens / 2_000.0 - 1.0).abs() < 1e-9), "{found:?}");
        assert!(with(0.01, None, false).is_empty());
        // A common prefix is there once; the first tokens of a template change nothing.
        assert!(with(0.056, None, true).is_empty());
        assert!(with(0.056, Some(90), false).is_empty());
        assert_eq!(with(0.056, Some(4), false).len(), 20);
    }

    #[test]
    fn what_the_server_states_of_its_caches_comes_before_what_they_show() {
        let with = |cached: &[u64], stated: ServerSample| {
            let mut all = records(20, true, None);
            all.iter_mut().zip(cached).for_each(|(of, cached)| of.cached = Some(*cached));
            caches(&all, &[stated], false)
        };
        let nothing = ServerSample::default();
        let hits = [0, 48, 96, 32, 64, 0, 48, 32, 96, 80];
        assert_eq!(with(&hits, nothing).block, Some(16));
        assert_eq!(with(&hits[..4], nothing).block, None);
        // A prefix that all have says nothing, and pages of one token make no difference.
        assert_eq!(with(&[304; 9], nothing).block, None);
        assert_eq!(with(&[304, 608, 912, 1_216, 1_520], nothing).block, None);
        assert_eq!(with(&[41, 40, 39, 38, 37, 36, 35, 34], nothing).block, None);
        let stated = ServerSample {
            kv_block: Some(128),
            kv_tokens: Some(4_096),
            prefix_cache: Some(false),
            ..nothing
        };
        let found = with(&hits, stated);
        assert_eq!((found.block, found.stated_tokens), (Some(128), Some(4_096)));
        assert_eq!(found.prefix, Some(false));
    }

    #[test]
    fn only_requests_in_the_batch_hold_tokens() {
        let mut all = records(1, false, None);
        // Two more wait for their first token.
        all.extend([0, 1].map(|_| RequestRecord { first: None, ..all[0].clone() }));
        let at = 450 * MS;
        assert_eq!(held(&all, at, Some(1), BLOCK), Some(112));
        assert_eq!(held(&all, at, Some(2), BLOCK), Some(112 + 112));
        assert_eq!(held(&all, at, Some(3), BLOCK), Some(112 + 2 * 112));
        assert_eq!(held(&all, 2 * SEC, Some(0), BLOCK), Some(0));
    }
}

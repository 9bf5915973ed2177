//! The stored form of server metrics.

use crate::fields::{Bad, Fields, Value, put_plain, put_some};
use dyno_model::message;
use dyno_model::server::ServerSample;

pub(crate) fn encode(sample: &ServerSample, out: &mut Vec<u8>) {
    put_plain(out, 1, sample.at);
    put_some(out, 2, sample.running);
    put_some(out, 3, sample.waiting);
    put_some(out, 4, sample.kv_use.map(f64::to_bits));
    put_some(out, 5, sample.preemptions);
    put_some(out, 6, sample.prefix_queries);
    put_some(out, 7, sample.prefix_hits);
    put_some(out, 8, sample.prefix_share.map(f64::to_bits));
    put_some(out, 9, sample.resident_bytes);
    put_some(out, 10, sample.kv_block);
    put_some(out, 11, sample.kv_tokens);
    put_some(out, 12, sample.prefix_cache.map(u64::from));
    put_some(out, 13, sample.process_started);
}

pub(crate) fn decode(payload: &[u8]) -> Result<ServerSample, Bad> {
    let mut sample = ServerSample::default();
    for field in Fields(payload) {
        match field? {
            (1, value) => sample.at = value.number()?,
            (2, value) => sample.running = Some(value.number()?),
            (3, value) => sample.waiting = Some(value.number()?),
            (4, value) => sample.kv_use = Some(share(value)?),
            (5, value) => sample.preemptions = Some(value.number()?),
            (6, value) => sample.prefix_queries = Some(value.number()?),
            (7, value) => sample.prefix_hits = Some(value.number()?),
            (8, value) => sample.prefix_share = Some(share(value)?),
            (9, value) => sample.resident_bytes = Some(value.number()?),
            (10, value) => sample.kv_block = Some(value.number()?),
            (11, value) => sample.kv_tokens = Some(value.number()?),
            (12, value) => sample.prefix_cache = Some(value.number()? != 0),
            (13, value) => sample.process_started = Some(value.number()?),
            _ => {}
        }
    }
    Ok(sample)
}

/// A share is stored as the bits of its float.
fn share(value: Value) -> Result<f64, Bad> {
    let share = f64::from_bits(value.number()?);
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(Bad(message!("a share of {share}", "占比为 {share}"))),
    }
}

//! A frame as the bytes of its payload: one byte for its kind, then its fields.

use crate::fields::Bad;
use crate::{level, request, server};
use dyno_model::frame::Frame;
use dyno_model::message;

const LEVEL_START: u8 = 1;
const REQUEST: u8 = 2;
const LEVEL_END: u8 = 3;
const RUN_END: u8 = 4;
const LEVEL_CHOSEN: u8 = 6;
const SERVER: u8 = 5;

/// Appends the payload of `frame`.
pub(crate) fn encode(frame: &Frame, out: &mut Vec<u8>) {
    match frame {
        Frame::LevelChosen(chosen) => {
            out.push(LEVEL_CHOSEN);
            level::encode_chosen(chosen, out);
        }
        Frame::LevelStart(start) => {
            out.push(LEVEL_START);
            level::encode_start(start, out);
        }
        Frame::Request(record) => {
            out.push(REQUEST);
            request::encode(record, out);
        }
        Frame::LevelEnd(end) => {
            out.push(LEVEL_END);
            level::encode_end(end, out);
        }
        Frame::Server(sample) => {
            out.push(SERVER);
            server::encode(sample, out);
        }
        Frame::RunEnd(end) => {
            out.push(RUN_END);
            level::encode_run_end(end, out);
        }
    }
}

/// Reads a payload; nothing for a kind of frame that a later version may have added.
pub(crate) fn decode(payload: &[u8]) -> Result<Option<Frame>, Bad> {
    let Some((kind, fields)) = payload.split_first() else {
        return Err(Bad(message!("an empty frame", "空帧")));
    };
    Ok(Some(match *kind {
        LEVEL_START => Frame::LevelStart(level::decode_start(fields)?),
        REQUEST => Frame::Request(Box::new(request::decode(fields)?)),
        LEVEL_END => Frame::LevelEnd(Box::new(level::decode_end(fields)?)),
        RUN_END => Frame::RunEnd(level::decode_run_end(fields)?),
        LEVEL_CHOSEN => Frame::LevelChosen(Box::new(level::decode_chosen(fields)?)),
        SERVER => Frame::Server(server::decode(fields)?),
        0 => return Err(Bad(message!("a frame of kind 0", "类型为 0 的帧"))),
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{put_number, put_text};
    use dyno_model::frame::{Ending, RunEnd};
    use dyno_model::outcome::Outcome;
    use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};
    use dyno_model::{MS, SEC};

    fn streamed_request() -> RequestRecord {
        let intended = 600 * SEC;
        let mut record = RequestRecord::new(0, 700, 200, Phase::Measured, intended);
        record.outcome = Outcome::Completed;
        record.dispatched = Some(intended + 21_000);
        record.connected = Some(intended + 25_000);
        record.sent = Some(intended + 60_000);
        record.headers = Some(intended + 99 * MS);
        record.first = Some(intended + 100 * MS);
        for i in 0..128_u64 {
            let at = intended + 100 * MS + i * 20 * MS + i * i * 7919 % MS;
            record.chunks.push(at, false, 1);
            record.last = Some(at);
        }
        record.end = intended + 2_641 * MS;
        record.input = Some(TokenCount { tokens: 512, source: TokenSource::Usage });
        record.output = Some(TokenCount { tokens: 128, source: TokenSource::Usage });
        record.requested_output = Some(128);
        record.status = Some(200);
        record.finish_reason = Some("length".into());
        (record.streamed, record.terminal, record.reused) = (true, true, true);
        record
    }

    #[test]
    fn a_streamed_request_is_small() {
        let mut out = Vec::new();
        encode(&Frame::Request(Box::new(streamed_request())), &mut out);
        let chunks = streamed_request().chunks.bytes().len();
        assert!(out.len() - chunks <= 72, "{chunks} of {}", out.len());
        assert!(out.len() <= 2 * 128 + 72, "{}", out.len());
    }

    #[test]
    fn fields_and_kinds_of_a_later_version_are_skipped() {
        let frame = Frame::RunEnd(RunEnd { ended: 7, ending: Ending::Duration });
        let mut out = Vec::new();
        encode(&frame, &mut out);
        put_number(&mut out, 99, 3);
        put_text(&mut out, 100, Some("new"));
        assert_eq!(decode(&out), Ok(Some(frame)));
        assert_eq!(decode(&[77, 1, 2, 3]), Ok(None));
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        let refused = |bytes: &[u8]| decode(bytes).unwrap_err().0.to_string();
        assert_eq!(refused(&[]), "an empty frame");
        assert_eq!(refused(&[REQUEST]), "a request without times");
        let mut out = vec![RUN_END];
        put_number(&mut out, 2, 9);
        assert_eq!(refused(&out), "unknown ending 9");
        for nonsense in [f64::NAN, -0.1, 1.5, f64::INFINITY] {
            let mut out = vec![SERVER];
            put_number(&mut out, 4, nonsense.to_bits());
            assert!(decode(&out).is_err(), "{nonsense}");
        }
    }
}

//! The ranges of a record's times contain the arrival times, however the response was split into packets
//! and however many of them one read returned.
#![allow(clippy::unwrap_used)]

use dyno_model::budget::Budget;
use dyno_model::outcome::Outcome;
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::ArrivalTime;
use dyno_wire::dialect::{DIALECTS, Keep};
use dyno_wire::exchange::{Exchange, ExchangeProgress, Rules};
use dyno_wire::redact::Redactor;
use proptest::prelude::*;

const US: u64 = 1_000;

/// A response, and where each part of it ends.
#[derive(Debug, Default, Clone)]
struct Answer {
    bytes: Vec<u8>,
    /// Ends of output events.
    output: Vec<usize>,
    /// End of the event with the finish reason.
    finish: usize,
    /// End of what settles the outcome.
    end: usize,
}

#[derive(Debug, Clone, Copy)]
struct Style {
    chunked: bool,
    crlf: bool,
    done: bool,
    pings: bool,
    usage: bool,
    events: usize,
}

fn style() -> impl Strategy<Value = Style> {
    (any::<[bool; 5]>(), 1..5_usize).prop_map(|([chunked, crlf, done, pings, usage], events)| {
        Style { chunked, crlf, done, pings, usage, events }
    })
}

impl Answer {
    fn new(style: Style) -> Self {
        let mut answer = Self::default();
        let framing = match style.chunked {
            true => "Transfer-Encoding: chunked",
            false => "Connection: close",
        };
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{framing}\r\n\r\n");
        answer.bytes.extend_from_slice(head.as_bytes());
        answer.event(style, r#"{"choices":[{"delta":{"role":"assistant"}}]}"#);
        for _ in 0..style.events {
            let end = answer.event(style, r#"{"choices":[{"delta":{"content":"x"}}]}"#);
            answer.output.push(end);
            if style.pings {
                answer.part(style, ": ping");
            }
        }
        let finish = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
        answer.finish = answer.event(style, finish);
        if style.usage {
            answer.event(style, r#"{"choices":[],"usage":{"completion_tokens":4}}"#);
        }
        let mut end = None;
        if style.done {
            end = Some(answer.event(style, "[DONE]"));
        }
        if style.chunked {
            answer.bytes.extend_from_slice(b"0\r\n\r\n");
        }
        answer.end = end.unwrap_or(answer.bytes.len());
        answer
    }

    fn event(&mut self, style: Style, data: &str) -> usize {
        self.part(style, &format!("data: {data}"))
    }

    /// A line and an empty line, framed; returns where they end.
    fn part(&mut self, style: Style, line: &str) -> usize {
        let newline = if style.crlf { "\r\n" } else { "\n" };
        let event = format!("{line}{newline}{newline}");
        if style.chunked {
            self.bytes.extend_from_slice(format!("{:x}\r\n", event.len()).as_bytes());
        }
        self.bytes.extend_from_slice(event.as_bytes());
        let end = self.bytes.len();
        if style.chunked {
            self.bytes.extend_from_slice(b"\r\n");
        }
        end
    }
}

/// A part of the response that arrived at once.
#[derive(Debug, Clone, Copy)]
struct Packet {
    end: usize,
    at: u64,
    /// The reader then takes everything that has arrived.
    read: bool,
}

/// Where a packet ends: anywhere, or shortly after the end of an event.
#[derive(Debug, Clone)]
enum Cut {
    Anywhere(prop::sample::Index),
    After(prop::sample::Index, usize),
}

fn cuts() -> impl Strategy<Value = Vec<(Cut, bool)>> {
    let cut = prop_oneof![
        any::<prop::sample::Index>().prop_map(Cut::Anywhere),
        (any::<prop::sample::Index>(), 0..6_usize).prop_map(|(event, by)| Cut::After(event, by)),
    ];
    prop::collection::vec((cut, any::<bool>()), 0..12)
}

/// The response in packets, each some time after the last.
fn packets(answer: &Answer, cuts: &[(Cut, bool)]) -> Vec<Packet> {
    let length = answer.bytes.len();
    let place = |cut: &Cut| match cut {
        Cut::Anywhere(at) => at.index(length) + 1,
        Cut::After(event, by) => (event.get(&answer.output) + by).min(length),
    };
    let mut ends: Vec<_> = cuts.iter().map(|(cut, read)| (place(cut), *read)).collect();
    ends.push((length, true));
    ends.sort_unstable();
    ends.dedup_by_key(|(end, _)| *end);
    ends.last_mut().unwrap().1 = true;
    let timed = ends.into_iter().enumerate();
    timed.map(|(i, (end, read))| Packet { end, at: (i as u64 + 2) * 1_000 * US, read }).collect()
}

fn read(answer: &Answer, packets: &[Packet]) -> RequestRecord {
    let rules = Rules {
        dialect: DIALECTS[0],
        stream: true,
        keep: Keep::default(),
        redactor: Redactor::default(),
        budget: Budget::foreign(),
    };
    let mut exchange = Exchange::new(RequestRecord::new(0, 0, 0, Phase::Measured, 0), false);
    let (mut begin, mut empty, mut over) = (0, US, false);
    for packet in packets.iter().filter(|packet| packet.read) {
        let arrival = ArrivalTime { after: empty, at: packet.at, last_byte_slack: 0 };
        let data = &answer.bytes[begin..packet.end];
        over |= exchange.on_data(&rules, data, arrival) != ExchangeProgress::Running;
        (begin, empty) = (packet.end, packet.at + US);
    }
    if !over {
        let last = packets.last().unwrap().at;
        exchange.on_close(&rules, None, ArrivalTime::exactly(last));
    }
    exchange.record
}

/// When the last byte of something arrived.
fn came(packets: &[Packet], end: usize) -> u64 {
    packets.iter().find(|packet| packet.end >= end).unwrap().at
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_thing_came_within_its_range(
        style in style(),
        cuts in cuts(),
    ) {
        let answer = Answer::new(style);
        let packets = packets(&answer, &cuts);
        let record = read(&answer, &packets);
        prop_assert_eq!(&record.outcome, &Outcome::Completed);
        let widths = record.widths.unwrap();
        // An event is complete with the end of its empty line. The line's end and the end of its chunk
        // may be in a later packet; then either is right.
        let check = |what: &str, at: u64, width: u64, end: usize| {
            let framing = answer.bytes[end..].iter().take(2).take_while(|b| b"\r\n".contains(b));
            let earliest = came(&packets, end - 1);
            let latest = came(&packets, end + framing.count());
            let within = at - width <= latest && earliest <= at;
            prop_assert!(within, "{what}: {at} less {width} is not {earliest} to {latest}");
            Ok(())
        };
        let chunks: Vec<_> = record.chunks.iter().collect();
        prop_assert_eq!(chunks.len(), answer.output.len());
        for (chunk, end) in chunks.iter().zip(&answer.output) {
            check("output", chunk.at_us * US, chunk.loose_us * US, *end)?;
        }
        check("first", record.first.unwrap(), widths.first, answer.output[0])?;
        check("last", record.last.unwrap(), widths.last, answer.finish)?;
        check("end", record.end, widths.end, answer.end)?;
    }

    #[test]
    fn what_ends_a_read_is_known_exactly(style in style()) {
        let answer = Answer::new(style);
        // One packet for each event, and one read for each packet.
        let ends = answer.output.iter().chain([&answer.finish]).map(|end| *end + 2);
        let mut packets: Vec<Packet> = ends
            .chain([answer.bytes.len()])
            .enumerate()
            .map(|(i, end)| Packet { end, at: (i as u64 + 2) * 1_000 * US, read: true })
            .collect();
        if !style.chunked {
            packets.iter_mut().rev().skip(1).for_each(|packet| packet.end -= 2);
        }
        let record = read(&answer, &packets);
        let widths = record.widths.unwrap();
        let chunks: Vec<_> = record.chunks.iter().collect();
        for (chunk, packet) in chunks.iter().zip(&packets) {
            prop_assert_eq!((chunk.at_us * US, chunk.loose_us), (packet.at, 0));
        }
        prop_assert_eq!((widths.first, widths.last), (0, 0));
        prop_assert_eq!(record.last, Some(packets[style.events].at));
    }
}

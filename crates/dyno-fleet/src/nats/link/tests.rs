//! Two ends of a line, and a bus between them that loses frames.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use proptest::prelude::*;

const SESSION: Id = Id(7);

fn gone() -> Message {
    Message::quoted("gone")
}

/// Carries frames from one end to the other; `lost` says which.
fn carry(
    frames: Vec<Vec<u8>>,
    to: &mut Link,
    now: Instant,
    lost: &mut dyn FnMut() -> bool,
) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut packets, mut back) = (Vec::new(), Vec::new());
    for frame in frames {
        if !lost() {
            let taken = to.take(&frame, now);
            packets.extend(taken.packet.map(|packet| packet.expect("no end")));
            back.extend(taken.send);
        }
    }
    (packets, back)
}

proptest! {
    #[test]
    fn every_packet_arrives_once_and_in_order_whatever_is_lost(
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..30),
        losses in prop::collection::vec(prop::bool::weighted(0.4), 400),
        most in (HEADER + 1)..120,
    ) {
        let (mut here, mut there) = (Link::new(SESSION, gone()), Link::new(SESSION, gone()));
        let mut now = Instant::now();
        let mut losses = losses.into_iter();
        let mut lost = || losses.next().unwrap_or(false);
        let mut arrived = Vec::new();
        for packet in &packets {
            now += Duration::from_millis(300);
            let frames = here.push(packet, most, now).expect("room");
            prop_assert!(frames.iter().all(|frame| frame.len() <= most));
            let (came, mut answers) = carry(frames, &mut there, now, &mut lost);
            arrived.extend(came);
            while !answers.is_empty() {
                let (_, again) = carry(answers, &mut here, now, &mut lost);
                let (came, more) = carry(again, &mut there, now, &mut lost);
                arrived.extend(came);
                answers = more;
            }
        }
        // What is lost at the end is found by questions.
        for _ in 0..500 {
            now += BETWEEN;
            let Some(question) = here.due(now) else { continue };
            let (_, answer) = carry(vec![question], &mut there, now, &mut lost);
            let (_, again) = carry(answer, &mut here, now, &mut lost);
            let (came, answers) = carry(again, &mut there, now, &mut lost);
            arrived.extend(came);
            carry(answers, &mut here, now, &mut lost);
        }
        prop_assert_eq!(arrived, packets);
        prop_assert!(here.kept.is_empty());
    }

    #[test]
    fn no_bytes_are_taken_for_a_packet_that_nobody_sent(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut line = Link::new(SESSION, gone());
        let taken = line.take(&bytes, Instant::now());
        if session_of(&bytes) != Some(SESSION) {
            prop_assert_eq!(taken, Taken::default());
        }
    }
}

#[test]
fn nothing_is_sent_in_addition_as_long_as_nothing_is_lost() {
    let (mut here, mut there) = (Link::new(SESSION, gone()), Link::new(SESSION, gone()));
    let mut now = Instant::now();
    for _ in 0..100 {
        for (from, to) in [(0, 1), (1, 0)] {
            let ends = [&mut here, &mut there];
            let frames = ends[from].push(b"beat", 1_000, now).expect("room");
            assert_eq!(frames.len(), 1);
            let taken = ends[to].take(&frames[0], now);
            assert_eq!(taken, Taken { packet: Some(Ok(b"beat".to_vec())), send: Vec::new() });
        }
        for _ in 0..10 {
            now += Duration::from_millis(100);
            assert_eq!((here.due(now), there.due(now)), (None, None));
        }
    }
}

#[test]
fn a_packet_that_never_ends_is_refused() {
    let mut line = Link::new(SESSION, gone());
    let part = vec![0; 100_000];
    let refused = (1..100).find_map(|number| {
        let frame = framed(PART, SESSION, number, 0, &part);
        line.take(&frame, Instant::now()).packet
    });
    let why = refused.unwrap().unwrap_err().to_string();
    assert_eq!(why, "a message of more than 1048576 bytes");
}

#[test]
fn frames_of_others_and_impossible_ones_change_nothing() {
    let mut line = Link::new(SESSION, gone());
    let now = Instant::now();
    line.push(b"kept", 1_000, now).expect("room");
    for frame in [
        framed(LAST, Id(8), 1, 0, b"another session"),
        framed(LAST, SESSION, 1, 99, b"confirms what was never sent"),
        framed(9, SESSION, 1, 0, b"no kind"),
        b"short".to_vec(),
        Vec::new(),
    ] {
        assert_eq!(line.take(&frame, now), Taken::default());
    }
    assert_eq!((line.received, line.kept.len()), (0, 1));
}

#[test]
fn a_side_that_confirms_nothing_is_given_up() {
    let mut line = Link::new(SESSION, gone());
    let packet = vec![0; MAX_PACKET];
    let pushed = (0..100).try_for_each(|_| line.push(&packet, 1 << 20, Instant::now()).map(|_| ()));
    assert_eq!(pushed, Err(stuck()));
}

#[test]
fn what_is_on_its_way_is_not_repeated() {
    let (mut here, mut there) = (Link::new(SESSION, gone()), Link::new(SESSION, gone()));
    let begun = Instant::now();
    let early = here.push(b"early", 1_000, begun).expect("room");
    let question = here.due(begun + UNCONFIRMED).expect("nothing was confirmed");
    let late = here.push(b"late", 1_000, begun + UNCONFIRMED).expect("room");
    let now = begun + UNCONFIRMED + BETWEEN;
    // Nothing was lost: the other side was slow.
    let (came, answers) = carry([early, vec![question]].concat(), &mut there, now, &mut || false);
    assert_eq!((came, answers.len()), (vec![b"early".to_vec()], 1));
    let (_, again) = carry(answers, &mut here, now, &mut || false);
    assert_eq!(again, Vec::<Vec<u8>>::new());
    assert_eq!(carry(late, &mut there, now, &mut || false).0, [b"late"]);
}

#[test]
fn one_that_is_gone_is_told_nothing_more() {
    let mut line = Link::new(SESSION, gone());
    let now = Instant::now();
    line.push(b"kept", 1_000, now).expect("room");
    let ended = Taken { packet: Some(Err(gone())), send: Vec::new() };
    assert_eq!(line.take(&bye(SESSION), now), ended);
    let have = framed(HAVE, SESSION, u64::MAX, 0, &[]);
    for frame in [bye(SESSION), have, framed(ASK, SESSION, 3, 0, &[])] {
        assert_eq!(line.take(&frame, now), Taken::default(), "it is said once");
    }
    assert_eq!(line.due(now + 2 * UNCONFIRMED), None);
    assert_eq!(line.push(b"more", 1_000, now), Err(gone()));
}

//! Somebody else on the bus, who listens to everything and says anything.

use super::agents::{Agent, Work};
use super::open;
use super::run::Run;
use dyno_fleet::nats::Notice;
use dyno_testing::nats::Nats;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A client of a few lines: NATS is a text protocol.
struct Stranger {
    ended: Arc<AtomicBool>,
    said: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Stranger {
    /// Hears everything on the bus, and says what `answers` makes of each message, on its subject.
    fn on(server: &Nats, answers: impl Fn(&str, &[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut writer = stream.try_clone().unwrap();
        // Without echo: it does not answer itself.
        writer
            .write_all(b"CONNECT {\"verbose\":false,\"echo\":false}\r\nSUB dyno.> 1\r\nPING\r\n")
            .unwrap();
        let (ended, said) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (end, count) = (Arc::clone(&ended), Arc::clone(&said));
        let listen = move || {
            let mut reader = BufReader::new(stream);
            while let Some((subject, payload)) = message(&mut reader, &mut writer, &end) {
                for answer in answers(&subject, &payload) {
                    count.fetch_add(1, Ordering::Relaxed);
                    let head = format!("PUB {subject} {}\r\n", answer.len());
                    let whole = [head.as_bytes(), &answer, b"\r\n"].concat();
                    if writer.write_all(&whole).is_err() {
                        return;
                    }
                }
            }
        };
        Self { ended, said, thread: Some(thread::spawn(listen)) }
    }

    fn said(&self) -> usize {
        self.said.load(Ordering::Relaxed)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The next message; `None` at the end.
fn message(
    reader: &mut BufReader<TcpStream>,
    writer: &mut TcpStream,
    ended: &AtomicBool,
) -> Option<(String, Vec<u8>)> {
    let mut line = Vec::new();
    loop {
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(_) if ended.load(Ordering::Relaxed) => return None,
            Err(_) => continue,
        }
        let text = String::from_utf8(std::mem::take(&mut line)).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["PING"] => writer.write_all(b"PONG\r\n").ok()?,
            ["MSG", subject, .., length] => {
                let mut payload = vec![0; length.parse::<usize>().unwrap() + 2];
                let mut filled = 0;
                while filled < payload.len() {
                    match reader.read(&mut payload[filled..]) {
                        Ok(0) => return None,
                        Ok(count) => filled += count,
                        Err(_) if ended.load(Ordering::Relaxed) => return None,
                        Err(_) => {}
                    }
                }
                payload.truncate(payload.len() - 2);
                return Some((subject.to_owned(), payload));
            }
            _ => {}
        }
    }
}

/// What nobody on the bus means.
fn nonsense(seen: &[u8]) -> Vec<Vec<u8>> {
    let mut other_session = seen.to_vec();
    other_session.iter_mut().skip(1).take(8).for_each(|byte| *byte ^= 1);
    let mut impossible = seen.to_vec();
    impossible.iter_mut().skip(9).for_each(|byte| *byte = 255);
    // With a number that was there before: a busy server may deliver the copy of a frame to its forger before
    // it delivers the frame itself, and the forged one would be taken in its place.
    let mut cut = seen[..seen.len() / 2].to_vec();
    cut.iter_mut().skip(9).take(8).for_each(|byte| *byte = 0);
    vec![
        Vec::new(),
        b"hello".to_vec(),
        vec![1],
        vec![2; 24],
        vec![255; 2_000],
        vec![b'{'; 100_000],
        br#"{"engage":{"session":"../../etc","run":"\u001b[2J"}}"#.to_vec(),
        br#"{"engage":{"session":"0000000000000001","version":"9.9"}}"#.to_vec(),
        br#"{"call":{"session":"*.>"}}"#.to_vec(),
        br#"{"release":{"session":"0000000000000001"}}"#.to_vec(),
        br#"{"busy":{"run":5}}"#.to_vec(),
        other_session,
        impossible,
        cut,
    ]
}

#[test]
fn nonsense_on_all_subjects_disturbs_no_run() {
    let server = Nats::start();
    let options = open(&server);
    let work = Work::default();
    let stranger = Stranger::on(&server, |_, payload| nonsense(payload));
    let began = Instant::now();
    let agents = Agent::several(&options, 2, work);
    let mut run = Run::begin(&options, "run", 2);
    run.carries_out(1, work);
    run.carries_out(2, work);
    assert!(stranger.said() > 500, "{}", stranger.said());
    drop(run);
    agents.iter().for_each(Agent::is_free);
    let refused = |notice: &Notice| matches!(notice, Notice::Refused { .. });
    let said = agents[0].notices.lock().unwrap().iter().filter(|notice| refused(notice)).count();
    let most = 1 + began.elapsed().as_secs() as usize / 10;
    assert!((1..=most).contains(&said), "it is said {said} times in {:?}", began.elapsed());
}

#[test]
fn a_message_of_a_run_that_is_not_understood_ends_it_and_says_so() {
    let server = Nats::start();
    let options = open(&server);
    let work = Work { level: Duration::from_secs(20), ..Work::default() };
    let agents = Agent::several(&options, 2, work);
    let mut run = Run::begin(&options, "run", 2);
    // It continues the numbers of an agent's frames, with a message of its own. Beats with counters come
    // once a second, so there is time.
    let forged = AtomicUsize::new(0);
    let stranger = Stranger::on(&server, move |subject, payload| {
        let is_beat =
            payload.first() == Some(&2) && payload.windows(11).any(|part| part == b"\"in_flight\"");
        if !subject.contains(".run.") || !is_beat || forged.fetch_add(1, Ordering::Relaxed) > 0 {
            return Vec::new();
        }
        let number = u64::from_le_bytes(payload[9..17].try_into().unwrap()) + 1;
        let mut frame = payload[..25].to_vec();
        frame[9..17].copy_from_slice(&number.to_le_bytes());
        frame.extend_from_slice(b"\x09\0\0\0{\"rm\":\"/\"}");
        vec![frame]
    });
    let parts = run.level(1).unwrap();
    assert_eq!(stranger.said(), 1);
    let lost = parts.iter().filter_map(|part| part.lost.as_ref());
    let lost: Vec<String> = lost.map(ToString::to_string).collect();
    assert_eq!(lost.len(), 1, "{parts:?}");
    assert!(lost[0].starts_with("a message that is not understood"), "{lost:?}");
    drop(run);
    agents.iter().for_each(Agent::is_free);
}

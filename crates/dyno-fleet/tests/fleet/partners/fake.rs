//! A process that speaks the protocol, and deviates from it in one way. It is this test's own binary: the
//! harness prints to standard output, so what the fake says goes through another descriptor.

use dyno_fleet::{AgentLevelEnd, FromAgent, Hello, PROTOCOL, ToAgent, decode, encode};
use dyno_model::fleet::Beat;
use dyno_model::frame::Ending;
use dyno_net::Clock;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, exit};
use std::time::{Duration, Instant};

/// What a good agent has to send after a level.
pub(crate) const RECORDS: &[u8] = b"records of a level";

/// How long one that ends late takes: much longer than the plan says.
const LATE: Duration = Duration::from_millis(2_500);

const KIND: &str = "DYNO_TEST_FAKE_AGENT";

/// Starts a fake of this kind.
pub(crate) fn command(kind: &str) -> Command {
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec 3>&1 >/dev/null; exec \"$0\" --exact partners::fake::act --nocapture"]);
    command.arg(own).env(KIND, kind);
    command
}

/// Not a test: what a fake does when it is started as one.
#[test]
fn act() {
    if let Ok(kind) = std::env::var(KIND) {
        let mut out = File::options().write(true).open("/proc/self/fd/3").unwrap();
        exit(Fake { kind: &kind, clock: Clock::start(), started: None }.run(&mut out));
    }
}

struct Fake<'a> {
    kind: &'a str,
    clock: Clock,
    /// The level that it was told to start, and when.
    started: Option<(u32, Instant)>,
}

fn framed(out: &mut File, packet: &[u8]) {
    let length = u32::try_from(packet.len()).unwrap().to_le_bytes();
    // A coordinator that has given this up reads no more.
    let _ = out.write_all(&[&length, packet].concat());
}

fn say(out: &mut File, message: &FromAgent, bytes: &[u8]) {
    framed(out, &encode(message, bytes).unwrap());
}

/// A packet with a header that is not made from a message.
fn header(header: &[u8]) -> Vec<u8> {
    [&u32::try_from(header.len()).unwrap().to_le_bytes(), header].concat()
}

impl Fake<'_> {
    fn run(&mut self, out: &mut File) -> i32 {
        match self.kind {
            "garbage" => out.write_all(b"usage: agent [options]\n").unwrap(),
            "not-json" => framed(out, &header(b"hello")),
            // In a field that nobody knows.
            "deep" => {
                let deep = format!(r#"{{"ready":{{"more":{}"#, "[".repeat(200_000));
                framed(out, &header(deep.as_bytes()));
            }
            "oversized" => out.write_all(&((1_u32 << 20) + 1).to_le_bytes()).unwrap(),
            "header-cut" => framed(out, &[255, 0, 0, 0, b'{']),
            "exits" => return 0,
            "prints" => {
                eprintln!("first line\nsecond line");
                return 3;
            }
            _ => {}
        }
        let version = if self.kind == "version" { "9.9.9" } else { "1.0.0" }.to_owned();
        let hello = Hello {
            protocol: if self.kind == "protocol" { PROTOCOL - 1 } else { PROTOCOL },
            version,
            name: "fake".to_owned(),
            host: "here".to_owned(),
            process: std::process::id(),
            cpus: 1,
        };
        say(out, &FromAgent::Hello(hello), &[]);
        let mut input = std::io::stdin().lock();
        loop {
            let mut length = [0; 4];
            if input.read_exact(&mut length).is_err() {
                return 0;
            }
            let mut packet = vec![0; u32::from_le_bytes(length) as usize];
            input.read_exact(&mut packet).unwrap();
            let (order, _): (ToAgent, _) = decode(&packet).unwrap();
            if let Some(status) = self.obey(order, out) {
                return status;
            }
        }
    }

    fn obey(&mut self, order: ToAgent, out: &mut File) -> Option<i32> {
        let kind = self.kind;
        match order {
            ToAgent::Call { number, sent } => {
                self.beat(number, sent, out);
                let late =
                    self.started.filter(|(_, at)| kind == "ends-late" && at.elapsed() > LATE);
                if let Some((level, _)) = late {
                    self.started = None;
                    say(out, &FromAgent::Done(Box::new(self.done(level, Ending::Duration))), &[]);
                }
            }
            ToAgent::Setup(_) if kind != "never-settles" => say(out, &FromAgent::Settled, &[]),
            ToAgent::Prepare(prepare) if kind != "never-ready" => {
                say(out, &FromAgent::Ready { level: prepare.level }, &[]);
            }
            ToAgent::Start { level, .. } => match kind {
                "exits-at-start" => return Some(0),
                "refuses-at-start" => {
                    say(
                        out,
                        &FromAgent::Refused { why: dyno_model::Message::quoted("something broke") },
                        &[],
                    );
                }
                "endless-numbers" => {
                    let digits = "9".repeat(100_000);
                    framed(out, &header(format!(r#"{{"ready":{{"level":{digits}}}}}"#).as_bytes()));
                }
                // At once: the other agent's end would come before the next call.
                "huge-beats" => {
                    self.started = Some((level, Instant::now()));
                    self.beat(0, 0, out);
                }
                "ends-late" | "never-done-works" => self.started = Some((level, Instant::now())),
                "never-done" => {}
                _ => say(out, &FromAgent::Done(Box::new(self.done(level, Ending::Requests))), &[]),
            },
            ToAgent::Stop { level, .. }
                if !kind.starts_with("never") && !kind.starts_with("refuses") =>
            {
                say(out, &FromAgent::Done(Box::new(self.done(level, Ending::Interrupted))), &[]);
            }
            ToAgent::Pull { from } => {
                let piece = match kind {
                    "no-records" => Vec::new(),
                    "more-records" => vec![0; 1_000],
                    _ => RECORDS[from as usize..].to_vec(),
                };
                say(out, &FromAgent::Piece { from }, &piece);
            }
            ToAgent::Leave { .. } => return Some(0),
            _ => {}
        }
        None
    }

    fn beat(&self, number: u64, sent: u64, out: &mut File) {
        let now = self.clock.now();
        let (received, answered) = match self.kind {
            "huge-times" => (u64::MAX - number, u64::MAX - number / 2),
            _ => (now, now),
        };
        let (tokens, in_flight) = match self.kind {
            "huge-beats" => (u64::MAX, 0),
            // A response that is not streamed.
            "ends-late" => (1, 1),
            "never-done-works" => (1 + number, 0),
            _ => (1, 0),
        };
        let beat = (self.started.is_some() || self.kind != "huge-beats").then_some(Beat {
            tokens,
            in_flight,
            ..Beat::default()
        });
        say(out, &FromAgent::Beat { number, sent, received, answered, beat }, &[]);
    }

    fn done(&self, level: u32, ending: Ending) -> AgentLevelEnd {
        AgentLevelEnd {
            level,
            ending,
            start_error_ns: if self.kind == "huge-done" { i64::MIN } else { 0 },
            taken: 0,
            failed: 0,
            lost_target: None,
            trouble: None,
            told: serde_json::Value::Null,
            bytes: RECORDS.len() as u64,
        }
    }
}

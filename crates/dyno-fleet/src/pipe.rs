//! Agents as children of this process: packets over their standard input and output, each after its
//! length. Nothing listens anywhere; a child whose coordinator is gone reads the end of its input.

use crate::inbox::inbox;
use crate::message::{BadPacket, MAX_PACKET};
use crate::port::{AgentLine, Arrived, Hub, Sender};
use dyno_model::{Message, message};
use dyno_net::Clock;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Packets that wait for a child to read them. There are few, so one that does not is in trouble.
const WAITING: usize = 64;
/// How long a child may take to end by itself.
const TO_END: Duration = Duration::from_secs(2);
/// How much of what a child printed is kept.
const PRINTED: usize = 2 << 10;

/// The children. They end when this is dropped.
#[derive(Debug)]
pub struct Children(Vec<Arc<Mutex<Child>>>);

/// Starts children, and connects them.
pub fn spawn(
    count: usize,
    clock: Clock,
    command: impl Fn(usize) -> Command,
) -> io::Result<(Children, Hub)> {
    let (intake, inbox) = inbox(count);
    let (mut children, mut senders) = (Children(Vec::new()), Vec::new());
    for number in 0..count {
        let mut command = command(number);
        // A group of its own: Ctrl-C goes to the coordinator alone, which tells the others.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = streams else {
            return Err(io::Error::other(message!("a child without its pipes", "子进程没有管道")));
        };
        let child = Arc::new(Mutex::new(child));
        children.0.push(Arc::clone(&child));
        let printed = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&printed);
        thread::Builder::new().name("dyno-agent-err".into()).spawn(move || kept(errors, &keep))?;
        let intake = intake.clone();
        let report = move |arrived| intake.put(number, arrived);
        thread::Builder::new().name("dyno-agent-in".into()).spawn(move || {
            receive(output, clock, report, || ended(&child, &printed));
        })?;
        senders.push(sending(input)?);
    }
    Ok((children, Hub::new(senders, inbox)))
}

/// The line of a child to its coordinator, over its standard input and output.
pub fn stdio(clock: Clock) -> io::Result<AgentLine> {
    let (arrivals, inbox) = mpsc::channel();
    let report = move |arrived| arrivals.send(arrived).is_ok();
    thread::Builder::new().name("dyno-coordinator".into()).spawn(move || {
        receive(io::stdin(), clock, report, || {
            message!("the coordinator has ended", "协调端已退出")
        });
    })?;
    Ok(AgentLine::new(sending(io::stdout())?, inbox))
}

/// Sends packets on a thread of its own, so that a reader that hangs holds up nobody.
fn sending(mut output: impl Write + Send + 'static) -> io::Result<Sender> {
    let (packets, waiting) = mpsc::sync_channel::<Vec<u8>>(WAITING);
    thread::Builder::new().name("dyno-agent-out".into()).spawn(move || {
        for packet in waiting {
            if write(&mut output, &packet).is_err() {
                break;
            }
        }
    })?;
    Ok(Box::new(move |packet| match packets.try_send(packet) {
        Ok(()) => Ok(()),
        Err(TrySendError::Full(_)) => {
            Err(message!("it does not read what it is sent", "它不读取发给它的消息"))
        }
        Err(TrySendError::Disconnected(_)) => Err(message!("its pipe is closed", "它的管道已关闭")),
    }))
}

fn write(output: &mut impl Write, packet: &[u8]) -> io::Result<()> {
    let length = u32::try_from(packet.len()).map_err(io::Error::other)?;
    let mut whole = Vec::with_capacity(4 + packet.len());
    whole.extend_from_slice(&length.to_le_bytes());
    whole.extend_from_slice(packet);
    output.write_all(&whole)?;
    output.flush()
}

/// Passes packets on until there are no more, and then why.
fn receive(
    input: impl Read,
    clock: Clock,
    report: impl Fn(Arrived) -> bool,
    ended: impl FnOnce() -> Message,
) {
    let mut input = BufReader::new(input);
    let why = loop {
        match read(&mut input) {
            Ok(Some(packet)) => {
                let arrived = Arrived { at: clock.now(), packet: Ok(packet) };
                if !report(arrived) {
                    return;
                }
            }
            Ok(None) => break ended(),
            Err(why) => break why,
        }
    };
    report(Arrived { at: clock.now(), packet: Err(why) });
}

/// The next packet; `None` at the end.
fn read(input: &mut impl Read) -> Result<Option<Vec<u8>>, Message> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(Message::of(error)),
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_PACKET {
        return Err(Message::of(BadPacket::TooLarge(length)));
    }
    let mut packet = vec![0; length];
    match input.read_exact(&mut packet) {
        Ok(()) => Ok(Some(packet)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(Message::of(error)),
    }
}

/// Keeps the end of what a child prints, for the message when it dies.
fn kept(mut errors: impl Read, keep: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        let mut keep = lock(keep);
        keep.extend_from_slice(&buffer[..count]);
        let surplus = keep.len().saturating_sub(PRINTED);
        keep.drain(..surplus);
    }
}

/// How a child ended, and what it printed last.
fn ended(child: &Mutex<Child>, printed: &Mutex<Vec<u8>>) -> Message {
    let how = match waited(child, TO_END) {
        None => message!("its output was closed", "它的输出已关闭"),
        Some(status) => Message::of(status),
    };
    // What it printed arrives on another thread.
    thread::sleep(Duration::from_millis(20));
    let printed = lock(printed);
    let printed = String::from_utf8_lossy(&printed);
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.last() {
        Some(_) => {
            message!("its process ended ({how}): {}", "其进程已结束（{how}）：{}", lines.join("; "))
        }
        None => message!("its process ended ({how})", "其进程已结束（{how}）"),
    }
}

fn waited(child: &Mutex<Child>, within: Duration) -> Option<std::process::ExitStatus> {
    let until = Instant::now() + within;
    loop {
        match lock(child).try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => {}
            _ => return None,
        }
        thread::sleep(Duration::from_millis(5));
    }
}

impl Children {
    /// Their process ids.
    pub fn processes(&self) -> Vec<u32> {
        self.0.iter().map(|child| lock(child).id()).collect()
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        let until = Instant::now() + TO_END;
        for child in &self.0 {
            let left = until.saturating_duration_since(Instant::now());
            if waited(child, left).is_none() {
                let _ = lock(child).kill();
                let _ = lock(child).wait();
            }
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

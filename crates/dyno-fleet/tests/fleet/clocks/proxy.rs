//! A network between two sockets: a proxy that keeps packets back for a while, each direction by its own
//! rule, and keeps their order as TCP does.

use crate::clocks::world::Rng;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long packets of one direction take, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub(crate) base: f64,
    /// The mean of an exponential delay in addition.
    pub(crate) jitter: f64,
    /// How many are lost and sent again, and how long that takes.
    pub(crate) lost: f64,
    pub(crate) again: f64,
}

impl Way {
    fn delay(&self, rng: &mut Rng) -> Duration {
        let again = if rng.chance(self.lost) { self.again } else { 0.0 };
        let ms = self.base + rng.exponential(self.jitter) + again;
        Duration::from_secs_f64(ms / 1e3)
    }
}

/// Two ends of a connection that goes through the network.
pub(crate) fn connection(there: Way, back: Way, seed: u64) -> io::Result<(TcpStream, TcpStream)> {
    let (near, far_of_near) = pair()?;
    let (near_of_far, far) = pair()?;
    carry(far_of_near.try_clone()?, near_of_far.try_clone()?, there, seed);
    carry(near_of_far, far_of_near, back, seed.wrapping_add(1));
    Ok((near, far))
}

fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let ours = TcpStream::connect(listener.local_addr()?)?;
    let (theirs, _) = listener.accept()?;
    ours.set_nodelay(true)?;
    theirs.set_nodelay(true)?;
    Ok((ours, theirs))
}

/// Carries packets in one direction until one of the ends is closed.
fn carry(mut from: TcpStream, mut to: TcpStream, way: Way, seed: u64) {
    let (packets, waiting) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut rng = Rng::new(seed);
        while let Ok(packet) = read(&mut from) {
            if packets.send((Instant::now() + way.delay(&mut rng), packet)).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, packet) in waiting {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if write(&mut to, &packet).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

/// The next packet, which comes after its length.
pub(crate) fn read(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let mut packet = vec![0; u32::from_le_bytes(length) as usize];
    input.read_exact(&mut packet)?;
    Ok(packet)
}

pub(crate) fn write(output: &mut impl Write, packet: &[u8]) -> io::Result<()> {
    let length = u32::try_from(packet.len()).map_err(io::Error::other)?;
    output.write_all(&[&length.to_le_bytes(), packet].concat())
}

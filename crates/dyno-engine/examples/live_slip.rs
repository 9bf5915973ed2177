//! How late the live engine writes: many streams at the same step, the server's thread on one
//! core and the client's on the other.
//!
//! ```sh
//! cargo run --release -p dyno-engine --example live_slip              # 512 streams, 20 ms, 10 s
//! cargo run --release -p dyno-engine --example live_slip -- 256 10 5  # streams, ms a step, s
//! ```

use dyno_engine::core::{Core, Cost, Policy, Scheduler};
use dyno_engine::{Server, ServerOptions, SlipReport, TwinBrain};
use dyno_model::frame::EngineSlip;
use dyno_net::{Clock, Interest, Poller, thread_cpu_ns};
use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const SERVER_CORE: &str = "0";
const CLIENT_CORE: &str = "1";
const SETTLE: u64 = 1_000_000_000;

fn main() -> Result<()> {
    let given: Vec<u64> =
        std::env::args().skip(1).map(|n| n.parse()).collect::<std::result::Result<_, _>>()?;
    let of = |i: usize, otherwise: u64| given.get(i).copied().unwrap_or(otherwise);
    let (streams, step_ms, seconds) = (of(0, 512), of(1, 20), of(2, 10));
    dyno_net::raise_open_files();
    let scheduler = Scheduler {
        policy: Policy::Chunked,
        max_seqs: streams as u32,
        token_budget: 16 * streams as u32,
        block: 16,
        kv_blocks: 1 << 24,
        prefix_cache: false,
        context: None,
        steps_ahead: 0,
    };
    let cost = Cost { base: step_ms as f64 / 1e3, ..Cost::default() };
    let brain = TwinBrain::new("bench", Core::new(scheduler, cost, 1)?, 1 << 20, 128).into();
    let server = Server::bind(ServerOptions { brain, ..ServerOptions::default() })?;
    let (addr, stop) = (server.addr(), server.stop_handle());
    let engine = std::thread::spawn(move || -> Result<u64> {
        pin(SERVER_CORE)?;
        server.run()?;
        Ok(thread_cpu_ns())
    });
    pin(CLIENT_CORE)?;
    let report = measure(addr, streams, seconds * 1_000_000_000)?;
    stop.stop();
    let cpu = engine.join().map_err(|_| "the server died")??;

    println!(
        "{streams} streams, a step every {step_ms} ms, for {seconds} s; server and client on a core each"
    );
    println!("lateness          p50        p99        max        bar for p99");
    let line = |name: &str, slip: Option<EngineSlip>, bar: &str| match slip {
        Some(EngineSlip { count, p50_ns, p99_ns, max_ns, .. }) => {
            let [p50, p99, max] = [p50_ns, p99_ns, max_ns].map(|ns| ns as f64 / 1e6);
            println!("{name}  {p50:7.3} ms {p99:7.3} ms {max:7.3} ms   {bar}   ({count})");
        }
        None => println!("{name}  none"),
    };
    line("first of a step", report.first, "1 ms");
    line("last of a step ", report.last, "8 ms");
    line("all            ", Some(report.all), "    ");
    let steps = report.last.map_or(0, |last| last.count) + SETTLE / (step_ms * 1_000_000);
    println!("CPU of the server: {:.2} ms a step", cpu as f64 / 1e6 / steps as f64);
    Ok(())
}

/// Puts the calling thread on a core.
fn pin(core: &str) -> Result<()> {
    let own = std::fs::read_link("/proc/thread-self")?;
    let thread = own.file_name().ok_or("no thread id")?;
    let status = Command::new("taskset").args(["-pc", core]).arg(thread).output()?.status;
    if status.success() { Ok(()) } else { Err("taskset (util-linux) is needed".into()) }
}

/// Opens the streams, lets them settle, and asks after this time how late the engine was.
fn measure(addr: SocketAddr, streams: u64, duration: u64) -> Result<SlipReport> {
    let body = "{\"messages\":[{\"role\":\"user\",\"content\":\"one two three four five\"}],\
                \"max_tokens\":1000000,\"ignore_eos\":true,\"stream\":true}";
    let length = body.len();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let clock = Clock::start();
    let mut poller = Poller::new()?;
    let mut sockets = Vec::new();
    for token in 0..streams {
        let mut socket = TcpStream::connect(addr)?;
        socket.write_all(request.as_bytes())?;
        socket.set_nonblocking(true)?;
        poller.add(&socket, token, Interest::Read)?;
        sockets.push(socket);
    }
    read_until(&mut poller, &clock, &mut sockets, clock.now() + SETTLE)?;
    slip(addr)?;
    read_until(&mut poller, &clock, &mut sockets, clock.now() + duration)?;
    slip(addr)
}

fn read_until(
    poller: &mut Poller,
    clock: &Clock,
    sockets: &mut [TcpStream],
    end: u64,
) -> Result<()> {
    let (mut ready, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    while clock.now() < end {
        poller.wait(clock.now(), Some(end), &mut ready)?;
        for event in ready.drain(..) {
            match sockets[event.token as usize].read(&mut buffer) {
                Ok(0) => return Err("a stream ended".into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

/// How late the engine was since this was last asked.
fn slip(addr: SocketAddr) -> Result<SlipReport> {
    let mut socket = TcpStream::connect(addr)?;
    socket.write_all(b"GET /dyno/slip?reset=1 HTTP/1.1\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").ok_or("no body")?;
    Ok(serde_json::from_str(body)?)
}

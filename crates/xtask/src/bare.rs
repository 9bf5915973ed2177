//! The bare receiver: epoll and recv, a timestamp after each read, and no parsing at all. Its
//! measurements of a server's schedule are the best that any such client could get.

use anyhow::{Context, Result};
use dyno_net::{Clock, Interest, Poller};
use std::io::{Read, Write};
use std::net::TcpStream;

/// What it receives.
pub(crate) struct Job {
    pub(crate) address: String,
    pub(crate) streams: usize,
    pub(crate) requests: usize,
    pub(crate) tokens: u32,
    /// Nanoseconds between the first requests.
    pub(crate) gap: u64,
}

struct Stream {
    socket: TcpStream,
    sent: u64,
    reads: u32,
    last: u64,
}

/// Runs as a separate process: `bare ADDRESS STREAMS REQUESTS TOKENS GAP`; prints metrics as JSON.
pub(crate) fn main(arguments: &[String]) -> Result<()> {
    let [address, streams, requests, tokens, gap] = arguments else {
        anyhow::bail!("bare ADDRESS STREAMS REQUESTS TOKENS GAP")
    };
    let job = Job {
        address: address.clone(),
        streams: streams.parse()?,
        requests: requests.parse()?,
        tokens: tokens.parse()?,
        gap: gap.parse()?,
    };
    println!("{}", receive(&job)?);
    Ok(())
}

/// The request that `dyno bench` would send.
fn request(tokens: u32) -> Vec<u8> {
    let words = vec!["word"; 16].join(" ");
    let body = serde_json::json!({
        "model": "dyno-scripted", "stream": true, "max_tokens": tokens, "ignore_eos": true,
        "stream_options": {"include_usage": true, "continuous_usage_stats": true},
        "messages": [{"role": "user", "content": words}],
    })
    .to_string();
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: bare\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn receive(job: &Job) -> Result<serde_json::Value> {
    let clock = Clock::start();
    let mut poller = Poller::new()?;
    let request = request(job.tokens);
    let mut streams = Vec::new();
    for token in 0..job.streams {
        let socket = TcpStream::connect(&job.address).context("the engine does not answer")?;
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        poller.add(&socket, token as u64, Interest::Read)?;
        streams.push(Stream { socket, sent: 0, reads: 0, last: 0 });
    }
    for stream in &mut streams {
        stream.socket.write_all(&request)?;
        stream.sent = clock.now();
        while clock.now() < stream.sent + job.gap {
            std::hint::spin_loop();
        }
    }
    let mut left_to_send = job.requests.saturating_sub(job.streams);
    let mut left_to_read = job.requests;
    let (mut ttft, mut itl) = (Vec::new(), Vec::new());
    let (mut reads, mut bytes) = (0_u64, 0_u64);
    let mut buffer = vec![0; 64 << 10];
    let mut ready = Vec::new();
    while left_to_read > 0 {
        ready.clear();
        poller.wait(clock.now(), None, &mut ready)?;
        for event in &ready {
            let stream = &mut streams[event.token as usize];
            let length = stream.socket.read(&mut buffer)?;
            let at = clock.now();
            anyhow::ensure!(length > 0, "the engine closed a connection");
            reads += 1;
            bytes += length as u64;
            stream.reads += 1;
            match stream.reads {
                1 => {}
                2 => ttft.push(at - stream.sent),
                _ => itl.push(at - stream.last),
            }
            stream.last = at;
            if buffer[..length].ends_with(b"\r\n0\r\n\r\n") {
                left_to_read -= 1;
                stream.reads = 0;
                if left_to_send > 0 {
                    left_to_send -= 1;
                    stream.socket.write_all(&request)?;
                    stream.sent = clock.now();
                }
            }
        }
    }
    Ok(serde_json::json!({
        "ttft_mean": mean(&ttft), "ttft_p99": quantile(&mut ttft, 0.99),
        "itl_p99": quantile(&mut itl, 0.99), "reads": reads, "bytes": bytes,
    }))
}

fn mean(samples: &[u64]) -> f64 {
    samples.iter().sum::<u64>() as f64 / samples.len().max(1) as f64 / 1e6
}

fn quantile(samples: &mut [u64], q: f64) -> f64 {
    samples.sort_unstable();
    let index = (q * samples.len().saturating_sub(1) as f64).round() as usize;
    samples.get(index).copied().unwrap_or(0) as f64 / 1e6
}

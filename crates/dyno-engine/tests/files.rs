//! Out of file descriptors: the server waits for one instead of spinning or dying. In a
//! separate test binary, because the limit is per process.
#![allow(clippy::unwrap_used)]

use dyno_engine::{Server, ServerOptions};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn connections_beyond_the_limit_wait() {
    let server = Server::bind(ServerOptions::default()).unwrap();
    let mut clients: Vec<_> = (0..20)
        .map(|_| {
            let mut client = TcpStream::connect(server.addr()).unwrap();
            client.write_all(b"GET /health HTTP/1.1\r\n\r\n").unwrap();
            client
        })
        .collect();
    // All wait in the queue; the server may take ten of them.
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64 - 1;
    let limit = Rlimit { current: Some(open + 10), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let running = server.spawn().unwrap();

    let mut last = clients.pop().unwrap();
    last.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let before = cpu();
    let waited = last.read(&mut [0; 1024]).unwrap_err();
    assert_eq!(waited.kind(), ErrorKind::WouldBlock, "there is no descriptor for it yet");
    assert!(cpu() - before < Duration::from_millis(150), "{:?}", cpu() - before);

    clients.push(last);
    for mut client in clients {
        client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let n = client.read(&mut [0; 1024]).unwrap();
        assert!(n > 0);
    }
    running.stop().unwrap();
}

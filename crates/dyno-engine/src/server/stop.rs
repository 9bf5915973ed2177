//! Stopping a server that waits for the network.

use super::{EngineError, Server};
use dyno_model::message;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Stops a server from any thread or signal handler.
#[derive(Debug, Clone)]
pub struct StopHandle(Arc<UnixStream>);

impl StopHandle {
    pub(super) fn pair() -> Result<(Self, UnixStream), EngineError> {
        let made = UnixStream::pair().and_then(|(ours, theirs)| {
            ours.set_nonblocking(true)?;
            theirs.set_nonblocking(true)?;
            Ok((ours, theirs))
        });
        let (ours, theirs) = made.map_err(|source| {
            let doing = message!("make its stop signal", "创建停止信号");
            EngineError::Io { doing, source }
        })?;
        Ok((Self(Arc::new(ours)), theirs))
    }

    /// Asks the server to stop soon.
    pub fn stop(&self) {
        // Fails only if the server is gone, or if earlier stop signals fill the buffer.
        let _ = (&*self.0).write(&[1]);
    }

    /// A socket into which one byte stops the server: what a signal handler can write.
    pub fn signal_end(&self) -> std::io::Result<UnixStream> {
        self.0.try_clone()
    }
}

/// A server on its own thread; dropping it stops it and waits for its end.
#[derive(Debug)]
pub struct Running {
    addr: SocketAddr,
    stop: StopHandle,
    thread: Option<JoinHandle<Result<(), EngineError>>>,
}

impl Running {
    pub(super) fn start(server: Server) -> Result<Self, EngineError> {
        let (addr, stop) = (server.addr(), server.stop_handle());
        let thread = std::thread::Builder::new()
            .name("dyno-engine".to_owned())
            .spawn(move || server.run())
            .map_err(|source| {
                let doing = message!("start its thread", "启动线程");
                EngineError::Io { doing, source }
            })?;
        Ok(Self { addr, stop, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Stops it and returns how it ended.
    pub fn stop(mut self) -> Result<(), EngineError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), EngineError> {
        self.stop.stop();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(EngineError::Panicked),
            None => Ok(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

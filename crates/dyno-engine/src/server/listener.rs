//! The listening socket: a long queue, and an error that says what to do when the port is taken.

use super::EngineError;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};
use std::net::{SocketAddr, TcpStream};

const BACKLOG: i32 = 4096;

/// The result of an attempt to accept.
pub(super) enum Accepted {
    /// A connection.
    One(TcpStream),
    /// No client is waiting.
    None,
    /// A client is waiting, but the process is out of file descriptors.
    OutOfFiles,
}

/// A socket that listens on `addr`, and the address it really has.
pub(super) fn listen(addr: SocketAddr) -> Result<(OwnedFd, SocketAddr), EngineError> {
    bound(addr).map_err(|errno| match errno {
        Errno::ADDRINUSE => EngineError::PortInUse(addr),
        errno => EngineError::Bind { addr, source: errno.into() },
    })
}

fn bound(addr: SocketAddr) -> Result<(OwnedFd, SocketAddr), Errno> {
    let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    net::bind(&socket, &addr)?;
    net::listen(&socket, BACKLOG)?;
    let addr = SocketAddr::try_from(net::getsockname(&socket)?)?;
    Ok((socket, addr))
}

/// Takes the next waiting connection.
pub(super) fn accept(listener: &OwnedFd) -> std::io::Result<Accepted> {
    loop {
        match net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(socket) => {
                let socket = TcpStream::from(socket);
                // Fails only on a dead connection, which its first read will show.
                let _ = socket.set_nodelay(true);
                return Ok(Accepted::One(socket));
            }
            Err(Errno::AGAIN) => return Ok(Accepted::None),
            Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                return Ok(Accepted::OutOfFiles);
            }
            // The peer gave up while it waited, or a signal came: try the next one.
            Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO | Errno::PERM) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

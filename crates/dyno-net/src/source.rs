//! The local address of a connection that is about to be opened.

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::IpBindAddressNoPort;
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

/// Why an address cannot be the source of connections.
#[derive(Debug)]
pub enum SourceFault {
    /// It is not an address of this machine.
    NotLocal,
    /// There is no route from it to the target.
    NoRoute(io::Error),
    /// The system refused for another reason.
    System(io::Error),
}

/// Binds a socket to a local address. Its port is chosen when it connects, so that the same port serves
/// connections to several targets.
pub fn bind_source(socket: &impl AsFd, from: IpAddr) -> io::Result<()> {
    // Where it is not supported, the port is chosen now: fewer are available, but it works.
    let _ = setsockopt(socket, IpBindAddressNoPort, &true);
    Ok(rustix::net::bind(socket, &SocketAddr::new(from, 0))?)
}

/// Whether connections to a target can be opened from an address, as far as this machine knows.
/// Nothing is sent: a datagram socket that connects only looks up the route.
pub fn check_source(from: IpAddr, to: Option<SocketAddr>) -> Result<(), SourceFault> {
    let socket = UdpSocket::bind((from, 0)).map_err(|error| {
        match error.raw_os_error() == Some(Errno::ADDRNOTAVAIL.raw_os_error()) {
            true => SourceFault::NotLocal,
            false => SourceFault::System(error),
        }
    })?;
    to.map_or(Ok(()), |to| socket.connect(to).map_err(SourceFault::NoRoute))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketType, connect, socket};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    fn from(address: &str, to: SocketAddr) -> TcpStream {
        let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket(family, SocketType::STREAM, None).unwrap();
        bind_source(&socket, address.parse().unwrap()).unwrap();
        connect(&socket, &to).unwrap();
        TcpStream::from(socket)
    }

    #[test]
    fn a_connection_comes_from_the_address_that_was_chosen() {
        for (host, source) in [("127.0.0.1", "127.0.0.9"), ("::1", "::1")] {
            let listener = TcpListener::bind((host, 0)).unwrap();
            let stream = from(source, listener.local_addr().unwrap());
            assert_eq!(stream.local_addr().unwrap().ip().to_string(), source);
            let (_, peer) = listener.accept().unwrap();
            assert_eq!(peer, stream.local_addr().unwrap());
        }
    }

    #[test]
    fn the_port_is_chosen_when_the_target_is_known() {
        for address in ["127.0.0.9", "::1"] {
            let family = if address == "::1" { AddressFamily::INET6 } else { AddressFamily::INET };
            let socket = socket(family, SocketType::STREAM, None).unwrap();
            bind_source(&socket, address.parse().unwrap()).unwrap();
            let bound = SocketAddr::try_from(rustix::net::getsockname(&socket).unwrap()).unwrap();
            assert_eq!((bound.ip().to_string().as_str(), bound.port()), (address, 0));
        }
    }

    #[test]
    fn an_address_is_checked_before_anything_is_sent() {
        let local = |text: &str| text.parse::<IpAddr>().unwrap();
        check_source(local("127.0.0.9"), None).unwrap();
        // TEST-NET-3: no machine has it.
        let elsewhere = local("203.0.113.1");
        assert!(matches!(check_source(elsewhere, None), Err(SourceFault::NotLocal)));
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        check_source(local("127.0.0.9"), Some(here)).unwrap();
        let other_family = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, 9));
        let fault = check_source(local("127.0.0.9"), Some(other_family));
        assert!(matches!(fault, Err(SourceFault::NoRoute(_))), "{fault:?}");
        // A loopback address leads nowhere else.
        let outside = SocketAddr::from((Ipv4Addr::new(203, 0, 113, 1), 9));
        let fault = check_source(local("127.0.0.9"), Some(outside));
        assert!(matches!(fault, Err(SourceFault::NoRoute(_))), "{fault:?}");
    }
}

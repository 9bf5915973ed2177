//! The addresses of a target: looked up by its name and tried once, before the first request. All
//! addresses of one family that accept a connection share the requests.

use super::source::{Sources, other_family};
use super::trial::try_all;
use crate::endpoint::Endpoint;
use dyno_drive::StopSignal;
use dyno_model::environment::Address;
use dyno_model::message::list;
use dyno_model::{Localized, Message, Nanos, message};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

/// The most addresses of a target that are used.
const MOST: usize = 64;

/// Looks up the addresses of a host and a port.
type Lookup = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// How names are resolved: by the system, unless a caller has its own way.
#[derive(Clone)]
pub struct Resolver(Arc<Lookup>);

impl Resolver {
    /// Resolves names with a function.
    pub fn new(
        lookup: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(lookup))
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new(|host, port| {
            let mut found: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
            if host.eq_ignore_ascii_case("localhost") {
                // Many hosts files, above all those of containers, name IPv4 only.
                found.push((Ipv6Addr::LOCALHOST, port).into());
            }
            Ok(found)
        })
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver(…)")
    }
}

/// Why there is no address to send requests to.
#[derive(Debug, Localized, PartialEq, Eq)]
pub enum NoAddress {
    /// The name has no address.
    #[message(
        "the host `{0}` cannot be resolved ({1}); check its spelling",
        "无法解析主机 `{0}`（{1}）；请检查拼写"
    )]
    Unknown(String, Message),
    /// It has several, and none of them accepts a connection.
    #[message("{}", "{}", refused(_0))]
    Refused(Vec<UnusedAddress>),
    /// No source address can be used for it.
    #[message("--source-address: {0}", "--source-address：{0}")]
    Source(#[from] Message),
    /// The run was asked to stop first.
    #[message("interrupted", "已中断")]
    Interrupted,
}

/// An address that requests are sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Used {
    address: SocketAddr,
    /// What records call it; absent where there is only one.
    number: Option<u8>,
}

/// An address that no requests are sent to, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedAddress {
    /// The address.
    pub address: SocketAddr,
    /// Why it is not used.
    pub why: Message,
}

/// Why no address can be used: the reason once if it is the same for all.
fn refused(unused: &[UnusedAddress]) -> Message {
    match unused {
        [UnusedAddress { why, .. }, rest @ ..] if rest.iter().all(|other| other.why == *why) => {
            let all = list(unused.iter().map(|unused| Message::quoted(unused.address)));
            message!("{why} (addresses tried: {all})", "{why}（已尝试的地址：{all}）")
        }
        _ => {
            let count = unused.len();
            let each = |UnusedAddress { address, why }: &UnusedAddress| {
                message!("{address} ({why})", "{address}（{why}）")
            };
            let all = list(unused.iter().map(each));
            message!(
                "none of its {count} addresses accepts a connection: {all}",
                "它的 {count} 个地址均不接受连接：{all}"
            )
        }
    }
}

/// The addresses of a target. There is at least one that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    first: Used,
    others: Vec<Used>,
    unused: Vec<UnusedAddress>,
}

impl From<SocketAddr> for Addresses {
    fn from(address: SocketAddr) -> Self {
        let first = Used { address, number: None };
        Self { first, others: Vec::new(), unused: Vec::new() }
    }
}

impl Addresses {
    /// Looks up the addresses of an endpoint, of the families of the sources. If there are several, tries to connect to each: first
    /// to all of IPv4, because inference servers mostly listen there only, and if none accepts within
    /// `within`, to those of IPv6.
    pub fn find(
        endpoint: &Endpoint,
        resolver: &Resolver,
        sources: &Sources,
        within: Nanos,
        stop: &StopSignal,
    ) -> Result<Self, NoAddress> {
        let unknown = |why: Message| NoAddress::Unknown(endpoint.host.clone(), why);
        let found = (resolver.0)(&endpoint.host, endpoint.port);
        let mut all = found.map_err(|error| unknown(Message::of(error)))?;
        // A name server gives them in a different order each time; two runs should do the same.
        all.sort();
        all.dedup();
        if let Some(first) = all.first().copied() {
            all.retain(|address| sources.fit(address));
            if all.is_empty() {
                return Err(other_family(&endpoint.host, &first).into());
            }
        }
        let (four, six): (Vec<_>, Vec<_>) = all.into_iter().partition(SocketAddr::is_ipv4);
        match [four.as_slice(), six.as_slice()].concat().as_slice() {
            [] => return Err(unknown(message!("no address", "没有地址"))),
            [only] => return Ok((*only).into()),
            _ => {}
        }
        let mut unused = Vec::new();
        for family in [four, six] {
            let (few, more) = family.split_at(family.len().min(MOST));
            let why = || message!("only {MOST} addresses are used", "只使用 {MOST} 个地址");
            unused
                .extend(more.iter().map(|address| UnusedAddress { address: *address, why: why() }));
            let tried = try_all(few, within, stop);
            let mut used = Vec::new();
            for (address, result) in tried.ok_or(NoAddress::Interrupted)? {
                match result {
                    Ok(()) => used.push(Used { address, number: None }),
                    Err(why) => unused.push(UnusedAddress { address, why }),
                }
            }
            if let [first, others @ ..] = used.as_slice() {
                return Ok(Self { first: *first, others: others.to_vec(), unused });
            }
        }
        Err(NoAddress::Refused(unused))
    }

    /// Numbers them as in the list of a run directory, to which those that are missing are added.
    pub fn number(&mut self, listed: &mut Vec<Address>) {
        let mut places = Vec::new();
        for used in self.used() {
            let name = used.address.to_string();
            let place = listed.iter().position(|listed| listed.address == name);
            let place = place.unwrap_or_else(|| {
                listed.push(Address { address: name, unused: None });
                listed.len() - 1
            });
            listed[place].unused = None;
            places.push(place);
        }
        for unused in &self.unused {
            let name = unused.address.to_string();
            if listed.iter().all(|listed| listed.address != name) {
                listed.push(Address { address: name, unused: Some(unused.why.to_string()) });
            }
        }
        let several = listed.iter().filter(|listed| listed.unused.is_none()).count() > 1;
        let all = std::iter::once(&mut self.first).chain(&mut self.others);
        for (used, place) in all.zip(places) {
            used.number = u8::try_from(place).ok().filter(|_| several);
        }
    }

    fn used(&self) -> impl Iterator<Item = &Used> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// How many are used.
    pub(crate) fn count(&self) -> usize {
        1 + self.others.len()
    }

    fn nth(&self, index: usize) -> &Used {
        index.checked_sub(1).and_then(|index| self.others.get(index)).unwrap_or(&self.first)
    }

    /// The one at an index; the first where there are fewer.
    pub(crate) fn get(&self, index: usize) -> SocketAddr {
        self.nth(index).address
    }

    /// What records call the one at an index.
    pub(crate) fn number_of(&self, index: usize) -> Option<u8> {
        self.nth(index).number
    }
}

/// Whether a host is a name, not an address.
pub fn is_name(endpoint: &Endpoint) -> bool {
    endpoint.host.parse::<IpAddr>().is_err()
}

//! Local addresses that connections are opened from, each in turn. One address has some 28,000 ports to
//! a server; several have as many each.

use super::address::Addresses;
use dyno_model::{Message, message};
use dyno_net::{SourceFault, check_source};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// More would not help: a process has no file descriptors for so many connections.
const MOST: usize = 256;

/// Local addresses, without repetition; none: the system chooses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources(Vec<IpAddr>);

impl Sources {
    /// Reads addresses and ranges of them, separated by commas.
    pub fn parse(text: &str) -> Result<Self, Message> {
        let mut all = Vec::new();
        for part in text.split(',').map(str::trim) {
            let part = match part.split_once('-') {
                None => vec![address(part)?],
                Some((first, last)) => range(part, address(first.trim())?, address(last.trim())?)?,
            };
            all.extend(part);
        }
        let many = |source: &IpAddr| {
            source.is_unspecified() || source.is_multicast() || *source == Ipv4Addr::BROADCAST
        };
        if let Some(source) = all.iter().copied().find(many) {
            return Err(message!(
                "`{source}` is not the address of one machine; `ip addr` shows those of this one",
                "`{source}` 不是单台机器的地址；`ip addr` 可列出本机的地址"
            ));
        }
        let sources: Self = all.into_iter().map(|source| Self(vec![source])).collect();
        if sources.count() > MOST {
            Err(message!(
                "these are more than {MOST} source addresses; each is enough for some 28,000 connections",
                "源地址超过 {MOST} 个；每个地址约可承载 28,000 个连接"
            ))
        } else {
            Ok(sources)
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The addresses of each of several load generators on this machine: a part of them, or all where
    /// there are fewer addresses than load generators.
    pub fn shared_by(&self, among: usize) -> Vec<Vec<String>> {
        let among = among.max(1);
        let few = self.0.len() < among;
        let of = |one: usize| {
            let own = self.0.iter().enumerate().filter(move |(at, _)| few || at % among == one);
            own.map(|(_, address)| address.to_string()).collect()
        };
        (0..among).map(of).collect()
    }

    /// Whether a connection to an address can have one of them: any can if there are none.
    pub(super) fn fit(&self, to: &SocketAddr) -> bool {
        self.0.is_empty() || self.0.iter().any(|source| source.is_ipv4() == to.is_ipv4())
    }

    /// Whether this machine has all of them.
    pub fn are_local(&self) -> Result<(), Message> {
        self.0.iter().try_for_each(|from| check(*from, None))
    }

    /// Those of the family of a target, all of which must lead to it. Every address that was named
    /// must be one of this machine.
    pub fn leading_to(&self, target: &Addresses) -> Result<Self, Message> {
        self.are_local()?;
        // All addresses of a target that are used are of the same family.
        let first = target.get(0);
        let of_family: Vec<IpAddr> =
            self.0.iter().copied().filter(|from| from.is_ipv4() == first.is_ipv4()).collect();
        if of_family.is_empty() && !self.0.is_empty() {
            return Err(other_family(&first.to_string(), &first));
        }
        for from in &of_family {
            (0..target.count()).try_for_each(|index| check(*from, Some(target.get(index))))?;
        }
        Ok(Self(of_family))
    }

    /// The one at an index; absent: the system chooses.
    pub(super) fn get(&self, index: usize) -> Option<IpAddr> {
        self.0.get(index).copied()
    }
}

impl FromIterator<Sources> for Sources {
    fn from_iter<T: IntoIterator<Item = Sources>>(several: T) -> Self {
        let mut sources = Self::default();
        for source in several.into_iter().flat_map(|sources| sources.0) {
            if !sources.0.contains(&source) {
                sources.0.push(source);
            }
        }
        sources
    }
}

fn check(from: IpAddr, to: Option<SocketAddr>) -> Result<(), Message> {
    check_source(from, to).map_err(|fault| match (fault, to) {
        (SourceFault::NotLocal, _) => message!(
            "{from} is not an address of this machine; `ip addr` shows those that it has",
            "{from} 不是本机的地址；`ip addr` 可列出本机的地址",
        ),
        (SourceFault::NoRoute(why), Some(to)) => {
            message!(
                "{to} cannot be reached from {from}: {why}; name addresses of the network that leads there",
                "从 {from} 无法到达 {to}：{why}；请使用通往该网络的地址",
                why = Message::of(why),
            )
        }
        (SourceFault::System(why) | SourceFault::NoRoute(why), _) => {
            message!(
                "the address {from} cannot be used: {why}",
                "地址 {from} 无法使用：{why}",
                why = Message::of(why),
            )
        }
    })
}

/// No source address is of the family of an address of a target.
pub(super) fn other_family(to: &str, address: &SocketAddr) -> Message {
    message!(
        "the target is {to}, and none of the source addresses is {family}",
        "目标为 {to}，但没有一个源地址是 {family} 地址",
        family = if address.is_ipv4() { "IPv4" } else { "IPv6" }
    )
}

fn address(text: &str) -> Result<IpAddr, Message> {
    text.parse().map_err(|_| message!(
        "`{text}` is not an IP address; write addresses of this machine, such as 10.0.0.5,10.0.0.6 \
         or 10.0.0.5-10.0.0.9, which `ip addr` shows",
        "`{text}` 不是 IP 地址；请写本机的地址（`ip addr` 可列出），例如 10.0.0.5,10.0.0.6 或 \
         10.0.0.5-10.0.0.9",
    ))
}

/// The addresses from the first to the last; one too many of a range that is too long.
fn range(text: &str, first: IpAddr, last: IpAddr) -> Result<Vec<IpAddr>, Message> {
    let all: Vec<IpAddr> = match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) => {
            let all = u32::from(first)..=u32::from(last);
            all.take(MOST + 1).map(|bits| Ipv4Addr::from(bits).into()).collect()
        }
        (IpAddr::V6(first), IpAddr::V6(last)) => {
            let all = u128::from(first)..=u128::from(last);
            all.take(MOST + 1).map(|bits| Ipv6Addr::from(bits).into()).collect()
        }
        _ => Vec::new(),
    };
    if all.is_empty() {
        Err(message!(
            "the range `{text}` has no addresses; its first must not be greater than its last",
            "范围 `{text}` 中没有地址；起始地址不能大于结束地址"
        ))
    } else {
        Ok(all)
    }
}

/// Whose turn it is, for each address of a target separately: were it one turn for all, two addresses
/// and two sources would always meet in the same pairs, and use half of the ports.
#[derive(Debug)]
pub(super) struct Turns(Vec<usize>);

impl Turns {
    /// The first of each.
    pub(super) fn new(addresses: usize) -> Self {
        Self(vec![0; addresses])
    }

    /// The index of the next source for a connection to an address.
    pub(super) fn take(&mut self, address: usize, sources: &Sources) -> usize {
        let next = (self.0[address] + 1) % sources.count().max(1);
        std::mem::replace(&mut self.0[address], next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        Sources::parse(text).unwrap().0.iter().map(IpAddr::to_string).collect()
    }

    fn error(text: &str) -> String {
        Sources::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn addresses_and_ranges_are_read_once_each_and_in_order() {
        assert_eq!(shown("10.0.0.7, 10.0.0.5"), ["10.0.0.7", "10.0.0.5"]);
        assert_eq!(shown("127.0.0.254-127.0.1.1,127.0.0.255").len(), 4);
        assert_eq!(shown("fd00::9-fd00::a,::1"), ["fd00::9", "fd00::a", "::1"]);
        assert_eq!(shown("10.0.0.5-10.0.0.5"), ["10.0.0.5"]);
        assert_eq!(shown("10.0.0.0-10.0.0.255").len(), 256);
    }

    #[test]
    fn what_is_not_an_address_is_repeated_with_what_would_be_right() {
        for text in ["", "10.0.0", "eth0", "10.0.0.5:80", "10.0.0.5-9", "10.0.0.5,,10.0.0.6"] {
            let error = error(text);
            assert!(
                error.contains("is not an IP address") && error.contains("`ip addr`"),
                "{error}"
            );
        }
        assert!(error("10.0.0.9-10.0.0.5").contains("`10.0.0.9-10.0.0.5` has no addresses"));
        assert!(error("10.0.0.9-fd00::1").contains("has no addresses"));
        for text in ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255"] {
            assert!(error(text).contains(&format!("`{text}` is not the address of one machine")));
        }
        assert!(error("10.0.0.0-10.0.1.0").contains("more than 256"));
        assert!(error("::1-ffff::").contains("more than 256"), "a huge range takes no time");
    }

    #[test]
    fn only_those_of_the_targets_family_are_used() {
        let both = Sources::parse("127.0.0.5,::1,127.0.0.6").unwrap();
        let four = Addresses::from(SocketAddr::from((Ipv4Addr::LOCALHOST, 80)));
        let six = Addresses::from(SocketAddr::from((Ipv6Addr::LOCALHOST, 80)));
        assert_eq!(both.leading_to(&four), Ok(Sources::parse("127.0.0.5,127.0.0.6").unwrap()));
        assert_eq!(both.leading_to(&six), Ok(Sources::parse("::1").unwrap()));
        assert_eq!(Sources::default().leading_to(&six), Ok(Sources::default()));
        let error = Sources::parse("::1").unwrap().leading_to(&four).unwrap_err().to_string();
        assert_eq!(error, "the target is 127.0.0.1:80, and none of the source addresses is IPv4");
    }

    #[test]
    fn an_address_of_another_machine_is_named() {
        let four = Addresses::from(SocketAddr::from((Ipv4Addr::LOCALHOST, 80)));
        let mixed = Sources::parse("127.0.0.5,203.0.113.7").unwrap();
        let error = mixed.leading_to(&four).unwrap_err().to_string();
        assert!(
            error.starts_with("203.0.113.7 is not an address of this machine; `ip addr`"),
            "{error}"
        );
        let outside = Addresses::from(SocketAddr::from((Ipv4Addr::new(203, 0, 113, 1), 80)));
        let loopback = Sources::parse("127.0.0.5").unwrap();
        let error = loopback.leading_to(&outside).unwrap_err().to_string();
        assert!(error.starts_with("203.0.113.1:80 cannot be reached from 127.0.0.5: "), "{error}");
    }

    #[test]
    fn every_address_meets_every_source() {
        let sources = Sources::parse("127.0.0.2,127.0.0.3").unwrap();
        let mut turns = Turns::new(2);
        let met: Vec<_> = (0..4).map(|n| (n % 2, turns.take(n % 2, &sources))).collect();
        assert_eq!(met, [(0, 0), (1, 0), (0, 1), (1, 1)]);
        assert_eq!(turns.take(0, &Sources::default()), 0);
    }
}

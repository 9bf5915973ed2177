//! Which of the target's addresses got the requests.

use dyno_model::Diagnostic;
use dyno_model::environment::{Address, Environment};
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_words::escape::escape;
use dyno_words::{Finding, values};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// How many addresses a finding names.
const NAMED: usize = 8;
/// The longest name of one.
const LONGEST: usize = 80;

/// The number of requests sent to each address, warm-up included.
#[derive(Debug, Default)]
pub(super) struct Shares(BTreeMap<u8, u64>);

impl Shares {
    pub(super) fn add(&mut self, record: &RequestRecord) {
        let sent = !matches!(record.outcome, Outcome::Dropped(_));
        if let Some(address) = record.address.filter(|_| sent) {
            *self.0.entry(address).or_default() += 1;
        }
    }

    /// Several servers were measured, or some of them were not reachable.
    pub(super) fn findings(&self, env: Option<&Environment>) -> Vec<Diagnostic> {
        let listed = env.map_or(&[][..], |env| &env.server.addresses);
        let mut found = Vec::new();
        if self.0.len() > 1 {
            let each = self.0.iter().map(|(address, requests)| {
                let name = listed.get(usize::from(*address)).map(|listed| listed.address.as_str());
                format!("{} ({requests})", escape(name.unwrap_or("?"), LONGEST))
            });
            found.push(Finding::SeveralAddresses.with(values![self.0.len(), joined(each)]));
        }
        let family =
            |address: &Address| Some(address.address.parse::<SocketAddr>().ok()?.is_ipv6());
        let used = listed.iter().find(|address| address.unused.is_none()).and_then(family);
        let missing = listed.iter().filter(|address| {
            // The other family of the same host is no other server.
            address.unused.is_some() && used.is_some() && family(address) == used
        });
        let missing: Vec<_> = missing.map(|missing| escape(&missing.address, LONGEST)).collect();
        if !missing.is_empty() {
            found.push(Finding::AddressesUnused.with(values![joined(missing.into_iter())]));
        }
        found
    }
}

/// The first of them.
fn joined(mut names: impl Iterator<Item = String>) -> String {
    let mut first: Vec<_> = names.by_ref().take(NAMED).collect();
    first.extend(names.next().map(|_| "…".to_owned()));
    first.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::environment::{Host, Server};
    use dyno_model::record::Phase;

    fn environment(addresses: &[(&str, bool)]) -> Environment {
        let address = |(address, used): &(&str, bool)| Address {
            address: (*address).to_owned(),
            unused: (!used).then(|| "refused".to_owned()),
        };
        Environment {
            schema: String::new(),
            dyno: String::new(),
            host: Host::default(),
            server: Server {
                addresses: addresses.iter().map(address).collect(),
                ..Server::default()
            },
            preflight: None,
            notes: Vec::new(),
            attempts: None,
            made: Default::default(),
        }
    }

    fn shares(requests: &[(Option<u8>, Outcome)]) -> Shares {
        let mut shares = Shares::default();
        for (address, outcome) in requests {
            let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
            (record.address, record.outcome) = (*address, outcome.clone());
            shares.add(&record);
        }
        shares
    }

    fn texts(shares: &Shares, env: &Environment) -> Vec<String> {
        shares.findings(Some(env)).into_iter().map(|found| found.what).collect()
    }

    #[test]
    fn several_addresses_are_named_with_their_requests() {
        let env = environment(&[("10.0.0.1:80", true), ("10.0.0.2:80", true)]);
        let dropped = Outcome::Dropped("no port".to_owned());
        let done = Outcome::Completed;
        let both = [(Some(0), done.clone()), (Some(1), done.clone()), (Some(1), done.clone())];
        let all = [both.as_slice(), &[(Some(0), dropped)]].concat();
        let [text] = texts(&shares(&all), &env).try_into().unwrap();
        assert!(text.contains("10.0.0.1:80 (1), 10.0.0.2:80 (2)"), "{text}");
        assert!(texts(&shares(&[(Some(1), done.clone())]), &env).is_empty(), "only one was used");
        assert!(texts(&shares(&[(None, done)]), &environment(&[])).is_empty());
    }

    #[test]
    fn an_address_that_refused_is_named_unless_it_is_the_other_family() {
        let none = Shares::default();
        let env = environment(&[("10.0.0.1:80", true), ("10.0.0.2:80", false)]);
        let [text] = texts(&none, &env).try_into().unwrap();
        assert!(text.contains("10.0.0.2:80") && !text.contains("10.0.0.1:80"), "{text}");
        let env = environment(&[("[::1]:80", true), ("127.0.0.1:80", false)]);
        assert!(texts(&none, &env).is_empty());
    }

    #[test]
    fn many_addresses_and_hostile_ones_are_shortened_and_escaped() {
        let names: Vec<String> = (0..20).map(|i| format!("10.0.0.{i}:80")).collect();
        let mut listed: Vec<(&str, bool)> =
            names.iter().map(|name| (name.as_str(), true)).collect();
        listed[0].0 = "\u{1b}[31mred";
        let all: Vec<_> = (0..20).map(|i| (Some(i), Outcome::Completed)).collect();
        let [text] = texts(&shares(&all), &environment(&listed)).try_into().unwrap();
        assert!(text.ends_with("10.0.0.7:80 (1), …") && !text.contains('\u{1b}'), "{text}");
    }
}

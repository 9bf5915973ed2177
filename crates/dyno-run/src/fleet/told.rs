//! What agents tell at the end of a level beyond the protocol: how they used the data, and which addresses
//! they sent to, as one list.

use crate::identity::one_line;
use crate::workload::DataReport;
use dyno_model::environment::Address;
use dyno_model::record::RequestRecord;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// What an agent tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToldByAgent {
    pub(super) data: DataReport,
    /// The target's addresses by this agent's numbers.
    pub(super) addresses: Vec<Address>,
}

impl ToldByAgent {
    /// Reads what an agent sent; what is not understood is left out.
    pub(super) fn read(value: &serde_json::Value) -> Self {
        serde_json::from_value(value.clone()).unwrap_or_default()
    }

    pub(super) fn written(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// What a bench knows after a level that the session does not.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    /// By agent.
    pub(crate) data: Vec<(u32, DataReport)>,
    /// The target's addresses by number, if there are others than before.
    pub(crate) addresses: Option<Vec<Address>>,
}

/// One agent's numbers of addresses, in the list of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    /// By the agent's own.
    by: Vec<Option<u8>>,
    /// The only one that it sends to.
    only: Option<u8>,
    /// There is more than one in the list, so that numbers mean something.
    several: bool,
}

impl Numbers {
    /// Gives a record the number of its address in the list of the run.
    pub(super) fn set(&self, record: &mut RequestRecord) {
        record.address = match record.address {
            _ if !self.several => None,
            Some(own) => self.by.get(usize::from(own)).copied().flatten(),
            None => self.only.filter(|_| record.connected.is_some() || record.sent.is_some()),
        };
    }
}

/// Adds the addresses of agents to the list of the run; the numbers of each agent in it. A name server may
/// tell every agent others.
pub(super) fn joined(listed: &mut Vec<Address>, agents: &[Vec<Address>]) -> Vec<Numbers> {
    let mut numbers: Vec<Numbers> =
        agents.iter().map(|addresses| numbers_of(addresses, listed)).collect();
    let several = listed.iter().filter(|listed| listed.unused.is_none()).count() > 1;
    numbers.iter_mut().for_each(|numbers| numbers.several = several);
    numbers
}

fn numbers_of(addresses: &[Address], listed: &mut Vec<Address>) -> Numbers {
    let mut numbers = Numbers::default();
    let mut used = Vec::new();
    for address in addresses {
        let place = listed.iter().position(|listed| listed.address == address.address);
        let place = match place {
            Some(place) => Some(place),
            // An agent's word: it becomes a part of the report.
            None if address.address.parse::<SocketAddr>().is_err() => None,
            None if listed.len() > usize::from(u8::MAX) => None,
            None => {
                let unused = address.unused.as_deref().map(one_line);
                listed.push(Address { address: address.address.clone(), unused });
                Some(listed.len() - 1)
            }
        };
        if let (Some(place), None) = (place, &address.unused) {
            listed[place].unused = None;
        }
        let number = place.and_then(|place| u8::try_from(place).ok());
        used.extend(number.filter(|_| address.unused.is_none()));
        numbers.by.push(number);
    }
    numbers.only = <[u8; 1]>::try_from(used).ok().map(|[only]| only);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::record::Phase;

    fn address(host: u8) -> Address {
        Address { address: format!("10.0.0.{host}:80"), unused: None }
    }

    fn set(numbers: &Numbers, own: Option<u8>) -> Option<u8> {
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        (record.address, record.sent) = (own, Some(1));
        numbers.set(&mut record);
        record.address
    }

    #[test]
    fn addresses_that_only_agents_know_have_numbers_of_their_own() {
        let mut listed = vec![address(1), address(2)];
        let agents =
            [vec![address(1), address(2), address(3)], vec![address(1), address(2), address(4)]];
        let numbers = joined(&mut listed, &agents);
        assert_eq!(listed, [1, 2, 3, 4].map(address));
        // Both agents call theirs number 2.
        assert_eq!(
            numbers.iter().map(|one| set(one, Some(2))).collect::<Vec<_>>(),
            [Some(2), Some(3)]
        );
        assert_eq!(
            numbers.iter().map(|one| set(one, Some(1))).collect::<Vec<_>>(),
            [Some(1), Some(1)]
        );
        assert_eq!(set(&numbers[0], Some(9)), None);
        // The next level adds nothing.
        assert_eq!(joined(&mut listed, &agents), numbers);
        assert_eq!(listed.len(), 4);
    }

    #[test]
    fn one_address_has_no_number_until_another_agent_has_another() {
        let mut listed = vec![address(1)];
        let alone = joined(&mut listed, &[vec![address(1)], vec![address(1)]]);
        assert!(alone.iter().all(|numbers| set(numbers, None).is_none()));
        let refused = Address { unused: Some("refused".to_owned()), ..address(1) };
        let apart = joined(&mut listed, &[vec![address(1)], vec![refused, address(2)]]);
        assert_eq!(listed.len(), 2);
        assert_eq!([set(&apart[0], None), set(&apart[1], None)], [Some(0), Some(1)]);
        let mut unsent = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        apart[0].set(&mut unsent);
        assert_eq!(unsent.address, None, "it was sent to none");
    }

    #[test]
    fn an_agent_cannot_put_anything_else_into_the_list() {
        let mut listed = vec![address(1)];
        let strange = Address { address: "<b>evil</b>".to_owned(), unused: None };
        let many = (0..=u16::MAX)
            .map(|port| Address { address: format!("10.1.1.1:{port}"), unused: None });
        let numbers = joined(&mut listed, &[vec![strange, address(2)], many.collect()]);
        assert_eq!(listed[..2], [address(1), address(2)]);
        assert_eq!(listed.len(), 256);
        assert_eq!([set(&numbers[0], Some(0)), set(&numbers[0], Some(1))], [None, Some(1)]);
    }

    #[test]
    fn what_is_told_is_read_and_anything_else_is_nothing() {
        let told = ToldByAgent { addresses: vec![address(1)], ..ToldByAgent::default() };
        assert_eq!(ToldByAgent::read(&told.written()), told);
        assert_eq!(ToldByAgent::read(&serde_json::Value::Null), ToldByAgent::default());
        assert_eq!(ToldByAgent::read(&serde_json::json!({"addresses": 7})), ToldByAgent::default());
    }
}

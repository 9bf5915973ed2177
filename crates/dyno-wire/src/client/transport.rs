//! The client as the drivers see it.

use super::Client;
use crate::exchange::Exchange;
use dyno_drive::{Ended, Job, Transport, TransportError};
use dyno_model::Nanos;
use dyno_model::frame::ClientHealth;
use dyno_net::RunQueue;

impl Transport for Client {
    type Body = Vec<u8>;

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn prepare(&mut self, connections: usize) -> Result<(), TransportError> {
        self.run_queue = RunQueue::of_this_thread();
        self.idle.keep_fresh(&mut self.table, self.clock.now());
        let addresses = self.options.addresses.count();
        for address in 0..addresses {
            let share = connections / addresses + usize::from(address < connections % addresses);
            self.open_ahead(address, share)?;
        }
        Ok(())
    }

    fn dispatch(&mut self, job: Job<Vec<u8>>) {
        self.in_flight += 1;
        let mut exchange = Box::new(Exchange::new(job.record(), job.payload.lengths.fixed));
        exchange.characters = job.payload.lengths.characters;
        let address = self.take_address();
        exchange.record.address = self.options.addresses.number_of(address);
        self.start(exchange, job.payload.body, address);
    }

    fn wait(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Result<(), TransportError> {
        loop {
            self.poll(if self.ended.is_empty() { until } else { 0 })?;
            if !self.ended.is_empty() || self.clock.now() >= until {
                break;
            }
        }
        self.return_ended(ended);
        Ok(())
    }

    fn last_received(&self) -> Option<Nanos> {
        Some(self.health.heard)
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn tokens_received(&self) -> Option<u64> {
        Some(self.tokens_received)
    }

    fn censor(&mut self, ended: &mut Vec<Ended>) {
        let now = self.clock.now();
        for token in self.table.tokens() {
            let busy = self.table.get_mut(token).is_some_and(|c| c.exchange.is_some());
            if busy
                && let Some(mut connection) = self.table.remove(token)
                && let Some(mut exchange) = connection.exchange.take()
            {
                exchange.censor(&self.options.rules, now);
                self.ended.push(exchange);
            }
        }
        self.return_ended(ended);
    }

    fn take_health(&mut self) -> ClientHealth {
        self.health.take(&self.clock)
    }
}

impl Client {
    fn return_ended(&mut self, ended: &mut Vec<Ended>) {
        self.in_flight -= self.ended.len();
        let rules = &self.options.rules;
        let received = &mut self.tokens_received;
        ended.extend(self.ended.drain(..).map(|mut exchange| {
            // A response that ends with its connection is complete only now.
            *received += exchange.newly_received();
            let answer = exchange.take_content(rules);
            Ended { record: Box::new(exchange.record), answer }
        }));
    }
}

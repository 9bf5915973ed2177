//! Side traffic on the same client: one request at a time, outside of any level.

use super::Client;
use crate::encode::head;
use crate::exchange::Exchange;
use crate::http::Head;
use dyno_core::MS;
use dyno_core::outcome::Outcome;
use dyno_core::record::{Phase, RequestRecord};
use dyno_drive::{Payload, Stop, StopSignal, TransportError};
use thiserror::Error;

/// Side traffic did not end as it should.
#[derive(Debug, Error)]
pub enum Interrupted {
    /// The wish to stop came first.
    #[error("interrupted")]
    Stopped,
    /// The event loop failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

/// The answer to a plain GET.
#[derive(Debug)]
pub struct Fetched {
    /// How the request went.
    pub record: RequestRecord,
    /// The head of the answer, if one came.
    pub head: Option<Box<Head>>,
    /// The body, as it came.
    pub body: Vec<u8>,
}

impl Fetched {
    /// The body of a 200.
    pub fn ok(&self) -> Option<&[u8]> {
        let good = self.record.outcome == Outcome::Completed && self.record.status == Some(200);
        good.then_some(self.body.as_slice())
    }

    /// What went wrong, in the server's or the system's words.
    pub fn words(&self) -> String {
        match (&self.record.outcome, self.record.status) {
            (Outcome::Completed, Some(status)) => {
                format!("HTTP {status}: {}", crate::dialect::excerpt(&self.body))
            }
            _ => self.record.detail.clone().unwrap_or_else(|| "no answer".into()),
        }
    }
}

impl Client {
    /// Gets a path of the target's.
    pub fn fetch(&mut self, path: &str, stop: &StopSignal) -> Result<Fetched, Interrupted> {
        let host = self.options.endpoint.host_header();
        let mut bytes = head("GET", path, &host, &self.options.headers);
        bytes.extend_from_slice(b"\r\n");
        let mut exchange = self.run_one(Exchange::raw(self.blank()), bytes, stop)?;
        let body = exchange.take_raw();
        Ok(Fetched { head: exchange.head.take(), record: exchange.record, body })
    }

    /// Sends one generation request and waits for its end; its record and the answer's head.
    pub fn ask(
        &mut self,
        payload: Payload,
        stop: &StopSignal,
    ) -> Result<(RequestRecord, Option<Box<Head>>), Interrupted> {
        let mut record = self.blank();
        record.requested_output = payload.requested_output;
        let exchange = Exchange::new(record, payload.fixed_output);
        let exchange = self.run_one(exchange, payload.bytes, stop)?;
        Ok((exchange.record, exchange.head))
    }

    fn blank(&self) -> RequestRecord {
        let now = self.clock.now();
        let mut record = RequestRecord::new(0, 0, 0, Phase::Warmup, now);
        record.dispatched = Some(now);
        record
    }

    fn run_one(
        &mut self,
        exchange: Exchange,
        bytes: Vec<u8>,
        stop: &StopSignal,
    ) -> Result<Box<Exchange>, Interrupted> {
        self.start(Box::new(exchange), bytes);
        loop {
            if let Some(exchange) = self.ended.pop() {
                return Ok(exchange);
            }
            if stop.get() > Stop::No {
                self.table = super::Table::default();
                return Err(Interrupted::Stopped);
            }
            let soon = self.clock.now() + 20 * MS;
            self.turn(soon).map_err(TransportError)?;
        }
    }
}

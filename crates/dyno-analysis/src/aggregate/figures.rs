//! The figures of one request, by the definitions of the metrics page.

use dyno_model::record::RequestRecord;

/// Figures that a request has at most once, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestFigures {
    /// `first − sent`.
    pub ttft: Option<u64>,
    /// `first − intended`.
    pub ttft_scheduled: Option<u64>,
    /// `last − sent`.
    pub latency: Option<u64>,
    /// `last − intended`.
    pub latency_scheduled: Option<u64>,
    /// `(last − first) / (output tokens − 1)`.
    pub tpot: Option<u64>,
}

/// The figures of a completed request; none for any other.
pub fn figures(record: &RequestRecord) -> RequestFigures {
    if !record.is_completed() {
        return RequestFigures::default();
    }
    let since = |later: Option<u64>, earlier: Option<u64>| Some(later?.saturating_sub(earlier?));
    let last = record.last.or((!record.streamed).then_some(record.end));
    let first = record.first.filter(|_| record.streamed);
    let tpot = since(last, first).and_then(|time| {
        let gaps = record.output?.tokens.checked_sub(1).filter(|n| *n > 0)?;
        Some((time + gaps / 2) / gaps)
    });
    RequestFigures {
        ttft: since(first, record.sent),
        ttft_scheduled: since(first, Some(record.intended)),
        latency: since(last, record.sent),
        latency_scheduled: since(last, Some(record.intended)),
        tpot,
    }
}

//! Converts published tables into tables to fit.

use super::table::{FitTable, Offer, Role, TableEnd, TableLevel};
use dyno_engine::twin::reference::{
    ClientKind, Reference, ReferenceLoad, ReferenceRow, ReferenceValue,
};
use dyno_model::Message;
use dyno_model::plan::{self, Arrival};

/// How long a window of guidellm 0.1 is, if the source does not state it.
const WINDOW_S: f64 = 120.0;
/// Enough requests at once that filling and draining the engine hardly matter.
const SATURATING: u32 = 200;

impl From<&Reference> for FitTable {
    fn from(reference: &Reference) -> Self {
        let counted = counted(reference);
        let levels = reference.rows.iter().map(|row| level(reference, row, counted)).collect();
        let ended_alone = |row: &ReferenceRow| {
            row.get(ReferenceValue::OutputTokens).is_some_and(|tokens| tokens.fract() != 0.0)
        };
        Self {
            name: reference.name.clone(),
            levels,
            max_seqs: reference.known.max_seqs,
            context: reference.known.context,
            kv_tokens: None,
            varied: match reference.client.kind {
                ClientKind::Closed => reference.rows.iter().any(ended_alone),
                ClientKind::Burst => true,
                ClientKind::Guidellm01 | ClientKind::Matrix => false,
            },
        }
    }
}

/// The tokens of a response that guidellm 0.1 counted: those with text, and not the last. Rows
/// with low rates are rounded too much.
fn counted(reference: &Reference) -> Option<f64> {
    if reference.client.kind != ClientKind::Guidellm01 {
        return None;
    }
    let rows = reference.fitted().filter(|row| row.get(ReferenceValue::CompletedRate) >= Some(1.0));
    let counts: Vec<f64> = rows
        .filter_map(|row| {
            Some(
                row.get(ReferenceValue::OutputTokensPerS)?
                    / row.get(ReferenceValue::CompletedRate)?,
            )
        })
        .collect();
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    mean.is_finite().then_some(mean).or(reference.client.output_tokens)
}

fn level(reference: &Reference, row: &ReferenceRow, counted: Option<f64>) -> TableLevel {
    let metrics = row.metrics.keys().chain(row.repaired.metrics.keys());
    let metrics = metrics.filter_map(|figure| Some((*figure, row.get(*figure)?))).collect();
    let sweep = reference.client.kind == ClientKind::Guidellm01;
    let output = match sweep {
        true => reference.client.output_tokens,
        // Requests that timed out were the longest, so the mean of the rest is too low.
        false if row.get(ReferenceValue::Failed) > Some(1.0) && timeout(reference).is_some() => {
            reference.client.output_tokens
        }
        false => reference.output_tokens(row),
    };
    let role = match (&row.left_out, row.fitted) {
        (Some(reason), _) => Role::LeftOut(Message::quoted(reason)),
        (None, Some(true)) => Role::Fitted,
        (None, _) => Role::HeldOut,
    };
    TableLevel {
        label: label(row),
        offer: offer(reference, row),
        input: reference.input_tokens(row).unwrap_or(1.0),
        output: output.unwrap_or(1.0),
        counted,
        timeout_s: timeout(reference),
        repeated: reference.client.same_prompt || (sweep && row.load != ReferenceLoad::Synchronous),
        metrics,
        role,
    }
}

/// The time-out, if the source states it. One inferred from the rows may not be used to predict them.
fn timeout(reference: &Reference) -> Option<f64> {
    reference.client.timeout_s.filter(|_| !reference.client.timeout_inferred)
}

/// How the requests of a row were sent.
fn offer(reference: &Reference, row: &ReferenceRow) -> Offer {
    let client = &reference.client;
    let end = match client.kind {
        ClientKind::Guidellm01 => {
            TableEnd::Dropped { seconds: client.window_s.unwrap_or(WINDOW_S) }
        }
        _ => TableEnd::Requests {
            requests: reference.requests(row).unwrap_or(1),
            noticed_s: 0.5 * client.counting_delay_s.unwrap_or(0.0),
        },
    };
    let value = row.level().unwrap_or(1.0);
    let closed = |concurrency| Offer::Load {
        load: plan::Load::Concurrency { concurrency },
        at_most: None,
        end,
    };
    match row.load {
        ReferenceLoad::Synchronous => closed(1),
        ReferenceLoad::Cell => Offer::Cell { requests: SATURATING },
        ReferenceLoad::Throughput => Offer::Unknown { end },
        ReferenceLoad::Concurrency => closed(value as u32),
        ReferenceLoad::Rate => Offer::Load {
            load: plan::Load::Rate { rate: value, arrival: Arrival::Constant },
            at_most: client.max_in_flight,
            end,
        },
        ReferenceLoad::Burst => Offer::burst(value as u32),
    }
}

fn label(row: &ReferenceRow) -> String {
    let lengths = || {
        let get = |figure| row.get(figure).unwrap_or_default();
        format!(
            "{} in, {} out",
            get(ReferenceValue::InputTokens),
            get(ReferenceValue::OutputTokens)
        )
    };
    match (row.load, row.level()) {
        (ReferenceLoad::Synchronous, _) => "synchronous".to_owned(),
        (ReferenceLoad::Throughput, _) => "throughput".to_owned(),
        (ReferenceLoad::Rate, Some(rate)) => format!("rate {rate}"),
        (ReferenceLoad::Concurrency, Some(number)) => format!("concurrency {number}"),
        (ReferenceLoad::Burst, Some(number)) => match row.get(ReferenceValue::InputTokens) {
            Some(input) => format!("burst {number} of {input} tokens"),
            None => format!("burst {number}"),
        },
        _ => lengths(),
    }
}

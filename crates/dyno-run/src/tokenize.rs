//! Counting by the server itself, where it can count, on a connection apart from those that are
//! measured.

use dyno_drive::StopSignal;
use dyno_model::SEC;
use dyno_model::prompt::Item;
use dyno_model::record::RequestRecord;
use dyno_wire::client::{Client, Interrupted};
use dyno_wire::dialect::{Counted, Counting};
use dyno_wire::encode::Encoder;
use dyno_workload::tokenizer::{Ask, Tokenizer};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// A tokenizer that asks the server, if it can count.
pub(crate) fn of_server(client: &Client, model: &str, stop: &StopSignal) -> Option<Tokenizer> {
    let aside = Client::new(client.options().clone(), client.clock()).ok()?;
    let aside = Arc::new(Mutex::new(aside));
    client.rules().dialect.about().counting.iter().find_map(|counting| {
        let (aside, model, stop) = (Arc::clone(&aside), model.to_owned(), stop.clone());
        let ask = move |what: &Ask<'_>| count(&aside, counting, &model, what, &stop);
        ask(&Ask::Text("one two three")).ok()?;
        Some(Tokenizer::by_asking(Box::new(ask)))
    })
}

fn count(
    client: &Mutex<Client>,
    counting: &Counting,
    model: &str,
    what: &Ask<'_>,
    stop: &StopSignal,
) -> Result<u32, String> {
    let what = match what {
        Ask::Text(text) => Counted::Text(text),
        Ask::Messages(messages) => Counted::Messages(messages),
    };
    let cannot = || format!("the server's {} cannot count such a prompt", counting.path);
    let body = (counting.ask)(model, what).ok_or_else(cannot)?.to_string();
    let mut client = client.lock().unwrap_or_else(PoisonError::into_inner);
    let path = client.options().endpoint.beside(counting.path);
    let fetched =
        client.post(&path, body.as_bytes(), 30 * SEC, stop).map_err(|error| error.to_string())?;
    let response: Option<Value> = fetched.ok().and_then(|body| serde_json::from_slice(body).ok());
    let count = response.as_ref().and_then(|response| (counting.count)(response));
    count.and_then(|count| u32::try_from(count).ok()).ok_or_else(|| {
        let message = fetched.words(&client.rules().redactor.clone());
        format!("the server's {} returned no count: {message}", counting.path)
    })
}

/// Sends one item for a single token and returns its record: the usage is the server's count.
pub(crate) fn probe(
    client: &mut Client,
    encoder: &Encoder,
    item: &Item,
    stop: &StopSignal,
) -> Result<RequestRecord, Interrupted> {
    let item = Item { output_tokens: None, ..item.clone() };
    let payload = encoder.clone().for_preflight().payload(&item, 1);
    client.ask(payload, stop).map(|asked| asked.record)
}

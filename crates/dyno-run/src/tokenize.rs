//! Counting by the server's own `/tokenize`, where it has one, on a connection apart from those
//! that are measured.

use dyno_drive::StopSignal;
use dyno_model::SEC;
use dyno_model::prompt::Item;
use dyno_model::record::RequestRecord;
use dyno_wire::client::{Client, Interrupted};
use dyno_wire::encode::Encoder;
use dyno_workload::tokenizer::{Ask, Tokenizer};
use serde_json::json;
use std::sync::{Mutex, PoisonError};

/// A tokenizer that asks the server, if it has `/tokenize`.
pub(crate) fn of_server(client: &Client, model: &str, stop: &StopSignal) -> Option<Tokenizer> {
    let path = client.options().endpoint.beside("/tokenize");
    let aside = Client::new(client.options().clone(), client.clock()).ok()?;
    let (aside, model, stop) = (Mutex::new(aside), model.to_owned(), stop.clone());
    let ask = move |what: &Ask<'_>| -> Result<u32, String> {
        let body = match what {
            Ask::Text(text) => json!({"model": model, "prompt": text}),
            Ask::Messages(messages) => {
                json!({"model": model, "messages": messages, "add_generation_prompt": true})
            }
        };
        let mut client = aside.lock().unwrap_or_else(PoisonError::into_inner);
        let body = body.to_string();
        let fetched = client
            .post(&path, body.as_bytes(), 30 * SEC, &stop)
            .map_err(|error| error.to_string())?;
        let answer = fetched.ok().and_then(|body| {
            let value: serde_json::Value = serde_json::from_slice(body).ok()?;
            u32::try_from(value.get("count")?.as_u64()?).ok()
        });
        answer.ok_or_else(|| {
            let message = fetched.words(&client.rules().redactor.clone());
            format!("the server's /tokenize returned no count: {message}")
        })
    };
    ask(&Ask::Text("one two three")).ok()?;
    Some(Tokenizer::by_asking(Box::new(ask)))
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
    client.ask(payload, stop).map(|(record, _)| record)
}

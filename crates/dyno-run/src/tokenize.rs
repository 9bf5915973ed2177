//! Counting by the server itself, where it can count, on a connection apart from those that are
//! measured.

use dyno_drive::{Stop, StopSignal};
use dyno_model::prompt::{self, Item};
use dyno_model::record::RequestRecord;
use dyno_model::{Message, SEC, message};
use dyno_wire::client::{Client, Interrupted};
use dyno_wire::dialect::{Counting, ToCount};
use dyno_wire::encode::Encoder;
use dyno_workload::tokenizer::{Ask, Asking, TokenCounts, Tokenizer};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// The server's tokenizer.
pub(crate) struct OfServer {
    pub(crate) tokenizer: Tokenizer,
    /// Why it stopped counting, if it did.
    pub(crate) failure: Failure,
    /// Why it does not count messages, if it counts only text.
    pub(crate) text_only: Option<Message>,
    /// Where it is asked.
    pub(crate) path: &'static str,
}

/// How a server counts, so that others can ask it in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CountedBy {
    /// The server's URL, without anything secret.
    pub(crate) at: String,
    pub(crate) path: String,
    pub(crate) model: String,
    /// It counts text alone, not messages.
    pub(crate) text_only: bool,
}

/// Why a server stopped counting. From then on the estimate is used: a tokenizer that fails must not end
/// a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<Message>>>);

impl Failure {
    /// The server's message, if it has stopped.
    pub(crate) fn get(&self) -> Option<Message> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, message: Message) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    }
}

const TRIAL: &str = "one two three";
/// How often the longer text of the trial has it.
const REPEATED: usize = 8;

/// A tokenizer that asks the server, if it can count; the reason if not.
pub(crate) fn of_server(
    client: &Client,
    model: &str,
    stop: &StopSignal,
) -> Result<OfServer, Message> {
    let aside = Client::new(client.options().clone(), client.clock());
    let aside = Arc::new(Mutex::new(aside.map_err(Message::of)?));
    let about = client.rules().dialect.about();
    let mut why = None;
    let found = about.counting.iter().find_map(|counting| {
        let (aside, model, stop) = (Arc::clone(&aside), model.to_owned(), stop.clone());
        let lasts = stop.clone();
        let ask = move |what: &Ask<'_>| count(&aside, counting, &model, what, &stop);
        if let Err(refused) = ask(&Ask::Text(TRIAL)).and_then(|_| adds_up(&ask)) {
            why.get_or_insert(refused);
            return None;
        }
        let messages = || ask(&Ask::Messages(&[prompt::ChatMessage::user(TRIAL)])).err();
        let text_only = about.talk.and_then(|_| messages());
        let counts = if text_only.is_some() { TokenCounts::Text } else { TokenCounts::Messages };
        let failure = Failure::default();
        let tokenizer = Tokenizer::by_asking_for(counts, lasting(ask, failure.clone(), lasts));
        Some(OfServer { tokenizer, failure, text_only, path: counting.path })
    });
    let no_way = || message!("the API {} has no way to count", "API {} 没有计数的方法", about.name);
    found.ok_or_else(|| why.unwrap_or_else(no_way))
}

/// Whether a counter counts at all: more text has more tokens, but not more than it has bytes. Gateways
/// answer for servers that cannot count.
fn adds_up(ask: impl Fn(&Ask<'_>) -> Result<u32, Message>) -> Result<(), Message> {
    let long = [TRIAL; REPEATED].join(" ");
    let (one, all) = (ask(&Ask::Text(TRIAL))?, ask(&Ask::Text(&long))?);
    let more = (long.len() - TRIAL.len()) as u64;
    match u64::from(all).checked_sub(one.into()) {
        Some(rise) if rise >= REPEATED as u64 && rise <= more => Ok(()),
        _ => Err(message!(
            "its counts do not add up: {one} tokens for a text, {all} for {REPEATED} times as much",
            "它的计数不一致：一段文本为 {one} 个 token，{REPEATED} 倍的文本为 {all} 个",
        )),
    }
}

/// Asks until the server fails twice in a row; estimates from then on.
fn lasting(
    ask: impl Fn(&Ask<'_>) -> Result<u32, Message> + Send + Sync + 'static,
    failure: Failure,
    stop: StopSignal,
) -> Asking {
    let estimate = Tokenizer::estimate();
    let estimated = move |what: &Ask<'_>| match what {
        Ask::Text(text) => estimate.count(text),
        Ask::Messages(messages) => estimate.count_messages(messages),
        Ask::Recorded(prompt) => estimate.count_recorded(prompt),
    };
    Box::new(move |what| {
        if failure.get().is_none() {
            match ask(what).or_else(|_| ask(what)) {
                Err(message) if stop.get() == Stop::No => failure.set(message),
                counted => return counted,
            }
        }
        estimated(what).map_err(dyno_model::Message::of)
    })
}

fn count(
    client: &Mutex<Client>,
    counting: &Counting,
    model: &str,
    what: &Ask<'_>,
    stop: &StopSignal,
) -> Result<u32, Message> {
    let what = match what {
        Ask::Text(text) => ToCount::Text(text),
        Ask::Messages(messages) => ToCount::Messages(messages),
        Ask::Recorded(prompt) => ToCount::Recorded(prompt),
    };
    let at = counting.path;
    let cannot = || {
        message!("the server's {at} cannot count such a prompt", "服务器的 {at} 无法统计此类提示词",)
    };
    let body = (counting.ask)(model, what).ok_or_else(cannot)?.to_string();
    let mut client = client.lock().unwrap_or_else(PoisonError::into_inner);
    let path = client.options().endpoint.beside(at);
    let fetched = client.post(&path, body.as_bytes(), 30 * SEC, stop);
    let fetched = fetched.map_err(Message::of)?;
    let response = fetched.json();
    let count = response.as_ref().and_then(|response| (counting.count)(response));
    // Every text here has tokens, so a count of 0 is none.
    let count = count.filter(|count| *count > 0);
    count.and_then(|count| u32::try_from(count).ok()).ok_or_else(|| {
        let said = fetched.words(&client.rules().redactor);
        message!(
            "the server's {at} returned no count: {said}",
            "服务器的 {at} 没有返回计数：{said}"
        )
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Counts three times, then fails.
    fn asking(failure: &Failure, stop: &StopSignal) -> Tokenizer {
        let calls = AtomicU32::new(0);
        let ask = move |_: &Ask<'_>| match calls.fetch_add(1, Ordering::SeqCst) {
            0..3 => Ok(7),
            _ => Err(Message::quoted("gone")),
        };
        let lasting = lasting(ask, failure.clone(), stop.clone());
        Tokenizer::by_asking(lasting)
    }

    #[test]
    fn a_server_that_stops_counting_is_replaced_by_the_estimate() {
        let (failure, stop) = (Failure::default(), StopSignal::new());
        let tokenizer = asking(&failure, &stop);
        let words = "some words to count";
        let counts: Vec<u32> = (0..5).map(|_| tokenizer.count(words).unwrap()).collect();
        let estimate = Tokenizer::estimate().count(words).unwrap();
        assert_eq!(counts, [7, 7, 7, estimate, estimate]);
        assert_eq!(failure.get(), Some(Message::quoted("gone")));
    }

    /// A counter that counts nothing, always the same, or bytes and more is no tokenizer.
    #[test]
    fn what_does_not_add_up_is_no_tokenizer() {
        let by = |count: fn(&str) -> u32| {
            adds_up(move |what: &Ask<'_>| match what {
                Ask::Text(text) => Ok(count(text)),
                _ => Err(Message::quoted("text only")),
            })
        };
        assert_eq!(by(|text| 9 + text.split(' ').count() as u32), Ok(()));
        assert_eq!(by(|text| text.len() as u32 / 4), Ok(()));
        assert!(by(|_| 0).is_err() && by(|_| 7).is_err());
        assert!(
            by(|text| 2 * text.len() as u32).unwrap_err().to_string().contains("do not add up")
        );
    }

    #[test]
    fn an_interrupt_is_not_a_failure_of_the_server() {
        let (failure, stop) = (Failure::default(), StopSignal::new());
        let tokenizer = asking(&failure, &stop);
        stop.raise();
        (0..3).for_each(|_| assert_eq!(tokenizer.count("x"), Ok(7)));
        assert!(tokenizer.count("x").is_err());
        assert_eq!(failure.get(), None);
    }
}

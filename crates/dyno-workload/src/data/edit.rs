//! Changes to the text of a prompt, whatever shape it has: put something before it, or cut it.

use std::sync::Arc;

use dyno_model::message;
use serde_json::Value;

use dyno_model::prompt::{Content, Item};

/// Puts `prefix` before the first text of the prompt.
pub(super) fn prepend(content: &mut Content, prefix: &str) -> bool {
    match first_text(content) {
        Some(text) => {
            text.insert_str(0, prefix);
            true
        }
        None => false,
    }
}

/// The text that comes first.
fn first_text(content: &mut Content) -> Option<&mut String> {
    match content {
        Content::Text(text) => Some(text),
        Content::Messages(messages) => messages.first_mut().map(|message| &mut message.content),
        Content::Body(body) => {
            if body.contains_key("messages") {
                let messages = body.get_mut("messages")?.as_array_mut()?;
                return text_of(messages.first_mut()?, false);
            }
            string(body.get_mut("prompt")?)
        }
        Content::Texts(texts) => texts.query.as_mut().or(texts.texts.first_mut()),
        // Its messages are those of other prompts, too.
        Content::Recorded(_) => None,
    }
}

/// The text that is cut where a prompt is too long: the last user message.
pub(super) fn last_text(content: &mut Content) -> Option<&mut String> {
    match content {
        Content::Text(text) => Some(text),
        Content::Messages(messages) => messages
            .iter_mut()
            .rev()
            .find(|message| message.role == "user")
            .map(|message| &mut message.content),
        Content::Body(body) => {
            if body.contains_key("messages") {
                let messages = body.get_mut("messages")?.as_array_mut()?;
                let users = |message: &&mut Value| {
                    message.get("role").and_then(Value::as_str) == Some("user")
                };
                return text_of(messages.iter_mut().rev().find(users)?, true);
            }
            string(body.get_mut("prompt")?)
        }
        Content::Texts(texts) => texts.texts.last_mut(),
        Content::Recorded(_) => None,
    }
}

/// The text of a message in a request body: its content, or the first or last part of it.
fn text_of(message: &mut Value, last: bool) -> Option<&mut String> {
    match message.get_mut("content")? {
        Value::String(text) => Some(text),
        Value::Array(parts) => {
            let mut texts = parts.iter_mut().filter_map(|part| string(part.get_mut("text")?));
            if last { texts.next_back() } else { texts.next() }
        }
        _ => None,
    }
}

fn string(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Cuts the text so that it counts at most `max` tokens, as near to that as a character allows. Returns
/// the count, or `None` where even the empty text is too long; the text is then left empty.
pub(super) fn cut(
    content: &mut Content,
    counted: u32,
    max: u32,
    count: &dyn Fn(&Content) -> Result<u32, message::Message>,
) -> Result<Option<u32>, message::Message> {
    let Some(whole) = last_text(content).map(|text| text.clone()) else { return Ok(None) };
    let mut try_length = |length: usize| {
        if let Some(text) = last_text(content) {
            text.clear();
            text.push_str(&whole[..length]);
        }
        count(content)
    };
    // Lengths in bytes: `fits` is known to fit once `fitting` is, `over` to be too long.
    let (mut fits, mut fitting, mut over) = (0, None, whole.len());
    // Tokens are spread about evenly, so the first guess is near, and halving does the rest.
    let guess = whole.len() as u64 * u64::from(max) / u64::from(counted.max(1));
    let mut length = boundary_at(&whole, (guess as usize).min(over));
    loop {
        let counted = try_length(length)?;
        if counted <= max {
            (fits, fitting) = (length, Some(counted));
        } else {
            over = length;
        }
        length = match boundary_between(&whole, fits, over) {
            _ if fitting == Some(max) => break,
            Some(between) => between,
            None if fitting.is_none() && over > 0 => 0,
            None => break,
        };
    }
    let counted = try_length(fits)?;
    // An empty prompt is not sent.
    let kept = !whole[..fits].trim().is_empty();
    Ok((kept && counted <= max).then_some(counted))
}

/// The character boundary at `at` or before it.
fn boundary_at(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// A character boundary strictly between two others, near the middle.
fn boundary_between(text: &str, low: usize, high: usize) -> Option<usize> {
    let middle = low + high.saturating_sub(low) / 2;
    let before = boundary_at(text, middle);
    if before > low {
        return Some(before);
    }
    (middle + 1..high).find(|at| text.is_char_boundary(*at))
}

/// About how much memory an item takes.
pub(super) fn weight(item: &Item) -> usize {
    let text = match &item.content {
        Content::Text(text) => text.len(),
        Content::Messages(messages) => {
            messages.iter().map(|message| message.content.len() + 64).sum()
        }
        Content::Body(body) => body.iter().map(|(key, value)| key.len() + heavy(value)).sum(),
        Content::Texts(texts) => texts.all().map(|text| text.len() + 24).sum(),
        // Shared with the other prompts of its session.
        Content::Recorded(prompt) => prompt.messages.len() * size_of::<Arc<Value>>(),
    };
    text + size_of::<Item>()
}

fn heavy(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 32,
        Value::Array(list) => list.iter().map(heavy).sum::<usize>() + 32,
        Value::Object(object) => {
            object.iter().map(|(key, value)| key.len() + heavy(value) + 64).sum()
        }
        _ => 32,
    }
}

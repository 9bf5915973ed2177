//! The user's side of a recorded conversation. What was answered when it was recorded is left
//! out: the server that is measured answers for itself.

use crate::item::{Content, Message};

/// A recorded conversation that cannot be led again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It holds the result of a tool that the server may not call this time.
    #[error(
        "message {0} is a tool's, which belongs to the answer that was recorded before it; remove \
         such conversations, or skip them with skip_bad=true"
    )]
    Tool(usize),
    /// Nobody asks anything.
    #[error("it has no message of the user's; remove it, or skip it with skip_bad=true")]
    NobodyAsks,
    /// A request body, of which nobody knows what to change between turns.
    #[error("it is a whole request body, not a list of messages; send it with lines:FILE")]
    Body,
}

/// What the user says, turn by turn, at most `most` turns. Several messages between two answers
/// are one turn; where there are no answers at all, each message of the user's is a turn.
pub fn led(content: Content, most: u32) -> Result<Vec<Vec<Message>>, Unusable> {
    let messages = match content {
        Content::Text(text) => vec![Message::user(text)],
        Content::Messages(messages) => messages,
        Content::Body(_) => return Err(Unusable::Body),
    };
    let answered = messages.iter().any(|message| message.role == "assistant");
    let (mut turns, mut turn): (Vec<Vec<Message>>, Vec<Message>) = (Vec::new(), Vec::new());
    for (number, message) in (1..).zip(messages) {
        let asks = message.role == "user";
        match message.role.as_str() {
            "tool" => return Err(Unusable::Tool(number)),
            // An answer before any question belongs to a conversation that was cut.
            "assistant" => {}
            _ => turn.push(message),
        }
        let over = if answered { !asks } else { asks };
        if over && turn.iter().any(|message| message.role == "user") {
            turns.push(std::mem::take(&mut turn));
        }
    }
    if turn.iter().any(|message| message.role == "user") {
        turns.push(turn);
    }
    turns.truncate(most as usize);
    if turns.is_empty() { Err(Unusable::NobodyAsks) } else { Ok(turns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(said: &[(&str, &str)]) -> Content {
        let message = |(role, content): &(&str, &str)| Message {
            role: (*role).into(),
            content: (*content).into(),
        };
        Content::Messages(said.iter().map(message).collect())
    }

    fn turns(content: Content) -> Vec<String> {
        let words = |turn: Vec<Message>| {
            turn.iter().map(|m| m.content.clone()).collect::<Vec<_>>().join("+")
        };
        led(content, 100).unwrap().into_iter().map(words).collect()
    }

    #[test]
    fn answers_divide_turns_and_are_left_out() {
        let said = [("system", "s"), ("user", "1"), ("assistant", "a"), ("user", "2")];
        assert_eq!(turns(conversation(&said)), ["s+1", "2"]);
        let said = [
            ("assistant", "cut"),
            ("user", "1"),
            ("user", "more"),
            ("assistant", "a"),
            ("system", "by the way"),
            ("user", "2"),
            ("assistant", "b"),
        ];
        assert_eq!(turns(conversation(&said)), ["1+more", "by the way+2"]);
    }

    #[test]
    fn without_answers_each_message_is_a_turn() {
        let said = [("system", "s"), ("user", "1"), ("user", "2"), ("user", "3")];
        assert_eq!(turns(conversation(&said)), ["s+1", "2", "3"]);
        assert_eq!(turns(Content::Text("hi".into())), ["hi"]);
    }

    #[test]
    fn what_cannot_be_led_says_why() {
        let said = [("user", "1"), ("assistant", "a"), ("tool", "42"), ("user", "2")];
        assert_eq!(led(conversation(&said), 9), Err(Unusable::Tool(3)));
        assert_eq!(led(conversation(&[("system", "s")]), 9), Err(Unusable::NobodyAsks));
        assert_eq!(led(Content::Body(Default::default()), 9), Err(Unusable::Body));
        let said = [("user", "1"), ("assistant", "a"), ("user", "2")];
        assert_eq!(led(conversation(&said), 1).unwrap().len(), 1);
    }
}

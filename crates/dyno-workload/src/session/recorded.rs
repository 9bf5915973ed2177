//! The user's side of a recorded conversation. Recorded responses are left out: the server that is
//! measured gives its own.

use dyno_model::Localized;
use dyno_model::prompt::{ChatMessage, Content};

/// Why a recorded conversation cannot be replayed; the message follows the name of the field.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
pub enum Unusable {
    /// It holds the result of a tool that the server may not call this time.
    #[message(
        "has a tool message at position {0}, which belongs to the recorded response before it",
        "的第 {0} 条是工具消息，属于它之前的录制响应"
    )]
    Tool(usize),
    /// There is no user message.
    #[message("has no user message", "没有用户消息")]
    NobodyAsks,
    /// All user messages of a turn are empty.
    #[message(
        "has an empty user message at position {0} and no other in that turn",
        "的第 {0} 条用户消息为空，且该轮没有其他用户消息"
    )]
    SaysNothing(usize),
    /// A request body, which cannot be changed between turns.
    #[message("is a whole request body, not a list of messages", "是完整的请求体，不是消息列表")]
    Body,
}

/// Whether a message is a recorded response, which is not sent.
pub(crate) fn is_answer(message: &ChatMessage) -> bool {
    message.role == "assistant"
}

/// The messages of each turn, by their positions. Several messages between two responses are one turn;
/// where there are no responses at all, each user message is a turn.
fn turns(messages: &[ChatMessage]) -> Result<Vec<Vec<usize>>, Unusable> {
    let is_user = |at: &usize| messages[*at].role == "user";
    // A response before any user message belongs to a conversation that was cut.
    let asked = messages.iter().position(|message| !is_answer(message)).unwrap_or(0);
    let answered = messages[asked..].iter().any(is_answer);
    let (mut turns, mut turn): (Vec<Vec<usize>>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate().skip(asked) {
        if message.role == "tool" {
            return Err(Unusable::Tool(at + 1));
        }
        if !is_answer(message) {
            turn.push(at);
        }
        let over = answered != is_user(&at);
        if over && turn.iter().any(is_user) {
            turns.push(std::mem::take(&mut turn));
        }
    }
    if turn.iter().any(is_user) {
        turns.push(turn);
    }
    let empty = |at: &usize| messages[*at].content.trim().is_empty();
    let silent = |turn: &&Vec<usize>| turn.iter().filter(|at| is_user(at)).all(empty);
    match turns.iter().find(silent) {
        Some(turn) => {
            Err(Unusable::SaysNothing(turn.iter().find(|at| is_user(at)).unwrap_or(&0) + 1))
        }
        None if turns.is_empty() => Err(Unusable::NobodyAsks),
        None => Ok(turns),
    }
}

/// Whether a recorded conversation can be replayed.
pub(crate) fn check(messages: &[ChatMessage]) -> Result<(), Unusable> {
    turns(messages).map(drop)
}

/// The user's messages turn by turn, at most `most` turns.
pub fn led(content: Content, most: u32) -> Result<Vec<Vec<ChatMessage>>, Unusable> {
    let mut messages = match content {
        Content::Text(text) => vec![ChatMessage::user(text)],
        Content::Messages(messages) => messages,
        Content::Body(_) | Content::Texts(_) | Content::Recorded(_) => return Err(Unusable::Body),
    };
    let mut turns = turns(&messages)?;
    turns.truncate(most as usize);
    let mut taken =
        |at: usize| std::mem::replace(&mut messages[at], ChatMessage::user(String::new()));
    Ok(turns.into_iter().map(|turn| turn.into_iter().map(&mut taken).collect()).collect())
}

/// A recorded conversation without its responses: what is sent of it.
pub fn said(content: &Content) -> Content {
    match content {
        Content::Messages(messages) => Content::Messages(
            messages.iter().filter(|message| !is_answer(message)).cloned().collect(),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(said: &[(&str, &str)]) -> Content {
        let message = |(role, content): &(&str, &str)| ChatMessage {
            role: (*role).into(),
            content: (*content).into(),
        };
        Content::Messages(said.iter().map(message).collect())
    }

    fn turns(content: Content) -> Vec<String> {
        let words = |turn: Vec<ChatMessage>| {
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
        // What was said before the first question divides nothing.
        let said = [("assistant", "cut"), ("user", "1"), ("user", "2")];
        assert_eq!(turns(conversation(&said)), ["1", "2"]);
    }

    #[test]
    fn without_answers_each_message_is_a_turn() {
        let said = [("system", "s"), ("user", "1"), ("user", "2"), ("user", "3")];
        assert_eq!(turns(conversation(&said)), ["s+1", "2", "3"]);
        assert_eq!(turns(Content::Text("hi".into())), ["hi"]);
    }

    #[test]
    fn what_is_said_is_all_but_the_answers() {
        let all = [("system", "s"), ("user", "1"), ("assistant", "a"), ("user", "2")];
        let kept = [("system", "s"), ("user", "1"), ("user", "2")];
        assert_eq!(said(&conversation(&all)), conversation(&kept));
        assert_eq!(said(&Content::Text("hi".into())), Content::Text("hi".into()));
    }

    #[test]
    fn what_cannot_be_led_says_why() {
        let said = [("user", "1"), ("assistant", "a"), ("tool", "42"), ("user", "2")];
        assert_eq!(led(conversation(&said), 9), Err(Unusable::Tool(3)));
        assert_eq!(led(conversation(&[("system", "s")]), 9), Err(Unusable::NobodyAsks));
        assert_eq!(led(Content::Body(Default::default()), 9), Err(Unusable::Body));
        let said = [("user", "1"), ("assistant", "a"), ("system", "s"), ("user", " \n")];
        assert_eq!(led(conversation(&said), 9), Err(Unusable::SaysNothing(4)));
        let said = [("user", ""), ("user", "beside something"), ("assistant", "")];
        assert_eq!(turns(conversation(&said)), ["+beside something"]);
        let said = [("user", "1"), ("assistant", "a"), ("user", "2")];
        assert_eq!(led(conversation(&said), 1).unwrap().len(), 1);
    }
}

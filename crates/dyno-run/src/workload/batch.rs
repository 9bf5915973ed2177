//! How many texts a request has, where nothing is generated.

use dyno_model::plan::{LevelPlan, Plan, Task};
use dyno_model::prompt::{Content, Item, Texts};

/// The texts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Batch {
    /// Those that have a result each.
    inputs: u32,
    /// They are ranked by one more.
    ranked: bool,
}

/// The part of a random pair of query and document that is the query.
const QUERY_SHARE: u32 = 4;

impl Batch {
    /// The texts of a level's requests; none where text is generated.
    pub(super) fn of(plan: &Plan, level: &LevelPlan) -> Option<Self> {
        let task = plan.request.task;
        let inputs = level.inputs.unwrap_or(task.usual_inputs()).max(1);
        (!task.generates()).then_some(Self { inputs, ranked: task == Task::Rank })
    }

    /// How many texts there are, with the query.
    pub(super) fn texts(self) -> u64 {
        u64::from(self.inputs) + u64::from(self.ranked)
    }

    /// The lengths of the texts of a request whose draws are `drawn`: to rank, a draw is the length of
    /// a pair, of which the query is a quarter.
    pub(super) fn lengths(self, drawn: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut lengths: Vec<u32> = drawn.take(self.texts() as usize).collect();
        if self.ranked
            && let Some((query, documents)) = lengths.split_first_mut()
        {
            *query = (*query / QUERY_SHARE).max(1);
            documents.iter_mut().for_each(|pair| *pair = pair.saturating_sub(*query).max(1));
        }
        lengths
    }

    /// A request with these texts. Their tokens are known where those of each are.
    pub(super) fn item(self, parts: Vec<Item>) -> Item {
        let input_tokens = parts.iter().map(|part| part.input_tokens).sum();
        let mut texts: Vec<String> = parts.into_iter().map(|part| text(part.content)).collect();
        let query = (self.ranked && texts.len() > 1).then(|| texts.remove(0));
        let content = Content::Texts(Texts { query, texts });
        Item { content, output_tokens: None, input_tokens }
    }
}

fn text(content: Content) -> String {
    match content {
        Content::Text(text) => text,
        Content::Messages(messages) => {
            messages.into_iter().map(|message| message.content).collect::<Vec<_>>().join("\n")
        }
        Content::Body(fields) => serde_json::Value::Object(fields).to_string(),
        Content::Texts(texts) => texts.joined(),
        Content::Recorded(prompt) => prompt.text(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Target;

    fn batch(task: Task, inputs: Option<u32>) -> Option<Batch> {
        let mut plan = Plan::new(Target::at("http://localhost:1"));
        plan.request.task = task;
        Batch::of(&plan, &LevelPlan { inputs, ..LevelPlan::closed_loop(1, 1) })
    }

    #[test]
    fn a_pair_has_the_length_that_was_drawn_for_it() {
        let drawn = || [100, 80, 7, 100].into_iter();
        let embed = batch(Task::Embed, Some(3)).unwrap();
        assert_eq!(embed.lengths(drawn()), [100, 80, 7]);
        let rank = batch(Task::Rank, Some(3)).unwrap();
        // The query has 25 tokens; a document has at least one.
        assert_eq!(rank.lengths(drawn()), [25, 55, 1, 75]);
        assert_eq!(batch(Task::Generate, None), None);
        assert_eq!(batch(Task::Embed, None).unwrap().texts(), 1);
        assert_eq!(batch(Task::Rank, None).unwrap().texts(), 9);
    }

    #[test]
    fn the_first_text_is_the_query_and_tokens_add_up() {
        let part = |text: &str, tokens| Item { input_tokens: tokens, ..Item::text(text) };
        let parts = || vec![part("q", Some(3)), part("a", Some(5))];
        let ranked = batch(Task::Rank, Some(1)).unwrap().item(parts());
        let texts = Texts { query: Some("q".into()), texts: vec!["a".into()] };
        assert_eq!((ranked.content, ranked.input_tokens), (Content::Texts(texts), Some(8)));
        let mut unknown = parts();
        unknown.push(part("b", None));
        let embedded = batch(Task::Embed, Some(3)).unwrap().item(unknown);
        assert_eq!(embedded.input_tokens, None);
    }
}

//! Failures and refusals by class, with samples of the error messages.

use super::Page;
use super::markup::{Markup, class, tag};
use super::numbers::counted;
use super::tables::pill;
use super::words::Word;
use std::collections::BTreeMap;

/// Messages that are shown of one class.
const MESSAGES: usize = 3;
/// The longest of them.
const LONGEST: usize = 600;
/// Levels that are named.
const LEVELS: usize = 12;

#[derive(Default)]
struct Class<'a> {
    count: u64,
    levels: Vec<(&'a str, u64)>,
    messages: Vec<&'a str>,
}

/// What was shed did not fail.
pub(super) fn title(page: &Page) -> Word {
    let shed = page.summary.levels.iter().any(|level| level.requests.shed > Some(0));
    if shed { Word::Refusals } else { Word::Failures }
}

/// The classes, the most frequent first; nothing where nothing failed.
pub(super) fn failures(page: &Page) -> Option<Markup> {
    // By whether they were shed, and by class.
    let mut classes: BTreeMap<(bool, &str), Class> = BTreeMap::new();
    for level in &page.summary.levels {
        let failed = level.requests.failures.iter().map(|of| (false, of));
        let shed = level.overload.iter().flat_map(|overload| &overload.shed);
        for (shed, (name, count)) in failed.chain(shed.map(|of| (true, of))) {
            let class = classes.entry((shed, name.as_str())).or_default();
            class.count += count;
            class.levels.push((&level.label, *count));
            for message in level.failure_samples.get(name).into_iter().flatten() {
                let message = level.failure_in(message, page.language);
                if class.messages.len() < MESSAGES && !class.messages.contains(&message) {
                    class.messages.push(message);
                }
            }
        }
    }
    let mut classes: Vec<((bool, &str), Class)> = classes.into_iter().collect();
    classes.sort_by_key(|(_, class)| std::cmp::Reverse(class.count));
    let items = classes.iter().map(|((shed, name), class)| item(page, *shed, name, class));
    (!classes.is_empty()).then(|| class("ul", "failures").adds(items).into())
}

fn item(page: &Page, shed: bool, name: &str, of: &Class) -> Markup {
    let head = tag("p")
        .add(tag("code").text(name))
        .adds(shed.then(|| pill("unsure", page.say(Word::ShedName))))
        .add(class("b", "count").text(&page.fill(Word::Times_, &[&counted(of.count)])));
    let mut levels: Vec<String> = of
        .levels
        .iter()
        .take(LEVELS)
        .map(|(level, count)| format!("{level}: {}", counted(*count)))
        .collect();
    if of.levels.len() > LEVELS {
        levels.push("…".to_owned());
    }
    let item = tag("li").add(head).add(class("p", "where").text(&levels.join(" · ")));
    let quote =
        |text: &&str| tag("blockquote").text(&dyno_words::escape::escape(text, LONGEST)).into();
    item.adds(of.messages.iter().map(quote)).into()
}

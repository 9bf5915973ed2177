//! A small, strict reader of XML: what is not well-formed is an error.

use std::collections::BTreeMap;

/// An element, with the classes of the groups that it is in.
#[derive(Debug, Clone, Default)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    /// Its own text, without that of its children.
    pub text: String,
    /// The text of its `title`.
    pub title: String,
    /// The groups around it: each with its class and its number in the document.
    pub groups: Vec<(String, usize)>,
}

impl Element {
    pub fn class(&self) -> &str {
        self.attributes.get("class").map_or("", String::as_str)
    }

    pub fn number(&self, name: &str) -> f64 {
        self.attributes[name].parse().unwrap()
    }
}

fn unquoted(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let end = rest[at..].find(';').ok_or_else(|| format!("a lone & in {text:?}"))? + at;
        out.push(match &rest[at + 1..end] {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            other => return Err(format!("unknown entity {other}")),
        });
        rest = &rest[end + 1..];
    }
    Ok(out + rest)
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\n' | '\t' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
        && !matches!(c, '\u{7f}'..='\u{9f}')
}

fn attributes(tag: &str) -> Result<(String, BTreeMap<String, String>), String> {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(format!("{name:?} is not a name"));
    }
    let mut found = BTreeMap::new();
    while !rest.trim().is_empty() {
        let (key, after) = rest.trim_start().split_once("=\"").ok_or(format!("in <{tag}>"))?;
        let (value, after) = after.split_once('"').ok_or(format!("unclosed in <{tag}>"))?;
        if value.contains('<') || found.insert(key.to_owned(), unquoted(value)?).is_some() {
            return Err(format!("attribute {key} in <{tag}>"));
        }
        rest = after;
    }
    Ok((name.to_owned(), found))
}

/// All elements in the order in which they end.
pub fn read(document: &str) -> Result<Vec<Element>, String> {
    if let Some(c) = document.chars().find(|c| !is_allowed(*c)) {
        return Err(format!("{c:?} is not allowed"));
    }
    let (mut open, mut done): (Vec<Element>, Vec<Element>) = (vec![], vec![]);
    let (mut rest, mut groups) = (document, 0);
    while let Some((text, after)) = rest.split_once('<') {
        match open.last_mut() {
            Some(element) => element.text.push_str(&unquoted(text)?),
            None if text.trim().is_empty() => {}
            None => return Err(format!("{text:?} outside of the root")),
        }
        let (tag, after) = after.split_once('>').ok_or("an unclosed tag")?;
        rest = after;
        let ends = if let Some(name) = tag.strip_prefix('/') {
            (open.last().map(|element| element.name.as_str()) == Some(name))
                .then_some(())
                .ok_or(format!("</{name}> closes nothing"))?;
            true
        } else {
            if open.is_empty() && !done.is_empty() {
                return Err("two roots".to_owned());
            }
            let (name, attributes) = attributes(tag.strip_suffix('/').unwrap_or(tag))?;
            let around = open
                .iter()
                .filter(|element| element.name == "g")
                .map(|group| (group.class().to_owned(), group.number("number") as usize));
            let mut element =
                Element { name, attributes, groups: around.collect(), ..Element::default() };
            if element.name == "g" {
                groups += 1;
                element.attributes.insert("number".to_owned(), groups.to_string());
            }
            open.push(element);
            tag.ends_with('/')
        };
        if ends {
            let element = open.pop().ok_or("nothing is open")?;
            if let (Some(parent), "title") = (open.last_mut(), element.name.as_str()) {
                parent.title = element.text.clone();
            }
            done.push(element);
        }
    }
    match (open.is_empty(), rest.trim().is_empty(), done.is_empty()) {
        (true, true, false) => Ok(done),
        _ => Err(format!("it ends too early: {rest:?}")),
    }
}

#[test]
fn what_is_not_well_formed_is_refused() {
    assert_eq!(read("<a x=\"1\"><b>t &amp; u</b><c/></a>").unwrap()[0].text, "t & u");
    let bad = [
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a>&</a>",
        "<a x=\"1\" x=\"2\"/>",
        "<a x=1/>",
        "<a>\u{1}</a>",
        "<a>\u{ffff}</a>",
        "<a/>x",
        "",
    ];
    for document in bad {
        assert!(read(document).is_err(), "{document:?}");
    }
}

//! Links between the pages: the file exists, and so does the heading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A page without its code, where brackets are not links and `#` is not a heading.
fn prose(page: &str) -> Vec<&str> {
    let mut code = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            lines.push(line);
        }
    }
    lines
}

/// The anchor that GitHub gives to a heading.
fn anchor(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(page) {
        if let Some(heading) = line.strip_prefix('#') {
            found.push(anchor(heading.trim_start_matches('#')));
        }
        for id in line.split("<a id=\"").skip(1) {
            found.extend(id.split('"').next().map(str::to_owned));
        }
    }
    found
}

/// The targets of the links in a page.
fn targets(page: &str) -> Vec<String> {
    let text = prose(page).join("\n");
    let ends = |target: &str| target.find(')').map(|end| target[..end].to_owned());
    text.split("](").skip(1).filter_map(ends).filter(|target| !target.contains("://")).collect()
}

/// What is wrong with the links of `pages`, which are paths from `root`.
pub(super) fn broken(root: &Path, pages: &[String]) -> Vec<String> {
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    for page in pages {
        let file = root.join(page);
        for target in targets(&std::fs::read_to_string(&file).unwrap()) {
            let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
            let linked =
                if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let Ok(linked) = linked.canonicalize() else {
                wrong.push(format!("{page}: {target}: there is no such file"));
                continue;
            };
            if heading.is_empty() || linked.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let text = texts
                .entry(linked.clone())
                .or_insert_with(|| std::fs::read_to_string(&linked).unwrap());
            if !anchors(text).iter().any(|anchor| anchor == heading) {
                wrong.push(format!("{page}: {target}: there is no such heading"));
            }
        }
    }
    wrong
}

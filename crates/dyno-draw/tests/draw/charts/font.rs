//! The font that charts are drawn with as PNG: which characters it has.

use dyno_draw::picture;
use dyno_testing::line_of_text::page;
use std::collections::BTreeSet;
use std::path::Path;

fn missing(text: &str) -> Vec<char> {
    picture(&page(text)).unwrap().missing
}

/// What stands in the sources below a folder or in a file.
fn written(path: &Path) -> String {
    match std::fs::read_dir(path) {
        Ok(files) => files.map(|file| written(&file.unwrap().path())).collect(),
        Err(_) => std::fs::read_to_string(path).unwrap(),
    }
}

#[test]
fn every_word_of_ours_is_in_the_font() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tables = [
        "dyno-draw/src/banners.rs",
        "dyno-draw/src/words.rs",
        "dyno-report/src/messages",
        "dyno-words/src/catalogue",
    ];
    let tables = tables.map(|path| written(&crates.join(path)));
    let characters: BTreeSet<char> = tables.concat().chars().filter(|c| *c > '~').collect();
    assert!(characters.len() > 300 && characters.contains(&'延'));
    let text: String = characters.into_iter().collect();
    assert_eq!(missing(&text), [], "run scripts/subset-font");
    assert_eq!(missing("–…→·（），：=+/%[]≤≥±×µ²°"), []);
}

#[test]
fn common_chinese_is_in_the_font_and_what_is_not_is_a_box_and_told() {
    assert_eq!(missing("通义千问深度求索智谱清言模型测试压力服务器生产环境"), []);
    assert_eq!(missing("a🦀b龘"), ['龘', '🦀']);
    let ink = |text: &str| picture(&page(text)).unwrap().bytes;
    assert_eq!(ink("🦀"), ink("龘"), "both are the same box");
    assert_ne!(ink("🦀"), ink(" "), "and it can be seen");
    assert_ne!(ink("并"), ink("行"));
    assert_ne!(ink("并"), ink("🦀"));
}

#[test]
fn what_is_too_high_is_refused_with_advice() {
    let high = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"40000\"></svg>";
    let error = picture(high).unwrap_err().to_string();
    assert!(error.contains("40000") && error.contains("svg"), "{error}");
}

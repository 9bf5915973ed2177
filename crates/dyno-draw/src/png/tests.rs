//! Unit tests of `png.rs`.

use super::*;
use crate::measure;
use dyno_testing::line_of_text::{SIZE, page};
use proptest::prelude::*;

/// How far the text goes with the font that is compiled in.
fn drawn_width(text: &str) -> f64 {
    let tree = Tree::from_str(&page(text), &options()).unwrap();
    let Some(Node::Text(text)) = tree.root().children().first() else {
        panic!("{text} gives no text")
    };
    f64::from(text.bounding_box().width())
}

#[test]
fn hardly_a_character_is_wider_than_measured() {
    let ranges = [0x20..=0x7e, 0xa0..=0x45f, 0x2010..=0x22ff, 0x3000..=0x303f, 0xff01..=0xffe5];
    for c in ranges.into_iter().flatten().filter_map(char::from_u32) {
        let text = format!("n{c}n");
        let alone = drawn_width(&text) - drawn_width("nn");
        let measured = measure::width(&c.to_string(), SIZE, false);
        assert!(alone <= measured * 1.02, "{c:?}: {alone} is wider than {measured}");
    }
}

#[test]
fn chinese_is_as_wide_as_measured() {
    for text in ["随请求到达率的变化", "（请求，秒）：", "阴影：置信区间"] {
        let (drawn, measured) = (drawn_width(text), measure::width(text, SIZE, false));
        assert!((drawn / measured - 1.0).abs() < 0.01, "{text}: {drawn} and {measured}");
        assert_eq!(measure::width(text, SIZE, true), measured, "bold is no wider");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_can_be_drawn(
        text in prop_oneof![
            any::<String>(),
            "[a-zא-ת0-9 ]{0,40}",
            "[ا-ي\u{64b}-\u{652}a-z ]{0,40}",
            "[\u{300}-\u{36f}a-z\u{1f468}\u{1f3fd}\u{fe0f}क-ह\u{93c}-\u{94d}]{0,40}",
        ],
    ) {
        let text = crate::canvas::clean(&text);
        prop_assert!(png(&page(&text)).is_ok());
    }
}

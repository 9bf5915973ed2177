//! Prometheus text as servers print it, line by line.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use dyno_wire::prometheus::*;
use std::borrow::Cow;

fn one(text: &str) -> PrometheusSeries<'_> {
    let all: Vec<_> = series(text).collect();
    assert_eq!(all.len(), 1, "{text}: {all:?}");
    all[0].clone().unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

#[test]
fn values_in_every_form() {
    for (text, value) in [
        ("a 3", 3.0),
        ("a 3.0 1395066363000", 3.0),
        ("a\t1.5e+03\r", 1500.0),
        ("a 7.458255234e9", 7_458_255_234.0),
        ("  a  -2e-3  ", -0.002),
        ("a +Inf", f64::INFINITY),
        ("a -Inf", f64::NEG_INFINITY),
        ("a{} 4", 4.0),
        ("a {} 4", 4.0),
        ("a_bucket{le=\"+Inf\"} 17 # {trace_id=\"x\"} 0.67 1520879607.7", 17.0),
    ] {
        assert_eq!(one(text).value, value, "{text}");
    }
    assert!(one("a NaN").value.is_nan());
}

#[test]
fn labels_and_what_is_escaped_in_them() {
    let series = one(r#"vllm:x{ engine = "0" , model="a \"b\"\\c\n}, #d\é",} 1"#);
    assert_eq!(series.name, "vllm:x");
    let labels: Vec<_> = series.labels.iter().map(|(k, v)| (*k, v.as_ref())).collect();
    assert_eq!(labels, [("engine", "0"), ("model", "a \"b\"\\c\n}, #d\\é")]);
    assert!(matches!(series.labels[0].1, Cow::Borrowed(_)));
}

#[test]
fn comments_blank_lines_and_line_ends_are_passed_over() {
    let text = "# HELP a b\r\n# TYPE a gauge\r\n\r\na 1\r\n   \n#\n# EOF\na{b=\"c\"} 2";
    let values: Vec<_> = series(text).map(|s| s.unwrap().value).collect();
    assert_eq!(values, [1.0, 2.0]);
}

#[test]
fn a_bad_line_is_named_and_the_next_is_read() {
    for bad in [
        "<html>",
        "{\"a\": 1}",
        "9a 1",
        "a",
        "a b",
        "a 1 now",
        "a 1 2 3",
        "a{b} 1",
        "a{b=c} 1",
        "a{b=\"c} 1",
        "a{b=\"c\\\"} 1",
        "a{b=\"c\" d=\"e\"} 1",
        "a{b:c=\"d\"} 1",
        "a{,} 1",
        "a{b=\"c\"",
    ] {
        let text = format!("{bad}\ngood 1\n");
        let read: Vec<_> = series(&text).collect();
        assert_eq!(read.len(), 2, "{bad}");
        assert!(read[0].is_err(), "{bad}: {read:?}");
        assert_eq!(read[1].as_ref().unwrap().name, "good");
    }
}

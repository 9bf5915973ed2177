//! Prometheus text of any kind: nothing panics, and what was written is read back.

use dyno_wire::figures::sample;
use dyno_wire::prometheus::series;
use proptest::prelude::*;

/// Text that is close to the format, and often not of it.
fn nearly() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("vllm:num_requests_running".to_owned()),
        Just("vllm:kv_cache_usage_perc".to_owned()),
        "[a-z_:{}=\",\\\\ \t\r\n#.+eE0-9-]{0,12}",
        "\\PC{0,6}",
        Just("{model=\"a\\\"b\",}".to_owned()),
        Just(" 1e400\n".to_owned()),
        Just(" NaN\r\n".to_owned()),
        Just(" 0.5 1700000000000\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in nearly()) {
        for series in series(&text).flatten() {
            prop_assert!(!series.name.is_empty());
        }
        if let Ok(sample) = sample(&text, 1) {
            prop_assert!(!sample.is_empty());
            prop_assert!(sample.kv_use.is_none_or(|share| (0.0..=1.0).contains(&share)));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = series(&text).count();
        let _ = sample(&text, 0);
    }

    #[test]
    fn what_was_written_is_read(
        name in "[a-zA-Z_:][a-zA-Z0-9_:]{0,20}",
        labels in prop::collection::vec(("[a-zA-Z_][a-zA-Z0-9_]{0,8}", "\\PC{0,8}[\\\\\"\n#}]{0,2}"), 0..4),
        value in any::<f64>().prop_filter("a number", |value| !value.is_nan()),
        time in prop::option::of(0..i64::MAX),
    ) {
        let written: Vec<_> =
            labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
        let time = time.map(|time| format!(" {time}")).unwrap_or_default();
        let text = format!("# TYPE {name} gauge\n{name}{{{}}} {value:?}{time}\r\n", written.join(","));
        let read: Vec<_> = series(&text).collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(read.len(), 1);
        prop_assert_eq!(read[0].name, &name);
        prop_assert_eq!(read[0].value, value);
        let got: Vec<_> =
            read[0].labels.iter().map(|(k, v)| ((*k).to_owned(), v.to_string())).collect();
        prop_assert_eq!(got, labels);
    }
}

//! Any text may stand in a server's `/metrics`: every line is a series or is refused, and what is
//! made of them is a sample of sound metrics.
#![no_main]

use dyno_wire::server_metrics::sample;
use dyno_wire::prometheus::series;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let lines = series(&text).count();
    assert!(lines <= text.split('\n').count());
    if let Ok(sample) = sample(&text, 0) {
        assert!(!sample.is_empty());
        for share in [sample.kv_use, sample.prefix_share].into_iter().flatten() {
            assert!((0.0..=1.0).contains(&share));
        }
    }
});

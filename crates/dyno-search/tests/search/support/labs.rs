//! Twins and SLOs that the search is tested with.

use super::{Figure, Lab, Term};
use dyno_search::LevelKind;

const fn ttft(share: f64, bound: f64) -> Term {
    Term { figure: Figure::Ttft, share, bound }
}

const fn tpot(share: f64, bound: f64) -> Term {
    Term { figure: Figure::Tpot, share, bound }
}

const GENERIC: &str = "generic-7b-24gb";
const MINDIE: &str = "qwen2-72b-8x910b4-mindie";
const VLLM: &str = "qwen1-5-7b-8x910b4-vllm";
const T4: &str = "qwen2-7b-4xt4-vllm";

const RATE: Lab = Lab {
    twin: GENERIC,
    slo: "",
    terms: &[],
    kind: LevelKind::Rate,
    requests: 8_000,
    input: 40,
    output: 100,
};

/// Latencies that rise gently, that jump, and both; rates and numbers in flight.
pub(crate) const LABS: &[Lab] = &[
    Lab {
        twin: MINDIE,
        slo: "tpot.p95<130ms",
        terms: &[tpot(0.95, 0.130)],
        requests: 4_000,
        ..RATE
    },
    Lab { twin: T4, slo: "tpot.p95<100ms", terms: &[tpot(0.95, 0.100)], requests: 4_000, ..RATE },
    Lab {
        slo: "tpot.p95<26ms",
        terms: &[tpot(0.95, 0.026)],
        requests: 4_000,
        input: 256,
        output: 128,
        ..RATE
    },
    Lab { twin: VLLM, slo: "ttft.p99<1s", terms: &[ttft(0.99, 1.0)], ..RATE },
    Lab { twin: T4, slo: "ttft.p99<1s", terms: &[ttft(0.99, 1.0)], ..RATE },
    Lab { twin: MINDIE, slo: "ttft.p99<1s", terms: &[ttft(0.99, 1.0)], ..RATE },
    Lab { slo: "ttft.p99<2s", terms: &[ttft(0.99, 2.0)], input: 256, output: 128, ..RATE },
    Lab {
        twin: VLLM,
        slo: "ttft.p99<1s and tpot.p95<190ms",
        terms: &[ttft(0.99, 1.0), tpot(0.95, 0.190)],
        requests: 4_000,
        ..RATE
    },
    Lab {
        slo: "tpot.p95<30ms",
        terms: &[tpot(0.95, 0.030)],
        kind: LevelKind::Concurrency,
        requests: 1_000,
        input: 256,
        output: 128,
        ..RATE
    },
    Lab {
        twin: MINDIE,
        slo: "ttft.p99<800ms and tpot.p95<150ms",
        terms: &[ttft(0.99, 0.8), tpot(0.95, 0.150)],
        kind: LevelKind::Concurrency,
        requests: 2_000,
        ..RATE
    },
    // Short levels: the answer must be wider, and still contain the truth.
    Lab {
        twin: MINDIE,
        slo: "tpot.p95<130ms",
        terms: &[tpot(0.95, 0.130)],
        requests: 1_000,
        ..RATE
    },
    Lab {
        slo: "ttft.p99<1s",
        terms: &[ttft(0.99, 1.0)],
        requests: 1_000,
        input: 256,
        output: 128,
        ..RATE
    },
];

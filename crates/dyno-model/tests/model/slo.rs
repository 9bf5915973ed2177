//! What is read, what is refused and with which words; and that nothing that can be typed panics.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::slo::{Bound, Condition, Operator, Slo, Term, metrics};
use dyno_model::{MS, SEC};
use proptest::prelude::*;

fn slo(text: &str) -> Slo {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    text.parse::<Slo>().expect_err(text).to_string()
}

fn stop(text: &str) -> String {
    text.parse::<Condition>().expect_err(text).to_string()
}

#[test]
fn terms_are_read() {
    let read = slo("ttft.p99<500ms&&tpot.p95<=50ms and errors<1%");
    let term = |metric, statistic, operator, bound| Term { metric, statistic, operator, bound };
    use Statistic::{P95, P99};
    assert_eq!(
        read.terms(),
        [
            term(Metric::Time(Time::Ttft), Some(P99), Operator::Below, Bound::Time(500 * MS)),
            term(Metric::Time(Time::Tpot), Some(P95), Operator::AtMost, Bound::Time(50 * MS)),
            term(Metric::Errors, None, Operator::Below, Bound::Percent(1.0)),
        ]
    );
    let read = slo("scheduled.latency.p99.9 < 2 m, tokens > 1000/s");
    assert_eq!(
        read.terms(),
        [
            term(
                Metric::Time(Time::LatencyScheduled),
                Some(Statistic::P99_9),
                Operator::Below,
                Bound::Time(120 * SEC)
            ),
            term(Metric::OutputRate, None, Operator::Above, Bound::PerSecond(1000.0)),
        ]
    );
}

#[test]
fn rates_may_have_multipliers() {
    for (text, kept) in [
        ("tokens > 1.5k tok/s", "tokens>1500tok/s"),
        ("tokens>2Mtok/s", "tokens>2000000tok/s"),
        ("throughput>1K/s", "throughput>1000req/s"),
    ] {
        assert_eq!(slo(text).to_string(), kept, "{text}");
    }
}

#[test]
fn however_it_is_written_it_is_kept_in_one_form() {
    let form = "ttft.p99<500ms and itl.mean<=1.5s and errors<0.5% and throughput>2.5req/s";
    for text in [
        form,
        "TTFT.P99<500MS AND Itl.Mean<=1500ms and errors<0.5% and throughput>2.5/s",
        " ttft p99 < 0.5 s,itl . mean ≤ 1.5s ,errors < 0.5 %,, throughput > 2.5 requests/s,",
        "\nttft.p99<500000us\nand itl.mean<=1.5s\n\nerrors<.5%\r\nthroughput>2.50REQ/S\n",
    ] {
        assert_eq!(slo(text).to_string(), form, "{text:?}");
    }
}

#[test]
fn a_bound_is_met_by_the_letter() {
    let holds = |text: &str, value: f64| slo(text).terms()[0].holds(value);
    assert!(holds("ttft.p99<500ms", 499.9) && !holds("ttft.p99<500ms", 500.0));
    assert!(holds("ttft.p99<=500ms", 500.0) && !holds("ttft.p99<=500ms", 500.1));
    assert!(holds("errors<=0%", 0.0) && !holds("errors<=0%", 0.1));
    assert!(holds("throughput>5/s", 5.1) && !holds("throughput>5/s", 5.0));
    assert!(holds("throughput>=5/s", 5.0) && !holds("throughput>=5/s", 4.9));
}

#[test]
fn mistakes_are_named_with_the_right_spelling() {
    for (text, words) in [
        ("", "it is empty; write a bound such as `ttft.p99<500ms`"),
        (" , \n", "it is empty; write a bound such as `ttft.p99<500ms`"),
        ("ttft.p99", "`ttft.p99` has no bound; write METRIC.STATISTIC<BOUND, such as"),
        ("ttft.p99=500ms", "`ttft.p99=500ms` has no bound; write METRIC.STATISTIC<BOUND"),
        ("ttft.p99<", "`ttft.p99<` has no bound"),
        ("<500ms", "`<500ms` has no bound"),
        ("ttft.p99<500ms and", "a term is missing beside `and`"),
        ("and ttft.p99<500ms", "a term is missing beside `and`"),
        ("ttft.p99<5s and and errors<1%", "a term is missing beside `and`"),
        ("ttft.p99<500", "a time needs a unit: write `ttft.p99<500ms`"),
        ("tpot.p95<=50", "a time needs a unit: write `tpot.p95<=50ms`"),
        ("errors<1", "a share needs a unit: write `errors<1%`"),
        ("throughput>3", "a rate of requests needs a unit: write `throughput>3req/s`"),
        ("tokens>3", "a rate of tokens needs a unit: write `tokens>3tok/s`"),
        (
            "tfft.p99<500ms",
            "there is no metric `tfft`; did you mean `ttft`? Known: ttft, scheduled.ttft, tpot, \
             itl, latency, scheduled.latency, errors, throughput, tokens",
        ),
        ("e2el.p99<1s", "there is no metric `e2el`; did you mean `latency`?"),
        ("speed<1s", "there is no metric `speed`. Known: "),
        ("scheduled<1s", "there is no metric `scheduled`. Known: "),
        ("scheduled.tpot.p99<1s", "`tpot` does not depend on the schedule: write `tpot`"),
        ("ttft<500ms", "`ttft` needs a statistic: write `ttft.p99<500ms`. Known: mean, p50, "),
        ("latency<5", "`latency` needs a statistic: write `latency.p99<5ms`"),
        ("ttft.p42<1s", "there is no statistic `p42`; did you mean `p50`? Known: mean, p50, p66"),
        // Section 7: it was `p90`.
        ("ttft.p101<1s", "there is no statistic `p101`. Known: mean, p50, p66"),
        ("ttft.p97<1s", "there is no statistic `p97`; did you mean `p98`?"),
        ("ttft.median<1s", "there is no statistic `median`; did you mean `p50`?"),
        (
            "ttft.max<1s",
            "`max` is not supported, because a single request decides it; write `ttft.p99<1s`",
        ),
        ("errors.p99<2%", "`errors` has no statistics: write `errors<2%`"),
        ("ttft.p99<fast", "`fast` is not a time; write `ttft.p99<500ms`"),
        ("ttft.p99<5%", "`5%` is not a time; write `ttft.p99<500ms`"),
        ("ttft.p99<1s<2s", "`1s<2s` is not a time; write `ttft.p99<500ms`"),
        ("ttft.p99<5 00ms", "`5 00ms` is not a time"),
        ("ttft.p99<1e3ms", "`1e3ms` is not a time"),
        ("errors<1s", "`1s` is not a share; write `errors<1%`"),
        ("throughput>5tok/s", "`5tok/s` is not a rate of requests; write `throughput>5req/s`"),
        ("ttft.p99<-5ms", "`ttft.p99<-5ms` is negative; write `ttft.p99<500ms`"),
        ("tpot.p99<0ms", "`tpot.p99<0ms` can never be met; write `tpot.p99<500ms`"),
        ("ttft.p99<25h", "`ttft.p99<25h` is over a day; write `ttft.p99<500ms`"),
        ("ttft.p99<99999h", "`ttft.p99<99999h` is over a day; write `ttft.p99<500ms`"),
        ("errors<0%", "`errors<0%` can never be met; write `errors<1%`, or `errors<=0%`"),
        ("errors<101%", "`errors<101%` is more than all requests; write `errors<1%`"),
        ("errors<-1%", "`errors<-1%` is negative"),
        ("throughput>0/s", "`throughput>0/s` requires no throughput; write `throughput>5req/s`"),
        ("tokens>1e12/s", "`1e12/s` is not a rate of tokens; write `tokens>1000tok/s`"),
        ("tokens>1000000000000/s", "is over 1,000,000,000 per second; write `tokens>1000tok/s`"),
        (
            "throughput<5/s",
            "`throughput<5/s` is the wrong way round: in an SLO, throughput has a lower bound",
        ),
        (
            "ttft.p99>5s",
            "is the wrong way round: in an SLO, times have an upper bound; write `ttft.p99<5s`",
        ),
        ("errors>2%", "in an SLO, failures have an upper bound; write `errors<2%`"),
        ("ttft.p99<1s, ttft.p99<2s", "`ttft.p99` is bounded twice; keep one of the two"),
    ] {
        let got = refused(text);
        assert!(got.contains(words), "{text}\n got: {got}\nwant: {words}");
    }
    assert!(slo("ttft.p99<1s, ttft.p95<1s, scheduled.ttft.p99<2s").terms().len() == 3);
}

#[test]
fn conditions_are_above_a_bound_or_saturated() {
    for (text, form) in [
        ("errors>5%", "errors>5%"),
        (" TTFT.p99 >= 10s ", "ttft.p99>=10s"),
        ("Saturated", "saturated"),
        ("throughput>50/s", "throughput>50req/s"),
        ("errors>0%", "errors>0%"),
    ] {
        assert_eq!(text.parse::<Condition>().unwrap().to_string(), form);
    }
    for (text, words) in [
        ("", "it is empty; write a bound such as `errors>5%`"),
        ("saturate", "`saturate` has no bound; write METRIC.STATISTIC>BOUND"),
        ("errors<5%", "a condition is met above its bound; write `errors>5%`"),
        ("ttft.p99>0s", "`ttft.p99>0s` always holds"),
        ("errors>100%", "can never be met; write `errors>5%`"),
        ("errors>=0%", "always holds; write `errors>5%`"),
        ("errors>5", "a share needs a unit: write `errors>5%`"),
        ("errors>5% and ttft.p99>1s", "`5% and ttft.p99>1s` is not a share"),
    ] {
        let got = stop(text);
        assert!(got.contains(words), "{text}\n got: {got}\nwant: {words}");
    }
}

#[test]
fn they_are_kept_as_text() {
    let kept = serde_json::to_string(&slo("ttft.p99 < 500 ms, errors<1%")).unwrap();
    assert_eq!(kept, "\"ttft.p99<500ms and errors<1%\"");
    assert_eq!(serde_json::from_str::<Slo>(&kept).unwrap().to_string(), kept.trim_matches('"'));
    assert!(
        serde_json::from_str::<Slo>("\"ttft<5\"").unwrap_err().to_string().contains("statistic")
    );
    assert_eq!(serde_json::to_string(&Condition::Saturated).unwrap(), "\"saturated\"");
}

fn figures() -> Vec<(Metric, Option<Statistic>)> {
    let statistics = |metric: Metric| match metric.is_time() {
        true => Statistic::bounded().map(|statistic| (metric, Some(statistic))).collect(),
        false => vec![(metric, None)],
    };
    metrics().into_iter().flat_map(statistics).collect::<Vec<_>>()
}

/// Any term that may be written, below its bound or above it as `above` asks.
fn any_term(
    (metric, statistic): (Metric, Option<Statistic>),
    above: bool,
) -> impl Strategy<Value = Term> {
    let bound = match metric {
        Metric::Errors => (0.001_f64..100.0).prop_map(Bound::Percent).boxed(),
        metric if metric.is_work() => (1e-6_f64..1e9).prop_map(Bound::PerSecond).boxed(),
        _ => prop_oneof![1_u64..10_000, 1..=24 * 3600 * SEC].prop_map(Bound::Time).boxed(),
    };
    (bound, any::<bool>()).prop_map(move |(bound, strict)| {
        let operator = match (above, strict) {
            (false, true) => Operator::Below,
            (false, false) => Operator::AtMost,
            (true, true) => Operator::Above,
            (true, false) => Operator::AtLeast,
        };
        Term { metric, statistic, operator, bound }
    })
}

fn any_terms() -> impl Strategy<Value = Vec<Term>> {
    proptest::sample::subsequence(figures(), 1..6).prop_shuffle().prop_flat_map(|figures| {
        let terms: Vec<_> = figures.into_iter().map(|f| any_term(f, f.0.is_work())).collect();
        terms
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(terms in any_terms()) {
        let texts: Vec<String> = terms.iter().map(Term::to_string).collect();
        let text = texts.join(" and ");
        let slo: Slo = text.parse().unwrap();
        prop_assert_eq!(slo.terms(), terms);
        prop_assert_eq!(slo.to_string(), text);
    }

    #[test]
    fn so_are_conditions(
        term in proptest::sample::select(figures()).prop_flat_map(|f| any_term(f, true)),
    ) {
        let condition = Condition::Above(term);
        prop_assert_eq!(condition.to_string().parse::<Condition>(), Ok(condition));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}|[a-z0-9.<>=% ,\n/]{0,60}") {
        let _ = text.parse::<Slo>();
        let _ = text.parse::<Condition>();
    }

    #[test]
    fn nearly_right_texts_do_not_panic_either(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "ttft", "scheduled", ".", "p99", "p99.9", "mean", "<", "<=", ">", "≤", "=", "500",
                "0", "-1", "1e308", "99999999999999999999", "ms", "s", "µs", "%", "/s", "req/s",
                " and ", ",", "\n", " ", "errors", "throughput", "İ",
            ]),
            0..14,
        ),
    ) {
        let text = words.concat();
        if let Ok(slo) = text.parse::<Slo>() {
            prop_assert_eq!(slo.to_string().parse::<Slo>(), Ok(slo));
        }
        let _ = text.parse::<Condition>();
    }
}

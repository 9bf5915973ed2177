//! How accurate the metrics are: `dyno bench` and the bare receiver alternate five times on the same
//! scheduled server.

use anyhow::Result;
use xtask::lab::{Engine, bare, bench, build, median, number};

const PAIRS: usize = 5;
/// A client that does more than the bare receiver sends its requests a little apart, which makes the
/// server's schedule easier to keep. For a fair comparison the bare receiver does the same, with about
/// the nanoseconds between requests that `dyno bench` needs.
const SEND_GAP: u32 = 20_000;

pub(crate) fn run() -> Result<()> {
    let dyno = build()?;
    let engine = Engine::start(&dyno, "ttft=100ms,itl=20ms,tokens=128")?;
    let load = [
        "--concurrency",
        "256",
        "--requests",
        "768",
        "--input-tokens",
        "16",
        "--output-tokens",
        "128",
    ];
    println!("256 streams, TTFT 100 ms, ITL 20 ms, 128 tokens, 768 requests; ms");
    println!("pair  receiver   TTFT mean   TTFT p99    ITL p99  verdict");
    let mut excess: [Vec<f64>; 3] = Default::default();
    for pair in 1..=PAIRS {
        let measure_bare = || bare(&engine, 256, 768, 128, SEND_GAP);
        let measure_dyno = || bench(&dyno, &engine, &load);
        let (plain, ours) = if pair % 2 == 1 {
            let plain = measure_bare()?.0;
            (plain, measure_dyno()?.0)
        } else {
            let ours = measure_dyno()?.0;
            (measure_bare()?.0, ours)
        };
        let plain = ["/ttft_mean", "/ttft_p99", "/itl_p99"].map(|at| number(&plain, at));
        let ours_at = ["/ttft_ms/mean", "/ttft_ms/p99", "/itl_ms/p99"];
        let level = &ours["levels"][0];
        let ours = ours_at.map(|at| number(level, at));
        let verdict = level["verdict"].as_str().unwrap_or("?");
        println!("{pair:>4}  bare     {:>11.3}{:>11.3}{:>11.3}", plain[0], plain[1], plain[2]);
        println!(
            "{pair:>4}  dyno     {:>11.3}{:>11.3}{:>11.3}  {verdict}",
            ours[0], ours[1], ours[2]
        );
        for (all, (ours, plain)) in excess.iter_mut().zip(ours.into_iter().zip(plain)) {
            all.push(ours - plain);
        }
    }
    let [mean, p99, itl] = excess.map(median);
    println!("median excess over the bare receiver:");
    println!("  mean TTFT {mean:+.3} ms (bar 1.0)");
    println!("  p99 TTFT  {p99:+.3} ms (bar 3.0)");
    println!("  p99 ITL   {itl:+.3} ms (bar 0.5)");
    Ok(())
}

//! The block of an SLO: which levels meet it, and why not.

use super::*;

fn slo_block(text: &str) -> String {
    let block = text.lines().skip_while(|line| !line.starts_with("SLO "));
    block.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_slo_passed_and_failed() {
    let summary = two_levels("ttft.p95<250ms and tpot.p95<=20ms and errors<1%", 0);
    insta::assert_snapshot!(slo_block(&text(&summary)));
    insta::assert_snapshot!("an_slo_passed_and_failed_chinese", slo_block(&chinese(&summary)));
}

#[test]
fn an_slo_that_no_level_passes() {
    let slo = "ttft.p99<99.9ms and ttft.p99.9<1s and throughput>1req/s";
    let all = text(&two_levels(slo, 60 * MS));
    let notes: Vec<&str> = all.lines().skip_while(|line| !line.starts_with("Notes:")).collect();
    insta::assert_snapshot!(format!("{}\n\n{}", slo_block(&all), notes[..3].join("\n")));
}

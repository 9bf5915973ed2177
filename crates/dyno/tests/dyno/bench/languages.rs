//! The summary at the end of a run, in the language of its user.

use crate::bench::place::Place;
use crate::bench::process::run;

const LADDER: &str = "--concurrency 1,2,4 --requests 20 --output-tokens 8 --quiet";

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[test]
fn a_run_ends_in_the_language_of_the_locale_or_the_flag() {
    let place = Place::new();
    let mut command = place.dyno(&format!("predict {LADDER} --out chinese"));
    command.env("LANG", "zh_CN.UTF-8");
    let chinese = run(command).expect_status(&[0]).stdout;
    assert!(chinese.contains("判定") && chinese.contains("说明："), "{chinese}");
    assert!(chinese.contains("没有用任何实测数据拟合"), "a note of the run: {chinese}");

    let mut command = place.dyno(&format!("predict {LADDER} --out english --lang en"));
    command.env("LANG", "zh_CN.UTF-8");
    let english = run(command).expect_status(&[0]).stdout;
    assert!(english.contains("verdict") && !is_chinese(&english), "{english}");
    assert!(english.contains("TTFT p99 ms by concurrency") && english.contains('█'), "{english}");

    let again = run(place.dyno("report chinese --lang zh")).expect_status(&[0]).stdout;
    assert_eq!(again, chinese, "a report says what the run said");
    let written = std::fs::read_to_string(place.path().join("chinese/summary.json")).unwrap();
    assert!(!is_chinese(&written), "what is kept is English: {written}");
    let [json, csv] = ["json", "csv"].map(|format| {
        run(place.dyno(&format!("report chinese --format {format} --lang zh")))
            .expect_status(&[0])
            .stdout
    });
    assert!(!is_chinese(&json) && !is_chinese(&csv));
}

#[test]
fn a_measured_run_and_a_capacity_speak_chinese() {
    let place = Place::new();
    place.file("lang.toml", "lang = \"zh\"\n");
    let args = "bench --requests 4 --concurrency 2 --output-tokens 4 --quiet --config lang.toml";
    let measured = run(place.dyno(args)).expect_measured().stdout;
    assert!(measured.contains("以下结果来自内置引擎"), "{measured}");
    let args = "capacity --predict --slo ttft.p95<2s --between 1..4 --levels 4 --requests 200 \
                --output-tokens 16 --quiet --lang zh";
    let found = run(place.dyno(args)).expect_status(&[0]).stdout;
    assert!(found.contains("容量：") && found.contains("条件为 ttft.p95<2s"), "{found}");
    assert!(found.contains("SLO ttft.p95<2s") && found.contains("达标"), "{found}");
}

//! Messages in a Chinese locale.

use crate::common::dyno;

#[test]
fn notes_and_prefixes_follow_the_locale() {
    let here = tempfile::tempdir().unwrap();
    let args = ["predict", "--concurrency", "1", "--requests", "2", "--out", "run"];
    let output = dyno(here.path(), &args).env("LANG", "zh_CN.UTF-8").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    for text in ["提示：使用孪生模型", "提示：随机种子 0", "测试目录：run", "报告：run/report.html"]
    {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(!said.contains("note:") && !said.contains("run directory"), "{said}");
    let mut english = dyno(here.path(), &["report", "run", "--lang", "en"]);
    let english = english.env("LANG", "zh_CN.UTF-8").output().unwrap();
    assert!(String::from_utf8_lossy(&english.stdout).contains("valid"));
    let wrong = dyno(here.path(), &["bench", "--rate", "x"]).env("LC_ALL", "zh").output().unwrap();
    assert!(String::from_utf8_lossy(&wrong.stderr).starts_with("错误：--rate"), "{wrong:?}");
}

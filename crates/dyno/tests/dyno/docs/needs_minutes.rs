//! All commands, one page after the other. They also take `jq`.

use super::{pages, root, run};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

#[test]
fn commands_run_and_samples_are_up_to_date() {
    let renewing = std::env::var("EXPECTED_BY").ok();
    let binary = renewing.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_dyno").to_owned());
    let programs = run::Programs::new(Path::new(&binary));
    let files = ["examples"];
    let files = files.map(|dir| root().join(dir));
    let only = std::env::var("DOCS_PAGE").unwrap_or_default();
    let mut pages = pages();
    pages.retain(|page| page.contains(&only));
    assert!(!pages.is_empty(), "no page has `{only}` in its path");
    pages.reverse();
    let (left, wrong) = (Mutex::new(pages), Mutex::new(Vec::new()));
    let work = || {
        while let Some(page) = { left.lock().unwrap().pop() } {
            let start = Instant::now();
            let found = run::page(&root().join(&page), &programs, &files, renewing.is_some());
            println!("{page}: {:.1} s", start.elapsed().as_secs_f64());
            wrong.lock().unwrap().extend(found.iter().map(|what| format!("{page}, {what}")));
        }
    };
    // Much of it is waiting.
    std::thread::scope(|scope| {
        let others = [(); 2].map(|()| scope.spawn(work));
        work();
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    let wrong = wrong.into_inner().unwrap();
    let hint = "EXPECTED_BY=$PWD/target/debug/dyno cargo test -p llm-dyno docs:: renews samples";
    assert!(wrong.is_empty(), "{}\n{hint}", wrong.join("\n"));
}

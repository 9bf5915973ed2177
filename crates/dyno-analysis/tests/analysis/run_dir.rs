//! A recorded run reports the same as its frames in memory, whole or cut off.

use dyno_analysis::{DirSource, summarise};
use dyno_model::Verdict;
use dyno_record::{RunDir, encode_file};
use dyno_testing::runs::*;

#[test]
fn a_run_directory_reports_as_its_frames_do() {
    let (plan, records) = closed(4, 25);
    let end = level_end(0, &records);
    let src = source(&plan, frames(records, Some(end)));
    let whole = encode_file(&src.header, &src.frames).unwrap();
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("records.dyno"), &whole).unwrap();
    let dir = RunDir::open(root.path()).unwrap();
    dir.write_plan(&plan).unwrap();
    let stored = DirSource::open(&dir).unwrap();
    let from_disk = summarise(&dir.read_plan().unwrap(), None, &stored);
    assert_eq!(from_disk, summarise(&plan, None, &src));
    assert!(!from_disk.run.partial);

    std::fs::write(root.path().join("records.dyno"), &whole[..whole.len() * 2 / 3]).unwrap();
    let cut = summarise(&plan, None, &DirSource::open(&dir).unwrap());
    assert!(cut.run.partial);
    assert_eq!(cut.worst_verdict(), Verdict::Suspect);
    assert_eq!(codes(&cut.notes), ["records_damaged", "levels_not_run"]);
    let completed = cut.levels[0].requests.completed.unwrap();
    assert!((50..80).contains(&completed), "{completed}");
}

//! temp
#[path = "../tests/common/mod.rs"]
mod common;
use common::*;
fn main() {
    let (plan, _) = closed(8, 10);
    let mut records = Vec::new();
    for i in 0..4000_u64 {
        let mut r = stream(i, (i % 8) as u32, (i / 8) * 21000, 100, 20, 1);
        for k in 1..1000_u64 {
            r.chunks.push(
                ((i / 8) * 21000 + 100 + k * 20) * 1_000_000 + (k * 7919 * (i + 1)) % 3_000_000,
                k % 16 == 0,
                1,
            );
        }
        r.output = usage(1000);
        r.last = Some(((i / 8) * 21000 + 100 + 20_000) * 1_000_000);
        r.end = r.last.unwrap_or(0);
        records.push(r);
    }
    let end = level_end(0, &records);
    let src = source(&plan, frames(records, Some(end)));
    let t = std::time::Instant::now();
    use dyno_report::FrameSource;
    println!("clone {} {:?}", src.frames().count(), t.elapsed());
    let t = std::time::Instant::now();
    let s = dyno_report::summarise(&plan, None, &src);
    println!("{:?} ns/token {}", s.levels[0].itl_ms, t.elapsed().as_nanos() / 4_000_000);
}

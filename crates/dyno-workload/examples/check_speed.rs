//! What the check of a data file before a run costs.
//!
//! `cargo run --release -p dyno-workload --example check_speed -- FILE`

use dyno_workload::data::{DataSet, DataSpec};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let spec: DataSpec = std::env::args().nth(1).ok_or("name a data file")?.parse()?;
    let begun = Instant::now();
    let set = DataSet::new(&spec)?;
    let opened = begun.elapsed();
    let checked = set.check(None)?;
    println!("{}", set.recognised());
    println!("opened in {opened:?}, checked in {:?}: {checked:?}", begun.elapsed() - opened);
    Ok(())
}

//! Against databases that SQLite itself has made.

use super::{Cell, Damaged, Database};
use proptest::prelude::*;

const TREE: &[u8] = include_bytes!("../../../tests/fixtures/files/tree.db");
const REQUESTS: &[u8] = include_bytes!(
    "../../../tests/fixtures/files/evalscope-sweep/parallel_2_number_12/benchmark_data.db"
);

#[test]
fn a_tree_of_several_levels_comes_in_order_with_every_kind_of_cell() {
    let database = Database::open(TREE).unwrap();
    let table = database.table("tree").unwrap();
    assert_eq!(table.columns, ["id", "small", "real", "words", "bytes"]);
    let numbers = [0, 1, -1, 127, -128, 300, -40_000, 1 << 23, 1 << 40, -(1 << 60)];
    let mut rows = 0_usize;
    database
        .rows(&table, |cells| {
            assert_eq!(cells[0].integer(), Some(rows as i64));
            assert_eq!(cells[1], Cell::Integer(numbers[rows % 10]));
            assert_eq!(cells[2].number(), Some(rows as f64 / 4.0));
            let words = if rows == 123 { "long ".repeat(900) } else { "w".repeat(rows % 7) };
            assert_eq!(cells[3].text(), Some(words.as_str()));
            assert_eq!(cells[4], if rows.is_multiple_of(3) { Cell::Blob } else { Cell::Null });
            rows += 1;
        })
        .unwrap();
    assert_eq!(rows, 400);
    let mut empty = 0;
    database.rows(&database.table("other").unwrap(), |_| empty += 1).unwrap();
    assert_eq!(empty, 0);
    assert_eq!(database.table("third"), Err(Damaged::NoTable("third".to_owned())));
    assert!(!database.has_journal_mode());
}

#[test]
fn a_page_that_leads_round_in_a_ring_is_damage() {
    let database = Database::open(TREE).unwrap();
    let root = database.table("tree").unwrap().root;
    let mut bytes = TREE.to_vec();
    // The last child of the root is the root.
    let at = (root as usize - 1) * 512 + 8;
    bytes[at..at + 4].copy_from_slice(&root.to_be_bytes());
    let database = Database::open(&bytes).unwrap();
    let table = database.table("tree").unwrap();
    let end = database.rows(&table, |_| {});
    assert_eq!(end, Err(Damaged::Page { page: root, why: "it stands in the tree twice" }));
}

#[test]
fn a_file_cut_short_gives_the_rows_before() {
    let database = Database::open(&TREE[..TREE.len() / 2]).unwrap();
    let table = database.table("tree").unwrap();
    let mut rows = 0;
    assert!(database.rows(&table, |_| rows += 1).is_err());
    assert!((1..400).contains(&rows), "{rows}");
}

#[test]
fn headers_that_are_none() {
    assert!(Database::open(&TREE[..50]).is_err());
    let with = |at: usize, value: u8| {
        let mut bytes = TREE.to_vec();
        bytes[at] = value;
        bytes
    };
    assert!(Database::open(&with(17, 3)).is_err());
    assert_eq!(Database::open(&with(59, 2)).unwrap_err(), Damaged::Encoding);
    assert!(Database::open(&with(20, 255)).is_err());
    assert!(Database::open(&with(18, 2)).unwrap().has_journal_mode());
}

fn read_all(bytes: &[u8]) -> usize {
    let mut rows = 0;
    if let Ok(database) = Database::open(bytes) {
        for name in ["tree", "result"] {
            if let Ok(table) = database.table(name) {
                let _ = database.rows(&table, |cells| {
                    rows += cells.iter().filter(|cell| cell.text().is_some()).count();
                });
            }
        }
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changed_bytes_do_no_harm(
        tree in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
        shorten in any::<bool>(),
    ) {
        let mut bytes = if tree { TREE.to_vec() } else { REQUESTS.to_vec() };
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if shorten {
            let length = cut.index(bytes.len());
            bytes.truncate(length);
        }
        read_all(&bytes);
    }

    #[test]
    fn any_bytes_behind_a_header_do_no_harm(body in prop::collection::vec(any::<u8>(), 0..4096)) {
        let mut bytes = TREE[..100].to_vec();
        bytes.extend(body);
        read_all(&bytes);
    }
}

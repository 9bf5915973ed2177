//! Against databases that SQLite itself has made: fixtures of `dyno-import`.

use super::{Damaged, SqlTable, ValueRef, number, text};
use proptest::prelude::*;
use rusqlite::Connection;

const TREE: &[u8] = include_bytes!("../../../dyno-import/tests/fixtures/files/tree.db");
const REQUESTS: &[u8] = include_bytes!(
    "../../../dyno-import/tests/fixtures/files/evalscope-sweep/parallel_2_number_12/benchmark_data.db"
);

#[test]
fn a_tree_of_several_levels_comes_in_order_with_every_kind_of_cell() {
    let numbers = [0, 1, -1, 127, -128, 300, -40_000, 1 << 23, 1 << 40, -(1 << 60)];
    let mut rows = 0_usize;
    let table = SqlTable::open(TREE, "tree").unwrap();
    assert_eq!(table.columns().unwrap(), ["id", "small", "real", "words", "bytes"]);
    table
        .rows(|row| {
            let cells: Vec<ValueRef<'_>> = (0..5).map(|i| row.get_ref_unwrap(i)).collect();
            assert_eq!(cells[0], ValueRef::Integer(rows as i64));
            assert_eq!(cells[1], ValueRef::Integer(numbers[rows % 10]));
            assert_eq!(number(cells[2]), Some(rows as f64 / 4.0));
            let words = if rows == 123 { "long ".repeat(900) } else { "w".repeat(rows % 7) };
            assert_eq!(text(cells[3]), Some(words.as_str()));
            assert_eq!(matches!(cells[4], ValueRef::Blob(_)), rows.is_multiple_of(3));
            assert_eq!(cells[4] == ValueRef::Null, !rows.is_multiple_of(3));
            rows += 1;
        })
        .unwrap();
    assert_eq!(rows, 400);
    assert_eq!(read(TREE, "other").unwrap(), 0);
    assert!(matches!(read(TREE, "third"), Err(Damaged::NoTable("third"))));
}

/// How many rows there are.
fn read(bytes: &[u8], table: &'static str) -> Result<usize, Damaged> {
    let mut rows = 0;
    SqlTable::open(bytes, table)?.rows(|_| rows += 1)?;
    Ok(rows)
}

#[test]
fn a_page_that_leads_round_in_a_ring_is_damage() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE tree(words); CREATE TABLE other(a)").unwrap();
    connection
        .execute_batch(
            "INSERT INTO tree WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
             WHERE i < 5000) SELECT printf('%0100d', i) FROM n",
        )
        .unwrap();
    let mut bytes = connection.serialize("main").unwrap().to_vec();
    assert_eq!(read(&bytes, "tree").unwrap(), 5000);
    // The root is page 2; its last child becomes itself.
    let at = 4096 + 8;
    bytes[at..at + 4].copy_from_slice(&2_u32.to_be_bytes());
    assert!(matches!(read(&bytes, "tree"), Err(Damaged::Sqlite(_))));
}

#[test]
fn a_file_cut_short_gives_the_rows_before() {
    let table = SqlTable::open(&TREE[..TREE.len() / 2], "tree").unwrap();
    let mut rows = 0;
    assert!(table.rows(|_| rows += 1).is_err());
    assert!((1..400).contains(&rows), "{rows}");
}

#[test]
fn headers_that_are_none() {
    assert!(matches!(read(&TREE[..50], "tree"), Err(Damaged::Header)));
    let with = |at: usize, value: u8| {
        let mut bytes = TREE.to_vec();
        bytes[at] = value;
        bytes
    };
    assert!(read(&with(17, 3), "tree").is_err());
    assert!(read(&with(20, 255), "tree").is_err());
    // A write-ahead log that was taken over.
    assert_eq!(read(&with(18, 2), "tree").unwrap(), 400);
}

#[test]
fn texts_in_utf_16_are_read() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(a); INSERT INTO t VALUES('é')")
        .unwrap();
    let bytes = connection.serialize("main").unwrap().to_vec();
    let mut found = None;
    let table = SqlTable::open(&bytes, "t").unwrap();
    table.rows(|row| found = text(row.get_ref_unwrap(0)).map(str::to_owned)).unwrap();
    assert_eq!(found.as_deref(), Some("é"));
}

#[test]
fn nothing_but_the_table_is_run() {
    let made = |sql: &str| {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        connection.serialize("main").unwrap().to_vec()
    };
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let view = made(&format!("CREATE VIEW result AS {endless}"));
    assert!(matches!(read(&view, "result"), Err(Damaged::NoTable(_))));
    let function = made(
        "CREATE TABLE result(a, b AS (hex(zeroblob(a)))); INSERT INTO result(a) VALUES(100000000)",
    );
    assert!(matches!(read(&function, "result"), Err(Damaged::Sqlite(_))));
    // One that says it is a table.
    let disguised = made(&format!(
        "CREATE TABLE result(a); PRAGMA writable_schema = ON; \
         UPDATE sqlite_schema SET sql = 'CREATE VIEW result AS {endless}', rootpage = 0"
    ));
    assert!(read(&disguised, "result").is_err());
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
        let _ = read(&bytes, if tree { "tree" } else { "result" });
    }

    #[test]
    fn any_bytes_behind_a_header_do_no_harm(body in prop::collection::vec(any::<u8>(), 0..4096)) {
        let mut bytes = TREE[..100].to_vec();
        bytes.extend(body);
        let _ = read(&bytes, "tree");
    }
}

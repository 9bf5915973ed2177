//! Every way in which a file can be wrong: one message, with file, line and what would fix it.
#![allow(clippy::expect_used)]

use std::fs;
use std::io::Write;

use dyno_workload::data::{DataError, DataSet, DataSpec};

const SKIP: &str = ", or skip_bad=true to skip such records";

fn open(name: &str, bytes: &[u8], spec: &str) -> Result<DataSet, DataError> {
    let spec: DataSpec = spec.parse().expect("a good specification");
    DataSet::from_bytes(name, bytes, &spec)
}

/// The error, from opening the file or reading it, and how many items came before.
fn said(name: &str, bytes: &[u8], spec: &str) -> (usize, String) {
    let data = match open(name, bytes, spec) {
        Ok(data) => data,
        Err(error) => return (0, error.to_string()),
    };
    let mut before = 0;
    for item in data.open().expect("opens") {
        match item {
            Ok(_) => before += 1,
            Err(error) => return (before, error.to_string()),
        }
    }
    panic!("{name} was read without complaint: {before} items");
}

fn check(name: &str, bytes: &[u8], spec: &str, before: usize, message: &str) {
    assert_eq!(said(name, bytes, spec), (before, message.to_string()), "{spec}");
}

#[test]
fn a_bad_line_in_the_middle() {
    let bytes = b"{\"question\":\"a\"}\n{\"question\": b}\n{\"question\":\"c\"}\n";
    let message = "q.jsonl:2: not valid JSON: expected value at column 14, in \"{\\\"question\\\": \
                   b}\"; correct the record";
    check("q.jsonl", bytes, "q.jsonl", 1, &format!("{message}{SKIP}"));
    let data = open("q.jsonl", bytes, "q.jsonl,skip_bad=true").expect("opens");
    let mut reading = data.open().expect("opens");
    assert_eq!((reading.by_ref().filter_map(Result::ok).count(), reading.skipped()), (2, 1));
}

#[test]
fn a_missing_field() {
    check(
        "q.jsonl",
        br#"{"input":"a","output":"b"}"#,
        "openqa:q.jsonl",
        0,
        "q.jsonl:1: no field is called question; the fields are input, output; write prompt=FIELD \
         for the one to use",
    );
    check(
        "q.jsonl",
        br#"{"foo":"a","bar":"b"}"#,
        "q.jsonl",
        0,
        "q.jsonl:1: no field has a usual name for prompts (prompt, question, instruction, input, \
         …); the fields are bar, foo; write prompt=FIELD for the one to use",
    );
    check(
        "q.csv",
        b"\nfoo,bar\n1,2\n",
        "q.csv,prompt=prompt",
        0,
        "q.csv:3: there is no field \"prompt\"; the fields are bar, foo; write prompt=FIELD for the \
         one to use",
    );
    check(
        "q.jsonl",
        b"{\"prompt\":\"a\"}\n{\"promt\":\"b\"}\n",
        "q.jsonl",
        1,
        &format!(
            "q.jsonl:2: there is no field \"prompt\"; the fields are promt; write prompt=FIELD for \
             the one that holds the prompt{SKIP}"
        ),
    );
    check(
        "s.json",
        br#"[{"prompt":"a"}]"#,
        "sharegpt:s.json",
        0,
        "s.json:1 (element 1): no list is called conversations or messages; the fields are \
         prompt; write messages=FIELD for the one to use",
    );
}

#[test]
fn fields_of_the_wrong_kind() {
    let cases: [(&[u8], usize, &str); 7] = [
        (
            b"[{\"prompt\":\"a\"},\n{\"prompt\":3}]",
            1,
            "d:2 (element 2): the field \"prompt\" is a number, not text; write prompt=FIELD (the \
             fields are prompt)",
        ),
        (b"{\"prompt\":\" \"}", 0, "d:1: the prompt is empty; remove the record"),
        (
            b"{\"prompt\":\"a\"}\n{\"prompt\":null}",
            1,
            "d:2: the field \"prompt\" is null; fill it in",
        ),
        (
            b"{\"prompt\":\"a\",\"max_tokens\":5}\n{\"prompt\":\"a\",\"max_tokens\":0}",
            1,
            "d:2: the field \"max_tokens\" is 0, not a whole number of at least 1; correct it or \
             leave it blank",
        ),
        (
            b"{\"messages\":[{\"role\":\"boss\",\"content\":\"x\"}]}",
            0,
            "d:1: the field \"messages\" has a message 1 of the unknown role \"boss\"; the roles \
             are system, user, assistant and tool",
        ),
        (
            b"{\"messages\":[{\"role\":\"user\",\"content\":[{\"image_url\":1}]}]}",
            0,
            "d:1: the field \"messages\" has a message 1 with a part that is not text; write whole \
             request bodies, one a line, and read them as lines:FILE",
        ),
        (
            b"{\"conversations\":[{\"from\":\"gpt\",\"value\":\"x\"}]}",
            0,
            "d:1: the field \"conversations\" has no user message; remove the record",
        ),
    ];
    for (bytes, before, message) in cases {
        check("d", bytes, "d", before, &format!("{message}{SKIP}"));
    }
    check(
        "d",
        br#"{"model":"m","question":"x"}"#,
        "lines:d",
        0,
        &format!(
            "d:1: a request body needs messages or prompt, and the fields are model, question; \
             write prompt=FIELD to read the object as a table row{SKIP}"
        ),
    );
}

#[test]
fn arrays_that_are_broken() {
    check(
        "a.json",
        b"[{\"prompt\":\"a\"},\n{\"prompt\":\"b\"",
        "a.json",
        1,
        "a.json:2: value 2 begins here and does not end before the file does; the file seems to be \
         cut off: fetch it again, or remove the value",
    );
    check(
        "a.json",
        b"[{\"prompt\":\"a\"}",
        "a.json",
        1,
        "a.json:1: the array does not end after element 1; the file seems to be cut off: fetch it \
         again, or close it with ]",
    );
    check(
        "a.json",
        b"[{\"prompt\":\"a\"} {\"prompt\":\"b\"}]",
        "a.json",
        1,
        "a.json:1: expected , or ] after element 1 and found '{'; correct it by hand, or write one \
         object a line",
    );
    let one_bad = b"[{\"prompt\":\"a\"}, {\"prompt\":tru}, {\"prompt\":\"c\"}]";
    let data = open("a.json", one_bad, "a.json,skip_bad=true").expect("opens");
    let mut reading = data.open().expect("opens");
    assert_eq!((reading.by_ref().filter_map(Result::ok).count(), reading.skipped()), (2, 1));
}

#[test]
fn tables_that_are_broken() {
    check(
        "t.csv",
        b"Questions, in spring\nWhy?\nHow?\n",
        "csv:t.csv",
        0,
        &format!(
            "t.csv:2: the row has 1 field and the header 2; quote fields that hold the delimiter, or \
             remove line 1 if it is a title{SKIP}"
        ),
    );
    check(
        "t.csv",
        b"prompt,x\na,b\na,b,c\n",
        "t.csv",
        1,
        &format!(
            "t.csv:3: the row has 3 fields and the header 2; quote fields that hold the \
             delimiter{SKIP}"
        ),
    );
    check(
        "t.csv",
        b"prompt,x\na,b\n\"a\"b,c\nd,e\n",
        "t.csv",
        1,
        &format!(
            "t.csv:3: text follows a closing quote; put the field in quotes and double the quotes \
             inside it{SKIP}"
        ),
    );
    check(
        "t.csv",
        b"prompt,x\na,b\n\"a,b\n",
        "t.csv",
        1,
        "t.csv:3: a quote opens here and does not close before the file ends; put the field in \
         quotes and double the quotes inside it",
    );
    check(
        "t.csv",
        b"prompt,prompt\na,b\n",
        "t.csv",
        0,
        "t.csv:1: the column \"prompt\" is there twice; rename one",
    );
    let bytes = b"prompt,x\n\"a\"b,c\nd,e\n";
    let data = open("t.csv", bytes, "t.csv,skip_bad=true").expect("opens");
    let mut reading = data.open().expect("opens");
    assert_eq!((reading.by_ref().filter_map(Result::ok).count(), reading.skipped()), (1, 1));
}

#[test]
fn files_that_are_not_what_they_say() {
    let cases: [(&str, &[u8], &str, &str); 7] = [
        (
            "t.csv",
            b"prompt,answer\na,b\n",
            "json:t.csv",
            "t.csv is not json: it begins with \"prompt,answer\", which is not JSON; read it as \
             csv:t.csv",
        ),
        (
            "q.txt",
            b"plain text\n",
            "openqa:q.txt",
            "q.txt is not openqa: it begins with \"plain text\", which is not JSON; read it as \
             lines:q.txt, or name another file",
        ),
        (
            "q",
            b"{\"a\":1}",
            "csv:q",
            "q is not csv: it begins like JSON; leave the kind out to have it recognised",
        ),
        (
            "p",
            b"PAR1....PAR1",
            "json:p",
            "p is not json: it is a Parquet file; leave the kind out to have it recognised",
        ),
        (
            "p.parquet",
            b"nothing",
            "p.parquet",
            "p.parquet is not parquet: it does not begin with PAR1; fetch it again if it was cut \
             off, or name the kind it has",
        ),
        (
            "z",
            b"PK\x03\x04....",
            "z",
            "z is a zip archive; unpack it with unzip first (gzip and zstd are read as they are)",
        ),
        (
            "x",
            b"one\ntwo\n",
            "lines:x,prompt=q",
            "x:1: the records have no fields: this one is text; leave prompt=, context=, system= and \
             messages= out",
        ),
    ];
    for (name, bytes, spec, message) in cases {
        check(name, bytes, spec, 0, message);
    }
}

#[test]
fn settings_are_not_prompts_unless_their_lines_are_said_to_be() {
    let settings = b"rate = 5\nrequests = 100\n";
    let message = "run.toml: a TOML file has settings, not prompts; read settings with --config, or \
                   name lines:FILE if each line is a prompt";
    check("run.toml", settings, "run.toml", 0, message);
    let data = open("run.toml", settings, "lines:run.toml").expect("opens");
    assert_eq!(data.open().expect("opens").filter_map(Result::ok).count(), 2);
}

#[test]
fn a_tar_archive_is_told_from_text_that_says_its_mark() {
    let marked = |mark: &[u8]| [&[b'a'; 257][..], mark, b"00\n"].concat();
    for mark in [&b"ustar\0"[..], b"ustar  \0"] {
        let message = "t is a tar archive; unpack it with tar -x first (gzip and zstd are read as \
            they are)";
        check("t", &marked(mark), "t", 0, message);
    }
    let text = marked(b"ustar  ");
    let data = open("t", &text, "t").expect("text");
    assert_eq!(data.open().expect("opens").count(), 1);
}

#[test]
fn text_that_is_not_utf8() {
    let cases: [(&[u8], usize, &str); 4] = [
        (
            b"ok\n\xc4\xe3\xba\xc3\n",
            1,
            "t:2: invalid UTF-8 at byte 1; save it as UTF-8, as in iconv -f GB18030 -t UTF-8 FILE",
        ),
        (
            b"{\"prompt\":\"a\"}\n{\"prompt\":\"\xff\"}\n",
            1,
            "t:2: invalid UTF-8 at byte 12; save it as UTF-8, as in iconv -f GB18030 -t UTF-8 FILE",
        ),
        (
            b"\xff\xfeh\0i\0",
            0,
            "t:1: the text is UTF-16; save it as UTF-8, as in iconv -f UTF-16 -t UTF-8 FILE",
        ),
        (
            b"h\0i\0\n\0",
            0,
            "t:1: there are zero bytes, so this is UTF-16 or not text; save it as UTF-8, as in iconv -f UTF-16 -t UTF-8 FILE",
        ),
    ];
    for (bytes, before, message) in cases {
        check("t", bytes, "t", before, message);
    }
    let data = open("t", b"ok\n\xc4\xe3\nfine\n", "t,skip_bad=true").expect("opens");
    let mut reading = data.open().expect("opens");
    assert_eq!((reading.by_ref().filter_map(Result::ok).count(), reading.skipped()), (2, 1));
}

#[test]
fn nothing_to_read() {
    check("e", b"", "e", 0, "e is empty; name a file with at least one record");
    let blank = "e holds no records, only blank lines or a header; name a file with at least one";
    check("e", b"\n \n", "e", 0, blank);
    check("e", b"prompt,x\n", "csv:e", 0, blank);
    check("e", b"[]", "json:e", 0, blank);
    check("e", b"\xef\xbb\xbf", "e", 0, "e is empty; name a file with at least one record");
}

#[test]
fn only_bad_records() {
    check(
        "b",
        b"{x\n{y\n",
        "b,skip_bad=true",
        0,
        "b holds no usable record, and all 2 were skipped; the first: b:1: not valid JSON: key \
         must be a string at column 2, in \"{x\"; correct the record",
    );
    check(
        "b",
        b"{\"prompt\":\"\"}\n{\"prompt\":null}\n",
        "b,skip_bad=true",
        0,
        "b holds no usable record, and all 2 were skipped; the first: b:1: the prompt is empty; \
         remove the record",
    );
}

#[test]
fn lines_without_end() {
    let mut bytes = b"{\"prompt\":\"a\"}\n{\"prompt\":\"".to_vec();
    bytes.resize(65 * 1024 * 1024, b'x');
    bytes.extend_from_slice(b"\"}\n{\"prompt\":\"c\"}\n");
    let message = "l:2: the line is longer than 64 MiB; split the file into records";
    check("l", &bytes, "l", 1, &format!("{message}{SKIP}"));
    let data = open("l", &bytes, "l,skip_bad=true").expect("opens");
    let mut reading = data.open().expect("opens");
    assert_eq!((reading.by_ref().filter_map(Result::ok).count(), reading.skipped()), (2, 1));
}

#[test]
fn damaged_compression() {
    let mut text = String::new();
    for n in 0..200_000 {
        text += &format!("{{\"prompt\":\"{}\"}}\n", n * 7919);
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("in memory");
    let gz = encoder.finish().expect("in memory");
    let zst = ruzstd::encoding::compress_to_vec(
        text.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    for (bytes, name) in [(&gz, "gzip"), (&zst, "zstd")] {
        let (before, message) = said("d.gz", &bytes[..bytes.len() / 2], "d.gz");
        let start = format!("d.gz: the {name} stream is damaged after line {before}: ");
        assert!(before > 1_000 && message.starts_with(&start), "{before} {message}");
        assert!(message.ends_with("; fetch it again"), "{message}");
    }
}

#[test]
fn places_that_are_not_files() {
    let folder = tempfile::tempdir().expect("a folder");
    // Section 7: any file that was there was suggested.
    fs::write(folder.path().join("Makefile"), "all:").expect("written");
    fs::write(folder.path().join("a.bin.gz"), "x").expect("written");
    fs::write(folder.path().join("a.txt"), "no prompts").expect("written");
    fs::write(folder.path().join("b.jsonl"), "{}").expect("written");
    fs::write(folder.path().join("a.jsonl"), "{}").expect("written");
    fs::write(folder.path().join("cut.parquet"), "PAR1 and no more").expect("written");
    let here = folder.path().display();
    let notes = tempfile::tempdir().expect("a folder");
    fs::write(notes.path().join("n_types.txt"), "no prompts").expect("written");
    let bare = notes.path().display();
    let cases = [
        (format!("{bare}"), format!("{bare} is a directory; name one file")),
        (format!("{here}"), format!("{here} is a directory; name one file, such as {here}/a.jsonl")),
        (
            format!("{here}/c"),
            format!(
                "there is no file {here}/c; check the path, and from which directory it is read"
            ),
        ),
        ("opneqa".into(), "there is no file opneqa; for the kind openqa, write openqa or openqa:PATH".into()),
        (
            "/dev/null".into(),
            "/dev/null is not a regular file; data are read more than once, so write them to a \
             file first"
                .into(),
        ),
        ("random".into(), "random is random data, which is not read as prompts; its prompts are synthetic, so there is nothing to read".into()),
    ];
    for (spec, message) in cases {
        let error = DataSet::new(&spec.parse().expect("good")).expect_err(&spec);
        assert_eq!(error.to_string(), message);
    }
    let spec = format!("{here}/cut.parquet").parse().expect("good");
    let error = DataSet::new(&spec).expect_err("cut off").to_string();
    let start = format!("{here}/cut.parquet: not a readable Parquet file: ");
    assert!(error.starts_with(&start) && error.ends_with("; fetch it again"), "{error}");
}

#[test]
fn damaged_tables_are_refused_or_read_but_never_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet");
    for codec in ["none", "snappy", "zstd-v2"] {
        let whole = fs::read(fixtures.join(format!("chat-{codec}.parquet"))).expect("there");
        let mut refused = 0;
        for at in (4..whole.len()).step_by(53) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            let path = folder.path().join("damaged.parquet");
            fs::write(&path, bytes).expect("written");
            let spec: DataSpec = path.display().to_string().parse().expect("good");
            let read =
                DataSet::new(&spec).and_then(|data| data.open()?.collect::<Result<Vec<_>, _>>());
            refused += usize::from(read.is_err());
        }
        assert!(refused > 5, "{codec}: {refused}");
    }
}

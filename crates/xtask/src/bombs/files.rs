//! The files.

/// Objects of seven bytes, each of which takes a hundred times as many as a value.
pub(super) fn json() -> Vec<u8> {
    format!("[{}0]", "{\"\":0},".repeat(3_000_000)).into_bytes()
}

/// One text of a megabyte, and 6000 names that stand for it.
pub(super) fn yaml() -> Vec<u8> {
    let (text, names) = ("x".repeat(1 << 20), "- *a\n".repeat(6_000));
    format!("version: '0.1'\ntext: &a {text}\nbenchmarks:\n{names}").into_bytes()
}

/// locust's statistics of 150,000 kinds of requests.
pub(super) fn locust() -> Vec<u8> {
    let mut text = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,\
                    Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s\n"
        .to_owned();
    for number in 0..150_000 {
        text.push_str(&format!("GET,/path/{number},10,0,12,13.5,10,20,100,1.5,0\n"));
    }
    text.into_bytes()
}

/// A tokenizer of a few words; as a bomb, with four replacements that make a text 10^12 times as long.
pub(super) fn tokenizer(bomb: bool) -> String {
    let step = format!(
        "{{\"type\":\"Replace\",\"pattern\":{{\"String\":\"x\"}},\"content\":\"{}\"}}",
        "x".repeat(1000)
    );
    let first = "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\".\"},\"content\":\"x\"}";
    let normalizer = match bomb {
        true => format!(
            "{{\"type\":\"Sequence\",\"normalizers\":[{first},{step},{step},{step},{step}]}}"
        ),
        false => "null".to_owned(),
    };
    format!(
        "{{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[],\
         \"normalizer\":{normalizer},\"pre_tokenizer\":{{\"type\":\"Whitespace\"}},\
         \"post_processor\":null,\"decoder\":null,\"model\":{{\"type\":\"WordLevel\",\
         \"vocab\":{{\"a\":0,\"[UNK]\":1}},\"unk_token\":\"[UNK]\"}}}}"
    )
}

/// The files of a model with this chat template.
pub(super) fn template(source: &str) -> [(&'static str, String); 2] {
    [("tokenizer.json", tokenizer(false)), ("chat_template.jinja", source.to_owned())]
}

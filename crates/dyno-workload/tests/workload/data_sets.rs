//! The data sets that people send, one row each: what is read of a file in their form. The records are
//! our own; names and nesting of the fields are those of the sets.
#![allow(clippy::expect_used)]

use dyno_model::prompt::{Content, Item};
use dyno_workload::data::{DataSet, DataSpec};

/// A set: its name, the file, its text, the first prompt by roles, and how its description ends.
struct Set {
    name: &'static str,
    file: &'static str,
    text: &'static str,
    sent: &'static str,
    said: &'static str,
}

const fn set(
    name: &'static str,
    file: &'static str,
    text: &'static str,
    sent: &'static str,
    said: &'static str,
) -> Set {
    Set { name, file, text, sent, said }
}

const FIRST_TURN: &str = "the first turn of each conversation (turns=all for all)";
const WHOLE: &str = "whole conversations, without the final response";
const FIRST_QUESTION: &str = "the first question of each conversation (session:FILE for all)";

const SETS: &[Set] = &[
    set(
        "ShareGPT",
        "s.json",
        r#"[{"id": "x", "conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yes?"}]}]"#,
        "user: hi",
        FIRST_TURN,
    ),
    set(
        "Alpaca",
        "a.json",
        r#"[{"instruction": "Add.", "input": "1, 2", "output": "3", "text": "Do: Add.\n1, 2\nDone: 3"}]"#,
        "user: Add.\n\n1, 2",
        r#"prompt from "instruction" + "input""#,
    ),
    set(
        "Dolly",
        "d.jsonl",
        r#"{"instruction": "Which bird?", "context": "The moa was a bird.", "response": "The moa", "category": "closed_qa"}"#,
        "user: Which bird?\n\nThe moa was a bird.",
        r#"prompt from "instruction" + "context""#,
    ),
    set(
        "LongBench",
        "l.jsonl",
        r#"{"input": "Who wrote it?", "context": "A long report by Ada.", "answers": ["Ada"], "length": 5, "dataset": "qasper", "language": "en", "all_classes": null, "_id": "1"}"#,
        "user: A long report by Ada.\n\nWho wrote it?",
        r#"prompt from "context" + "input""#,
    ),
    set(
        "LongBench, a task without a question",
        "l.jsonl",
        r#"{"input": "", "context": "A long report.", "answers": ["…"], "length": 3, "dataset": "gov_report"}"#,
        "user: A long report.",
        r#"prompt from "context" + "input""#,
    ),
    set(
        "LongBench v2",
        "l.json",
        r#"[{"_id": "1", "domain": "d", "difficulty": "easy", "length": "short", "question": "Which?", "choice_A": "one", "choice_B": "two", "choice_C": "three", "choice_D": "four", "answer": "B", "context": "The text."}]"#,
        "user: The text.\n\nWhich?\nA. one\nB. two\nC. three\nD. four",
        r#""context" + "question" + "choice_A" + "choice_B" + "choice_C" + "choice_D""#,
    ),
    set(
        "MT-bench",
        "question.jsonl",
        r#"{"question_id": 81, "category": "writing", "turns": ["Write a post.", "Now rhyme it."]}"#,
        "user: Write a post.",
        FIRST_QUESTION,
    ),
    set(
        "SpecBench",
        "question.jsonl",
        r#"{"question_id": 1, "category": "qa", "turns": ["When?"], "reference": ["1901"]}"#,
        "user: When?",
        FIRST_QUESTION,
    ),
    set(
        "GSM8K",
        "g.jsonl",
        r#"{"question": "2 pens cost 3. What do 4 cost?", "answer": "4 / 2 * 3 = <<4/2*3=6>>6\n#### 6"}"#,
        "user: 2 pens cost 3. What do 4 cost?",
        r#"prompt from "question""#,
    ),
    set(
        "HumanEval",
        "h.jsonl",
        r#"{"task_id": "T/0", "prompt": "def half(x):\n", "canonical_solution": "    return x / 2\n", "test": "assert half(4) == 2", "entry_point": "half"}"#,
        "user: def half(x):\n",
        r#"prompt from "prompt""#,
    ),
    set(
        "MBPP",
        "m.jsonl",
        r#"{"text": "Write a function to halve.", "code": "def half(x): return x / 2", "task_id": 1, "test_setup_code": "", "test_list": ["assert half(4) == 2"], "challenge_test_list": []}"#,
        "user: Write a function to halve.",
        r#"prompt from "text""#,
    ),
    set(
        "MBPP, sanitized",
        "m.json",
        r#"[{"source_file": "x", "task_id": 2, "prompt": "Write a function to halve.", "code": "…", "test_imports": [], "test_list": []}]"#,
        "user: Write a function to halve.",
        r#"prompt from "prompt""#,
    ),
    set(
        "OpenOrca",
        "o.jsonl",
        r#"{"id": "niv.1", "system_prompt": "Be brief.", "question": "Why?", "response": "So."}"#,
        "system: Be brief.\nuser: Why?",
        r#"prompt from "question", system from "system_prompt""#,
    ),
    set(
        "UltraChat",
        "u.jsonl",
        r#"{"id": "0", "data": ["How?", "Thus.", "And then?", "So."]}"#,
        "user: How?\nassistant: Thus.\nuser: And then?",
        WHOLE,
    ),
    set(
        "UltraChat 200k",
        "u.jsonl",
        r#"{"prompt": "How?", "prompt_id": "f0", "messages": [{"content": "How?", "role": "user"}, {"content": "Thus.", "role": "assistant"}]}"#,
        "user: How?",
        WHOLE,
    ),
    set(
        "LMSYS-Chat",
        "c.jsonl",
        r#"{"conversation_id": "c", "model": "m-13b", "conversation": [{"content": "hi", "role": "user"}, {"content": "hello", "role": "assistant"}], "turn": 1, "language": "English", "openai_moderation": [{"flagged": false}], "redacted": false}"#,
        "user: hi",
        WHOLE,
    ),
    set(
        "Chatbot Arena",
        "c.jsonl",
        r#"{"question_id": "q", "model_a": "m", "model_b": "n", "winner": "tie", "conversation_a": [{"content": "hi", "role": "user"}, {"content": "a", "role": "assistant"}], "conversation_b": [{"content": "hi", "role": "user"}, {"content": "b", "role": "assistant"}], "turn": 1}"#,
        "user: hi",
        WHOLE,
    ),
    set(
        "WildChat",
        "w.jsonl",
        r#"{"conversation_hash": "h", "model": "m", "timestamp": "2024-01-01T00:00:00", "conversation": [{"content": "hi", "role": "user", "toxic": false, "turn_identifier": 1}, {"content": "a", "role": "assistant"}], "turn": 1}"#,
        "user: hi",
        WHOLE,
    ),
    set(
        "BFCL, several turns",
        "b.json",
        "{\"id\": \"m_0\", \"question\": [[{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"move it\"}], [{\"role\": \"user\", \"content\": \"back\"}]], \"function\": []}\n{\"id\": \"m_1\", \"question\": [[{\"role\": \"user\", \"content\": \"x\"}]], \"function\": []}",
        "system: s\nuser: move it",
        FIRST_QUESTION,
    ),
    set(
        "ToolBench, conversations",
        "t.json",
        r#"[{"id": "1", "conversations": [{"from": "system", "value": "Use tools."}, {"from": "user", "value": "Book it."}, {"from": "assistant", "value": "Action"}, {"from": "function", "value": "{}"}, {"from": "critic", "value": "?"}]}]"#,
        "system: Use tools.\nuser: Book it.",
        FIRST_TURN,
    ),
    set(
        "ToolBench, queries",
        "t.json",
        r#"[{"api_list": [{"tool_name": "t", "api_name": "a"}], "query": "Find flights.", "relevant APIs": [["t", "a"]], "query_id": 1}]"#,
        "user: Find flights.",
        r#"prompt from "query""#,
    ),
    set(
        "Tool calls as LLaMA-Factory has them",
        "g.json",
        r#"[{"conversations": [{"from": "human", "value": "Roll a die."}, {"from": "function_call", "value": {"name": "roll"}}, {"from": "observation", "value": [1]}, {"from": "gpt", "value": "1"}], "system": "", "tools": "[]"}]"#,
        "user: Roll a die.",
        FIRST_TURN,
    ),
    set(
        "AgentInstruct",
        "a.json",
        r#"[{"conversations": [{"from": "human", "loss": null, "value": "You are at home."}, {"from": "gpt", "loss": true, "value": "OK"}], "id": "alf_0"}]"#,
        "user: You are at home.",
        FIRST_TURN,
    ),
    set(
        "MMLU, without column names",
        "anatomy_test.csv",
        "\"Which bone, if any, is longest?\",Rib,Femur,Ulna,Tibia,B\nHow many ribs are there?,10,12,24,26,C\n",
        "user: Which bone, if any, is longest?\nA. Rib\nB. Femur\nC. Ulna\nD. Tibia",
        r#""question" + "A" + "B" + "C" + "D""#,
    ),
    set(
        "MMLU, with a list of choices",
        "m.jsonl",
        r#"{"question": "Longest bone?", "subject": "anatomy", "choices": ["Rib", "Femur"], "answer": 1}"#,
        "user: Longest bone?\nA. Rib\nB. Femur",
        r#"prompt from "question" + "choices""#,
    ),
    set(
        "C-Eval",
        "c.csv",
        "id,question,A,B,C,D,answer\n0,最长的骨是____。,肋骨,股骨,尺骨,胫骨,B\n",
        "user: 最长的骨是____。\nA. 肋骨\nB. 股骨\nC. 尺骨\nD. 胫骨",
        r#""question" + "A" + "B" + "C" + "D""#,
    ),
    set(
        "CMMLU",
        "c.csv",
        ",Question,A,B,C,D,Answer\n0,最长的骨是？,肋骨,股骨,尺骨,胫骨,B\n",
        "user: 最长的骨是？\nA. 肋骨\nB. 股骨\nC. 尺骨\nD. 胫骨",
        r#""Question" + "A" + "B" + "C" + "D""#,
    ),
    set(
        "GAOKAO-Bench",
        "2011_Biology_MCQs.json",
        "{\n    \"keywords\": \"2011_Biology_MCQs\",\n    \"example\": [\n        {\n            \"year\": \"2011\",\n            \"question\": \"1. 下列正确的是\\nA. 甲 B. 乙\",\n            \"answer\": [\"A\"],\n            \"analysis\": \"略\",\n            \"index\": 0,\n            \"score\": 6\n        }\n    ]\n}\n",
        "user: 1. 下列正确的是\nA. 甲 B. 乙",
        r#"an array in a JSON object, prompt from "question""#,
    ),
    set(
        "Belle",
        "b.json",
        "{\"instruction\": \"写一首诗\", \"input\": \"\", \"output\": \"……\"}\n{\"instruction\": \"改写\", \"input\": \"原文\", \"output\": \"……\"}",
        "user: 写一首诗",
        r#"prompt from "instruction" + "input""#,
    ),
    set(
        "Firefly",
        "f.jsonl",
        r#"{"kind": "NLI", "input": "自然语言推理：甲", "target": "矛盾"}"#,
        "user: 自然语言推理：甲",
        r#"prompt from "input""#,
    ),
    set(
        "Firefly, several turns",
        "f.jsonl",
        r#"{"conversation_id": 1, "category": "b", "conversation": [{"human": "你好", "assistant": "你好！"}, {"human": "再见", "assistant": "再见！"}]}"#,
        "user: 你好\nassistant: 你好！\nuser: 再见",
        WHOLE,
    ),
    set(
        "NeedleBench, haystacks",
        "n.jsonl",
        r#"{"id": 0, "text": "An essay about hay."}"#,
        "user: An essay about hay.",
        r#"prompt from "text""#,
    ),
    set(
        "RULER",
        "validation.jsonl",
        r#"{"index": 0, "input": "A special number is hidden: 7. What is it?", "outputs": ["7"], "length": 30, "truncation": -1}"#,
        "user: A special number is hidden: 7. What is it?",
        r#"prompt from "input""#,
    ),
    set(
        "SWE-bench",
        "s.jsonl",
        r#"{"repo": "a/b", "instance_id": "a__b-1", "base_commit": "0f", "patch": "diff --git", "test_patch": "diff", "problem_statement": "It crashes.", "hints_text": "", "version": "1.0", "FAIL_TO_PASS": "[]"}"#,
        "user: It crashes.",
        r#"prompt from "problem_statement""#,
    ),
    set(
        "SWE-bench with the retrieved files",
        "s.jsonl",
        r#"{"instance_id": "a__b-1", "text": "You will be given an issue and files. It crashes.", "problem_statement": "It crashes.", "patch": "diff"}"#,
        "user: You will be given an issue and files. It crashes.",
        r#"prompt from "text""#,
    ),
    set(
        "LiveCodeBench",
        "l.jsonl",
        r#"{"question_title": "Sum", "question_content": "Print a + b.", "platform": "x", "question_id": "1", "starter_code": "class Solution:", "difficulty": "easy", "public_test_cases": "[]", "private_test_cases": "eJw", "metadata": "{}"}"#,
        "user: Print a + b.\n\nclass Solution:",
        r#"prompt from "question_content" + "starter_code""#,
    ),
    set(
        "MATH",
        "m.jsonl",
        r#"{"problem": "What is 1 + 1?", "level": "Level 1", "type": "Algebra", "solution": "2"}"#,
        "user: What is 1 + 1?",
        r#"prompt from "problem""#,
    ),
    set(
        "OpenAI batch",
        "batch.jsonl",
        r#"{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}}"#,
        "user: hi",
        r#"messages from "body.messages", output tokens from "body.max_tokens"; whole conversations, without the final response"#,
    ),
    set(
        "a log of requests and responses",
        "log.jsonl",
        r#"{"time": "2025-01-01", "request": {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0}, "response": {"choices": [{"message": {"role": "assistant", "content": "hello"}}], "usage": {"prompt_tokens": 8, "completion_tokens": 2}}}"#,
        "user: hi",
        r#"messages from "request.messages", output tokens from "response.usage.completion_tokens"; whole conversations, without the final response"#,
    ),
    set(
        "a log with the response among the messages",
        "log.jsonl",
        r#"{"model": "m", "temperature": 0.5, "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}"#,
        "user: hi",
        WHOLE,
    ),
    set(
        "turns with delays, as AIPerf takes them",
        "t.jsonl",
        r#"{"session_id": "1", "turns": [{"text": "hi"}, {"text": "more", "delay": 1000}]}"#,
        "user: hi",
        FIRST_QUESTION,
    ),
];

fn open(file: &str, text: &str, spec: &str) -> DataSet {
    let spec: DataSpec = spec.parse().expect("a good specification");
    DataSet::from_bytes(file, text.as_bytes(), &spec).unwrap_or_else(|error| panic!("{error}"))
}

fn first(data: &DataSet) -> Item {
    data.open().expect("opens").next().expect("a record").unwrap_or_else(|error| panic!("{error}"))
}

fn sent(item: &Item) -> String {
    match &item.content {
        Content::Text(text) => format!("user: {text}"),
        Content::Messages(messages) => {
            let said: Vec<String> =
                messages.iter().map(|m| format!("{}: {}", m.role, m.content)).collect();
            said.join("\n")
        }
        Content::Body(body) => format!("body: {}", serde_json::to_string(body).expect("JSON")),
        Content::Texts(texts) => format!("texts: {}", texts.joined()),
        Content::Recorded(prompt) => format!("recorded: {}", prompt.text()),
    }
}

#[test]
fn every_set_is_read_as_its_users_expect() {
    for Set { name, file, text, sent: expected, said } in SETS {
        let data = open(file, text, file);
        assert_eq!(sent(&first(&data)), *expected, "{name}");
        let told = data.recognised().to_string();
        assert!(told.ends_with(said), "{name}: {told}");
        assert_eq!(data.recognised().warnings(), [], "{name}");
        assert!(data.open().expect("opens").all(|item| item.is_ok()), "{name}");
    }
}

#[test]
fn what_is_logged_can_still_be_sent_as_it_is() {
    let batch = SETS.iter().find(|set| set.name == "OpenAI batch").expect("a row");
    let data = open("b.jsonl", batch.text, "lines:b.jsonl");
    let Content::Body(body) = first(&data).content else { panic!("a body") };
    assert_eq!(body["model"], "m");
    assert!(body["messages"].is_array());
    let log = SETS.iter().find(|set| set.name.ends_with("among the messages")).expect("a row");
    let Content::Body(body) = first(&open("l.jsonl", log.text, "lines:l.jsonl")).content else {
        panic!("a body")
    };
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(2), "the response is sent, too");
}

#[test]
fn questions_of_several_turns_are_conversations_in_a_session() {
    for (name, turns) in [("MT-bench", 2), ("BFCL, several turns", 3), ("UltraChat", 4)] {
        let set = SETS.iter().find(|set| set.name == name).expect("a row");
        let data = open(set.file, set.text, &format!("session:{}", set.file));
        let messages = data.conversations().expect("opens").next().expect("one").expect("good");
        assert_eq!(messages.len(), turns, "{name}");
    }
}

#[test]
fn whole_conversations_with_tools_are_sent_as_text() {
    let set = SETS.iter().find(|set| set.name.starts_with("Tool calls")).expect("a row");
    let whole = set.text.replace("[1]", "\"1\"");
    let data = open("g.json", &whole, "g.json,turns=all");
    assert_eq!(sent(&first(&data)), "user: Roll a die.\nassistant: {\"name\":\"roll\"}\ntool: 1");
    let told = data.recognised().to_string();
    let note = "tool calls as the assistant's text, tool results with the role tool";
    assert!(told.ends_with(note), "{told}");
    // A role that nobody knows is refused only where it would be sent.
    let set = SETS.iter().find(|set| set.name == "ToolBench, conversations").expect("a row");
    let data = open("t.json", set.text, "t.json,turns=all");
    let error = data.open().expect("opens").next().expect("a record").expect_err("unknown");
    assert!(error.to_string().contains("turns=first"), "{error}");
}

#[test]
fn lines_before_the_records_are_skipped_and_said() {
    let record = r#"{"question": "a?"}"#;
    let described = format!("{{\"name\": \"my set\", \"version\": 2}}\n{record}\n");
    let commented = format!("# made by hand\n\n// twice\n{record}\n{record}\n{record}\n{record}\n");
    for (file, text, said) in [
        ("a.jsonl", described.as_str(), "; line 1 skipped, a header"),
        ("b.jsonl", &commented, "; lines 1 to 3 skipped, a header"),
        ("c.csv", "sep=;\nquestion;n\na?;1\n", "; line 1 skipped, a header"),
        ("d.csv", "My questions\n\nid,question\n1,a?\n", "; lines 1 to 2 skipped, a header"),
        ("e.tsv", "# exported\nid\tquestion\n1\ta?\n", "; line 1 skipped, a header"),
    ] {
        let data = open(file, text, file);
        assert!(data.recognised().to_string().contains(said), "{}", data.recognised());
        assert_eq!(sent(&first(&data)), "user: a?", "{file}");
    }
    // Prompts with commas are prompts.
    let prompts = "Hello there\nFix this, text, please\nOh, well, fine\n";
    assert_eq!(open("p.txt", prompts, "p.txt").open().expect("opens").count(), 3);
    // A record that lacks its field is not a header, and a column may be called `#id`.
    let bad = format!("{{\"id\": 1}}\n{{\"id\": 2, \"question\": \"a?\"}}\n{record}\n");
    let data = open("f.jsonl", &bad, "f.jsonl");
    assert!(data.open().expect("opens").next().expect("one").is_err());
    let data = open("g.csv", "#id,body\n1,a?\n", "g.csv,prompt=body");
    assert_eq!(sent(&first(&data)), "user: a?");
}

#[test]
fn a_context_of_another_name_is_put_before_the_prompt() {
    let text = r#"{"ask": "why?", "background": "It rains."}"#;
    let data = open("d.jsonl", text, "d.jsonl,prompt=ask,context=background");
    assert_eq!(sent(&first(&data)), "user: It rains.\n\nwhy?");
    let only = open("d.jsonl", text, "d.jsonl,prompt=ask");
    assert_eq!(sent(&first(&only)), "user: why?");
    // By itself, a field that is named leaves its companions out.
    let dolly = r#"{"instruction": "Which?", "context": "c"}"#;
    assert_eq!(sent(&first(&open("d", dolly, "d,prompt=instruction"))), "user: Which?");
}

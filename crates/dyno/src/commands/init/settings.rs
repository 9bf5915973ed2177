//! The file that `dyno init` writes: what was found, as settings with a comment each.

use crate::args::init::InitArgs;
use dyno_model::{Language, Localized, Message, message};
use dyno_run::Inspected;
use dyno_words::columns::wrap;
use dyno_words::{InLanguage, escape};
use std::fmt::Write as _;

/// What `dyno bench` sends and asks for by default.
const LENGTHS: (u32, u32) = (256, 64);
/// The loads of the first run, the requests of each slot, and the longest time of a level.
const LADDER: (&str, &str, &str) = ("[1, 4, 16]", "20x", "60s");
/// Longer lines are wrapped, so that the file can be read on a terminal.
const WIDTH: usize = 100;

/// The file so far.
pub(super) struct Settings {
    language: Language,
    text: String,
}

impl Settings {
    /// The server, and how it is reached.
    pub(super) fn of(args: &InitArgs, language: Language) -> Self {
        let mut settings = Self { language, text: String::new() };
        settings.say(&message!(
            "Settings for `dyno bench --config FILE`, as dyno {} found them. Each is named like its flag: `dyno \
             bench --help`. Typed flags and DYNO_… variables go before them.",
            "`dyno bench --config FILE` 的设置，由 dyno {} 询问服务器后写成。每项与同名参数含义相同：`dyno bench \
             --help`。命令行参数和 DYNO_… 变量优先于它们。",
            env!("CARGO_PKG_VERSION")
        ));
        settings.gap();
        let url = args.target.shown();
        let url = url.split_once('?').map_or(url.as_str(), |(base, _)| base);
        settings.set("target", &quoted(url));
        let connection = &args.connection;
        for (key, file) in [
            ("api-key-file", &connection.api_key_file),
            ("ca-cert", &connection.ca_cert),
            ("client-cert", &connection.client_cert),
        ] {
            if let Some(path) = file {
                settings.set(key, &quoted(&path.display().to_string()));
            }
        }
        if connection.insecure {
            settings.set("insecure", "true");
        }
        if !connection.header.is_empty() || args.target.query().is_some() {
            settings.say(&message!(
                "Header values and the values of the query are not written here: give them on the command line.",
                "标头的值和查询参数的值不写入此文件：请在命令行给出。"
            ));
        }
        if connection.api_key_file.is_none() {
            settings.say(&message!(
                "A key comes from the environment (DYNO_API_KEY) or a file:",
                "密钥来自环境变量 DYNO_API_KEY，或文件："
            ));
            settings.unset("api-key-file", "\"/path/to/key\"");
        }
        settings
    }

    /// What the server said.
    pub(super) fn found(&mut self, found: &Inspected) {
        self.gap();
        if let Some(why) = &found.why {
            self.say(why);
        }
        self.set("api", &quoted(found.about.name));
        let preflight = found.environment.preflight.as_ref();
        if let Some(model) = preflight.map(|known| &known.model).filter(|name| !name.is_empty()) {
            self.set("model", &quoted(model));
        }
        if found.environment.server.simulated.is_some() {
            self.say(&message!(
                "This is Dyno's own engine: results are simulated.",
                "这是 Dyno 自带的引擎：结果是模拟的。"
            ));
        }
        self.load();
        self.lengths(found);
        if found.about.task.generates() {
            self.gap();
            self.say(&message!(
                "What users need; the exit status is 5 if no level meets it:",
                "用户的要求；没有任何档位达到时退出状态为 5："
            ));
            self.unset("slo", "\"ttft.p95<500ms and tpot.p95<50ms\"");
        }
        self.sources(found);
    }

    /// The file.
    pub(super) fn text(&self) -> String {
        self.text.clone()
    }

    fn load(&mut self) {
        self.gap();
        let (concurrency, requests, duration) = LADDER;
        self.say(&message!(
            "The load: each number of requests in flight is a level. \"auto\" finds the knee; in its place, rate = \
             [1, 2] sends so many requests per second.",
            "负载：每个并发数为一个档位。\"auto\" 自动查找拐点；也可改用 rate = [1, 2]，即每秒发送的请求数。"
        ));
        self.set("concurrency", concurrency);
        self.say(&message!(
            "A level ends after so many requests of each slot, or after this time, whichever comes first.",
            "每个并发完成这么多请求后，或到达此时长时，档位结束，以先到者为准。"
        ));
        self.set("requests", &quoted(requests));
        self.set("duration", &quoted(duration));
        self.unset("warmup", "\"10s\"");
    }

    fn lengths(&mut self, found: &Inspected) {
        self.gap();
        let (mut input, mut output) = LENGTHS;
        if let Some(context) = found.environment.context() {
            self.say(&message!(
                "The server takes {context} tokens, prompt and response together.",
                "服务器最多接受 {context} 个 token，含提示词和响应。"
            ));
            // Chat templates and special tokens need room, too.
            let half = (context / 2).max(1);
            (input, output) = (input.min(half), output.min((half / 2).max(1)));
        }
        self.say(&match found.counts_at {
            Some(path) => message!(
                "Random prompts of this length, counted by the server itself ({path}). `data` sends your own in their place.",
                "随机提示词的长度，由服务器自己计数（{path}）。可用 `data` 代替，发送您自己的数据。"
            ),
            None => message!(
                "Random prompts of about this length: the server does not count tokens. `tokenizer` makes it exact, \
                 `data` sends your own in their place.",
                "随机提示词的大致长度：服务器不能计数 token。用 `tokenizer` 可精确控制，或用 `data` 代替，发送您自己的数据。"
            ),
        });
        self.set("input-tokens", &input.to_string());
        if found.about.task.generates() {
            let known = found.environment.preflight.as_ref();
            let obeyed = known.filter(|known| known.length_forced != Some(false));
            self.say(&match obeyed.and_then(|known| known.length_field.as_ref()) {
                Some(field) => message!(
                    "Responses have exactly this length: the server takes {field}.",
                    "响应恰好为此长度：服务器接受 {field}。"
                ),
                None => message!(
                    "Responses have at most this length: the server was not seen to obey a field that fixes it.",
                    "响应最长为此长度：未见服务器遵守固定长度的字段。"
                ),
            });
            self.set("output-tokens", &output.to_string());
        }
        self.unset("tokenizer", "\"/path/to/tokenizer.json\"");
        self.unset("data", "\"prompts.jsonl\"");
    }

    /// What else the server has, and what its preflight found.
    fn sources(&mut self, found: &Inspected) {
        self.gap();
        self.say(&match found.has_metrics {
            true => message!(
                "The server publishes metrics, which are recorded with the run.",
                "服务器发布指标，会随测试一起记录。"
            ),
            false => message!(
                "The server publishes no metrics beside its API; `metrics` names another address.",
                "服务器未在接口旁发布指标；`metrics` 可指定其他地址。"
            ),
        });
        for note in &found.environment.notes {
            let note = note.in_language(self.language);
            self.comment(&note.what);
        }
    }

    fn say(&mut self, message: &Message) {
        self.comment(&message.text(self.language));
    }

    /// A comment, wrapped. Nothing in it can end the comment.
    fn comment(&mut self, text: &str) {
        let text = escape::escape(text, usize::MAX);
        for line in wrap("", &text, WIDTH).lines() {
            let _ = writeln!(self.text, "# {}", line.trim_end());
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        let _ = writeln!(self.text, "{key} = {value}");
    }

    /// A setting that is not in force.
    fn unset(&mut self, key: &str, value: &str) {
        let _ = writeln!(self.text, "# {key} = {value}");
    }

    fn gap(&mut self) {
        self.text.push('\n');
    }
}

/// A TOML string: that of JSON, but for DEL, which TOML wants escaped.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

//! Chat templates: what a conversation looks like to the model, rendered as the `transformers`
//! library renders them, so that the tokens of the template itself are counted too.

pub(super) mod bounded;

use std::collections::BTreeMap;
use std::error::Error as _;
use std::time::{SystemTime, UNIX_EPOCH};

use bounded::Bounded;
use dyno_model::{Message, message};
use minijinja::machinery::{Vm, make_string_output};
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, ErrorKind};
use serde::Serialize;

use super::python;

/// The name of a template in messages.
const NAME: &str = "chat";

/// The largest template. It is kept until the program ends, so that its parts can refer to it.
const LARGEST: usize = 1 << 20;

/// A compiled chat template and the names of special tokens that it may use.
pub(crate) struct ChatTemplate {
    environment: Environment<'static>,
    bounded: Bounded,
    specials: BTreeMap<String, String>,
}

impl ChatTemplate {
    /// Compiles a template; `specials` are `bos_token`, `eos_token` and so on with their text.
    pub(crate) fn new(source: &str, specials: BTreeMap<String, String>) -> Result<Self, Message> {
        let mut environment = Environment::new();
        environment.set_unknown_method_callback(python::method);
        environment.add_test("iterable", iterable);
        bounded::limit(&mut environment);
        environment.add_function("raise_exception", raise_exception);
        environment.add_function("strftime_now", strftime_now);
        if source.len() > LARGEST {
            return Err(message!("it is larger than {} MiB", "超过 {} MiB", LARGEST >> 20));
        }
        let source: &'static str = Box::leak(without_generation_marks(source).into_boxed_str());
        let (bounded, steps) = bounded::compile(source)?;
        environment.set_fuel(Some(steps));
        Ok(Self { environment, bounded, specials })
    }

    /// The text that the model is given for a conversation, up to where its response begins.
    pub(crate) fn render(
        &self,
        messages: &impl Serialize,
        tools: Option<&serde_json::Value>,
    ) -> Result<String, Message> {
        let mut context: BTreeMap<&str, Value> = self
            .specials
            .iter()
            .map(|(name, text)| (name.as_str(), Value::from(text.as_str())))
            .collect();
        context.insert("messages", Value::from_serialize(messages));
        // Absent tools and documents are None to a template, not undefined.
        context.insert("tools", tools.map_or_else(|| Value::from(()), Value::from_serialize));
        context.insert("documents", Value::from(()));
        context.insert("add_generation_prompt", Value::from(true));
        let Bounded { main, blocks } = &self.bounded;
        let mut text = String::new();
        let mut out = make_string_output(&mut text);
        let context = Value::from_serialize(context);
        Vm::new(&self.environment)
            .eval(main, context, blocks, &mut out, AutoEscape::None)
            .map_err(|error| said_by(&error))?;
        drop(out);
        Ok(text)
    }
}

/// What went wrong and in which line of the template.
fn said_by(error: &Error) -> Message {
    let own = error.source().and_then(|own| own.downcast_ref::<Message>()).cloned();
    let what = own.unwrap_or_else(|| match error.detail() {
        Some(detail) => Message::quoted(detail),
        None => Message::quoted(error.kind()),
    });
    match error.line() {
        Some(line) => message!("line {line}: {what}", "第 {line} 行：{what}"),
        None => what,
    }
}

/// What is wrong, as an error of the library.
pub(super) fn own(kind: ErrorKind, what: Message) -> Error {
    Error::new(kind, what.to_string()).with_source(what)
}

/// `{% generation %}` marks the response for training; it has no effect on what is sent.
fn without_generation_marks(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("{%") {
        let inside = at + 2 + usize::from(rest[at + 2..].starts_with(['-', '+']));
        let tag = rest[inside..].trim_start();
        let word: &str = &tag[..tag.find(|c: char| !c.is_alphanumeric()).unwrap_or(tag.len())];
        let instead = match word {
            "generation" => " if true ",
            "endgeneration" => " endif ",
            _ => "",
        };
        out.push_str(&rest[..inside]);
        rest = if instead.is_empty() {
            &rest[inside..]
        } else {
            out.push_str(instead);
            tag[word.len()..].trim_start()
        };
    }
    out.push_str(rest);
    out
}

/// Unlike minijinja, Python iterates over strings and not over None.
fn iterable(value: &Value) -> bool {
    !value.is_none() && (value.as_str().is_some() || value.try_iter().is_ok())
}

fn raise_exception(message: String) -> Result<Value, Error> {
    let what = message!("the template refuses: {message}", "模板拒绝：{message}");
    Err(own(ErrorKind::InvalidOperation, what))
}

fn strftime_now(format: &str) -> String {
    // A clock before 1970 must not make a count fail.
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    python::strftime(format, seconds)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use dyno_model::prompt::ChatMessage;

    fn rendered(source: &str, messages: &[ChatMessage]) -> Result<String, String> {
        let specials = [("bos_token", "<s>"), ("eos_token", "</s>")]
            .map(|(name, text)| (name.to_owned(), text.to_owned()));
        ChatTemplate::new(source, specials.into())
            .and_then(|template| template.render(&messages, None))
            .map_err(|why| why.to_string())
    }

    fn turn(role: &str, content: &str) -> ChatMessage {
        ChatMessage { role: role.into(), content: content.into() }
    }

    const QWEN_LIKE: &str = "\
{%- if tools %}
    {{- '<|im_start|>system\\n# Tools\\n' + (tools | tojson) + '<|im_end|>\\n' }}
{%- elif messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- else %}
    {{- '<|im_start|>system\\nYou are of use.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == \"user\") or (message.role == \"system\" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == \"assistant\" %}
        {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
        {{- '<|im_start|>assistant\\n' }}{% generation %}{{- content }}{% endgeneration %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
";

    #[test]
    fn a_template_in_the_style_of_qwen() {
        let plain = rendered(QWEN_LIKE, &[turn("user", " hi ")]).expect("render");
        assert_eq!(
            plain,
            "<|im_start|>system\nYou are of use.<|im_end|>\n<|im_start|>user\n hi <|im_end|>\n\
             <|im_start|>assistant\n"
        );
        let thought = rendered(
            QWEN_LIKE,
            &[
                turn("system", "Be brief."),
                turn("user", "a"),
                turn("assistant", "<think>\nhm\n</think>\n\nb"),
                turn("user", "c"),
            ],
        );
        assert_eq!(
            thought.expect("render"),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\na<|im_end|>\n\
             <|im_start|>assistant\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n\
             <|im_start|>assistant\n"
        );
    }

    #[test]
    fn a_template_in_the_style_of_llama_3() {
        let source = "\
{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now('%Y').strip() | length %}
    {%- else %}
        {%- set date_string = '26 Jul 2024' %}
    {%- endif %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = '' %}
{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\n' }}
{%- if tools is not none %}
    {{- 'Environment: ipython\\n' }}
{%- endif %}
{{- 'Date: ' ~ date_string ~ '\\n' }}
{{- system_message }}
{{- '<|eot_id|>' }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
";
        let text = rendered(source, &[turn("system", " S "), turn("user", " hello\n")]);
        assert_eq!(
            text.expect("render"),
            "<s><|start_header_id|>system<|end_header_id|>\n\nDate: 4\nS<|eot_id|>\
             <|start_header_id|>user<|end_header_id|>\n\nhello<|eot_id|>\
             <|start_header_id|>assistant<|end_header_id|>\n\n"
        );
    }

    const MISTRAL_LIKE: &str = "\
{%- if messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content'] %}{%- set turns = messages[1:] %}
{%- else %}{%- set turns = messages %}{%- endif %}
{{- bos_token }}
{%- set ns = namespace(index=0) %}
{%- for message in turns %}
    {%- if (message['role'] == 'user') != (ns.index % 2 == 0) %}
        {{- raise_exception('roles must alternate') }}
    {%- endif %}
    {%- set ns.index = ns.index + 1 %}
    {%- if message['role'] == 'user' %}
        {%- if loop.last and system is defined %}
            {{- ' [INST] ' + system + '\\n\\n' + message['content'] + ' [/INST]' }}
        {%- else %}
            {{- ' [INST] ' + message['content'] + ' [/INST]' }}
        {%- endif %}
    {%- else %}
        {{- ' ' + message['content'] + eos_token }}
    {%- endif %}
{%- endfor %}";

    #[test]
    fn a_template_in_the_style_of_mistral() {
        let turns =
            [turn("system", "S"), turn("user", "a"), turn("assistant", "b"), turn("user", "c")];
        assert_eq!(
            rendered(MISTRAL_LIKE, &turns).expect("render"),
            "<s> [INST] a [/INST] b</s> [INST] S\n\nc [/INST]"
        );
        let twice = rendered(MISTRAL_LIKE, &[turn("user", "a"), turn("user", "b")]);
        let why = twice.expect_err("roles that do not alternate");
        assert!(why.contains("roles must alternate"), "{why}");
    }

    #[test]
    fn what_templates_borrow_from_python() {
        let source = "\
{%- for m in messages -%}
  {%- if m.content.startswith('skip') -%}{% continue %}{%- endif -%}
  {%- if 'stop' in m.content -%}{% break %}{%- endif -%}
  {{ m.role.upper() }}:{{ m.content.replace('x', 'y').strip('.') }};
{%- endfor -%}
{{ messages[0] | tojson }}{{ {'n': none, 't': true, 'l': [1, '<é>']} | tojson(indent=2) }}
{%- for key, value in messages[0].items() %} {{ key }}{% endfor %}
{{ tools is iterable }} {{ '' is iterable }} {{ '{}-{}'.format('a', 1) }}
{{- messages[0].get('none', 'no') }} {{ messages | length > 3 }} {{ tools }}";
        let turns = [
            turn("user", ".ax."),
            turn("user", "skip me"),
            turn("tool", "<b>"),
            turn("user", "stop"),
        ];
        assert_eq!(
            rendered(source, &turns).expect("render"),
            "USER:ay;TOOL:<b>;{\"role\": \"user\", \"content\": \".ax.\"}\
             {\n  \"n\": null,\n  \"t\": true,\n  \"l\": [\n    1,\n    \"<é>\"\n  ]\n} role content\
             False True a-1no True None"
        );
    }

    #[test]
    fn tools_reach_the_template() {
        let template = ChatTemplate::new(QWEN_LIKE, BTreeMap::new()).expect("compile");
        let tools = json!([{"type": "function"}]);
        let text = template.render(&[turn("user", "a")], Some(&tools)).expect("render");
        assert!(text.contains("# Tools\n[{\"type\": \"function\"}]<|im_end|>"), "{text}");
    }

    /// M6: each of these took all memory.
    #[test]
    fn a_template_cannot_take_all_memory() {
        let double = "{% set ns = namespace(a='xxxxxxxx') %}{% for i in range(60) %}";
        for (bomb, why) in [
            (format!("{double}{{% set ns.a = ns.a + ns.a %}}{{% endfor %}}"), "64 MiB"),
            (format!("{double}{{% set ns.a = ns.a ~ ns.a %}}{{% endfor %}}"), "64 MiB"),
            (format!("{double}{{% set ns.a = [ns.a, ns.a] %}}{{% endfor %}}{{{{ ns.a }}}}"), "64 MiB"),
            (format!("{double}{{% set ns.a = [ns.a]|join + ns.a %}}{{% endfor %}}"), "64 MiB"),
            (format!("{double}{{% set ns.a = ns.a.replace('x', 'xx') %}}{{% endfor %}}"), "64 MiB"),
            (format!("{double}{{% set ns.a = ns.a|replace('x', 'xx') %}}{{% endfor %}}"), "64 MiB"),
            (format!("{double}{{% set ns.a = '{{}}{{}}'.format(ns.a, ns.a) %}}{{% endfor %}}"), "64 MiB"),
            ("{% set n = 4000000000 %}{{ 'x' * n }}".to_owned(), "64 MiB"),
            ("{% set n = 4000000000 %}{{ ([1] * n)|length }}".to_owned(), "64 MiB"),
            ("{{ ([1] * 4000000000)|list }}".to_owned(), "multiplies"),
            ("{{ 'x' * 99 * 99 * 99 }}".to_owned(), "multiplies"),
            ("{{ 'a\\nb'|indent(4000000000) }}".to_owned(), "wider than 1000"),
            ("{{ 'a\\nb'|indent(width=4000000000) }}".to_owned(), "wider than 1000"),
            ("{{ [1]|tojson(indent=4000000000) }}".to_owned(), "wider than 1000"),
            ("{{ '%4000000000d'|format(1) }}".to_owned(), "wider than 1000"),
            ("{{ '{:4000000000}'.format(1) }}".to_owned(), "wider than 1000"),
            (
                "{% for i in range(90000) %}{% for j in range(90000) %}text{% endfor %}{% endfor %}"
                    .to_owned(),
                "fuel",
            ),
        ] {
            let refused = rendered(&bomb, &[turn("user", "a")]).expect_err(&bomb);
            assert!(refused.contains(why), "{bomb}: {refused}");
        }
        let huge = format!("{{{{ 1 }}}}{}", "x".repeat(100_000));
        assert!(rendered(&huge, &[]).is_err_and(|why| why.contains("64 KiB")));
    }

    #[test]
    fn bounded_operations_are_those_of_jinja() {
        let source = "{% set n = 2 %}{% set m = 3 %}{{ 1 + 2 }} {{ 1.5 + 2 }} {{ 'a' + 'b' }} {{ ([1] + [2])|tojson }} {{ 1 ~ 'x' ~ 2.5 }} \
            {{ n * m }} {{ 'ab' * n }} {{ ([1] * n)|tojson }} {{ 1.5 * n }} {{ [1, 'b']|join('-') }} \
            {{ 'a-b'|replace('-', '+') }} {{ 'a\nb\n\nc'|indent(2) }} {{ '%s=%d'|format('x', 3) }} \
            {{ ['a', 'b']|join }} {{ 3|string + '!' }} {{ ', '.join(['p', 'q']) }}";
        assert_eq!(
            rendered(source, &[]).expect("render"),
            "3 3.5 ab [1, 2] 1x2.5 6 abab [1, 1] 3.0 1-b a+b a\n  b\n\n  c x=3 ab 3! p, q"
        );
        assert!(rendered("{{ 1 + 'a' }}", &[]).is_err());
    }

    #[test]
    fn a_broken_template_is_reported_with_its_line() {
        let why = rendered("a\n{% if %}", &[]).expect_err("broken");
        assert!(why.starts_with("line 2: "), "{why}");
        let why = rendered("{{ messages[0].content.frobnicate() }}", &[turn("user", "a")])
            .expect_err("unknown method");
        assert!(why.contains("frobnicate"), "{why}");
    }
}

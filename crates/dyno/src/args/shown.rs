//! The command line as it may be saved and printed: without keys, the values of headers, passwords and the
//! values of queries.

/// Flags whose whole value is secret.
const SECRET: [&str; 1] = ["--api-key"];
/// Flags with NAME:VALUE, of which only the name may be shown.
const NAMED: [&str; 1] = ["--header"];
/// Stands for what is left out.
const HIDDEN: &str = "…";

/// The arguments of a process, program first, without secrets.
pub(crate) fn without_secrets(mut given: impl Iterator<Item = String>) -> Vec<String> {
    // Where the program lies on this machine is nobody's business.
    let mut shown: Vec<String> = given.next().map(|_| "dyno".to_owned()).into_iter().collect();
    let mut flag = String::new();
    for argument in given {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (Some(name), value),
            _ => (None, argument.as_str()),
        };
        let of = name.unwrap_or(&flag);
        let value = match of {
            of if SECRET.contains(&of) => HIDDEN.to_owned(),
            of if NAMED.contains(&of) => match value.split_once(':') {
                Some((header, _)) => format!("{header}:{HIDDEN}"),
                None => HIDDEN.to_owned(),
            },
            _ => without_credentials(value),
        };
        shown.push(match name {
            Some(name) => format!("{name}={value}"),
            None => value,
        });
        flag = if name.is_none() && argument.starts_with("--") { argument } else { String::new() };
    }
    shown
}

/// Every URL in a text, several separated by commas, without user, password and the values of its query.
fn without_credentials(text: &str) -> String {
    if !text.contains("://") {
        return text.to_owned();
    }
    text.split(',').map(one_url).collect::<Vec<_>>().join(",")
}

fn one_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    // Where a password ends is not certain: it may contain anything.
    if rest.contains('@') {
        return format!("{scheme}://{HIDDEN}");
    }
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let hidden = |pair: &str| match pair.split_once('=') {
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None => HIDDEN.to_owned(),
    };
    let query = query.map(|query| query.split('&').map(hidden).collect::<Vec<_>>().join("&"));
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    format!("{scheme}://{rest}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &[&str]) -> String {
        without_secrets(line.iter().map(|word| (*word).to_owned())).join(" ")
    }

    #[test]
    fn no_secret_is_in_the_command_line_that_is_kept() {
        assert_eq!(
            shown(&["/home/me/dyno", "bench", "http://h:1/v1?key=hush&hush", "--rate", "4"]),
            "dyno bench http://h:1/v1?key=…&… --rate 4"
        );
        assert_eq!(
            shown(&["dyno", "bench", "--api-key", "hush", "--api-key=hush", "--api-key-file=k"]),
            "dyno bench --api-key … --api-key=… --api-key-file=k"
        );
        assert_eq!(
            shown(&[
                "dyno",
                "--header",
                "X-Key: hush:hush",
                "--header=X-Key:hush",
                "--header",
                "hush"
            ]),
            "dyno --header X-Key:… --header=X-Key:… --header …"
        );
        assert_eq!(
            shown(&[
                "dyno",
                "--bus",
                "nats://me:hu?s/sh@a:4222,nats://b:4222",
                "--bus=tls://hush@c"
            ]),
            "dyno --bus nats://…,nats://b:4222 --bus=tls://…"
        );
        assert_eq!(
            shown(&["dyno", "--versus", "http://o?key=hush", "--metrics=http://m/x?t=hush"]),
            "dyno --versus http://o?key=… --metrics=http://m/x?t=…"
        );
        assert_eq!(
            shown(&["dyno", "--slo", "ttft.p99<1s", "--note", "a, b"]),
            "dyno --slo ttft.p99<1s --note a, b"
        );
    }
}

//! Says what a response is if it is none of an inference server: a redirect, a web page, a compressed
//! body. Everything shown of it is redacted before it is cut, and escaped.

use crate::http::ResponseHead;
use crate::redact::Redactor;
use dyno_model::{Message, message};
use dyno_words::escape::escape;

/// How much of an address is shown.
const LONGEST_URL: usize = 300;
/// The longest title of a page that is shown; what is longer says little.
const LONGEST_TITLE: usize = 80;
/// How far into a page its title is looked for.
const TITLE_WITHIN: usize = 4096;

/// Explains a response by its headers and what has arrived of its body.
pub(crate) fn explain(head: &ResponseHead, body: &[u8], redactor: &Redactor) -> Option<Message> {
    no_words(head, body, redactor).or_else(|| web_page(head, body, redactor))
}

/// Explains an HTTP error whose body is not for people to read as it is: of a web page, its title.
pub(crate) fn refusal(head: &ResponseHead, body: &[u8], redactor: &Redactor) -> Option<Message> {
    let page = || match head.status {
        // Of a gateway before the server.
        429 | 500 | 502..=599 => titled(head, body, redactor),
        _ => web_page(head, body, redactor),
    };
    no_words(head, body, redactor).or_else(page)
}

/// Explains a response whose body has no words of the server: a redirect, or a compressed body.
pub(crate) fn no_words(head: &ResponseHead, body: &[u8], redactor: &Redactor) -> Option<Message> {
    let by_its_look = || compression_of(body).map(is_compressed);
    redirect(head, redactor).or_else(|| compressed(head)).or_else(by_its_look)
}

/// Where a redirect leads to.
fn redirect(head: &ResponseHead, redactor: &Redactor) -> Option<Message> {
    if !matches!(head.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    Some(match head.header("location").map(str::trim) {
        Some(location) if !location.is_empty() => {
            let location = escape(&redactor.clean(&without_secrets(location)), LONGEST_URL);
            message!(
                "the server redirects to {location}; Dyno does not follow redirects: use that URL \
                 as the target",
                "服务器重定向到 {location}；Dyno 不跟随重定向：请以该 URL 为目标"
            )
        }
        _ => message!(
            "the server redirects, but does not say where; check the URL of the target",
            "服务器要求重定向，但没有给出位置；请检查目标的 URL"
        ),
    })
}

/// A URL without a user's name, and without a query, which may carry a token.
fn without_secrets(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (place, query) = url.split_at(end);
    let place = match place.split_once("//") {
        Some((scheme, rest)) => {
            let host = rest.find('/').unwrap_or(rest.len());
            let name = rest[..host].rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}//{}", &rest[name..])
        }
        None => place.to_owned(),
    };
    if query.starts_with('?') { format!("{place}?…") } else { place }
}

/// Whether the body is compressed, by its header.
pub(crate) fn compressed(head: &ResponseHead) -> Option<Message> {
    let encoding = head.header("content-encoding")?.trim();
    let plain = encoding.is_empty() || encoding.eq_ignore_ascii_case("identity");
    (!plain).then(|| is_compressed(&escape(encoding, 40)))
}

fn is_compressed(encoding: &str) -> Message {
    message!(
        "the body is compressed ({encoding}) although the request does not allow it \
         (Accept-Encoding: identity); switch compression off in the server, or in the proxy before it",
        "请求不允许压缩（Accept-Encoding: identity），但响应体经过了压缩（{encoding}）；\
         请在服务器或其前面的代理中关闭压缩"
    )
}

/// The compression of a body without such a header, by its first bytes. Brotli and deflate look
/// like any other binary data.
fn compression_of(body: &[u8]) -> Option<&'static str> {
    match body {
        [0x1f, 0x8b, 8, ..] => Some("gzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        _ => None,
    }
}

/// The title of a web page, if the body is one that has it.
fn titled(head: &ResponseHead, body: &[u8], redactor: &Redactor) -> Option<Message> {
    let title = title(page_in(head, body)?, redactor)?;
    Some(message!("a web page titled `{title}`", "标题为“{title}”的网页"))
}

/// What a web page means, if the body is one.
fn web_page(head: &ResponseHead, body: &[u8], redactor: &Redactor) -> Option<Message> {
    let page = page_in(head, body)?;
    Some(match title(page, redactor) {
        Some(title) => message!(
            "the response is a web page titled `{title}`; this is probably the wrong port or path, or \
             the login page of a proxy",
            "响应是标题为 `{title}` 的网页；可能是端口或路径有误，或是代理的登录页"
        ),
        None => message!(
            "the response is a web page; this is probably the wrong port or path, or the login \
             page of a proxy",
            "响应是网页；可能是端口或路径有误，或是代理的登录页"
        ),
    })
}

/// The beginning of a body, if it is HTML.
fn page_in<'a>(head: &ResponseHead, body: &'a [u8]) -> Option<&'a [u8]> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    let starts = |tag: &str| {
        body.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
    };
    let kind = head.header("content-type").unwrap_or("");
    let labelled = kind.get(..9).is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"));
    let beginnings = ["<!doctype html", "<html", "<head", "<body"];
    let is_page = beginnings.iter().any(|tag| starts(tag)) || (labelled && starts("<"));
    is_page.then(|| &body[..body.len().min(TITLE_WITHIN)])
}

/// The title of a page, if it is short.
fn title(page: &[u8], redactor: &Redactor) -> Option<String> {
    let page = String::from_utf8_lossy(page);
    // Only ASCII letters change, so that places are the same in both.
    let lower = page.to_ascii_lowercase();
    let tag = lower.find("<title")?;
    let start = tag + lower[tag..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let words: Vec<&str> = page[start..end].split_whitespace().collect();
    let title = escape(&redactor.clean(&words.join(" ")), usize::MAX);
    (1..=LONGEST_TITLE).contains(&title.chars().count()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::BodyFraming;

    fn head(status: u16, headers: &[(&str, &str)]) -> ResponseHead {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let headers = headers.iter().map(own).collect();
        ResponseHead { status, headers, framing: BodyFraming::Close, keep_alive: true }
    }

    fn redirected(location: &str) -> String {
        let redactor = Redactor::new(["sk-hush-hush".to_owned()]);
        explain(&head(307, &[("location", location)]), b"", &redactor).unwrap().to_string()
    }

    #[test]
    fn a_redirect_names_its_target_without_secrets() {
        let text = redirected("https://gpu.example/v1/chat/completions");
        assert!(text.contains("to https://gpu.example/v1/chat/completions; "), "{text}");
        let text = redirected("https://me:pass@login.example/a?token=abc&next=/v1#x");
        assert!(text.contains("to https://login.example/a?…; "), "{text}");
        let text = redirected("/v1/sk-hush-hush/x\u{1b}[2J");
        assert!(!text.contains("hush") && !text.contains('\u{1b}'), "{text}");
        let text = redirected(&format!("/{}", "x".repeat(10_000)));
        assert!(text.chars().count() < 500, "{text}");
        for missing in ["", "  "] {
            assert!(redirected(missing).contains("does not say where"));
        }
    }

    #[test]
    fn other_statuses_are_no_redirects() {
        let nobody = Redactor::default();
        for status in [200, 300, 304, 400, 503] {
            assert_eq!(explain(&head(status, &[("location", "/x")]), b"{}", &nobody), None);
        }
    }

    #[test]
    fn a_compressed_body_is_known_by_its_header_or_its_first_bytes() {
        let nobody = Redactor::default();
        for encoding in ["gzip", "deflate", "br", "zstd", "gzip, br"] {
            let text = explain(&head(200, &[("content-encoding", encoding)]), b"\x8b", &nobody);
            assert!(text.unwrap().to_string().contains(&format!("compressed ({encoding})")));
        }
        for plain in ["", "identity", "Identity"] {
            assert_eq!(compressed(&head(200, &[("content-encoding", plain)])), None);
        }
        let bare = head(200, &[]);
        let gzip = explain(&bare, b"\x1f\x8b\x08\x00\x00", &nobody).unwrap().to_string();
        assert!(gzip.contains("(gzip)"), "{gzip}");
        let zstd = explain(&bare, b"\x28\xb5\x2f\xfd\x04", &nobody).unwrap().to_string();
        assert!(zstd.contains("(zstd)"));
    }

    fn page(body: &str) -> Option<String> {
        let explained = explain(&head(200, &[]), body.as_bytes(), &Redactor::default());
        explained.map(|explained| explained.to_string())
    }

    #[test]
    fn a_web_page_is_known_by_its_beginning_and_has_its_title() {
        let text = page("\n<!DOCTYPE html>\n<html><head><Title lang=en>Sign\n in</TITLE>").unwrap();
        assert!(text.contains("titled `Sign in`; "), "{text}");
        for without in ["<html></html>", "<html><title></title>", "<HTML><title>never closed"] {
            assert!(page(without).unwrap().contains("a web page; "), "{without}");
        }
        let long = format!("<html><title>{}</title>", "x".repeat(200));
        assert!(!page(&long).unwrap().contains("xx"));
        let hostile = page("<html><title>a\u{1b}[31m\u{202e}b</title>").unwrap();
        assert!(!hostile.contains('\u{1b}') && !hostile.contains('\u{202e}'), "{hostile}");
        assert!(page("\u{feff}<html><title>ꙮİ</title>").unwrap().contains("`ꙮİ`"));
    }

    /// Python's `http.server` answers a POST with 501 and a page; a gateway's error is its own.
    #[test]
    fn the_page_of_an_http_error_is_named_by_its_title() {
        let nobody = Redactor::default();
        let said = |status, body: &str| {
            let said = refusal(&head(status, &[]), body.as_bytes(), &nobody);
            said.map(|said| said.to_string())
        };
        let page = "<!DOCTYPE HTML>\n<html><head><title>Error response</title></head>";
        let text = said(501, page).unwrap();
        assert!(
            text.contains("titled `Error response`; this is probably the wrong port"),
            "{text}"
        );
        let text = said(502, "<html><head><title>502 Bad Gateway</title>").unwrap();
        assert_eq!(text, "a web page titled `502 Bad Gateway`");
        assert_eq!(said(502, "<html>down"), None);
        assert_eq!(said(400, "{\"error\":\"<html>\"}"), None);
    }

    #[test]
    fn anything_else_is_no_web_page() {
        for other in ["", "<", "<htm", "{\"a\":\"<html>\"}", "data: <html>\n\n", "<xml></xml>"] {
            assert_eq!(page(other), None, "{other}");
        }
        let labelled = head(200, &[("content-type", "Text/HTML; charset=utf-8")]);
        let nobody = Redactor::default();
        assert!(explain(&labelled, b"<!-- a --><p>b", &nobody).is_some());
        assert_eq!(explain(&labelled, b"data: {}", &nobody), None);
    }
}

//! Errors of the system and of the JSON parser. Their own texts are English, whatever the language: those of the
//! system that people meet are known here by their numbers, others are quoted.

use super::{Localized, Message};
use crate::language::Language;
use std::fmt;
use std::io;
use std::process::ExitStatus;

/// By the numbers of Linux.
const KNOWN: [(i32, &str); 26] = [
    (1, "不允许的操作"),
    (2, "没有那个文件或目录"),
    (5, "输入/输出错误"),
    (11, "资源暂时不可用"),
    (12, "无法分配内存"),
    (13, "权限不够"),
    (17, "文件已存在"),
    (20, "不是目录"),
    (21, "是一个目录"),
    (22, "无效的参数"),
    (23, "系统打开的文件过多"),
    (24, "打开的文件过多"),
    (27, "文件过大"),
    (28, "设备上没有空间"),
    (30, "只读文件系统"),
    (32, "管道已断开"),
    (36, "文件名过长"),
    (39, "目录非空"),
    (98, "地址已在使用"),
    (99, "无法分配请求的地址"),
    (101, "网络不可达"),
    (104, "连接被对方重置"),
    (110, "连接超时"),
    (111, "连接被拒绝"),
    (113, "没有到主机的路由"),
    (122, "超出磁盘限额"),
];

impl Localized for io::Error {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        let ours = self.get_ref().and_then(|inner| inner.downcast_ref::<Message>());
        let known = self.raw_os_error().filter(|_| language == Language::Chinese);
        match (ours, known.and_then(|code| KNOWN.iter().find(|(known, _)| *known == code))) {
            (Some(ours), _) => ours.fmt_in(f, language),
            (None, Some((code, text))) => write!(f, "{text}（错误码 {code}）"),
            (None, None) => fmt::Display::fmt(self, f),
        }
    }
}

impl Localized for ExitStatus {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        match self.code().filter(|_| language == Language::Chinese) {
            Some(code) => write!(f, "退出码 {code}"),
            None => fmt::Display::fmt(self, f),
        }
    }
}

/// What the parser says, without the place.
pub fn json_reason(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    said.strip_suffix(&place).map(str::to_owned).unwrap_or(said)
}

impl Localized for serde_json::Error {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        match language {
            Language::English => fmt::Display::fmt(self, f),
            Language::Chinese if self.line() == 0 => write!(f, "“{self}”"),
            Language::Chinese => {
                let (line, column) = (self.line(), self.column());
                write!(f, "第 {line} 行第 {column} 列：“{}”", json_reason(self))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_system_is_said_in_the_language() {
        let refused = io::Error::from_raw_os_error(111);
        assert_eq!(refused.text(Language::English), "Connection refused (os error 111)");
        assert_eq!(refused.text(Language::Chinese), "连接被拒绝（错误码 111）");
        let unknown = io::Error::from_raw_os_error(95);
        assert_eq!(unknown.text(Language::Chinese), unknown.to_string());
        assert_eq!(io::Error::other("x").text(Language::Chinese), "x");
        let ours = io::Error::other(crate::message!("late", "迟到"));
        assert_eq!(
            (ours.to_string().as_str(), ours.text(Language::Chinese).as_str()),
            ("late", "迟到")
        );
    }

    #[test]
    fn a_parser_is_quoted_behind_the_place() {
        let error = serde_json::from_str::<u8>("[\n1").unwrap_err();
        let said = error.text(Language::Chinese);
        assert!(said.starts_with("第 1 行第 0 列：“invalid type") && said.ends_with('”'), "{said}");
        assert!(!said.contains("at line"), "{said}");
        let missing = <serde_json::Error as serde::de::Error>::missing_field("a");
        assert_eq!(missing.text(Language::Chinese), "“missing field `a`”");
    }

    /// Each number is the one of the text that it stands for.
    #[test]
    fn the_numbers_are_those_of_this_system() {
        let english = |code| io::Error::from_raw_os_error(code).to_string();
        for (code, text) in [(28, "No space"), (104, "reset by peer"), (122, "quota")] {
            assert!(english(code).contains(text), "{code}: {}", english(code));
        }
        assert!(KNOWN.iter().all(|(code, _)| !english(*code).starts_with("Unknown error")));
    }
}

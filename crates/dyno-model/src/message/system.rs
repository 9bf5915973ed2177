//! Errors of the system. Its own texts are English, whatever the language; those that people meet are known here.

use super::Localized;
use crate::language::Language;
use std::fmt;
use std::io;

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
        let known = self.raw_os_error().filter(|_| language == Language::Chinese);
        match known.and_then(|code| KNOWN.iter().find(|(known, _)| *known == code)) {
            Some((code, text)) => write!(f, "{text}（错误码 {code}）"),
            None => fmt::Display::fmt(self, f),
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

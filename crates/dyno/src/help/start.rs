//! `dyno` alone: what to type first.

use dyno_model::{Message, message};

/// The page.
pub(crate) fn page() -> Message {
    message!(
        "Dyno is a load tester for LLM inference servers.\n\n\
         \x20 dyno bench                          try it: the embedded engine, about a minute, no GPU\n\
         \x20 dyno bench http://localhost:8000    measure a server\n\
         \x20 dyno init http://localhost:8000     settings for that server in a file, to change and keep\n\
         \x20 dyno open                           the report of the latest run, in a browser\n\
         \x20 dyno completions --install          complete commands and flags with Tab\n\n\
         `dyno --help` lists all commands, `dyno bench -h` its everyday flags.",
        "Dyno 是大模型推理服务器的压测工具。\n\n\
         \x20 dyno bench                          试一试：测试内置引擎，约一分钟，无需 GPU\n\
         \x20 dyno bench http://localhost:8000    测试服务器\n\
         \x20 dyno init http://localhost:8000     询问服务器，将其设置写入文件，便于修改和保存\n\
         \x20 dyno open                           在浏览器中打开最近一次测试的报告\n\
         \x20 dyno completions --install          用 Tab 键补全命令和参数\n\n\
         `dyno --help` 列出所有命令，`dyno bench -h` 列出常用参数。"
    )
}

//! `dyno completions --install`: the script where the user's own shell looks for it. No file of the user is
//! changed; what else a shell needs is said.

use crate::commands::cannot_write;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use clap::ValueEnum;
use clap_complete::Shell;
use dyno_model::message;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the script of a shell, or of `$SHELL`, and says where and how to remove it.
pub(super) fn install(
    asked: Option<Shell>,
    script: impl Fn(Shell) -> String,
    printer: &Printer,
) -> Exit {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let written = place(asked, &variable).and_then(|(shell, path)| {
        write(&path, &script(shell))?;
        Ok((shell, path))
    });
    match written {
        Ok((shell, path)) => {
            told(shell, &path, printer);
            Exit::Fine
        }
        Err(error) => {
            printer.error(&error);
            Exit::Usage
        }
    }
}

fn write(path: &Path, script: &str) -> Result<(), UsageError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, script));
    written.map_err(|error| UsageError::new("--install", cannot_write(path, &error)))
}

fn told(shell: Shell, path: &Path, printer: &Printer) {
    let quoted = dyno_words::escape::quoted(&path.display().to_string());
    printer.remark(&message!("wrote {quoted}", "已写入 {quoted}"));
    if shell == Shell::Zsh {
        let folder = path.parent().unwrap_or(path);
        let folder = dyno_words::escape::quoted(&folder.display().to_string());
        printer.remark(&message!(
            "zsh reads it if ~/.zshrc has this line before `compinit`:\n  fpath=({folder} $fpath)\nand, if it \
             has no compinit yet, this one after it:\n  autoload -Uz compinit && compinit",
            "需在 ~/.zshrc 的 `compinit` 之前加上此行，zsh 才会读取：\n  fpath=({folder} $fpath)\n若尚无 \
             compinit，再在其后加上：\n  autoload -Uz compinit && compinit"
        ));
    }
    if shell == Shell::Bash {
        printer.remark(&message!(
            "bash reads it if the package bash-completion is installed",
            "安装了 bash-completion 软件包时，bash 会读取它"
        ));
    }
    printer.remark(&message!(
        "New shells complete `dyno`. To remove it: rm {quoted}",
        "新打开的 shell 即可补全 `dyno`。删除方法：rm {quoted}"
    ));
}

/// The shell, and its own folder of the user.
fn place(
    asked: Option<Shell>,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<(Shell, PathBuf), UsageError> {
    let wrong = |message| UsageError::new("--install", message);
    let shell = match (asked, variable("SHELL")) {
        (Some(shell), _) => shell,
        (None, Some(path)) => {
            let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
            Shell::from_str(&name, true).map_err(|_| {
                wrong(message!(
                    "`$SHELL` is {name}, for which there are no completions; name a shell: bash, zsh or fish",
                    "`$SHELL` 是 {name}，没有对应的补全脚本；请指定 bash、zsh 或 fish"
                ))
            })?
        }
        (None, None) => {
            return Err(wrong(message!(
                "`$SHELL` is not set; name a shell: dyno completions bash --install",
                "未设置 `$SHELL`；请指定 shell：dyno completions bash --install"
            )));
        }
    };
    let home = || {
        variable("HOME").map(PathBuf::from).ok_or_else(|| {
            wrong(message!(
                "`$HOME` is not set, so there is no folder of yours to write to",
                "未设置 `$HOME`，无法确定要写入的用户目录"
            ))
        })
    };
    let or_home = |name: &str, below: &str| match variable(name) {
        Some(set) => Ok(PathBuf::from(set)),
        None => home().map(|home| home.join(below)),
    };
    let path = match shell {
        Shell::Bash => match variable("BASH_COMPLETION_USER_DIR") {
            Some(set) => PathBuf::from(set),
            None => or_home("XDG_DATA_HOME", ".local/share")?.join("bash-completion"),
        }
        .join("completions/dyno"),
        Shell::Zsh => or_home("ZDOTDIR", "")?.join(".zfunc/_dyno"),
        Shell::Fish => or_home("XDG_CONFIG_HOME", ".config")?.join("fish/completions/dyno.fish"),
        other => {
            return Err(wrong(message!(
                "is for bash, zsh and fish; print the script of {other} and put it where that shell looks: dyno \
                 completions {other}",
                "仅支持 bash、zsh 和 fish；请打印 {other} 的脚本并放到该 shell 读取的位置：dyno completions {other}"
            )));
        }
    };
    Ok((shell, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(asked: Option<Shell>, variables: &[(&str, &str)]) -> Result<String, String> {
        let found = place(asked, &|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        });
        found.map(|(_, path)| path.display().to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn each_shell_has_its_folder_below_home_unless_variables_say_otherwise() {
        let home = ("HOME", "/home/a");
        let shells = [
            (Shell::Bash, "/home/a/.local/share/bash-completion/completions/dyno"),
            (Shell::Zsh, "/home/a/.zfunc/_dyno"),
            (Shell::Fish, "/home/a/.config/fish/completions/dyno.fish"),
        ];
        for (shell, path) in shells {
            assert_eq!(at(Some(shell), &[home]), Ok(path.to_owned()));
            assert!(at(Some(shell), &[]).unwrap_err().contains("$HOME"));
        }
        let moved = [
            (Shell::Bash, "BASH_COMPLETION_USER_DIR", "/x/completions/dyno"),
            (Shell::Bash, "XDG_DATA_HOME", "/x/bash-completion/completions/dyno"),
            (Shell::Zsh, "ZDOTDIR", "/x/.zfunc/_dyno"),
            (Shell::Fish, "XDG_CONFIG_HOME", "/x/fish/completions/dyno.fish"),
        ];
        for (shell, name, path) in moved {
            assert_eq!(at(Some(shell), &[home, (name, "/x")]), Ok(path.to_owned()));
        }
    }

    #[test]
    fn the_login_shell_decides_where_none_is_named() {
        let home = ("HOME", "/h");
        assert_eq!(at(None, &[home, ("SHELL", "/usr/bin/zsh")]), Ok("/h/.zfunc/_dyno".to_owned()));
        assert!(at(None, &[home, ("SHELL", "/bin/dash")]).unwrap_err().contains("dash"));
        assert!(at(None, &[home]).unwrap_err().contains("dyno completions bash --install"));
        let elsewhere = at(Some(Shell::PowerShell), &[home]).unwrap_err();
        assert!(elsewhere.contains("dyno completions powershell"), "{elsewhere}");
    }
}

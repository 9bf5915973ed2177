//! Prompts from standard input, `-`: read once and kept, because data are read again for each level.

use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use dyno_model::budget::{Budget, HeldBytes};
use dyno_model::{Message, message};

use super::dataset::DataPlace;
use super::error::DataError;

/// The path that stands for standard input.
const DASH: &str = "-";
/// The most that is kept of it, in bytes.
const MOST: usize = 256 << 20;

type Kept = Result<(Arc<[u8]>, HeldBytes), Message>;

/// Whether a path stands for standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == DASH
}

/// Where the data at a path are.
pub(super) fn place(path: &Path) -> Result<DataPlace, DataError> {
    static KEPT: OnceLock<Kept> = OnceLock::new();
    if !is_stdin(path) {
        return Ok(DataPlace::File(path.to_path_buf()));
    }
    let kept = KEPT.get_or_init(|| match io::stdin().is_terminal() {
        true => Err(message!(
            "is a terminal; write prompts to it, as in `dyno bench --data - < FILE`",
            "是终端；请向其输入提示词，例如 `dyno bench --data - < FILE`"
        )),
        false => read(io::stdin().lock(), MOST, &Budget::foreign()),
    });
    match kept {
        Ok((bytes, _)) => {
            Ok(DataPlace::Memory(message!("standard input", "标准输入"), Arc::clone(bytes)))
        }
        Err(why) => Err(DataError::Stdin(why.clone())),
    }
}

/// Reads all of it; the reason if that is not possible.
fn read(from: impl Read, most: usize, budget: &Budget) -> Kept {
    let too_large = |mib: usize| {
        message!(
            "has more than {mib} MiB; write it to a file first",
            "超过 {mib} MiB；请先写入文件"
        )
    };
    let mut bytes = Vec::new();
    from.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| message!("cannot be read: {error}", "无法读取：{error}"))?;
    if bytes.len() > most {
        return Err(too_large(most >> 20));
    }
    let held = budget.hold(bytes.len()).map_err(|over| too_large(over.mib()))?;
    Ok((bytes.into(), held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_kept_up_to_a_size() {
        let budget = Budget::of(1 << 20);
        let (bytes, held) = read(&b"one\ntwo\n"[..], 100, &budget).unwrap();
        assert_eq!((&bytes[..], budget.used() > 0), (&b"one\ntwo\n"[..], true));
        drop(held);
        let refused = read(io::repeat(b'x'), 2 << 20, &budget).unwrap_err().to_string();
        assert_eq!(refused, "has more than 2 MiB; write it to a file first");
        let refused =
            read(io::repeat(b'x').take(2 << 20), 4 << 20, &budget).unwrap_err().to_string();
        assert_eq!(refused, "has more than 1 MiB; write it to a file first");
    }

    #[test]
    fn only_a_dash_stands_for_it() {
        assert!(is_stdin(Path::new("-")) && !is_stdin(Path::new("./-")));
        assert!(matches!(place(Path::new("a.txt")), Ok(DataPlace::File(_))));
    }
}

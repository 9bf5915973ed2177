//! The script: when each token of a response is due, as `ttft=100ms,itl=20ms,tokens=128`.

use crate::slow_down::SlowDown;
use dyno_model::units::{format_duration, parse_duration};
use dyno_model::{Message, Nanos, message};
use std::fmt;
use std::str::FromStr;

const KNOWN: &str = "ttft, itl, tokens, batch, context, slow-down";

/// When the tokens of every response are due, counted from the last byte of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Script {
    /// From the request to the first token.
    pub ttft: Nanos,
    /// Between tokens; zero streams as fast as the socket takes it.
    pub itl: Nanos,
    /// Tokens of a response that nothing else bounds.
    pub tokens: u32,
    /// Events per write: the batch is due when its last token is.
    pub batch: u32,
    /// Context length in tokens: `max_model_len`.
    pub context: u32,
    /// How ttft and itl grow over time.
    pub slow_down: SlowDown,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            ttft: 100_000_000,
            itl: 20_000_000,
            tokens: 128,
            batch: 1,
            context: 131_072,
            slow_down: SlowDown::default(),
        }
    }
}

impl Script {
    /// When token `k`, counted from 0, is due after the request.
    pub fn due(&self, k: u32) -> Nanos {
        self.ttft.saturating_add(self.itl.saturating_mul(u64::from(k)))
    }

    /// The script of a response whose request came at `at` after the engine's start.
    pub(crate) fn at(&self, at: Nanos) -> Self {
        let (ttft, itl) =
            (self.slow_down.stretched(self.ttft, at), self.slow_down.stretched(self.itl, at));
        Self { ttft, itl, ..*self }
    }
}

impl FromStr for Script {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        let mut script = Self::default();
        let mut seen = Vec::new();
        for item in text.split(',').filter(|_| !text.trim().is_empty()) {
            let (key, value) = item.split_once('=').ok_or_else(|| {
                message!(
                    "`{}` in the script is not of the form key=value; known keys: {KNOWN}",
                    "脚本中的 `{}` 不是 key=value 的形式；可用的键：{KNOWN}",
                    item.trim()
                )
            })?;
            let key = script.set(key.trim(), value.trim())?;
            if seen.contains(&key) {
                return Err(message!(
                    "`{key}` appears twice in the script; give it once",
                    "`{key}` 在脚本中出现两次；请只写一次"
                ));
            }
            seen.push(key);
        }
        Ok(script)
    }
}

impl Script {
    fn set(&mut self, key: &str, value: &str) -> Result<&'static str, Message> {
        let duration = |key: &str| {
            parse_duration(value).map_err(|source| {
                message!("`{key}` in the script: {source}", "脚本中的 `{key}`：{source}")
            })
        };
        let count = |key: &str| match value.parse::<u32>() {
            Ok(n) if n > 0 => Ok(n),
            _ => Err(message!(
                "`{key}={value}` in the script: `{key}` must be a whole number of at least 1",
                "脚本中的 `{key}={value}`：`{key}` 必须是至少为 1 的整数"
            )),
        };
        match key {
            "ttft" => self.ttft = duration("ttft")?,
            "itl" => self.itl = duration("itl")?,
            "tokens" => self.tokens = count("tokens")?,
            "batch" => self.batch = count("batch")?,
            "context" => self.context = count("context")?,
            "slow-down" => {
                self.slow_down = value.parse().map_err(|wrong: Message| {
                    message!("`slow-down` in the script: {wrong}", "脚本中的 `slow-down`：{wrong}")
                })?
            }
            _ => {
                return Err(message!(
                    "`{key}` is not a key of the script; known keys: {KNOWN}",
                    "`{key}` 不是脚本的键；可用的键：{KNOWN}"
                ));
            }
        }
        Ok(["ttft", "itl", "tokens", "batch", "context", "slow-down"]
            .into_iter()
            .find(|known| *known == key)
            .unwrap_or("ttft"))
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ttft, itl) = (format_duration(self.ttft), format_duration(self.itl));
        write!(f, "ttft={ttft},itl={itl},tokens={}", self.tokens)?;
        if self.batch != 1 {
            write!(f, ",batch={}", self.batch)?;
        }
        if self.context != Self::default().context {
            write!(f, ",context={}", self.context)?;
        }
        if !self.slow_down.is_none() {
            write!(f, ",slow-down={}", self.slow_down)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_and_printed_back() {
        let script: Script = "ttft=50ms, itl=1.5ms,tokens=7,batch=4,context=4096".parse().unwrap();
        assert_eq!((script.ttft, script.itl), (50_000_000, 1_500_000));
        assert_eq!((script.tokens, script.batch, script.context), (7, 4, 4096));
        assert_eq!(script.to_string().parse(), Ok(script));
        assert_eq!("".parse(), Ok(Script::default()));
        assert_eq!("itl=0".parse::<Script>().unwrap().itl, 0);
    }

    #[test]
    fn due_times_are_absolute() {
        let script: Script = "ttft=100ms,itl=20ms".parse().unwrap();
        assert_eq!(script.due(0), 100_000_000);
        assert_eq!(script.due(127), 2_640_000_000);
    }

    #[test]
    fn a_script_that_slows_down_is_stretched_by_the_time_of_the_request() {
        let script: Script = "ttft=100ms,itl=20ms,slow-down=50%/min".parse().unwrap();
        assert_eq!(script.to_string().parse(), Ok(script));
        assert_eq!(script.at(0).due(1), 120_000_000);
        assert_eq!(script.at(60_000_000_000).due(1), 180_000_000);
        let error = "slow-down=fast".parse::<Script>().unwrap_err().to_string();
        assert!(error.contains("`slow-down`") && error.contains("10%/min"), "{error}");
    }

    #[test]
    fn errors_name_the_key_and_the_known_keys() {
        let error = |text: &str| text.parse::<Script>().unwrap_err().to_string();
        let unknown = error("ttft=1s,tpot=20ms");
        assert!(unknown.contains("`tpot`") && unknown.contains("ttft, itl, tokens"), "{unknown}");
        assert!(error("itl=20").contains("`itl`") && error("itl=20").contains("20ms"));
        assert!(error("tokens=0").contains("at least 1"));
        assert!(error("fast").contains("key=value"));
        assert!(error("itl=1ms,itl=2ms").contains("twice"));
    }
}

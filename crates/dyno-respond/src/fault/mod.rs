//! Faults on demand, `KIND[:every=N|:rate=P|:at=N,N,…][:retry-after=TIME]`: what goes wrong, and for
//! which requests.

mod kinds;
mod when;

pub use kinds::FaultInfo;
use kinds::FaultKind;
pub use kinds::{Failure, Quirk, Quirks};
pub use when::{Rate, When};

use dyno_model::message::list;
use dyno_model::nearest::nearest;
use dyno_model::units::{format_duration, parse_duration};
use dyno_model::{Message, Nanos, message};
use dyno_stats::rng::SplitMix;
use std::fmt;
use std::str::FromStr;

/// One kind of fault and the generation requests it affects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    /// Which requests it affects.
    pub when: When,
    /// What a refusal tells the client to wait.
    retry_after: Option<Nanos>,
    in_preflight: bool,
}

fn unknown(name: &str) -> Message {
    let kinds: Vec<&str> = Fault::all().iter().map(|info| info.name).collect();
    let status = name.parse().ok().filter(|status| (300..=599).contains(status));
    let status = status.map(|status: u16| format!("http-{status}"));
    match status.or_else(|| nearest(name, &kinds).map(str::to_owned)) {
        Some(near) => message!(
            "there is no fault `{name}`; did you mean {near}?",
            "没有故障类型 `{name}`；您是否想用 {near}？"
        ),
        None => message!(
            "`{name}` is not a kind of fault; known kinds: http-NNN, {list}",
            "`{name}` 不是故障类型；可用的类型：http-NNN，{list}",
            list = list(names())
        ),
    }
}

fn names() -> impl Iterator<Item = Message> {
    let names = Fault::all().iter().map(|info| info.name);
    names.filter(|name| !name.starts_with("http-")).map(Message::quoted)
}

impl Fault {
    /// Every kind there is, with a line on what it does.
    pub fn all() -> &'static [FaultInfo] {
        kinds::KINDS
    }
}

impl FromStr for Fault {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        let mut parts = text.split(':').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let is_kind = Self::all().iter().any(|info| info.name == name);
        if !is_kind && !name.starts_with("http-") {
            return Err(unknown(name));
        }
        let (mut when, mut retry_after) = (When::ALWAYS, None);
        for option in parts {
            if let Some(time) = option.strip_prefix("retry-after=") {
                let time = parse_duration(time).ok().filter(|_| name.starts_with("http-"));
                let wrong = message!(
                    "`{option}` in the fault `{text}`: write retry-after=TIME, such as \
                     retry-after=2s, and only for http-NNN",
                    "故障 `{text}` 中的 `{option}`：请写成 retry-after=TIME，例如 retry-after=2s，\
                     且只能用于 http-NNN",
                );
                retry_after = Some(time.ok_or(wrong)?);
            } else {
                let wrong = message!(
                    "`{option}` in the fault `{text}` does not select requests; write every=N \
                     (every Nth, N at least 1), rate=P (a share, such as 0.05) or at=N,N,… (their \
                     numbers, from 1)",
                    "故障 `{text}` 中的 `{option}` 没有选择请求；请写 every=N（每 N 个，N 至少为 \
                     1）、rate=P（比例，例如 0.05）或 at=N,N,…（请求编号，从 1 开始）",
                );
                when = When::parse(option).ok_or(wrong)?;
            }
        }
        if let Some(info) = Self::all().iter().find(|info| info.name == name) {
            let FaultInfo { kind, in_preflight, .. } = *info;
            return Ok(Self { kind, when, retry_after, in_preflight });
        }
        let status = name.strip_prefix("http-").ok_or_else(|| unknown(name))?;
        match status.parse() {
            Ok(code @ 300..=599) => {
                let kind = FaultKind::Failure(Failure::Http(code));
                Ok(Self { kind, when, retry_after, in_preflight: false })
            }
            _ => Err(message!(
                "`{name}`: the status of an http-NNN fault is a number from 300 to 599, such as http-500",
                "`{name}`：http-NNN 故障的状态码须为 300 到 599 之间的数，例如 http-500"
            )),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (Self::all().iter().find(|info| info.kind == self.kind), self.kind) {
            (Some(info), _) => f.write_str(info.name)?,
            (None, FaultKind::Failure(Failure::Http(status))) => write!(f, "http-{status}")?,
            (None, other) => write!(f, "{other:?}")?,
        }
        if self.when != When::ALWAYS {
            write!(f, ":{}", self.when)?;
        }
        match self.retry_after {
            Some(time) => write!(f, ":retry-after={}", format_duration(time)),
            None => Ok(()),
        }
    }
}

/// The faults of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Selected {
    /// How its response is wrong.
    pub failure: Option<Failure>,
    /// What a refusal tells the client to wait.
    pub retry_after: Option<Nanos>,
    /// How its response is unusual.
    pub quirks: Quirks,
}

/// Counts generation requests and selects the faults of each.
#[derive(Debug)]
pub struct Selector {
    /// Each with the key to its share of the requests.
    faults: Vec<(Fault, u64)>,
    counted: u64,
}

impl Selector {
    /// Nothing counted yet.
    pub fn new(faults: Vec<Fault>, seed: u64) -> Self {
        let mut keys = SplitMix::new(seed);
        let faults = faults.into_iter().map(|fault| (fault, keys.next_u64())).collect();
        Self { faults, counted: 0 }
    }

    /// The faults of the next generation request. A preflight request is not counted and has only the
    /// quirks of the server itself.
    pub fn select(&mut self, preflight: bool) -> Selected {
        self.counted += u64::from(!preflight);
        let mut selected = Selected::default();
        for (fault, key) in &self.faults {
            let hit = match preflight {
                true => fault.in_preflight,
                false => fault.when.strikes(self.counted, *key),
            };
            match fault.kind {
                FaultKind::Quirk(quirk) if hit => selected.quirks.insert(quirk),
                FaultKind::Failure(failure) if hit && selected.failure.is_none() => {
                    (selected.failure, selected.retry_after) = (Some(failure), fault.retry_after);
                }
                _ => {}
            }
        }
        selected
    }

    /// Every quirk that was requested at all.
    pub fn quirks(&self) -> Quirks {
        let mut all = Quirks::default();
        for (fault, _) in &self.faults {
            if let FaultKind::Quirk(quirk) = fault.kind {
                all.insert(quirk);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::outcome::{FailureClass, Outcome};

    #[test]
    fn every_kind_reads_back_and_has_a_description() {
        for info in Fault::all() {
            let fault: Fault = info.name.parse().unwrap();
            assert_eq!(fault.to_string(), info.name);
            assert_eq!(fault.kind, info.kind);
            let class = info.class.filter(|class| *class != Outcome::UNCONFIRMED);
            assert!(class.is_none_or(|class| class.parse::<FailureClass>().is_ok()));
            assert!(info.about.iter().all(|about| !about.is_empty()));
        }
        let forms = ["every=10", "rate=0.25", "at=3,7,12", "every=2:retry-after=1.5s"];
        for text in forms.map(|form| format!("http-418:{form}")) {
            let fault: Fault = text.parse().unwrap();
            assert_eq!(fault.kind, FaultKind::Failure(Failure::Http(418)), "{text}");
            assert_eq!(fault.to_string(), text);
        }
    }

    #[test]
    fn errors_name_what_is_wrong_and_what_would_be_right() {
        let error = |text: &str| text.parse::<Fault>().unwrap_err().to_string();
        assert!(error("oops").contains("`oops`") && error("oops").contains("truncate-event"));
        // Section 7: it complained about retry-after.
        let near = "there is no fault `429`; did you mean http-429?";
        assert_eq!(error("429:rate=0.1:retry-after=2s"), near);
        assert!(error("truncate-evnt").ends_with("did you mean truncate-event?"));
        assert!(error("http-abc").contains("http-500"));
        assert!(error("http-200").contains("300 to 599"));
        assert!(error("reset:every=0").contains("every=N"));
        assert!(error("http-429:retry-after=soon").contains("retry-after=2s"));
        assert!(error("reset:retry-after=2s").contains("only for http-NNN"));
        assert!(error("reset:first=3").contains("`first=3`"));
        assert!(error("reset:rate=2").contains("rate=P") && error("reset:at=x").contains("`at=x`"));
    }

    #[test]
    fn the_nth_request_is_hit_and_a_preflight_is_not_counted() {
        let faults = ["reset:every=3", "crlf:every=2", "no-usage"];
        let mut selector = Selector::new(faults.map(|f| f.parse().unwrap()).to_vec(), 1);
        for n in 1..=12 {
            let preflight = selector.select(true);
            assert_eq!(preflight.failure, None);
            assert!(preflight.quirks.has(Quirk::NoUsage) && !preflight.quirks.has(Quirk::Crlf));
            let hit = selector.select(false);
            assert_eq!(hit.failure, (n % 3 == 0).then_some(Failure::Reset));
            assert_eq!(hit.quirks.has(Quirk::Crlf), n % 2 == 0);
        }
        assert!(selector.quirks().has(Quirk::Crlf) && !selector.quirks().has(Quirk::Auth));
    }
}

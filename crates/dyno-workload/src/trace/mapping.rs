//! Which fields of a file hold what, as the user says: `time=`, `unit=`, `input=`, `output=`, and for
//! conversations `session=`, `gap=` and `end=`; `hash=` for shared prefixes.

use super::fields::Field;
use super::time::Unit;
use crate::data::{DataSpec, FieldPath};
use dyno_model::Message;
use dyno_model::message;

/// The keys of a mapping.
pub(super) const KEYS: [&str; 8] =
    ["time", "unit", "gap", "end", "input", "output", "session", "hash"];

/// Which fields hold what. Those left out have the names of the file's form, where it is a known one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) time: Option<Field>,
    pub(super) unit: Option<Unit>,
    pub(super) gap: Option<Field>,
    pub(super) end: Option<Field>,
    pub(super) input: Option<Field>,
    pub(super) output: Option<Field>,
    pub(super) session: Option<Field>,
    pub(super) ids: Option<Field>,
}

const UNITS: [(&str, Unit); 5] = [
    ("s", Unit::Seconds),
    ("ms", Unit::Milliseconds),
    ("us", Unit::Microseconds),
    ("ns", Unit::Nanoseconds),
    ("iso", Unit::Date),
];

impl Mapping {
    /// The mapping of a specification.
    pub(super) fn of(spec: &DataSpec) -> Result<Self, Message> {
        let field = |key: &'static str| match spec.option(key).map(FieldPath::new) {
            None => Ok(None),
            Some(Some(path)) => Ok(Some(Field::Mapped { key, path })),
            Some(None) => {
                let name =
                    message!("FIELD: the name of a column or a field", "FIELD：列名或字段名");
                Err(spec.bad_option(key, name))
            }
        };
        let unit = |name: &str| UNITS.iter().find(|(unit, _)| *unit == name).map(|(_, unit)| *unit);
        let unit = match spec.option("unit").map(unit) {
            None => None,
            Some(Some(unit)) => Some(unit),
            Some(None) => {
                return Err(spec
                    .bad_option("unit", message!("s, ms, us, ns or iso", "s、ms、us、ns 或 iso")));
            }
        };
        let mapping = Self {
            time: field("time")?,
            unit,
            gap: field("gap")?,
            end: field("end")?,
            input: field("input")?,
            output: field("output")?,
            session: field("session")?,
            ids: field("hash")?,
        };
        let needs = |key: &'static str, other: &'static str| {
            message!(
                "{key}= needs {other}= as well; add it, or leave {key}= out",
                "{key}= 还需要 {other}=；请加上，或去掉 {key}="
            )
        };
        let Self { time, gap, end, session, .. } = &mapping;
        if unit.is_some() && time.is_none() && gap.is_none() {
            return Err(needs("unit", "time"));
        }
        if end.is_some() && (session.is_none() || time.is_none()) {
            return Err(needs("end", if session.is_none() { "session" } else { "time" }));
        }
        if gap.is_some() && time.is_some() && session.is_none() {
            return Err(message!(
                "time= and gap= both say when a request is sent; give one of them, or session= as well",
                "time= 和 gap= 都指定了请求的发送时间；请只写一个，或再写 session="
            ));
        }
        if gap.is_some() && unit == Some(Unit::Date) {
            let units =
                message!("s, ms, us or ns: a gap is a number", "s、ms、us 或 ns：间隔是数字");
            return Err(spec.bad_option("unit", units));
        }
        if gap.is_some() && unit.is_none() {
            return Err(needs("gap", "unit"));
        }
        Ok(mapping)
    }

    /// Whether any field was named.
    pub(super) fn is_given(&self) -> bool {
        *self != Self::default()
    }
}

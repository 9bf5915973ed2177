//! Arrival processes: parsed, printed and saved in a plan. Their schedules are computed in
//! `dyno-drive`.

use crate::message::{Message, message};
use crate::summary::Burstiness;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How open-loop arrivals are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "process")]
pub enum Arrival {
    /// Evenly.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// Gamma-distributed gaps; below 1 burstier than Poisson, above smoother.
    Gamma {
        /// Shape parameter.
        shape: f64,
    },
}

impl Arrival {
    /// As the shape of a gamma distribution.
    pub fn burstiness(self) -> Burstiness {
        match self {
            Self::Constant => Burstiness::Even,
            Self::Poisson => Burstiness::Shape(1.0),
            Self::Gamma { shape } => Burstiness::Shape(shape),
        }
    }
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("evenly"),
            Self::Poisson => f.write_str("Poisson"),
            Self::Gamma { shape } => write!(f, "gamma {shape}"),
        }
    }
}

impl FromStr for Arrival {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        match text.split_once(':') {
            None if text == "constant" => Ok(Self::Constant),
            None if text == "poisson" => Ok(Self::Poisson),
            None if text == "gamma" => Err(message!(
                "`gamma` needs a shape; write gamma:0.5, for example",
                "`gamma` 需要形状参数；请写例如 gamma:0.5"
            )),
            Some(("gamma", shape)) => match shape.parse::<f64>() {
                Ok(shape) if (0.01..=1000.0).contains(&shape) => Ok(Self::Gamma { shape }),
                _ => Err(message!(
                    "`{shape}` is not a gamma shape; write a number from 0.01 to 1000, such as \
                     gamma:0.5 (below 1 burstier than Poisson, above 1 smoother)",
                    "`{shape}` 不是 gamma 的形状参数；请写 0.01 到 1000 之间的数，例如 \
                     gamma:0.5（小于 1 比泊松更突发，大于 1 更平稳）",
                )),
            },
            _ => Err(message!(
                "`{text}` is not an arrival process; write constant, poisson or gamma:SHAPE",
                "`{text}` 不是到达过程；请写 constant、poisson 或 gamma:SHAPE"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals() {
        assert_eq!("constant".parse(), Ok(Arrival::Constant));
        assert_eq!("poisson".parse(), Ok(Arrival::Poisson));
        assert_eq!("gamma:0.5".parse(), Ok(Arrival::Gamma { shape: 0.5 }));
        for text in ["gamma", "gamma:0", "gamma:nan", "poisson:2", "uniform"] {
            assert!(text.parse::<Arrival>().is_err(), "{text}");
        }
    }
}

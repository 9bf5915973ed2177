//! Lengths of prompts and responses: one length, or a distribution of lengths. The same seed
//! gives the same lengths on every machine, because only `libm` does the arithmetic.

use dyno_model::units::{UnitError, parse_count, parse_number};
use dyno_model::{Localized, Message, message};
use std::fmt;
use std::str::FromStr;

use rand_chacha::rand_core::Rng;

/// The longest length that is taken or drawn, in tokens.
pub const LONGEST: u32 = 10_000_000;

/// A malformed length.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
#[message(
    "length `{given}`: {why}; write a length as 512, 128-1024, normal(512,64), lognormal(512,0.5) \
     or zipf(1.2,1-4096)",
    "长度 `{given}`：{why}；长度请写成 512、128-1024、normal(512,64)、lognormal(512,0.5) 或 zipf(1.2,1-4096)"
)]
pub struct LengthsError {
    given: String,
    why: Message,
}

/// Lengths in tokens: fixed, or drawn from a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lengths(Shape);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Fixed(u32),
    Uniform { low: u32, high: u32 },
    Normal { mean: f64, deviation: f64 },
    LogNormal { median: f64, sigma: f64 },
    Zipf { exponent: f64, low: u32, high: u32 },
}

impl Lengths {
    /// Always the same length, of at least one token.
    pub fn fixed(tokens: u32) -> Self {
        Self(Shape::Fixed(tokens.clamp(1, LONGEST)))
    }

    /// Uniform between two lengths.
    pub(crate) fn uniform(low: u32, high: u32) -> Self {
        Self(Shape::Uniform { low: low.min(high), high })
    }

    /// With this median and this deviation of the logarithm.
    pub(crate) fn log_normal(median: f64, sigma: f64) -> Self {
        Self(Shape::LogNormal { median, sigma })
    }

    /// Several lengths divided by commas, as for a grid: `128,512,normal(1024,64)`.
    pub fn list(text: &str) -> Result<Vec<Self>, LengthsError> {
        let mut depth = 0_i32;
        let parts = text.split(|c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        });
        parts.map(str::parse).collect()
    }

    /// Draws a length; a fixed one draws nothing.
    pub fn sample(&self, rng: &mut impl Rng) -> u32 {
        match self.0 {
            Shape::Fixed(tokens) => tokens,
            Shape::Uniform { low, high } => between(rng, low, high),
            Shape::Normal { mean, deviation } => whole(mean + deviation * standard_normal(rng)),
            Shape::LogNormal { median, sigma } => {
                whole(median * libm::exp(sigma * standard_normal(rng)))
            }
            Shape::Zipf { exponent, low, high } => zipf(rng, exponent, low, high),
        }
    }

    /// The mean of the distribution, before the ends are cut off.
    pub fn mean(&self) -> f64 {
        match self.0 {
            Shape::Fixed(tokens) => f64::from(tokens),
            Shape::Uniform { low, high } => f64::midpoint(f64::from(low), f64::from(high)),
            Shape::Normal { mean, .. } => mean,
            Shape::LogNormal { median, sigma } => median * libm::exp(sigma * sigma / 2.0),
            Shape::Zipf { exponent, low, high } => {
                let (mut weights, mut weighted) = (0.0, 0.0);
                // From the light end up, so that small terms are not lost.
                for tokens in (low..=high).rev().map(f64::from) {
                    let weight = libm::pow(tokens, -exponent);
                    weights += weight;
                    weighted += weight * tokens;
                }
                weighted / weights
            }
        }
    }

    /// The shortest length that was requested explicitly; distributions with tails have none.
    pub fn shortest(&self) -> Option<u32> {
        match self.0 {
            Shape::Fixed(tokens) => Some(tokens),
            Shape::Uniform { low, .. } | Shape::Zipf { low, .. } => Some(low),
            Shape::Normal { .. } | Shape::LogNormal { .. } => None,
        }
    }

    /// Whether they are at least `tokens`; for a distribution with tails, whether its mean is.
    pub(crate) fn reach(&self, least: u32) -> bool {
        self.shortest().map_or_else(|| self.mean(), f64::from) >= f64::from(least)
    }

    /// The longest length that can be drawn, where there is a bound.
    pub fn longest(&self) -> Option<u32> {
        match self.0 {
            Shape::Fixed(tokens) => Some(tokens),
            Shape::Uniform { high, .. } | Shape::Zipf { high, .. } => Some(high),
            Shape::Normal { .. } | Shape::LogNormal { .. } => None,
        }
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Shape::Fixed(tokens) => write!(out, "{tokens}"),
            Shape::Uniform { low, high } => write!(out, "{low}-{high}"),
            Shape::Normal { mean, deviation } => write!(out, "normal({mean},{deviation})"),
            Shape::LogNormal { median, sigma } => write!(out, "lognormal({median},{sigma})"),
            Shape::Zipf { exponent, low, high } => write!(out, "zipf({exponent},{low}-{high})"),
        }
    }
}

impl FromStr for Lengths {
    type Err = LengthsError;

    fn from_str(given: &str) -> Result<Self, LengthsError> {
        parse(given.trim())
            .map(Self)
            .map_err(|why| LengthsError { given: given.trim().to_owned(), why })
    }
}

fn parse(text: &str) -> Result<Shape, Message> {
    let Some((name, rest)) = text.split_once('(') else {
        return match text.split_once('-') {
            Some(_) => range(text).map(|(low, high)| Shape::Uniform { low, high }),
            None => tokens(text).map(Shape::Fixed),
        };
    };
    let inside = rest
        .strip_suffix(')')
        .ok_or_else(|| message!("the closing `)` is missing", "缺少右括号 `)`"))?;
    let (first, second) = inside
        .split_once(',')
        .ok_or_else(|| message!("{name}() takes two values", "{name}() 需要两个值"))?;
    match name.trim() {
        "normal" => Ok(Shape::Normal {
            mean: number(first, message!("mean", "均值"), 1.0, f64::from(LONGEST))?,
            deviation: number(
                second,
                message!("standard deviation", "标准差"),
                0.0,
                f64::from(LONGEST),
            )?,
        }),
        "lognormal" => Ok(Shape::LogNormal {
            median: number(first, message!("median", "中位数"), 1.0, f64::from(LONGEST))?,
            sigma: number(second, Message::quoted("sigma"), 0.0, 10.0)?,
        }),
        "zipf" => {
            let (low, high) = range(second)?;
            Ok(Shape::Zipf {
                exponent: number(first, message!("exponent", "指数"), 0.0, 10.0)?,
                low,
                high,
            })
        }
        other => Err(message!("no distribution `{other}`", "没有分布 `{other}`")),
    }
}

fn tokens(text: &str) -> Result<u32, Message> {
    let text = text.trim();
    match parse_count(text) {
        Ok(0) => Err(message!("a length is at least 1 token", "长度至少为 1 个 token")),
        Ok(tokens) => {
            u32::try_from(tokens).ok().filter(|tokens| *tokens <= LONGEST).ok_or_else(|| {
                message!(
                    "{tokens} is above the longest length, {LONGEST} tokens",
                    "{tokens} 超过最大长度 {LONGEST} 个 token"
                )
            })
        }
        Err(_) if text.is_empty() => Err(message!("a number is missing", "缺少一个数字")),
        Err(error @ UnitError::UnknownMultiplier { .. }) => Err(message!("{error}", "{error}")),
        Err(_) => {
            Err(message!("`{text}` is not a whole number of tokens", "`{text}` 不是整数个 token"))
        }
    }
}

fn range(text: &str) -> Result<(u32, u32), Message> {
    let (low, high) = text.split_once('-').ok_or_else(|| {
        message!(
            "`{}` is not a range such as 1-4096",
            "`{}` 不是范围；范围例如 1-4096",
            text.trim()
        )
    })?;
    let (low, high) = (tokens(low)?, tokens(high)?);
    if low > high {
        return Err(message!(
            "the range begins at {low}, above its end {high}",
            "范围的起点 {low} 大于终点 {high}"
        ));
    }
    Ok((low, high))
}

fn number(text: &str, name: Message, least: f64, most: f64) -> Result<f64, Message> {
    let text = text.trim();
    let value = parse_number(text)
        .map_err(|_| message!("the {name} `{text}` is not a number", "{name} `{text}` 不是数字"))?;
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(message!(
            "the {name} {text} is not within {least} to {most}",
            "{name} {text} 不在 {least} 到 {most} 之间"
        ))
    }
}

/// A whole number from `low` to `high`, both included.
fn between(rng: &mut impl Rng, low: u32, high: u32) -> u32 {
    let span = u128::from(high - low) + 1;
    let offset = (u128::from(rng.next_u64()) * span) >> 64;
    low + offset as u32
}

/// A number above 0 and up to 1.
pub(crate) fn unit(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Box and Muller's transform; the second of its pair is not kept, so that every length takes
/// two draws.
pub(crate) fn standard_normal(rng: &mut impl Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(unit(rng)));
    radius * libm::cos(std::f64::consts::TAU * unit(rng))
}

fn whole(value: f64) -> u32 {
    // The cast is exact: the value lies within 1 and LONGEST.
    libm::round(value).clamp(1.0, f64::from(LONGEST)) as u32
}

/// A length with probability in proportion to `length^-exponent`: drawn from the continuous
/// power law over half a token either side and rounded, which is accepted as often as the
/// length's own weight is of the area drawn from (never more than all of it, as the curve is
/// convex).
fn zipf(rng: &mut impl Rng, exponent: f64, low: u32, high: u32) -> u32 {
    // Measured from the low end, so that no power overflows or vanishes.
    let scale = f64::from(low);
    let area = |x: f64| {
        if (exponent - 1.0).abs() < 1e-9 {
            libm::log(x / scale)
        } else {
            (libm::pow(x / scale, 1.0 - exponent) - 1.0) / (1.0 - exponent)
        }
    };
    let position = |area: f64| {
        if (exponent - 1.0).abs() < 1e-9 {
            scale * libm::exp(area)
        } else {
            scale * libm::pow(1.0 + area * (1.0 - exponent), 1.0 / (1.0 - exponent))
        }
    };
    let (begin, end) = (area(f64::from(low) - 0.5), area(f64::from(high) + 0.5));
    loop {
        let drawn = position(begin + unit(rng) * (end - begin));
        let tokens = libm::round(drawn).clamp(f64::from(low), f64::from(high));
        let under_curve = (area(tokens + 0.5) - area(tokens - 0.5)) * scale;
        if unit(rng) * under_curve <= libm::pow(tokens / scale, -exponent) {
            return tokens as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    fn drawn(text: &str, count: usize) -> Vec<u32> {
        let lengths: Lengths = text.parse().expect("lengths");
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        (0..count).map(|_| lengths.sample(&mut rng)).collect()
    }

    fn mean(values: &[u32]) -> f64 {
        values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len() as f64
    }

    #[test]
    fn every_form_is_read_and_written_back() {
        for text in ["512", "1", "128-1024", "7-7", "normal(512,64)", "lognormal(512,0.5)"]
            .into_iter()
            .chain(["zipf(1.2,1-4096)", "zipf(1,16-32)", "normal(99.5,0)"])
        {
            let lengths: Lengths = text.parse().expect(text);
            assert_eq!(lengths.to_string(), text);
        }
        let spaced: Lengths = " normal( 512 , 64 ) ".parse().expect("spaces");
        assert_eq!(spaced.to_string(), "normal(512,64)");
        let short: Lengths = "1.5k-2k".parse().expect("multipliers");
        assert_eq!(short.to_string(), "1500-2000");
        let grid = Lengths::list("128, 512,normal(9,1),1-4").expect("list");
        let written: Vec<String> = grid.iter().map(ToString::to_string).collect();
        assert_eq!(written, ["128", "512", "normal(9,1)", "1-4"]);
    }

    #[test]
    fn what_is_no_length_is_refused_with_the_reason() {
        for (text, why) in [
            ("", "a number is missing"),
            ("0", "at least 1 token"),
            ("1.5", "`1.5` is not a whole number"),
            ("12x", "`x` in `12x` is not a multiplier"),
            ("99999999", "above the longest length"),
            ("9-3", "begins at 9, above its end 3"),
            ("9-", "a number is missing"),
            ("normal(512", "closing `)`"),
            ("normal(512)", "two values"),
            ("normal(0,1)", "mean 0 is not within 1 to"),
            ("normal(nan,1)", "mean nan is not within"),
            ("lognormal(512,-1)", "sigma -1 is not within 0 to 10"),
            ("zipf(1.2,4096)", "`4096` is not a range"),
            ("pareto(1,2)", "no distribution `pareto`"),
        ] {
            let error = text.parse::<Lengths>().expect_err(text).to_string();
            assert!(error.contains(why), "{error}");
            assert!(error.starts_with(&format!("length `{text}`: ")), "{error}");
            assert!(error.contains("write a length as 512"), "{error}");
        }
        assert!(Lengths::list("1,,2").is_err());
    }

    #[test]
    fn draws_are_those_that_were_drawn_before() {
        assert_eq!(drawn("1-1000", 5), [158, 168, 705, 727, 602]);
        assert_eq!(drawn("normal(512,64)", 5), [573, 504, 471, 595, 603]);
        assert_eq!(drawn("lognormal(512,0.5)", 5), [822, 482, 372, 982, 1040]);
        assert_eq!(drawn("zipf(1.2,1-4096)", 5), [1, 42, 16, 1, 1]);
    }

    #[test]
    fn uniform_reaches_both_ends_evenly() {
        let values = drawn("3-6", 40_000);
        for tokens in 3..=6 {
            let share = values.iter().filter(|v| **v == tokens).count() as f64 / 40_000.0;
            assert!((share - 0.25).abs() < 0.01, "{tokens}: {share}");
        }
        assert!(values.iter().all(|v| (3..=6).contains(v)));
    }

    #[test]
    fn normal_has_its_mean_and_deviation_and_never_falls_below_one() {
        let values = drawn("normal(512,64)", 40_000);
        let middle = mean(&values);
        let square = values.iter().map(|v| (f64::from(*v) - middle).powi(2)).sum::<f64>();
        assert!((middle - 512.0).abs() < 1.5, "{middle}");
        assert!(((square / 40_000.0).sqrt() - 64.0).abs() < 1.0);
        assert_eq!(drawn("normal(2,50)", 1_000).into_iter().min(), Some(1));
        assert_eq!(drawn("normal(300,0)", 3), [300; 3]);
    }

    #[test]
    fn lognormal_has_its_median_and_mean() {
        let mut values = drawn("lognormal(512,0.5)", 40_000);
        let wanted: Lengths = "lognormal(512,0.5)".parse().expect("lengths");
        assert!((mean(&values) / wanted.mean() - 1.0).abs() < 0.01);
        values.sort_unstable();
        assert!((f64::from(values[20_000]) / 512.0 - 1.0).abs() < 0.02, "{}", values[20_000]);
    }

    #[test]
    fn zipf_gives_each_length_its_weight() {
        for (text, exponent) in [("zipf(1.2,1-4096)", 1.2), ("zipf(1,1-64)", 1.0)]
            .into_iter()
            .chain([("zipf(3,2-50)", 3.0), ("zipf(0,1-10)", 0.0), ("zipf(10,1-3)", 10.0)])
        {
            let lengths: Lengths = text.parse().expect("lengths");
            let values = drawn(text, 60_000);
            let Shape::Zipf { low, high, .. } = lengths.0 else { panic!("{text}") };
            let all: f64 = (low..=high).map(|v| f64::from(v).powf(-exponent)).sum();
            for tokens in low..=high.min(low + 4) {
                let wanted = f64::from(tokens).powf(-exponent) / all;
                let share = values.iter().filter(|v| **v == tokens).count() as f64 / 60_000.0;
                assert!((share - wanted).abs() < 0.008, "{text} {tokens}: {share} for {wanted}");
            }
            assert!(values.iter().all(|v| (low..=high).contains(v)));
        }
    }

    proptest! {
        #[test]
        fn any_range_is_kept_to(low in 1_u32..100_000, more in 0_u32..100_000, seed: u64,
                                exponent in 0.0_f64..10.0) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let high = low + more;
            for shape in [Shape::Uniform { low, high }, Shape::Zipf { exponent, low, high }] {
                let lengths = Lengths(shape);
                prop_assert_eq!(lengths.to_string().parse::<Lengths>().expect("again"), lengths);
                let tokens = lengths.sample(&mut rng);
                prop_assert!((low..=high).contains(&tokens));
            }
        }
    }
}

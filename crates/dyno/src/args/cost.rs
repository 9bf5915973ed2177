//! The server's hardware and its price: `--gpus 4 --gpu-cost 2.5/h`.

use clap::Args;
use dyno_model::server::GpuCost;
use dyno_model::{Message, message};

const MOST_GPUS: u32 = 1_000_000;
const HIGHEST_PRICE: f64 = 1e9;
const LONGEST_CURRENCY: usize = 8;

/// What the server runs on.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Cost")]
pub(crate) struct CostArgs {
    /// Number of GPUs or other accelerators of the server; adds tokens per second per GPU
    #[arg(long, value_name = "N", value_parser = gpus, allow_hyphen_values = true)]
    pub(crate) gpus: Option<u32>,
    /// Hourly price of one GPU, such as 2.5/h, $2.5/h or "CNY 18/h"; with --gpus, adds the cost per
    /// million tokens
    #[arg(long, value_name = "PRICE/h", value_parser = gpu_cost, allow_hyphen_values = true)]
    pub(crate) gpu_cost: Option<GpuCost>,
}

fn gpus(text: &str) -> Result<u32, Message> {
    match text.trim().parse::<u32>() {
        Ok(value) if (1..=MOST_GPUS).contains(&value) => Ok(value),
        _ => Err(message!(
            "`{text}` is not a number of GPUs; write a whole number from 1 to {MOST_GPUS}",
            "`{text}` 不是 GPU 数；请写 1 到 {MOST_GPUS} 的整数"
        )),
    }
}

/// Reads `2.5/h`, `$2.5/h`, `CNY 18/h`.
fn gpu_cost(text: &str) -> Result<GpuCost, Message> {
    let wrong = || {
        message!(
            "`{text}` is not a price for an hour; write 2.5/h, $2.5/h or \"CNY 18/h\"",
            "`{text}` 不是每小时价格；请写 2.5/h、$2.5/h 或 \"CNY 18/h\""
        )
        .with_hint(message!(
            "the price is that of one GPU; --gpus says how many there are",
            "价格是单个 GPU 的；用 --gpus 指定 GPU 数"
        ))
    };
    let Some((price, unit)) = text.trim().rsplit_once('/') else {
        return Err(message!(
            "`{text}` has no unit; write {}/h for an hour",
            "`{text}` 没有单位；每小时的价格请写 {}/h",
            text.trim()
        ));
    };
    if !matches!(unit.trim(), "h" | "hr" | "hour") {
        return Err(wrong());
    }
    let price = price.trim();
    let at = price.find(|c: char| c.is_ascii_digit() || "+-.".contains(c)).ok_or_else(wrong)?;
    let (currency, number) = price.split_at(at);
    let currency = currency.trim();
    let sound = |c: char| !c.is_control() && !c.is_whitespace();
    if currency.chars().count() > LONGEST_CURRENCY || !currency.chars().all(sound) {
        return Err(wrong());
    }
    match number.parse::<f64>() {
        Ok(per_hour) if per_hour > 0.0 && per_hour <= HIGHEST_PRICE => Ok(GpuCost {
            per_hour,
            currency: Some(currency.to_owned()).filter(|currency| !currency.is_empty()),
        }),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_with_and_without_a_currency() {
        for (text, per_hour, currency) in [
            ("2.5/h", 2.5, None),
            (" 2.5 / h ", 2.5, None),
            ("$2.5/h", 2.5, Some("$")),
            ("CNY 18/h", 18.0, Some("CNY")),
            ("CNY18/hour", 18.0, Some("CNY")),
            ("€ .5/h", 0.5, Some("€")),
            ("¥1e1/hr", 10.0, Some("¥")),
        ] {
            let currency = currency.map(str::to_owned);
            assert_eq!(gpu_cost(text), Ok(GpuCost { per_hour, currency }), "{text}");
        }
    }

    #[test]
    fn a_malformed_price_is_refused_with_an_example() {
        assert!(gpu_cost("2.5").unwrap_err().to_string().contains("2.5/h"));
        for text in [
            "",
            "/h",
            "$/h",
            "2.5/s",
            "2.5/",
            "-1/h",
            "0/h",
            "1e99/h",
            "2.5 USD/h",
            "1,5/h",
            "A B 1/h",
            "LONGCURRENCY 1/h",
            "nan/h",
            "inf/h",
            "a\x1b1/h",
        ] {
            assert!(gpu_cost(text).is_err(), "{text}");
        }
        for text in ["0", "-1", "2.5", "x", ""] {
            assert!(gpus(text).is_err(), "{text}");
        }
        assert_eq!(gpus("8"), Ok(8));
    }
}

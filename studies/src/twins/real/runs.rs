//! What is measured of a real server.

use anyhow::{Context as _, Result, bail};

/// How large requests and loads are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sizes {
    pub(super) input: u32,
    pub(super) output: u32,
    /// The most requests in flight.
    pub(super) most: u32,
    /// The length of a level of closed loops; those of open loops take twice as long.
    pub(super) seconds: u32,
    pub(super) seed: u32,
}

impl Sizes {
    /// `--input N`, `--output N`, `--most N`, `--seconds N` and `--seed N`, any of them.
    pub(super) fn read(flags: &[String]) -> Result<Self> {
        let mut sizes = Self { input: 512, output: 128, most: 256, seconds: 15, seed: 1_000 };
        for pair in flags.chunks(2) {
            let [name, value] = pair else { bail!("{}: which value?", pair[0]) };
            let place = match name.as_str() {
                "--input" => &mut sizes.input,
                "--output" => &mut sizes.output,
                "--most" => &mut sizes.most,
                "--seconds" => &mut sizes.seconds,
                "--seed" => &mut sizes.seed,
                _ => bail!("{name}: not known; --input, --output, --most, --seconds or --seed"),
            };
            *place = value.parse().with_context(|| format!("{name} {value}"))?;
        }
        Ok(sizes)
    }
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Fitted in any case, with the ladder.
    Rates,
    /// Fitted the second time.
    Mixed,
    /// Never fitted.
    Rest,
}

/// A run of `dyno bench`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    pub(super) name: &'static str,
    pub(super) part: Part,
    pub(super) flags: Vec<String>,
}

impl Run {
    fn new(name: &'static str, part: Part, flags: &str, seed: u32) -> Self {
        let mut flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
        flags.extend(["--seed".to_owned(), seed.to_string()]);
        Self { name, part, flags }
    }

    /// Closed loops, from one request at a time to the most.
    pub(super) fn ladder(name: &'static str, sizes: &Sizes) -> Self {
        let Sizes { input, output, most, seconds, seed } = *sizes;
        let slots = std::iter::successors(Some(1_u32), |slots| slots.checked_mul(2));
        let slots: Vec<String> =
            slots.take_while(|slots| *slots <= most).map(|slots| slots.to_string()).collect();
        let flags = format!(
            "--concurrency {} --duration {seconds}s --input-tokens {input} --output-tokens {output}",
            slots.join(",")
        );
        // The second one with other prompts.
        Self::new(name, Part::Rates, &flags, seed + u32::from(name != "ladder"))
    }

    /// Everything between the two ladders, in the order in which it is measured: what is fitted and what is
    /// predicted in turns, so that a drift of the server affects both.
    pub(super) fn rest(sizes: &Sizes, capacity: f64) -> Vec<Self> {
        let Sizes { input, output, most, seconds, seed } = *sizes;
        let rates = |shares: &[f64]| -> String {
            let rates = shares.iter().map(|share| format!("{:.3}", share * capacity));
            rates.collect::<Vec<_>>().join(",")
        };
        let open = format!("--duration {}s --warmup {}s", 2 * seconds, seconds.div_ceil(4));
        let same = format!("--input-tokens {input} --output-tokens {output}");
        let mixed = format!(
            "--input-tokens {}-{} --output-tokens {}-{}",
            (input / 8).max(1),
            3 * input,
            (output / 8).max(1),
            2 * output
        );
        let [few, some, many] = [16, 8, 2].map(|part| (most / part).max(2));
        let all = [
            (
                "rates-rest",
                Part::Rest,
                format!("--rate {} {open} {same}", rates(&[0.1, 0.3, 0.6, 0.85])),
            ),
            ("mixed", Part::Mixed, format!("--concurrency {some} --duration {seconds}s {mixed}")),
            ("rates", Part::Rates, format!("--rate {} {open} {same}", rates(&[0.2, 0.45, 0.75]))),
            (
                "mixed-rest",
                Part::Rest,
                format!("--concurrency {few},{many} --duration {seconds}s {mixed}"),
            ),
            // Longer than the others on average, by half.
            ("mixed-rates", Part::Rest, format!("--rate {} {open} {mixed}", rates(&[0.2, 0.4]))),
            (
                "short",
                Part::Rest,
                format!(
                    "--concurrency {few},{many} --duration {seconds}s --input-tokens {} --output-tokens {}",
                    (input / 8).max(1),
                    3 * output
                ),
            ),
            (
                "long",
                Part::Rest,
                format!(
                    "--rate {} {open} --input-tokens {} --output-tokens {}",
                    rates(&[0.07]),
                    8 * input,
                    (output / 2).max(2)
                ),
            ),
            (
                "sessions",
                Part::Rest,
                format!(
                    "--concurrency {few},{some} --duration {}s --data session,turns=6,think=500ms \
                     --input-tokens {} --output-tokens {}",
                    2 * seconds,
                    (input / 4).max(1),
                    (output / 2).max(2)
                ),
            ),
        ];
        let seeds = seed + 2..;
        seeds
            .zip(all)
            .map(|(seed, (name, part, flags))| Self::new(name, part, &flags, seed))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn sizes_have_defaults_and_odd_flags_are_refused() {
        let sizes = Sizes::read(&words("--input 256 --most 32")).unwrap();
        assert_eq!((sizes.input, sizes.output, sizes.most), (256, 128, 32));
        for odd in ["--inputs 3", "--input", "--input many"] {
            Sizes::read(&words(odd)).unwrap_err();
        }
    }

    #[test]
    fn every_run_has_prompts_of_its_own_and_each_part_has_runs() {
        let sizes = Sizes::read(&[]).unwrap();
        let mut runs = Run::rest(&sizes, 50.0);
        runs.extend(["ladder", "ladder-again"].map(|name| Run::ladder(name, &sizes)));
        let mut seeds: Vec<&String> = runs.iter().filter_map(|run| run.flags.last()).collect();
        seeds.sort();
        seeds.dedup();
        assert_eq!(seeds.len(), runs.len());
        for part in [Part::Rates, Part::Mixed, Part::Rest] {
            assert!(runs.iter().any(|run| run.part == part), "{part:?}");
        }
        let ladder = Run::ladder("ladder", &Sizes { most: 32, ..sizes });
        assert_eq!(ladder.flags[1], "1,2,4,8,16,32");
        assert!(runs[0].flags.contains(&"5.000,15.000,30.000,42.500".to_owned()), "{runs:?}");
    }
}

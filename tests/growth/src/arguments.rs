//! What was asked for.

use std::time::Duration;

use bench::{Failure, arguments::Effort};

const USAGE: &str = "usage: growth [--purchases N] [--looks N] [--seconds N] [--rounds N] [--write]";
/// A year of a busy operator.
const PURCHASES: u64 = 10_000_000;
/// Fewer do not fill the pages and filters that are measured.
const PURCHASES_MIN: u64 = 20_000;

/// The size of the history, and how thoroughly is measured.
#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    pub purchases: u64,
    /// At most so many looks of the checks prove a history. `None`: as many as it takes to see every row.
    pub looks: Option<u64>,
    pub effort: Effort,
    /// Whether the results are written into the document.
    pub writes: bool,
}

impl Arguments {
    /// Reads the arguments of the program.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, Failure> {
        let effort = Effort { length: Duration::from_secs(5), rounds: 5 };
        let mut parsed = Self { purchases: PURCHASES, looks: None, effort, writes: false };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            if argument == "--write" {
                parsed.writes = true;
                continue;
            }
            let number: u64 = arguments.next().and_then(|value| value.parse().ok()).ok_or(USAGE)?;
            match argument.as_str() {
                "--purchases" if number >= PURCHASES_MIN => parsed.purchases = number,
                "--purchases" => return Err(format!("--purchases needs at least {PURCHASES_MIN}").into()),
                "--looks" if number > 0 => parsed.looks = Some(number),
                "--seconds" if number > 0 => parsed.effort.length = Duration::from_secs(number),
                "--rounds" if number > 0 => parsed.effort.rounds = u32::try_from(number)?,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &str) -> Result<Arguments, String> {
        let arguments = arguments.split_whitespace().map(str::to_owned);
        Arguments::parse(arguments).map_err(|failure| failure.to_string())
    }

    #[test]
    fn the_size_and_the_effort_can_be_chosen() {
        let effort = Effort { length: Duration::from_secs(2), rounds: 3 };
        let chosen = Arguments { purchases: 200_000, looks: Some(50), effort, writes: true };
        assert_eq!(parsed("--purchases 200000 --looks 50 --seconds 2 --rounds 3 --write"), Ok(chosen));
        assert_eq!(parsed("").map(|parsed| parsed.purchases), Ok(10_000_000));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for arguments in ["--purchases", "--purchases 5", "--rounds 0", "--looks 0", "--fast", "--fast 1"] {
            assert!(parsed(arguments).is_err(), "{arguments}");
        }
    }
}

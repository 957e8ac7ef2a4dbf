//! What the benchmark was asked to do.

use std::time::Duration;

use crate::Failure;

/// The length of one measurement unless `--seconds` is given.
const SECONDS: u64 = 5;
/// How often each measurement is made unless `--rounds` is given.
const ROUNDS: u32 = 5;
const USAGE: &str =
    "siege [--seconds N], or [--only a,b,c,http,d,memory] [--seconds N] [--rounds N] [--write]";

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    Bench(Plan),
    Siege { length: Duration },
}

/// What is measured, and how thoroughly.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    pub parts: Vec<Part>,
    pub effort: Effort,
    /// Whether the results are written into the document.
    pub writes: bool,
}

/// How long each measurement is, and how often it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    pub length: Duration,
    pub rounds: u32,
}

/// What can be measured alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    OneWallet,
    ManyWallets,
    Confirms,
    Routes,
    Drain,
    Memory,
}

impl Part {
    const ALL: [Self; 6] =
        [Self::OneWallet, Self::ManyWallets, Self::Confirms, Self::Routes, Self::Drain, Self::Memory];

    const fn name(self) -> &'static str {
        match self {
            Self::OneWallet => "a",
            Self::ManyWallets => "b",
            Self::Confirms => "c",
            Self::Routes => "http",
            Self::Drain => "d",
            Self::Memory => "memory",
        }
    }

    fn named(name: &str) -> Result<Self, Failure> {
        let part = Self::ALL.into_iter().find(|part| part.name() == name);
        part.ok_or_else(|| format!("there is no part {name:?}: {USAGE}").into())
    }
}

impl Command {
    /// Reads the arguments of the program.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = arguments.into_iter().peekable();
        let is_siege = arguments.next_if(|argument| argument == "siege").is_some();
        let effort = Effort { length: Duration::from_secs(SECONDS), rounds: ROUNDS };
        let mut plan = Plan { parts: Part::ALL.to_vec(), effort, writes: false };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--seconds" => {
                    plan.effort.length = Duration::from_secs(number(&argument, arguments.next())?.into());
                }
                "--rounds" if !is_siege => plan.effort.rounds = number(&argument, arguments.next())?,
                "--only" if !is_siege => {
                    let names = arguments.next().unwrap_or_default();
                    plan.parts = names.split(',').map(Part::named).collect::<Result<_, _>>()?;
                }
                "--write" if !is_siege => plan.writes = true,
                other => return Err(format!("unknown argument {other}: {USAGE}").into()),
            }
        }
        if is_siege {
            return Ok(Self::Siege { length: plan.effort.length });
        }
        if plan.writes && !plan.is_whole() {
            return Err(
                "--write replaces all results in the document, so it cannot be used with --only".into()
            );
        }
        Ok(Self::Bench(plan))
    }
}

impl Plan {
    pub fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    fn is_whole(&self) -> bool {
        Part::ALL.into_iter().all(|part| self.has(part))
    }
}

/// The number after an argument: at least 1.
fn number(argument: &str, value: Option<String>) -> Result<u32, Failure> {
    let number = value.and_then(|value| value.parse().ok()).filter(|number| *number > 0);
    number.ok_or_else(|| format!("{argument} needs a number, at least 1").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &str) -> Result<Command, String> {
        let arguments = arguments.split_whitespace().map(str::to_owned);
        Command::parse(arguments).map_err(|failure| failure.to_string())
    }

    #[test]
    fn without_arguments_everything_is_measured_and_nothing_is_written() {
        let effort = Effort { length: Duration::from_secs(5), rounds: 5 };
        let everything = Plan { parts: Part::ALL.to_vec(), effort, writes: false };
        assert_eq!(parsed(""), Ok(Command::Bench(everything)));
    }

    #[test]
    fn parts_seconds_and_rounds_can_be_chosen() {
        let effort = Effort { length: Duration::from_secs(2), rounds: 3 };
        let chosen = Plan { parts: vec![Part::Routes, Part::OneWallet], effort, writes: false };
        assert_eq!(parsed("--only http,a --seconds 2 --rounds 3"), Ok(Command::Bench(chosen)));
    }

    #[test]
    fn only_a_whole_run_can_be_written() {
        assert!(parsed("--only a --write").unwrap_err().contains("--only"));
        assert!(matches!(parsed("--write"), Ok(Command::Bench(Plan { writes: true, .. }))));
        let all = "--write --only a,b,c,http,d,memory";
        assert!(matches!(parsed(all), Ok(Command::Bench(Plan { writes: true, .. }))));
    }

    #[test]
    fn a_siege_knows_seconds_and_nothing_else() {
        let length = Duration::from_secs(30);
        assert_eq!(parsed("siege --seconds 30"), Ok(Command::Siege { length }));
        assert!(parsed("siege --write").is_err() && parsed("siege --rounds 1").is_err());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for arguments in ["--only", "--only e", "--seconds", "--seconds 0", "--rounds few", "--fast"] {
            assert!(parsed(arguments).is_err(), "{arguments}");
        }
    }
}

//! Replays a transcript: the shipped protocols get the recorded events and must return the recorded commands.

use std::collections::BTreeMap;

use purchase::{Confirm, Resolve};
use serde_json::Value;

use super::{reading, writing};

/// What a replay went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Confirms that began.
    pub confirms: usize,
    /// Resolves that began.
    pub resolves: usize,
    /// Commands that were compared.
    pub commands: usize,
}

/// Why a transcript does not match the shipped protocols.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A line cannot be read. An incomplete last line is ignored.
    #[error("line {line} cannot be read")]
    Unreadable {
        /// The line number, counted from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The protocol returns another command than the recorded one.
    #[error("line {line}: {said} was recorded, and now the protocol returns {says}")]
    Differs {
        /// The line number, counted from 1.
        line: usize,
        /// The recorded command.
        said: Value,
        /// The command that the protocol returns now.
        says: Value,
    },
    /// The protocol does not expect the recorded event.
    #[error("line {line}: the protocol does not expect this event")]
    OutOfTurn {
        /// The line number, counted from 1.
        line: usize,
    },
}

enum Protocol {
    Confirm(Confirm),
    Resolve(Resolve),
}

/// Gives every recorded event to the shipped protocols, and compares every command.
///
/// # Errors
/// At the first line that cannot be read, or that the protocols do not match.
pub fn replay(transcript: &str) -> Result<Replayed, ReplayError> {
    let mut runs: BTreeMap<u64, Protocol> = BTreeMap::new();
    let mut replayed = Replayed::default();
    // A process that was killed may have written only a part of its last line.
    let whole = transcript.rfind('\n').map_or("", |end| transcript.get(..end).unwrap_or_default());
    for (number, text) in whole.lines().enumerate() {
        let line = number.saturating_add(1);
        let unreadable = |source| ReplayError::Unreadable { line, source };
        let turn: Value = serde_json::from_str(text).map_err(|error| unreadable(error.into()))?;
        let run = reading::field(&turn, "run").map_err(|error| unreadable(error.into()))?;
        let run = run.as_u64().unwrap_or(u64::MAX);
        let said = reading::field(&turn, "says").map_err(|error| unreadable(error.into()))?;
        let says = match turn.get("begins") {
            Some(begins) => {
                let (protocol, says) = begin(begins).map_err(|error| unreadable(error.into()))?;
                match &protocol {
                    Protocol::Confirm(_) => replayed.confirms = replayed.confirms.saturating_add(1),
                    Protocol::Resolve(_) => replayed.resolves = replayed.resolves.saturating_add(1),
                }
                runs.insert(run, protocol);
                says
            }
            None => match runs.get_mut(&run) {
                Some(protocol) => {
                    let heard = reading::field(&turn, "hears").map_err(|error| unreadable(error.into()))?;
                    let says = protocol.on(heard).map_err(|error| unreadable(error.into()))?;
                    says.ok_or(ReplayError::OutOfTurn { line })?
                }
                None => return Err(unreadable(reading::Unreadable("begins").into())),
            },
        };
        if says != *said {
            return Err(ReplayError::Differs { line, said: said.clone(), says });
        }
        replayed.commands = replayed.commands.saturating_add(1);
    }
    Ok(replayed)
}

fn begin(begins: &Value) -> Result<(Protocol, Value), reading::Unreadable> {
    if reading::text(begins, "protocol")? == "confirm" {
        let (protocol, command) = Confirm::begin::<()>(reading::timing(begins)?);
        return Ok((Protocol::Confirm(protocol), writing::confirm_command(&command)));
    }
    let with = reading::resolve_begins(begins)?;
    let (protocol, command) = if with.was_claimed {
        Resolve::claimed(with.asker, &with.lifecycle, with.at, &with.rules)
    } else {
        Resolve::begin(with.asker, &with.lifecycle, with.at, &with.rules)
    };
    Ok((Protocol::Resolve(protocol), writing::resolve_command(&command)))
}

impl Protocol {
    /// `None` if the protocol does not expect this event.
    fn on(&mut self, heard: &Value) -> Result<Option<Value>, reading::Unreadable> {
        Ok(match self {
            Self::Confirm(protocol) => {
                let command = protocol.on(reading::confirm_event(heard)?);
                command.ok().map(|command| writing::confirm_command(&command))
            }
            Self::Resolve(protocol) => {
                let command = protocol.on(reading::resolve_event(heard)?);
                command.ok().map(|command| writing::resolve_command(&command))
            }
        })
    }
}

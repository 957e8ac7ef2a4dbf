//! The log of the events besides vends that must survive the process: the tokens entered into meters, meters that were
//! replaced, and the changes of the simulator's memory.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{lines, memory::Habits};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// A token was entered into a meter, by a customer or by the utility.
    Entered { meter: String, token: String },
    /// A meter was replaced by a new one of the same number.
    Reset { meter: String },
    /// The new handling of repeats and enquiries.
    Habits(Habits),
    /// The answers to this number of vends, from the start of the log, were forgotten.
    Forgotten { vends: usize },
}

/// The file to which events are written, if there is one.
#[derive(Debug)]
pub(crate) struct EventLog(Option<Mutex<File>>);

impl EventLog {
    /// Opens the file, if there is one, and reads the events in it.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<(Self, Vec<Event>)> {
        let Some(path) = path else { return Ok((Self(None), Vec::new())) };
        let (file, lines) = lines::open(path)?;
        let read = |(index, line): (usize, &String)| {
            serde_json::from_str(line).map_err(|_why| lines::unreadable("event log", index))
        };
        let events = lines.iter().enumerate().map(read).collect::<io::Result<_>>()?;
        Ok((Self(Some(Mutex::new(file))), events))
    }

    /// Writes an event. An event that cannot be written has happened nevertheless, so the error is only logged.
    pub(crate) fn append(&self, event: &Event) {
        let Some(file) = &self.0 else { return };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = serde_json::to_string(event).map_err(io::Error::other);
        if let Err(why) = written.and_then(|line| lines::append(&mut file, &line)) {
            tracing::error!(%why, "the event log cannot be written");
        }
    }
}

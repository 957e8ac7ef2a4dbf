//! The log of what happens beside vends and must outlive the process: what was typed into meters, and what the world was
//! told about its memory.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{lines, memory::Habits};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// A token was typed into a meter, or the utility did so itself.
    Entered { meter: String, token: String },
    /// How repeats and questions are met from now on.
    Habits(Habits),
    /// Everything was forgotten that had been answered to the first so many vends of the log.
    Forgotten { vends: usize },
}

/// Where events are written, if anywhere.
#[derive(Debug)]
pub(crate) struct EventLog(Option<Mutex<File>>);

impl EventLog {
    /// Appends to this file, if there is one; with what it holds already.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<(Self, Vec<Event>)> {
        let Some(path) = path else { return Ok((Self(None), Vec::new())) };
        let (file, lines) = lines::open(path)?;
        let read = |(index, line): (usize, &String)| {
            serde_json::from_str(line).map_err(|_why| lines::unreadable("event log", index))
        };
        let events = lines.iter().enumerate().map(read).collect::<io::Result<_>>()?;
        Ok((Self(Some(Mutex::new(file))), events))
    }

    /// Writes an event. It has happened, whether it can be written or not.
    pub(crate) fn append(&self, event: &Event) {
        let Some(file) = &self.0 else { return };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = serde_json::to_string(event).map_err(io::Error::other);
        if let Err(why) = written.and_then(|line| lines::append(&mut file, &line)) {
            tracing::error!(%why, "the event log cannot be written");
        }
    }
}

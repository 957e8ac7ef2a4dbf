//! The log of vends: the world's own account of what happened, written before anybody is answered.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

/// One vend that was asked and decided.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct VendRecord<'a> {
    /// The client's name for it: of an XMLVend message id `20261120093000-000042`, of a top-up its custom identifier.
    pub(crate) reference: String,
    pub(crate) subscriber: &'a str,
    pub(crate) product_type: &'static str,
    /// Currency units with two decimals.
    pub(crate) amount: &'a str,
    pub(crate) currency: &'a str,
    /// In the order in which they are entered.
    pub(crate) tokens: Vec<String>,
    /// RFC 3339.
    pub(crate) at: String,
    pub(crate) outcome: VendResult,
}

/// Whether the subscriber got, or will get, what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VendResult {
    Vended,
    Refused,
}

/// All vends so far, in order.
#[derive(Debug)]
pub(crate) struct VendLog {
    pages: Mutex<Pages>,
    fsync: bool,
}

#[derive(Debug, Default)]
struct Pages {
    /// Each a JSON object.
    lines: Vec<Box<str>>,
    by_subscriber: HashMap<Box<str>, Vec<usize>>,
    file: Option<File>,
}

impl VendLog {
    /// Keeps the log in memory, and appends it to a file where one is given.
    pub(crate) fn open(path: Option<&Path>, fsync: bool) -> io::Result<Self> {
        let file = path.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(Self { pages: Mutex::new(Pages { file, ..Pages::default() }), fsync })
    }

    /// Writes a line; when this returns it is in the file, if there is one.
    pub(crate) fn append(&self, record: &VendRecord<'_>) -> io::Result<()> {
        let line = serde_json::to_string(record)?;
        let mut pages = self.pages();
        if let Some(file) = &mut pages.file {
            file.write_all(format!("{line}\n").as_bytes())?;
            if self.fsync {
                file.sync_data()?;
            }
        }
        let index = pages.lines.len();
        pages.lines.push(line.into_boxed_str());
        pages.by_subscriber.entry(record.subscriber.into()).or_default().push(index);
        Ok(())
    }

    /// The log as a JSON array: all of it, or one subscriber's part.
    pub(crate) fn to_json(&self, subscriber: Option<&str>) -> String {
        let pages = self.pages();
        let lines: Vec<&str> = match subscriber {
            None => pages.lines.iter().map(AsRef::as_ref).collect(),
            Some(subscriber) => pages
                .by_subscriber
                .get(subscriber)
                .into_iter()
                .flatten()
                .filter_map(|index| pages.lines.get(*index).map(AsRef::as_ref))
                .collect(),
        };
        format!("[{}]", lines.join(","))
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

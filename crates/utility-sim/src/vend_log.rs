//! The log of vends: the world's own account of what happened, written before anybody is answered.

use std::{
    collections::HashMap,
    fs::File,
    io,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lines;

/// One vend that was asked and decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VendRecord {
    /// The client's name for it: of an XMLVend message id `20261120093000-000042`, of a top-up its custom identifier.
    pub(crate) reference: String,
    pub(crate) subscriber: String,
    pub(crate) product_type: String,
    /// Currency units with two decimals.
    pub(crate) amount: String,
    pub(crate) currency: String,
    /// In the order in which they are entered.
    pub(crate) tokens: Vec<String>,
    /// RFC 3339.
    pub(crate) at: String,
    pub(crate) outcome: VendResult,
}

/// Whether the subscriber got, or will get, what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VendResult {
    Vended,
    Refused,
}

/// A vend of an earlier life, with what its seller needs to give the same answer again.
#[derive(Debug, Deserialize)]
pub(crate) struct Past {
    #[serde(flatten)]
    pub(crate) record: VendRecord,
    pub(crate) answer: Value,
}

/// As it stands in the file.
#[derive(Serialize)]
struct Line<'a, A> {
    #[serde(flatten)]
    record: &'a VendRecord,
    answer: &'a A,
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
    /// Keeps the log in memory, and appends it to a file where one is given; with all vends that the file holds already.
    pub(crate) fn open(path: Option<&Path>, fsync: bool) -> io::Result<(Self, Vec<Past>)> {
        let Some(path) = path else { return Ok((Self { pages: Mutex::default(), fsync }, Vec::new())) };
        let (file, lines) = lines::open(path)?;
        let read = |(index, line): (usize, &String)| {
            serde_json::from_str(line).map_err(|_why| lines::unreadable("vend log", index))
        };
        let past: Vec<Past> = lines.iter().enumerate().map(read).collect::<io::Result<_>>()?;
        let mut pages = Pages { file: Some(file), ..Pages::default() };
        past.iter().try_for_each(|past| pages.keep(&past.record))?;
        Ok((Self { pages: Mutex::new(pages), fsync }, past))
    }

    /// Writes a line, in the file with what is needed to give the same answer again; when this returns it is in the file,
    /// if there is one.
    pub(crate) fn append(&self, record: &VendRecord, answer: &impl Serialize) -> io::Result<()> {
        let mut pages = self.pages();
        if let Some(file) = &mut pages.file {
            lines::append(file, &serde_json::to_string(&Line { record, answer })?)?;
            if self.fsync {
                file.sync_data()?;
            }
        }
        pages.keep(record)
    }

    /// How many vends there are.
    pub(crate) fn len(&self) -> usize {
        self.pages().lines.len()
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

impl Pages {
    fn keep(&mut self, record: &VendRecord) -> io::Result<()> {
        let line = serde_json::to_string(record)?;
        let index = self.lines.len();
        self.lines.push(line.into_boxed_str());
        self.by_subscriber.entry(record.subscriber.as_str().into()).or_default().push(index);
        Ok(())
    }
}

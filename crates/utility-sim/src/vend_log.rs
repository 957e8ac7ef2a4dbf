//! The log of vends: the simulator's record of what happened, written before each answer.

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

/// One requested vend and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VendRecord {
    /// The client's name for it: the XMLVend message id, such as `20261120093000-000042`, or the custom identifier of a
    /// top-up.
    pub reference: String,
    /// Our own name for it: the number of a receipt or of a top-up. Empty if it was refused, or logged by an earlier version.
    #[serde(default)]
    pub transaction: String,
    /// The meter or the telephone.
    pub subscriber: String,
    /// `ELECTRICITY`, `WATER` or `AIRTIME`.
    pub product_type: String,
    /// Currency units with two decimals.
    pub amount: String,
    /// ISO 4217.
    pub currency: String,
    /// In the order of entry.
    pub tokens: Vec<String>,
    /// RFC 3339.
    pub at: String,
    /// Whether it was vended.
    pub outcome: VendResult,
}

/// Whether the subscriber got, or will get, the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VendResult {
    /// The subscriber got it, or will get it.
    Vended,
    /// The subscriber did not get it, and never will.
    Refused,
}

/// A vend of an earlier run, with the data to give the same answer again.
#[derive(Debug, Deserialize)]
pub(crate) struct Past {
    #[serde(flatten)]
    pub(crate) record: VendRecord,
    pub(crate) answer: Value,
}

/// An entry in the file.
#[derive(Serialize)]
struct Line<'a, A> {
    #[serde(flatten)]
    record: &'a VendRecord,
    answer: &'a A,
}

/// All vends so far, in order.
#[derive(Debug)]
pub(crate) struct VendLog {
    entries: Mutex<Entries>,
    fsync: bool,
}

#[derive(Debug, Default)]
struct Entries {
    /// Each is a JSON object.
    lines: Vec<Box<str>>,
    by_subscriber: HashMap<Box<str>, Vec<usize>>,
    file: Option<File>,
}

impl VendLog {
    /// Opens the log in memory, and the file if a path is given. Also returns the vends that the file contains already.
    pub(crate) fn open(path: Option<&Path>, fsync: bool) -> io::Result<(Self, Vec<Past>)> {
        let Some(path) = path else { return Ok((Self { entries: Mutex::default(), fsync }, Vec::new())) };
        let (file, lines) = lines::open(path)?;
        let read = |(index, line): (usize, &String)| {
            serde_json::from_str(line).map_err(|_why| lines::unreadable("vend log", index))
        };
        let past: Vec<Past> = lines.iter().enumerate().map(read).collect::<io::Result<_>>()?;
        let mut entries = Entries { file: Some(file), ..Entries::default() };
        past.iter().try_for_each(|past| entries.add(&past.record))?;
        Ok((Self { entries: Mutex::new(entries), fsync }, past))
    }

    /// Writes an entry. The file entry also contains the data to give the same answer again. When this returns, the
    /// entry is in the file, if there is one.
    pub(crate) fn append(&self, record: &VendRecord, answer: &impl Serialize) -> io::Result<()> {
        let mut entries = self.entries();
        if let Some(file) = &mut entries.file {
            lines::append(file, &serde_json::to_string(&Line { record, answer })?)?;
            if self.fsync {
                file.sync_data()?;
            }
        }
        entries.add(record)
    }

    /// The number of vends.
    pub(crate) fn len(&self) -> usize {
        self.entries().lines.len()
    }

    /// The log as a JSON array, whole or of one subscriber.
    pub(crate) fn to_json(&self, subscriber: Option<&str>) -> String {
        format!("[{}]", self.entries().lines_of(subscriber).join(","))
    }

    /// The log, whole or of one subscriber.
    pub(crate) fn records(&self, subscriber: Option<&str>) -> Vec<VendRecord> {
        let entries = self.entries();
        let read = |line: &str| serde_json::from_str(line).expect("a line of the log is a record");
        entries.lines_of(subscriber).into_iter().map(read).collect()
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// The lines, all or of one subscriber.
    fn lines_of(&self, subscriber: Option<&str>) -> Vec<&str> {
        match subscriber {
            None => self.lines.iter().map(AsRef::as_ref).collect(),
            Some(subscriber) => {
                let indexes = self.by_subscriber.get(subscriber).into_iter().flatten();
                indexes.filter_map(|index| self.lines.get(*index).map(AsRef::as_ref)).collect()
            }
        }
    }

    fn add(&mut self, record: &VendRecord) -> io::Result<()> {
        let line = serde_json::to_string(record)?;
        let index = self.lines.len();
        self.lines.push(line.into_boxed_str());
        self.by_subscriber.entry(record.subscriber.as_str().into()).or_default().push(index);
        Ok(())
    }
}

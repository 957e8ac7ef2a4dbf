//! The files of transcripts: one file for each process, one line for each turn. A line is written whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use purchase::PurchaseId;
use serde_json::{Value, json};

static SINK: OnceLock<Mutex<File>> = OnceLock::new();
static RUNS: AtomicU64 = AtomicU64::new(0);

/// From now on this process records a transcript of every run, in its own file in this directory. The file
/// contains meter tokens: for tests only.
///
/// # Errors
/// When the file cannot be created.
pub fn keep_in(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let path = directory.join(format!("{}.jsonl", process::id()));
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    SINK.get_or_init(|| Mutex::new(file));
    Ok(())
}

/// One run. Without a sink it records nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run(Option<u64>);

impl Run {
    /// Records the inputs of a run and its first command.
    pub(super) fn begins(purchase: PurchaseId, words: impl FnOnce() -> (Value, Value)) -> Self {
        if SINK.get().is_none() {
            return Self(None);
        }
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let (begins, says) = words();
        write(&json!({"run": number, "purchase": purchase.0, "begins": begins, "says": says}));
        Self(Some(number))
    }

    pub(super) fn hears(self, event: impl FnOnce() -> Value) -> Option<Value> {
        self.0.map(|_number| event())
    }

    pub(super) fn says(self, heard: Option<Value>, command: impl FnOnce() -> Value) {
        if let (Some(number), Some(heard)) = (self.0, heard) {
            write(&json!({"run": number, "hears": heard, "says": command()}));
        }
    }
}

/// A line that cannot be written must fail the test: a transcript must not miss a line.
fn write(line: &Value) {
    if let Some(sink) = SINK.get() {
        let mut file = sink.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(format!("{line}\n").as_bytes()).expect("the transcript can be written");
    }
}

//! The evidence that the checker reads.

use std::{fs, path::Path};

use local_postgres::LocalDatabase;
use serde::Deserialize;

use super::{Books, History, HoldSample, VendLog};

/// When the evidence was gathered. Some invariants hold only at rest, after the fault injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Requests are still being processed.
    Amid,
    /// Faults have stopped, and every purchase had the time to end.
    AtRest,
}

/// Everything that the invariants are checked against.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub moment: Moment,
    /// The database before the utility's log was read, as far as a later reading must contain it. A vend that is paid for by then
    /// must be in the log.
    pub earlier: Books,
    pub vends: VendLog,
    /// The database after it. A vend in the log must have been ordered by then.
    pub books: Books,
    /// What the wallets held during the fault injection.
    pub holds: Vec<HoldSample>,
    pub history: History,
    /// The messages that customers received, if they were recorded.
    pub inbox: Option<Vec<Letter>>,
    pub logs: Vec<Log>,
    pub secrets: Vec<Secret>,
}

/// An SMS or an e-mail as its recipient reads it.
#[derive(Clone, Debug, Deserialize)]
pub struct Letter {
    pub channel: String,
    pub to: String,
    pub text: String,
}

/// The log of one process, or another text that must not contain secrets.
#[derive(Clone, Debug)]
pub struct Log {
    pub name: String,
    pub text: String,
}

/// A value that must not appear in any log.
#[derive(Clone, Debug)]
pub struct Secret {
    /// What the value is, for the report of a violation.
    pub name: String,
    pub value: String,
}

/// Reads the database, the log of vends and the database again. The order of the reads allows other processes to
/// continue.
pub fn gather(database: &LocalDatabase, vend_log: &Path, moment: Moment, history: History) -> Evidence {
    let earlier = Books::read_lasting(database);
    let vends = VendLog::read(vend_log);
    let books = Books::read(database);
    Evidence {
        moment,
        earlier,
        vends,
        books,
        holds: Vec::new(),
        history,
        inbox: None,
        logs: Vec::new(),
        secrets: Vec::new(),
    }
}

impl Evidence {
    /// Adds every log in a directory, except the utility's log of vends, which contains tokens.
    #[must_use]
    pub fn with_logs_in(mut self, directory: &Path, vend_log: &Path) -> Self {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "log") && path != vend_log {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                self.logs.push(Log { name: path.display().to_string(), text });
            }
        }
        self
    }

    /// Adds a dump of the tables in which no token and no secret may appear.
    #[must_use]
    pub fn with_a_dump_of(mut self, database: &LocalDatabase) -> Self {
        for table in [
            "purchases",
            "attempts",
            "purchase_events",
            "audit_log",
            "incidents",
            "provider_replies",
            "outbox",
            "feed_events",
        ] {
            let text = database.run_sql(&format!("SELECT t::text FROM {table} t")).unwrap();
            self.logs.push(Log { name: format!("table {table}"), text });
        }
        self
    }
}

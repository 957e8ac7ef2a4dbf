//! Everything that the checker looks at.

use std::{fs, path::Path};

use local_postgres::Database;
use serde::Deserialize;

use super::{Books, History, HoldSample, VendLog};

/// When it was gathered: the laws about rest hold only after the storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Others are still at work.
    Amid,
    /// Faults have stopped, and everything had the time to end.
    AtRest,
}

/// What is held against the laws.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub moment: Moment,
    /// The database before the utility's log was read: what is paid for by then must be in the log.
    pub earlier: Books,
    pub vends: VendLog,
    /// The database after it: what is in the log must have been ordered by then.
    pub books: Books,
    /// What wallets held while the storm was going on.
    pub holds: Vec<HoldSample>,
    pub history: History,
    /// What people received, where somebody kept it.
    pub inbox: Option<Vec<Letter>>,
    pub logs: Vec<Log>,
    pub secrets: Vec<Secret>,
}

/// An SMS or an e-mail as its receiver reads it.
#[derive(Clone, Debug, Deserialize)]
pub struct Letter {
    pub channel: String,
    pub to: String,
    pub text: String,
}

/// The log of one process, or another text that people will read.
#[derive(Clone, Debug)]
pub struct Log {
    pub name: String,
    pub text: String,
}

/// What must stand in no log.
#[derive(Clone, Debug)]
pub struct Secret {
    /// What it is, to be named in a complaint.
    pub name: String,
    pub value: String,
}

/// Reads the database and the log of vends, in the order that lets others go on meanwhile.
pub fn gather(database: &Database, vend_log: &Path, moment: Moment, history: History) -> Evidence {
    let earlier = Books::read(database);
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
    /// With every log that lies in a directory, but for the utility's log of vends, which is full of tokens.
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

    /// With the tables in which no token and no secret may stand, as a dump would show them.
    #[must_use]
    pub fn with_a_dump_of(mut self, database: &Database) -> Self {
        for table in [
            "purchases",
            "attempts",
            "purchase_events",
            "audit_log",
            "incidents",
            "provider_replies",
            "outbox",
        ] {
            let text = database.run_sql(&format!("SELECT t::text FROM {table} t")).unwrap();
            self.logs.push(Log { name: format!("table {table}"), text });
        }
        self
    }
}

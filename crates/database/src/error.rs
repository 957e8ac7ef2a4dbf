//! Errors between this crate and the database, classified by what a caller may do next.
//!
//! Money depends on one distinction: *nothing was committed*, or *a commit may have happened*.

use tokio_postgres::{
    Error as ServerError,
    error::{DbError, Severity, SqlState},
};

pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why an operation on the database has no result.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The database could not be reached, was lost before a commit was requested, or has no space. Nothing was committed.
    #[error("the database is not available")]
    Unavailable {
        #[source]
        source: Source,
    },
    /// A commit was requested and its answer never arrived. The change may or may not be committed. The same operation
    /// may be run again with the same keys.
    #[error("the commit was not acknowledged")]
    Unacknowledged {
        #[source]
        source: Source,
    },
    /// The engine's task ended without an answer. Treat it like [`DatabaseError::Unacknowledged`].
    #[error("the operation was lost with its task")]
    Lost {
        #[source]
        source: tokio::task::JoinError,
    },
    /// The lane that had the job has stopped. Treat it like [`DatabaseError::Unacknowledged`].
    #[error("the lane has stopped")]
    Stopped,
    /// Others hold what is needed (a lock that stayed taken, a deadlock, a statement that took too long, every
    /// connection, every place in a queue). Nothing was committed, and running the operation again may succeed.
    #[error("the database is busy: a lock, a connection or a place in a queue was not free in time")]
    Busy {
        #[source]
        source: Source,
    },
    /// Another writer changed the row first.
    #[error("{what} was changed concurrently")]
    Stale { what: &'static str },
    /// The named row does not exist.
    #[error("there is no {what} {key}")]
    Absent { what: &'static str, key: String },
    /// A row with the same key exists already.
    #[error("a row with the same key exists (constraint {constraint})")]
    Duplicate { constraint: String },
    /// The database refused a value that violates one of its constraints. Unless an operator entered the value, this is
    /// a defect on our side.
    #[error("the database refused a value (constraint {constraint})")]
    Rejected {
        constraint: String,
        #[source]
        source: Source,
    },
    /// The stored value cannot be what was written.
    #[error("{table}.{column} of row {key} is corrupt")]
    Corrupt {
        table: &'static str,
        column: &'static str,
        key: String,
        #[source]
        source: Option<Source>,
    },
    /// The sealed token of a purchase does not open. The key that sealed it is missing here, or the row was changed.
    /// The purchase is successful, whatever happens to its token.
    #[error("the token of purchase {purchase} cannot be opened")]
    TokenUnreadable {
        purchase: i64,
        #[source]
        source: Source,
    },
    /// A statement failed for another reason. This is a defect on our side.
    #[error("a statement failed")]
    Query {
        #[source]
        source: Source,
    },
    /// The server or the session has a setting that this program does not accept for money.
    #[error("the database setting {name} is {value:?} and must be {required}")]
    Setting { name: &'static str, value: String, required: &'static str },
    /// The database lacks migrations of this program.
    #[error("the schema is at version {found} and this program needs {expected}: run api-server migrate")]
    Schema { found: String, expected: String },
    /// A migration has taken away what this program needs.
    #[error(
        "this program has schema {program}, and the database serves programs of schema {oldest} and later: install a later \
         release"
    )]
    ProgramTooOld { program: String, oldest: String },
    /// A migration could not be applied. The migrations before it are applied.
    #[error("a migration could not be applied")]
    Migration {
        #[source]
        source: Source,
    },
}

impl DatabaseError {
    /// Whether nothing was committed and the same operation may succeed shortly after. A setting may be that of a server
    /// that is no longer the primary, or not yet. A schema that does not fit the program is part of an upgrade: a migration
    /// or another program is about to come.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unavailable { .. }
            | Self::Busy { .. }
            | Self::Setting { .. }
            | Self::Schema { .. }
            | Self::ProgramTooOld { .. }
            | Self::Migration { .. } => true,
            Self::Unacknowledged { .. }
            | Self::Lost { .. }
            | Self::Stopped
            | Self::Stale { .. }
            | Self::Absent { .. }
            | Self::Duplicate { .. }
            | Self::Rejected { .. }
            | Self::Corrupt { .. }
            | Self::TokenUnreadable { .. }
            | Self::Query { .. } => false,
        }
    }

    /// Whether the operation may have been committed although it has no result.
    pub fn may_be_committed(&self) -> bool {
        matches!(self, Self::Unacknowledged { .. } | Self::Lost { .. } | Self::Stopped)
    }

    /// Whether a lock stayed taken until the lock timeout, or until the timeout of the statement that waited for it.
    pub fn is_lock_timeout(&self) -> bool {
        let Self::Busy { source } = self else { return false };
        let refusal = source.downcast_ref::<Refusal>();
        refusal.is_some_and(|it| matches!(it.code, SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED))
    }

    /// Whether the database denied our login the permission.
    pub fn is_forbidden(&self) -> bool {
        let Self::Query { source } = self else { return false };
        let refusal = source.downcast_ref::<Refusal>();
        refusal.is_some_and(|refusal| refusal.code == SqlState::INSUFFICIENT_PRIVILEGE)
    }

    /// What a transaction that was never sent may be told: the database was lost before its commit.
    pub fn unavailable(source: impl Into<Source>) -> Self {
        Self::Unavailable { source: source.into() }
    }

    /// A stored value that cannot be what was written.
    #[expect(clippy::needless_pass_by_value, reason = "a key is a number or a borrowed text at every call")]
    pub fn corrupt(table: &'static str, column: &'static str, key: impl ToString) -> Self {
        Self::Corrupt { table, column, key: key.to_string(), source: None }
    }
}

/// The phase in which an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No commit had been requested.
    Statement,
    /// The commit had been sent.
    Commit,
}

/// A failure before any commit. A write outside a [`Transaction`](crate::Transaction) commits by itself, so there must
/// be none.
impl From<ServerError> for DatabaseError {
    fn from(error: ServerError) -> Self {
        classify(error, Phase::Statement)
    }
}

/// Classifies a failure by its SQLSTATE (PostgreSQL, appendix A), because the texts of a server depend on its language.
/// After the commit was sent, only an error that the server sends for an uncommitted transaction proves that nothing
/// was committed.
pub(crate) fn classify(error: ServerError, phase: Phase) -> DatabaseError {
    // Without an answer of the server, the connection is lost, or is in a state that nothing is known about.
    let Some(answer) = error.as_db_error() else { return undecided(error, phase, unavailable) };
    let (code, constraint, ends_session) = (answer.code().clone(), constraint(answer), ends_session(answer));
    let refusal = Refusal { code: code.clone(), message: answer.message().to_owned() };
    match code {
        SqlState::UNIQUE_VIOLATION => DatabaseError::Duplicate { constraint },
        SqlState::FOREIGN_KEY_VIOLATION
        | SqlState::CHECK_VIOLATION
        | SqlState::NOT_NULL_VIOLATION
        | SqlState::EXCLUSION_VIOLATION
        | SqlState::RESTRICT_VIOLATION => DatabaseError::Rejected { constraint, source: refusal.into() },
        SqlState::T_R_SERIALIZATION_FAILURE => DatabaseError::Busy { source: refusal.into() },
        SqlState::IN_FAILED_SQL_TRANSACTION => query(refusal.into()),
        SqlState::T_R_DEADLOCK_DETECTED | SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED => {
            undecided(refusal, phase, |source| DatabaseError::Busy { source })
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => undecided(refusal, phase, unavailable),
        _ if ends_session || lacks_resources(&code) => undecided(refusal, phase, unavailable),
        _ => undecided(refusal, phase, query),
    }
}

/// What the server answers. Its details are left out, because they repeat the whole row, which no log may contain.
/// The message itself may quote one value that does not fit its type (class 22).
#[derive(Debug, thiserror::Error)]
#[error("{message} (SQLSTATE {})", code.code())]
struct Refusal {
    code: SqlState,
    message: String,
}

/// Whether the server refuses a statement because an earlier one of its transaction has failed. Nothing of such a
/// transaction can be committed.
pub(crate) fn is_of_failed_transaction(error: &ServerError) -> bool {
    error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION)
}

/// Whether the server closes the session after this error, whatever its reason is. A proxy may leave the severity out,
/// so the codes that always end a session count too: class 08, the shutdowns (57P..), and a transaction that was idle
/// for too long (25P03).
fn ends_session(answer: &DbError) -> bool {
    let code = answer.code().code();
    matches!(answer.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
        || code.starts_with("08")
        || code.starts_with("57P")
        || *answer.code() == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
}

/// Whether the server lacks space or memory, or a disk of it fails (classes 53 and 58): the request is in order.
fn lacks_resources(code: &SqlState) -> bool {
    code.code().starts_with("53") || code.code().starts_with("58")
}

fn undecided(
    error: impl Into<Source>,
    phase: Phase,
    before: impl FnOnce(Source) -> DatabaseError,
) -> DatabaseError {
    match phase {
        Phase::Statement => before(error.into()),
        Phase::Commit => DatabaseError::Unacknowledged { source: error.into() },
    }
}

fn unavailable(source: Source) -> DatabaseError {
    DatabaseError::Unavailable { source }
}

fn query(source: Source) -> DatabaseError {
    DatabaseError::Query { source }
}

fn constraint(answer: &DbError) -> String {
    answer.constraint().or_else(|| answer.column()).unwrap_or("unnamed").to_owned()
}

//! Errors between this crate and the database, classified by what a caller may do next.
//!
//! Money depends on one distinction: *nothing was committed*, or *a commit may have happened*.

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error as QueryError};

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a store operation has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database could not be reached, or was lost before a commit was requested. Nothing was committed.
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
    /// The engine's task ended without an answer. Treat it like [`StoreError::Unacknowledged`].
    #[error("the operation was lost with its task")]
    Lost {
        #[source]
        source: tokio::task::JoinError,
    },
    /// The lane that had the job has stopped. Treat it like [`StoreError::Unacknowledged`].
    #[error("the lane has stopped")]
    Stopped,
    /// Others hold what is needed (a lock that stayed taken, a deadlock, a statement that took too long, every
    /// connection, every place in a queue). Nothing was committed, and running the operation again may succeed.
    #[error("the database is too busy with others")]
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
    /// The database refused a value that violates one of its constraints. Unless [`StoreError::broken_rule`] names a
    /// rule, this is a defect on our side.
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
    /// The database's schema is not the one that this program was built for.
    #[error("the schema is at version {found} and this program needs {expected}")]
    Schema { found: String, expected: String },
    /// A migration could not be applied. The migrations before it are applied.
    #[error("a migration could not be applied")]
    Migration {
        #[source]
        source: Source,
    },
}

impl StoreError {
    /// Whether nothing was committed and the same operation may succeed shortly after.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Busy { .. })
    }

    /// Whether the operation may have been committed although it has no result.
    pub fn may_have_been_kept(&self) -> bool {
        matches!(self, Self::Unacknowledged { .. } | Self::Lost { .. } | Self::Stopped)
    }

    /// Whether the database denied our login the permission.
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Query { source } if source.to_string().contains("permission denied"))
    }

    #[expect(clippy::needless_pass_by_value, reason = "a key is a number or a borrowed text at every call")]
    pub(crate) fn corrupt(table: &'static str, column: &'static str, key: impl ToString) -> Self {
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

/// A failure before any commit. A write outside a `Transaction` commits
/// by itself, so there must be none.
impl From<QueryError> for StoreError {
    fn from(error: QueryError) -> Self {
        classify(error, Phase::Statement)
    }
}

/// Classifies a failure. After the commit was sent, only an error that the server sends for an uncommitted transaction
/// proves that nothing was committed.
pub(crate) fn classify(error: QueryError, phase: Phase) -> StoreError {
    let QueryError::DatabaseError(kind, information) = &error else {
        return undecided(error, phase, |source| StoreError::Query { source });
    };
    match kind {
        DatabaseErrorKind::UniqueViolation => {
            StoreError::Duplicate { constraint: constraint(information.as_ref()) }
        }
        DatabaseErrorKind::ForeignKeyViolation
        | DatabaseErrorKind::CheckViolation
        | DatabaseErrorKind::NotNullViolation
        | DatabaseErrorKind::ExclusionViolation
        | DatabaseErrorKind::RestrictViolation => {
            StoreError::Rejected { constraint: constraint(information.as_ref()), source: error.into() }
        }
        DatabaseErrorKind::SerializationFailure => StoreError::Busy { source: error.into() },
        DatabaseErrorKind::UnableToSendCommand
        | DatabaseErrorKind::ClosedConnection
        | DatabaseErrorKind::ReadOnlyTransaction => {
            undecided(error, phase, |source| StoreError::Unavailable { source })
        }
        DatabaseErrorKind::Unknown | _ => {
            let message = information.message().to_owned();
            by_message(error, &message, phase)
        }
    }
}

/// diesel-async does not keep the SQLSTATE, so the other errors are classified by their message.
/// [`Connection::open`](crate::connection::Connection::open) makes sure that messages are in English.
fn by_message(error: QueryError, message: &str, phase: Phase) -> StoreError {
    let busy = ["deadlock detected", "due to lock timeout", "due to statement timeout"];
    let gone = ["terminating connection", "the database system is", "connection closed"];
    if message.contains("current transaction is aborted") {
        StoreError::Query { source: error.into() }
    } else if busy.iter().any(|sign| message.contains(sign)) {
        undecided(error, phase, |source| StoreError::Busy { source })
    } else if gone.iter().any(|sign| message.contains(sign)) {
        undecided(error, phase, |source| StoreError::Unavailable { source })
    } else {
        undecided(error, phase, |source| StoreError::Query { source })
    }
}

fn undecided(error: QueryError, phase: Phase, before: impl FnOnce(Source) -> StoreError) -> StoreError {
    match phase {
        Phase::Statement => before(error.into()),
        Phase::Commit => StoreError::Unacknowledged { source: error.into() },
    }
}

fn constraint(information: &(dyn DatabaseErrorInformation + Send + Sync)) -> String {
    let name = information.constraint_name().or_else(|| information.column_name());
    name.unwrap_or("unnamed").to_owned()
}

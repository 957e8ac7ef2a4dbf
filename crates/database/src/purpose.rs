//! What a connection is for, and how its sessions are set up for that.

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The lanes.
    Money,
    /// All other statements of a server that answers requests.
    Requests,
    /// Everything that the worker and operators do besides. Some of it reads whole tables.
    General,
    /// An operator's rehearsal. All its operations are seen by those after them, and no other session sees them: nothing is ever kept.
    Rehearsal,
}

/// How a transaction begins and ends on a connection.
#[derive(Debug)]
pub(crate) struct TransactionCommands {
    pub(crate) begin: &'static str,
    /// After a failed statement, the server answers COMMIT with a silent ROLLBACK, which must never be taken for a commit. The SELECT
    /// before it, in the same message, then fails with an error.
    pub(crate) commit: &'static str,
    pub(crate) roll_back: &'static str,
}

static KEPT: TransactionCommands =
    TransactionCommands { begin: "BEGIN", commit: "SELECT; COMMIT", roll_back: "ROLLBACK" };

/// The connection has one transaction, which never ends. What a commit checks is checked as well.
static REHEARSED: TransactionCommands = TransactionCommands {
    begin: "SAVEPOINT operation",
    commit: "SELECT; SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED; RELEASE SAVEPOINT operation",
    roll_back: "ROLLBACK TO SAVEPOINT operation; RELEASE SAVEPOINT operation",
};

impl Purpose {
    /// The name of its pool in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Money => "money",
            Self::Requests | Self::General | Self::Rehearsal => "general",
        }
    }

    pub(crate) const fn transaction_commands(self) -> &'static TransactionCommands {
        match self {
            Self::Money | Self::Requests | Self::General => &KEPT,
            Self::Rehearsal => &REHEARSED,
        }
    }

    /// The statements that set up its sessions, in addition to those of every session.
    ///
    /// A statement of a request finds its rows by keys, and an index has them. The planner knows that only if it has
    /// statistics. Without them, on a young database, it sorted the whole history of an organisation for a page of 20
    /// purchases, and it keeps such a plan until the next `ANALYZE`. So in these sessions every other kind of plan counts
    /// as too dear.
    pub const fn session(self) -> &'static str {
        match self {
            Self::Money | Self::Requests => {
                "SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off;
                 SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
                 SET enable_material = off;"
            }
            // With ten million purchases the planner expects so much of some statements that it lets them be compiled. That takes more than
            // a second, each time anew, and the statements take milliseconds.
            Self::General | Self::Rehearsal => "SET jit = off;",
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Handle;

    use crate::{
        Database, DatabaseError, Purpose,
        test_database::{database, migrated, settings},
    };

    const COUNT: &str = "SELECT count(*) FROM provider_call_counters";

    async fn write(database: &Database) -> Result<(), DatabaseError> {
        let transaction = database.begin().await?;
        let written = "INSERT INTO provider_call_counters VALUES ('till', 1, now())";
        let outcome = transaction.batch_execute(written).await;
        transaction.end(outcome).await
    }

    #[tokio::test]
    async fn a_rehearsal_sees_what_it_has_done_and_keeps_nothing() {
        let (real, local) = database().await;
        let rehearsal =
            Database::connect(settings(&local), Purpose::Rehearsal, Handle::current()).await.unwrap();
        write(&rehearsal).await.unwrap();
        assert_eq!(local.run_sql(COUNT).unwrap(), "0", "another session sees nothing of it");
        // The first row is there, and the failure takes nothing back.
        let twice = write(&rehearsal).await.unwrap_err();
        assert!(matches!(twice, DatabaseError::Duplicate { .. }), "{twice:?}");
        let twice = write(&rehearsal).await.unwrap_err();
        assert!(matches!(twice, DatabaseError::Duplicate { .. }), "{twice:?}");
        let beside = rehearsal.another_pool(Purpose::Money, 1).begin().await.unwrap();
        beside.batch_execute("DELETE FROM provider_call_counters").await.unwrap();
        beside.commit().await.unwrap();
        assert_eq!(local.run_sql(COUNT).unwrap(), "0");

        drop(rehearsal);
        write(&real).await.unwrap();
        assert_eq!(local.run_sql(COUNT).unwrap(), "1");
    }

    #[tokio::test]
    async fn a_rehearsal_checks_what_a_commit_checks() {
        let local = migrated();
        local
            .run_sql(
                "CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END $$;
                 CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON provider_call_counters
                 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()",
            )
            .unwrap();
        let rehearsal =
            Database::connect(settings(&local), Purpose::Rehearsal, Handle::current()).await.unwrap();
        let refused = write(&rehearsal).await.unwrap_err();
        assert!(matches!(refused, DatabaseError::Rejected { .. }), "{refused:?}");
    }
}

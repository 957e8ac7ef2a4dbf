//! The end of a transaction: its writes and its commit, in one round trip.

use std::mem;

use diesel::{
    pg::Pg,
    query_builder::{QueryFragment, QueryId},
};
use tokio::time::timeout;
use tokio_postgres::Error as ServerError;

use crate::{
    Connection, DatabaseError, Transaction,
    error::{Phase, classify, is_of_failed_transaction},
    query::{Answer, Request},
};

/// As many writes as a group of the money path has, and some to spare.
const WRITES_LIKELY: usize = 8;

/// The writes of a transaction and its commit. A write is sent without waiting for the answers to those before it, and the
/// commit is sent right behind the last one. The server runs them in this order.
///
/// So the program does not look at the answer to a write before the commit is sent. A write that did not do what it should must fail by
/// itself: then the server refuses everything behind it, the commit too.
#[must_use = "writes that are dropped are rolled back"]
#[derive(Debug)]
pub struct Writes {
    transaction: Transaction,
    /// The answers that were not received, in the order of their writes.
    sent: Vec<Answer>,
    /// How many warnings the server had sent before the first write.
    warnings: u64,
}

impl Writes {
    pub(crate) fn of(transaction: Transaction) -> Self {
        let warnings = transaction.warnings();
        Self { transaction, sent: Vec::with_capacity(WRITES_LIKELY), warnings }
    }

    /// Sends a write, behind those that were sent before.
    ///
    /// # Errors
    /// If it could not be sent, or if the transaction has not begun. Then nothing behind it may be sent either: the transaction must be rolled back.
    pub fn send(
        &mut self,
        write: impl QueryFragment<Pg> + QueryId,
    ) -> impl Future<Output = Result<(), DatabaseError>> + Send {
        let request = Request::of(&self.transaction, &write);
        async move {
            let request = request?;
            if !self.transaction.has_begun() {
                return Err(DatabaseError::Query { source: "the write would commit by itself".into() });
            }
            if !request.is_known() {
                // A failure of an earlier write would be found here, and reported as one of this write.
                self.answered().await?;
            }
            let sent = request.launch(&self.transaction).await;
            self.sent.push(sent.map_err(|error| self.transaction.failed(error))?);
            Ok(())
        }
    }

    /// Waits until all writes that were sent are answered. Returns the connection, for a look at what they did.
    ///
    /// # Errors
    /// The failure of the first write that failed. The transaction must be rolled back.
    pub async fn answered(&mut self) -> Result<&Connection, DatabaseError> {
        let failure = first_failure(mem::take(&mut self.sent)).await;
        failure.map_or(Ok(()), |error| Err(self.transaction.failed(error)))?;
        Ok(&self.transaction)
    }

    /// Commits what was sent.
    ///
    /// # Errors
    /// The failure of the first write that failed, if the server has refused the commit for it. Otherwise
    /// [`DatabaseError::Unacknowledged`], unless the server has refused the commit itself.
    pub async fn commit(mut self) -> Result<(), DatabaseError> {
        let sent = mem::take(&mut self.sent);
        let command = self.transaction.transaction_commands().commit;
        let answers = async {
            // The first poll of the second one sends the commit.
            tokio::join!(biased; first_failure(sent), self.transaction.client().batch_execute(command))
        };
        let (failure, commit) = timeout(self.transaction.deadline(), answers)
            .await
            .map_err(|elapsed| DatabaseError::Unacknowledged { source: elapsed.into() })?;
        match self.judge(failure, commit) {
            CommitProof::Committed => {
                self.transaction.give_back();
                Ok(())
            }
            CommitProof::Refused(error) => {
                self.transaction.roll_back().await;
                Err(error)
            }
            CommitProof::Ended(error) => Err(error),
        }
    }

    /// What the answers prove. Only the answer to the commit proves anything. The failure of a write explains why the
    /// commit was refused. If the commit was not refused, such a failure is doubt, whatever the commit's answer is.
    fn judge(&self, failure: Option<ServerError>, commit: Result<(), ServerError>) -> CommitProof {
        let doubt = |source| CommitProof::Ended(DatabaseError::Unacknowledged { source });
        match (failure, commit) {
            (Some(failure), Err(refused)) if is_of_failed_transaction(&refused) => {
                CommitProof::Refused(self.transaction.failed(failure))
            }
            (Some(failure), _) => doubt(failure.into()),
            (None, Err(error)) => CommitProof::Ended(classify(error, Phase::Commit)),
            (None, Ok(())) if self.transaction.warnings() != self.warnings => {
                doubt("the server warned about the commit".into())
            }
            // The new primary may have begun without this commit.
            (None, Ok(())) if !self.transaction.is_newest() => {
                doubt("another server was promoted meanwhile".into())
            }
            (None, Ok(())) => CommitProof::Committed,
        }
    }

    /// Rolls back what was sent.
    pub async fn roll_back(self) {
        self.transaction.roll_back().await;
    }

    /// Commits if all writes were `sent`, and rolls back if one of them could not be.
    ///
    /// # Errors
    /// Why it was not sent, and those of [`Writes::commit`].
    pub async fn end(self, sent: Result<(), DatabaseError>) -> Result<(), DatabaseError> {
        match sent {
            Ok(()) => self.commit().await,
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }
}

/// What the answers to the writes and to the commit prove.
enum CommitProof {
    /// Everything is committed.
    Committed,
    /// Nothing is committed. The transaction has failed, and is to be rolled back.
    Refused(DatabaseError),
    /// The error tells what is known. The connection is not used again.
    Ended(DatabaseError),
}

/// Waits for all answers. Returns the first failure.
async fn first_failure(answers: Vec<Answer>) -> Option<ServerError> {
    let mut first = None;
    for answer in answers {
        let failure = answer.receive().await.err();
        first = first.or(failure);
    }
    first
}

#[cfg(test)]
mod tests;

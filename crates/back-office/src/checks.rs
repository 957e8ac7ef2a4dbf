//! Standing checks: whether the books satisfy their invariants, repeated while the service runs.
//!
//! Open purchases are few and are checked completely. History is checked in rounds: each look takes the new rows and a
//! further stretch of the old rows, and so reaches every row in time. Each look reads one snapshot.
//!
//! The checks compare only what cannot be forged with a server's password alone: amounts, which no role can change;
//! postings, which only the database's own triggers and the operator's function write; what our keys have sealed; and
//! the chain of the audit log.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use database::{DatabaseError, Transaction};
use store::{SealingKeys, Store};

mod audit;
mod cutoffs;
mod ends;
mod history;
mod invariant;
mod open;
mod trial_balances;
mod wallets;

pub use invariant::{Invariant, Violation};

use history::Round;
use wallets::Walk;

/// How far the checks have progressed, and what they have found. It starts anew with the process.
#[derive(Clone, Debug, Default)]
pub struct CheckProgress {
    entries: Round,
    purchases: Round,
    wallets: Walk,
    cutoffs: cutoffs::Round,
    trial_balances: trial_balances::Round,
    audit: audit::Round,
    /// What was violated at the last look at it. It stays until a later look finds it correct.
    broken: Broken,
}

/// Violations in history, by their invariant and the number of the row that violates it.
#[derive(Clone, Debug, Default)]
struct Broken(BTreeMap<(Invariant, i64), Violation>);

/// Looks once, and returns everything that is known to be violated now.
///
/// # Errors
/// [`DatabaseError`] if the look failed. `progress` is unchanged in that case.
pub async fn check_books(
    store: &Store,
    progress: &mut CheckProgress,
) -> Result<Vec<Violation>, DatabaseError> {
    let (mut ahead, sealing) = (progress.clone(), Arc::clone(store.sealing()));
    let looked = store.database().operate(move |transaction| {
        Box::pin(async move {
            let violations = ahead.look(transaction, &sealing).await?;
            Ok((ahead, violations))
        })
    });
    let (ahead, violations) = looked.await?;
    *progress = ahead;
    Ok(violations)
}

impl CheckProgress {
    async fn look(
        &mut self,
        transaction: &Transaction,
        sealing: &SealingKeys,
    ) -> Result<Vec<Violation>, DatabaseError> {
        transaction.batch_execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?;
        let mut violations = open::look(transaction).await?;
        history::look(transaction, &mut self.entries, &mut self.purchases, sealing, &mut self.broken).await?;
        self.audit.look(transaction, &mut self.broken).await?;
        self.wallets.look(transaction, &mut self.broken).await?;
        self.cutoffs.look(transaction, &mut self.broken).await?;
        self.trial_balances.look(transaction, &mut self.broken).await?;
        violations.extend(self.broken.0.values().cloned());
        Ok(violations)
    }
}

impl Broken {
    /// The rows that violated this invariant. They are to be looked at again.
    fn suspects(&self, invariant: Invariant) -> Vec<i64> {
        self.0.keys().filter(|(broken, _)| *broken == invariant).map(|(_, number)| *number).collect()
    }

    /// Replaces the violations of an invariant by those that a new look at them found.
    fn replace(&mut self, invariant: Invariant, found: BTreeMap<i64, Violation>) {
        let kept: BTreeSet<i64> = found.keys().copied().collect();
        self.0.retain(|(broken, number), _| *broken != invariant || kept.contains(number));
        self.0.extend(found.into_iter().map(|(number, violation)| ((invariant, number), violation)));
    }
}

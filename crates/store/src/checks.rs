//! Standing checks: whether the books obey their laws, asked again and again while the service runs.
//!
//! What is open is little, and is looked at whole. History is not: each look takes what is new of it and a further
//! stretch of what is old, and so comes round to everything. All of a look is one snapshot.
//!
//! What is compared is what nobody can forge who has a server's password alone: amounts, which no role can change; postings,
//! which only the database's own triggers and the operator's function write; what our keys have sealed; and the chain of the
//! audit log.

use std::collections::{BTreeMap, BTreeSet};

use diesel_async::SimpleAsyncConnection;

use crate::transaction::Transaction;
use crate::{SealingKeys, Store, StoreError};

mod audit;
mod ends;
mod history;
mod law;
mod open;
mod wallets;

pub use law::{Breach, Law};

use history::Round;
use wallets::Walk;

/// How far whoever checks has come round, and what was found on the way. It begins anew with the process.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    entries: Round,
    purchases: Round,
    wallets: Walk,
    audit: audit::Round,
    /// What was broken when it was last looked at. Stays until it is looked at again and found right.
    broken: Broken,
}

/// Breaches in history, by their law and the number of what breaks it.
#[derive(Clone, Debug, Default)]
struct Broken(BTreeMap<(Law, i64), Breach>);

impl Store {
    /// Looks once, and says everything that is known to be broken now.
    ///
    /// # Errors
    /// [`StoreError`], when nobody can look; `rounds` is as it was.
    pub async fn check_books(&self, rounds: &mut Rounds) -> Result<Vec<Breach>, StoreError> {
        let (mut ahead, sealing) = (rounds.clone(), self.sealing.clone());
        let looked = self.operate(move |transaction| {
            Box::pin(async move {
                let breaches = ahead.look(transaction, &sealing).await?;
                Ok((ahead, breaches))
            })
        });
        let (ahead, breaches) = looked.await?;
        *rounds = ahead;
        Ok(breaches)
    }
}

impl Rounds {
    async fn look(
        &mut self,
        transaction: &mut Transaction,
        sealing: &SealingKeys,
    ) -> Result<Vec<Breach>, StoreError> {
        transaction.batch_execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?;
        let mut breaches = open::look(transaction).await?;
        history::look(transaction, &mut self.entries, &mut self.purchases, sealing, &mut self.broken).await?;
        self.audit.look(transaction, &mut self.broken).await?;
        self.wallets.look(transaction, &mut self.broken).await?;
        breaches.extend(self.broken.0.values().cloned());
        Ok(breaches)
    }
}

impl Broken {
    /// Those that broke this law, to be looked at again.
    fn suspects(&self, law: Law) -> Vec<i64> {
        self.0.keys().filter(|(broken, _)| *broken == law).map(|(_, number)| *number).collect()
    }

    /// What a look at them found in their place.
    fn replace(&mut self, law: Law, found: BTreeMap<i64, Breach>) {
        let kept: BTreeSet<i64> = found.keys().copied().collect();
        self.0.retain(|(broken, number), _| *broken != law || kept.contains(number));
        self.0.extend(found.into_iter().map(|(number, breach)| ((law, number), breach)));
    }
}

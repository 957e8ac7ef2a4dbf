//! Balances as the sum of journal entries.

use std::collections::BTreeMap;

use money::Money;

use crate::{AccountId, JournalEntry, LedgerError};

/// The balance of every account that was posted to: what was credited less what was debited. An account has one
/// currency, that of its first posting.
///
/// So the balance of a wallet, a debt or an income is positive, and that of cash, stock or an expense is negative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balances(BTreeMap<AccountId, Money>);

impl Balances {
    /// The balances after these entries.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub fn of<'a, Kind: 'a>(
        entries: impl IntoIterator<Item = &'a JournalEntry<Kind>>,
    ) -> Result<Self, LedgerError> {
        let mut balances = Self::default();
        for entry in entries {
            balances.post(entry)?;
        }
        Ok(balances)
    }

    /// Adds one entry.
    ///
    /// # Errors
    /// [`LedgerError::Money`] if an account has another currency, or if a balance overflows. Then nothing is posted.
    pub fn post<Kind>(&mut self, entry: &JournalEntry<Kind>) -> Result<(), LedgerError> {
        let mut changed: BTreeMap<AccountId, Money> = BTreeMap::new();
        for posting in entry.postings() {
            let amount = posting.amount();
            let zero = Money::zero(amount.currency());
            let now = |account, changed: &BTreeMap<AccountId, Money>| {
                changed.get(&account).or_else(|| self.0.get(&account)).copied().unwrap_or(zero)
            };
            let debited = now(posting.debit(), &changed).minus(amount)?;
            changed.insert(posting.debit(), debited);
            let credited = now(posting.credit(), &changed).plus(amount)?;
            changed.insert(posting.credit(), credited);
        }
        self.0.extend(changed);
        Ok(())
    }

    /// The balance of one account. `None` if it was never posted to.
    pub fn get(&self, account: AccountId) -> Option<Money> {
        self.0.get(&account).copied()
    }

    /// Every account and its balance, by number. The balances of one currency add up to zero.
    pub fn iter(&self) -> impl Iterator<Item = (AccountId, Money)> {
        self.0.iter().map(|(account, balance)| (*account, *balance))
    }
}

#[cfg(test)]
mod tests {
    use money::Currency;
    use proptest::prelude::*;

    use super::*;
    use crate::{EntryKind, Posting};

    fn entry(code: &str, moves: &[(i64, i64, i64)]) -> JournalEntry {
        let currency = Currency::parse(code).unwrap();
        let postings = moves.iter().map(|(debit, credit, minor)| {
            Posting::new(AccountId(*debit), AccountId(*credit), Money::from_minor(*minor, currency)).unwrap()
        });
        JournalEntry::new(EntryKind::Adjust, postings.collect()).unwrap()
    }

    #[test]
    fn an_entry_that_cannot_be_added_changes_nothing() {
        let mut balances = Balances::of([&entry("BWP", &[(1, 2, 100)])]).unwrap();
        let before = balances.clone();
        assert!(balances.post(&entry("ZAR", &[(3, 4, 5), (2, 3, 5)])).is_err(), "account 2 is in pula");
        assert!(balances.post(&entry("BWP", &[(3, 4, 5), (1, 2, i64::MAX)])).is_err(), "it overflows");
        assert_eq!(balances, before);
    }

    proptest! {
        #[test]
        fn whatever_is_posted_the_balances_add_up_to_zero(
            moves in prop::collection::vec((1_i64..6, 1_i64..5, 1_i64..1_000_000), 1..50),
        ) {
            let moves: Vec<_> = moves
                .into_iter()
                .map(|(debit, distance, minor)| (debit, (debit + distance - 1) % 5 + 1, minor))
                .collect();
            let one = Balances::of([&entry("BWP", &moves)]).unwrap();
            let each: Vec<JournalEntry> = moves.iter().map(|one| entry("BWP", &[*one])).collect();
            prop_assert_eq!(&one, &Balances::of(&each).unwrap(), "entry by entry");
            prop_assert_eq!(one.iter().map(|(_, balance)| balance.minor()).sum::<i64>(), 0);
        }
    }
}

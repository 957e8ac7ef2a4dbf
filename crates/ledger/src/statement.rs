//! The statement of one account, from its opening balance and the journal.

use money::Money;

use crate::{AccountId, EntryKind, JournalEntry, LedgerError};

/// The postings of an account in the order of the journal, with the balance after each. `Mark` is what the caller knows
/// an entry by: its number, its time, its text. `Kind` is the kind of the entries.
///
/// A balance is what was credited less what was debited, as in [`Balances`](crate::Balances).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountStatement<Mark, Kind = EntryKind> {
    /// The account.
    pub account: AccountId,
    /// The balance before the first line.
    pub opening: Money,
    /// The lines, in the order of the journal.
    pub lines: Vec<AccountLine<Mark, Kind>>,
    /// The balance after the last line.
    pub closing: Money,
}

/// One posting, seen from the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountLine<Mark, Kind = EntryKind> {
    /// The entry.
    pub mark: Mark,
    /// What the entry records.
    pub kind: Kind,
    /// The account on the other side.
    pub other: AccountId,
    /// Positive if it was credited to the account, negative if it was debited.
    pub amount: Money,
    /// The balance after it.
    pub balance: Money,
}

impl<Mark: Clone, Kind: Copy> AccountStatement<Mark, Kind> {
    /// The statement of `account` over these entries. Entries that do not touch it are passed over, so the whole
    /// journal of a period may be given. The closing balance of one period is the opening balance of the next.
    ///
    /// # Errors
    /// [`LedgerError::Money`] if an entry of the account has another currency than `opening`, or a balance overflows.
    pub fn of<'a>(
        account: AccountId,
        opening: Money,
        entries: impl IntoIterator<Item = (Mark, &'a JournalEntry<Kind>)>,
    ) -> Result<Self, LedgerError>
    where
        Kind: 'a,
    {
        let mut statement = Self { account, opening, lines: Vec::new(), closing: opening };
        for (mark, entry) in entries {
            for posting in entry.postings() {
                let (other, amount) = if posting.credit() == account {
                    (posting.debit(), posting.amount())
                } else if posting.debit() == account {
                    (posting.credit(), Money::zero(entry.currency()).minus(posting.amount())?)
                } else {
                    continue;
                };
                let balance = statement.closing.plus(amount)?;
                statement.closing = balance;
                let (mark, kind) = (mark.clone(), entry.kind());
                statement.lines.push(AccountLine { mark, kind, other, amount, balance });
            }
        }
        Ok(statement)
    }
}

#[cfg(test)]
mod tests {
    use money::Currency;
    use proptest::prelude::*;

    use super::*;
    use crate::{Balances, Posting};

    fn pula(minor: i64) -> Money {
        Money::from_minor(minor, Currency::parse("BWP").unwrap())
    }

    fn entry(debit: i64, credit: i64, minor: i64) -> JournalEntry {
        let posting = Posting::new(AccountId(debit), AccountId(credit), pula(minor)).unwrap();
        JournalEntry::new(EntryKind::Adjust, vec![posting]).unwrap()
    }

    #[test]
    fn another_currency_is_refused_only_if_it_touches_the_account() {
        let rand = Money::zero(Currency::parse("ZAR").unwrap());
        let journal = [(1, &entry(1, 2, 100))];
        assert!(AccountStatement::of(AccountId(3), rand, journal).unwrap().lines.is_empty());
        assert!(AccountStatement::of(AccountId(2), rand, journal).is_err());
    }

    proptest! {
        #[test]
        fn statements_carry_on_from_each_other_and_end_at_the_balance(
            moves in prop::collection::vec((1_i64..5, 1_i64..4, 1_i64..1_000), 1..40),
            cut in 0_usize..40,
        ) {
            let journal: Vec<JournalEntry> = moves
                .into_iter()
                .map(|(debit, distance, minor)| entry(debit, (debit + distance - 1) % 4 + 1, minor))
                .collect();
            let numbered = || journal.iter().enumerate();
            let account = AccountId(1);
            let whole = AccountStatement::of(account, pula(0), numbered()).unwrap();
            let first = AccountStatement::of(account, pula(0), numbered().take(cut)).unwrap();
            let second = AccountStatement::of(account, first.closing, numbered().skip(cut)).unwrap();
            prop_assert_eq!([first.lines, second.lines].concat(), whole.lines.clone());
            prop_assert_eq!(second.closing, whole.closing);
            let balance = Balances::of(&journal).unwrap().get(account).unwrap_or(pula(0));
            prop_assert_eq!(whole.closing, balance);
            let sum: i64 = whole.lines.iter().map(|line| line.amount.minor()).sum();
            prop_assert_eq!(pula(sum), balance);
        }
    }
}

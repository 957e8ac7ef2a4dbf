//! Journal entries: the only way in which a posted balance changes.

use money::{Currency, Money, MoneyError};

use crate::{AccountId, LedgerError};

/// One transfer of a positive amount from the debited account to the credited account. Debit and credit are
/// the terms of bookkeeping: an integrator's wallet is a liability of the service, so a credit raises its
/// balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    debit: AccountId,
    credit: AccountId,
    amount: Money,
}

impl Posting {
    /// Moves `amount` from `debit` to `credit`.
    pub fn new(debit: AccountId, credit: AccountId, amount: Money) -> Result<Self, LedgerError> {
        if debit == credit {
            return Err(LedgerError::SameAccount);
        }
        if !amount.is_positive() {
            return Err(LedgerError::NotPositive(amount));
        }
        Ok(Self { debit, credit, amount })
    }

    /// The account that is debited.
    pub const fn debit(&self) -> AccountId {
        self.debit
    }

    /// The account that is credited.
    pub const fn credit(&self) -> AccountId {
        self.credit
    }

    /// The amount, always positive.
    pub const fn amount(&self) -> Money {
        self.amount
    }
}

/// The kind of event that an entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A purchase was vended and paid. Each purchase has at most one such entry.
    Settle,
    /// An integrator paid in.
    TopUp,
    /// An operator corrected a balance, with a reason.
    Adjust,
    /// A vend was found after its purchase was refunded.
    Incident,
    /// A provider's statement has a vend that no purchase asked for, because the database was restored.
    UnmatchedVend,
    /// The service paid a provider, or took out fees that it had earned. No wallet is moved.
    Payout,
}

impl EntryKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Settle, Self::TopUp, Self::Adjust, Self::Incident, Self::UnmatchedVend, Self::Payout];

    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settle => "SETTLE",
            Self::TopUp => "TOP_UP",
            Self::Adjust => "ADJUST",
            Self::Incident => "INCIDENT",
            Self::UnmatchedVend => "UNMATCHED_VEND",
            Self::Payout => "PAYOUT",
        }
    }
}

/// One or more postings that are made together, all in one currency. An entry is never changed: a correction is a new
/// entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    kind: EntryKind,
    currency: Currency,
    postings: Vec<Posting>,
}

impl JournalEntry {
    /// An entry of these postings.
    ///
    /// # Errors
    /// [`LedgerError::NoPostings`] if there are none, and [`LedgerError::Money`] if their currencies differ.
    pub fn new(kind: EntryKind, postings: Vec<Posting>) -> Result<Self, LedgerError> {
        let currency = postings.first().ok_or(LedgerError::NoPostings)?.amount.currency();
        let other = postings.iter().map(|posting| posting.amount.currency()).find(|other| *other != currency);
        match other {
            Some(other) => Err(MoneyError::CurrencyMismatch(currency, other).into()),
            None => Ok(Self { kind, currency, postings }),
        }
    }

    /// The currency of every posting.
    pub const fn currency(&self) -> Currency {
        self.currency
    }

    /// What the entry records.
    pub const fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The postings of the entry.
    pub fn postings(&self) -> &[Posting] {
        &self.postings
    }
}

#[cfg(test)]
mod tests {
    use money::Currency;

    use super::*;

    #[test]
    fn a_posting_is_a_move_between_two_accounts() {
        let pula = |minor| Money::from_minor(minor, Currency::parse("BWP").unwrap());
        assert_eq!(Posting::new(AccountId(1), AccountId(1), pula(1)), Err(LedgerError::SameAccount));
        for minor in [0, -1] {
            assert_eq!(
                Posting::new(AccountId(1), AccountId(2), pula(minor)),
                Err(LedgerError::NotPositive(pula(minor)))
            );
        }
        assert_eq!(JournalEntry::new(EntryKind::Settle, Vec::new()), Err(LedgerError::NoPostings));
    }

    #[test]
    fn an_entry_has_one_currency() {
        let posting = |code: &str| {
            let amount = Money::from_minor(100, Currency::parse(code).unwrap());
            Posting::new(AccountId(1), AccountId(2), amount).unwrap()
        };
        let entry = JournalEntry::new(EntryKind::Adjust, vec![posting("BWP"), posting("BWP")]).unwrap();
        assert_eq!(entry.currency().as_str(), "BWP");
        let mixed = JournalEntry::new(EntryKind::Adjust, vec![posting("BWP"), posting("ZAR")]);
        assert!(matches!(mixed, Err(LedgerError::Money(_))), "{mixed:?}");
    }
}

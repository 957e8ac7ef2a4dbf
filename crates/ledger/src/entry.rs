//! Journal entries: the only way in which a posted balance changes.

use money::Money;

use crate::{AccountId, LedgerError};

/// One move of a positive amount between two accounts. Debit and credit are the bookkeeper's: an
/// integrator's wallet is our debt, so crediting it raises the balance.
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

    /// Where it leaves.
    pub const fn debit(&self) -> AccountId {
        self.debit
    }

    /// Where it arrives.
    pub const fn credit(&self) -> AccountId {
        self.credit
    }

    /// How much.
    pub const fn amount(&self) -> Money {
        self.amount
    }
}

/// What an entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A purchase was vended and paid. At most one per purchase, ever.
    Settle,
    /// An integrator paid in.
    TopUp,
    /// An operator corrected a balance, with a reason.
    Adjust,
    /// A vend came to light after its purchase was refunded.
    Incident,
}

impl EntryKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Settle, Self::TopUp, Self::Adjust, Self::Incident];

    /// The name in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settle => "SETTLE",
            Self::TopUp => "TOP_UP",
            Self::Adjust => "ADJUST",
            Self::Incident => "INCIDENT",
        }
    }
}

/// One or more moves that happen together. Never edited; a correction is a new entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    kind: EntryKind,
    postings: Vec<Posting>,
}

impl JournalEntry {
    /// Refused when it would move nothing.
    pub fn new(kind: EntryKind, postings: Vec<Posting>) -> Result<Self, LedgerError> {
        if postings.is_empty() { Err(LedgerError::NoPostings) } else { Ok(Self { kind, postings }) }
    }

    /// What it records.
    pub const fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Its moves.
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
}

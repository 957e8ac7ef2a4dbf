//! Journal entries: the only way in which a posted balance changes.

use money::{Currency, Money, MoneyError};

use crate::{AccountId, LedgerError};

/// One transfer of a positive amount from the debited account to the credited account. Debit and credit are
/// the terms of bookkeeping: a customer's wallet is a liability of the seller, so a credit raises its balance.
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

/// The kinds of event that the entries of a prepaid sale record. Books of another trade have their own: any type can be
/// the kind of a [`JournalEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A purchase was vended and paid. Each purchase has at most one such entry.
    Settle,
    /// The owner of a wallet paid in.
    TopUp,
    /// A person corrected a balance.
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

    /// A stable name, for storage and for printing.
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
/// entry. `Kind` is what the entry records. It is the caller's own type, or [`EntryKind`] for prepaid sales.
///
/// ```
/// use ledger::{AccountId, AccountStatement, JournalEntry, Posting};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Kind {
///     Sale,
///     Rent,
/// }
///
/// let (cash, sales, rent) = (AccountId(1), AccountId(2), AccountId(3));
/// let sale = JournalEntry::new(Kind::Sale, vec![Posting::new(cash, sales, "BWP 250.00".parse()?)?])?;
/// let paid = JournalEntry::new(Kind::Rent, vec![Posting::new(rent, cash, "BWP 90.00".parse()?)?])?;
/// let week = [("Monday", &sale), ("Friday", &paid)];
/// let statement = AccountStatement::of(cash, "BWP 0.00".parse()?, week)?;
/// assert_eq!(statement.lines[1].kind, Kind::Rent);
/// // Cash is an asset: what the shop has is the negative of the balance.
/// assert_eq!(statement.closing, "BWP -160.00".parse()?);
/// # Ok::<(), ledger::LedgerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry<Kind = EntryKind> {
    kind: Kind,
    currency: Currency,
    postings: Vec<Posting>,
}

impl<Kind> JournalEntry<Kind> {
    /// An entry of these postings.
    ///
    /// # Errors
    /// [`LedgerError::NoPostings`] if there are none, and [`LedgerError::Money`] if their currencies differ.
    pub fn new(kind: Kind, postings: Vec<Posting>) -> Result<Self, LedgerError> {
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
    pub const fn kind(&self) -> Kind
    where
        Kind: Copy,
    {
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

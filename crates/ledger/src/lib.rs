//! Accounts, holds and postings as pure rules.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod account;
mod balances;
mod entry;
mod settlement;
mod statement;
mod wallet;

use money::{Money, MoneyError};

pub use account::{Account, Category};
pub use balances::Balances;
pub use entry::{EntryKind, JournalEntry, Posting};
pub use settlement::{Settlement, SettlementAccounts};
pub use statement::{AccountLine, AccountStatement};
pub use wallet::Wallet;

/// An account number. The caller gives the numbers, one to each account, of whatever sort it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub i64);

/// An account of the seller itself, in the books of prepaid sales. It has no stored balance: its balance is the sum of its postings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SystemAccount {
    /// What the seller owes a provider for its vends.
    ProviderPayable,
    /// Charges earned.
    FeeIncome,
    /// Commission granted to buyers.
    CommissionExpense,
    /// The money in the bank: what the owners of wallets paid in, less what was paid out. A debit raises it.
    Funding,
    /// Vends that were found after their purchase was refunded. A person decides about them.
    Suspense,
}

impl SystemAccount {
    /// Every system account.
    pub const ALL: [Self; 5] =
        [Self::ProviderPayable, Self::FeeIncome, Self::CommissionExpense, Self::Funding, Self::Suspense];

    /// A stable name, for storage and for printing.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProviderPayable => "PROVIDER_PAYABLE",
            Self::FeeIncome => "FEE_INCOME",
            Self::CommissionExpense => "COMMISSION_EXPENSE",
            Self::Funding => "FUNDING",
            Self::Suspense => "SUSPENSE",
        }
    }

    /// The system account of this [name](Self::as_str).
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|account| account.as_str() == name)
    }
}

/// Why the ledger refuses an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The available balance is smaller than the amount.
    #[error("the balance is {gap} too low")]
    Insufficient {
        /// How much is missing.
        gap: Money,
    },
    /// More would be released or captured than is held.
    #[error("less is held than would be taken from the hold")]
    NotHeld,
    /// A hold, a credit or a posting whose amount is zero or less.
    #[error("{0} is not a positive amount")]
    NotPositive(Money),
    /// A posting from an account to itself.
    #[error("a posting needs two different accounts")]
    SameAccount,
    /// An entry without postings.
    #[error("a journal entry needs a posting")]
    NoPostings,
    /// A wallet whose balances contradict each other.
    #[error("a wallet holds more than it has, or less than nothing")]
    Contradiction,
    /// The currencies differ, the sum overflows, or a text is no amount. The message is that of the inner error.
    #[error(transparent)]
    Money(#[from] MoneyError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_an_amount_says_what_is_wrong_with_it() {
        let wrong = "BWP 1.5".parse::<Money>().unwrap_err();
        assert_eq!(LedgerError::from(wrong.clone()).to_string(), wrong.to_string());
    }
}

//! An account as its owner sees it.

use money::{Currency, Money};

use crate::AccountId;

/// What a wallet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// The account for general use. It may be debited.
    Current,
    /// Receives commission. It may not be debited.
    Commission,
    /// Loaded for purchases. It may be debited.
    TopUp,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 3] = [Self::Current, Self::Commission, Self::TopUp];

    /// A stable name, for messages and for storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Current => "CURRENT",
            Self::Commission => "COMMISSION",
            Self::TopUp => "TOPUP",
        }
    }

    /// The category of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == name)
    }

    /// Whether purchases may be paid from it.
    pub const fn can_be_debited(self) -> bool {
        match self {
            Self::Current | Self::TopUp => true,
            Self::Commission => false,
        }
    }
}

/// One account that can be chosen to pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The account number.
    pub id: AccountId,
    /// The label of the account.
    pub name: String,
    /// The currency of all its amounts.
    pub currency: Currency,
    /// What it is for.
    pub category: Category,
    /// Its position in a list.
    pub rank: i32,
    /// The amount that can be spent: posted minus held.
    pub available: Money,
}

//! The statement of a wallet: its postings between two moments, with the balances before and after them.
//!
//! The order is that of the journal: entries of one wallet become visible in the order of their numbers. So a line that
//! was read never gets another line before it.

use chrono::{DateTime, Utc};
use ledger::{AccountId, EntryKind, SystemAccount};
use money::{Currency, Money};
use vend::Product;

use crate::PurchaseId;

/// The moments between which a statement lies: from the first, and before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Its first moment.
    pub from: DateTime<Utc>,
    /// The first moment after it.
    pub to: DateTime<Utc>,
}

/// The part of a wallet's postings that a statement covers. All pages of a statement have the same extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The last entry before the statement; 0 if there is none.
    pub after_entry: i64,
    /// The balance after that entry, in minor units.
    pub opening: i64,
    /// The last entry of the statement, or `after_entry` if it has none.
    pub until_entry: i64,
    /// The balance after that entry, in minor units.
    pub closing: i64,
    /// Up to which moment the statement reaches: the end of its period, or the moment of the first page if that was
    /// earlier.
    pub as_of: DateTime<Utc>,
    /// Whether the period had ended. Then the statement never changes.
    pub is_complete: bool,
}

/// The position after a line: the line's entry and other account, and the balance after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfterLine {
    /// The line's journal entry.
    pub entry: i64,
    /// The account on the other side.
    pub other: AccountId,
    /// The balance after the line, in minor units.
    pub balance: i64,
}

/// What a statement is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The wallet.
    pub account: AccountId,
    /// The wallet's name for people.
    pub name: String,
    /// The wallet's currency.
    pub currency: Currency,
    /// What it covers.
    pub extent: Extent,
}

/// One page of a statement, the oldest line first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPage {
    /// What the statement is about.
    pub statement: Statement,
    /// The balance before the first line of the page.
    pub opening: Money,
    /// The lines.
    pub lines: Vec<StatementLine>,
    /// The position after the last line, if there are more.
    pub next: Option<AfterLine>,
}

/// One posting, seen from the wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLine {
    /// The journal entry. Lines with the same number were posted together.
    pub entry: i64,
    /// The account on the other side. It tells the lines of one entry apart.
    pub other: AccountId,
    /// When it was posted.
    pub posted_at: DateTime<Utc>,
    /// What the entry records.
    pub kind: MovementKind,
    /// What this posting is for.
    pub part: MovementPart,
    /// Positive if it was credited to the wallet, negative if it was debited.
    pub amount: Money,
    /// The balance after it.
    pub balance: Money,
    /// The reference of the purchase, or the operator's own reference for a payment.
    pub reference: Option<String>,
    /// The purchase that was settled, if it was one.
    pub purchase: Option<StatedPurchase>,
}

/// What a line says about its purchase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedPurchase {
    /// Its number.
    pub id: PurchaseId,
    /// The integrator's own name for it.
    pub external_reference: Option<String>,
    /// The meter, phone or account that was bought for.
    pub subscriber: String,
    /// What was bought.
    pub product: Product,
    /// From whom.
    pub provider_code: String,
}

/// What an entry of a wallet records. Entries of the other kinds move no wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovementKind {
    /// A purchase was paid.
    Purchase,
    /// The integrator paid in.
    TopUp,
    /// The operator corrected the balance.
    Adjustment,
}

impl MovementKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Purchase, Self::TopUp, Self::Adjustment];

    /// The kind of this entry, if such entries move wallets.
    pub const fn of(kind: EntryKind) -> Option<Self> {
        match kind {
            EntryKind::Settle => Some(Self::Purchase),
            EntryKind::TopUp => Some(Self::TopUp),
            EntryKind::Adjust => Some(Self::Adjustment),
            EntryKind::Incident | EntryKind::UnmatchedVend | EntryKind::Payout => None,
        }
    }

    /// The name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Purchase => "PURCHASE",
            Self::TopUp => "TOP_UP",
            Self::Adjustment => "ADJUSTMENT",
        }
    }
}

/// What one posting of an entry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovementPart {
    /// What was vended.
    Net,
    /// The seller's charge.
    Charge,
    /// Commission that was earned.
    Commission,
    /// A payment or a correction.
    Payment,
}

impl MovementPart {
    /// Every part.
    pub const ALL: [Self; 4] = [Self::Net, Self::Charge, Self::Commission, Self::Payment];

    /// The part that is moved to or from this system account.
    pub const fn of(other: SystemAccount) -> Self {
        match other {
            SystemAccount::ProviderPayable => Self::Net,
            SystemAccount::FeeIncome => Self::Charge,
            SystemAccount::CommissionExpense => Self::Commission,
            SystemAccount::Funding | SystemAccount::Suspense => Self::Payment,
        }
    }

    /// The name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Net => "NET",
            Self::Charge => "CHARGE",
            Self::Commission => "COMMISSION",
            Self::Payment => "PAYMENT",
        }
    }
}

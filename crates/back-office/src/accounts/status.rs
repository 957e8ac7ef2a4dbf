//! The status of a wallet, and the operator's changes to it.

use database::{Database, DatabaseError, Run, Transaction};
use diesel::{ExpressionMethods, QueryDsl, SelectableHelper};
use directory::AuditContext;
use ledger::{AccountId, Category};
use money::Money;
use serde_json::json;

use super::{
    absent, log,
    movement::Movement,
    record::{AccountRecord, AccountRow},
};
use crate::schema::accounts;

/// Whether an account is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountStatus {
    /// It is in use.
    Active,
    /// Nothing can be bought from it until it is active again.
    Suspended,
    /// It is empty and out of use.
    Closed,
}

/// Why an account cannot be closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountRefusal {
    /// It has money, or money is held in it.
    #[error("account {} still has {posted}, of which {held} is held for open purchases", account.0)]
    NotEmpty { account: AccountId, posted: Money, held: Money },
    /// Commission is credited to it as long as its organisation buys.
    #[error("account {} collects commission, and is needed as long as its organisation buys", .0.0)]
    Commission(AccountId),
}

impl AccountStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Active, Self::Suspended, Self::Closed];

    /// `ACTIVE`, `SUSPENDED` or `CLOSED`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Suspended => "SUSPENDED",
            Self::Closed => "CLOSED",
        }
    }

    /// The status as a word within a sentence.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Closed => "closed",
        }
    }

    pub(super) fn read(text: &str, account: AccountId) -> Result<Self, DatabaseError> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| DatabaseError::corrupt("accounts", "status", account.0))
    }

    /// A suspended wallet accepts no top-up. It accepts corrections in both directions, so it can be emptied.
    pub(super) const fn admits(self, movement: Movement) -> bool {
        match (self, movement) {
            (Self::Active, _)
            | (Self::Suspended, Movement::AdjustUp(_) | Movement::AdjustDown(_) | Movement::PayOut) => true,
            (Self::Suspended, Movement::TopUp) | (Self::Closed, _) => false,
        }
    }
}

/// Suspends, readmits or closes a wallet. Only an empty wallet can be closed.
pub async fn set_account_status(
    database: &Database,
    account: AccountId,
    status: AccountStatus,
    act: AuditContext,
) -> Result<Result<(), AccountRefusal>, DatabaseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move { set_status(transaction, account, status, &act).await })
    });
    work.await
}

async fn set_status(
    transaction: &Transaction,
    account: AccountId,
    status: AccountStatus,
    act: &AuditContext,
) -> Result<Result<(), AccountRefusal>, DatabaseError> {
    let locked = accounts::table
        .find(account.0)
        .filter(accounts::organisation_id.is_not_null())
        .select(AccountRow::as_select())
        .for_no_key_update()
        .optional::<AccountRow>(transaction);
    let found = AccountRecord::try_from(locked.await?.ok_or_else(|| absent(account))?)?;
    if status == AccountStatus::Closed
        && let Err(refusal) = found.can_close()
    {
        return Ok(Err(refusal));
    }
    let updated = diesel::update(accounts::table.find(account.0)).set(accounts::status.eq(status.as_str()));
    updated.execute(transaction).await?;
    let details = json!({ "status": status.as_str(), "was": found.status.as_str() });
    log(transaction, "account.status_set", account, found.organisation, details, act).await?;
    Ok(Ok(()))
}

impl AccountRecord {
    fn can_close(&self) -> Result<(), AccountRefusal> {
        if self.category == Category::Commission {
            return Err(AccountRefusal::Commission(self.id));
        }
        if self.posted.is_zero() && self.held.is_zero() {
            return Ok(());
        }
        Err(AccountRefusal::NotEmpty { account: self.id, posted: self.posted, held: self.held })
    }
}

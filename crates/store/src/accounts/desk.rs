//! The operator's look at accounts, and what may be changed about them.

use chrono::{DateTime, Utc};
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::RunQueryDsl;
use ledger::{AccountId, Category};
use money::{Currency, Money};
use purchase::{Handling, OrganisationId};
use serde_json::{Map, Value, json};

use super::payment::Movement;
use crate::identity::{Act, AuditEntry, append};
use crate::row::read_currency;
use crate::statement::{Statement, prepared};
use crate::transaction::Transaction;
use crate::{Store, StoreError};

/// Whether an account takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountStatus {
    /// It does.
    Active,
    /// Nothing can be bought out of it, until it is readmitted.
    Suspended,
    /// It is empty and out of use.
    Closed,
}

/// A wallet as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRecord {
    /// Its number.
    pub id: AccountId,
    /// Whose.
    pub organisation: OrganisationId,
    /// Its label.
    pub name: String,
    /// Of all its amounts.
    pub currency: Currency,
    /// What it is for.
    pub category: Category,
    /// Whether it takes part.
    pub status: AccountStatus,
    /// Who settles doubt about purchases out of it.
    pub handling: Handling,
    /// Whether retry may settle them.
    pub retries_enabled: bool,
    /// Its place in a list.
    pub rank: i32,
    /// The sum of its postings.
    pub posted: Money,
    /// What is set aside for open purchases.
    pub held: Money,
    /// What can be spent.
    pub available: Money,
    /// When it was opened.
    pub created_at: DateTime<Utc>,
}

/// What is to be different about an account; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct AccountChange {
    /// Its label.
    pub name: Option<String>,
    /// Who settles doubt about purchases that are made from now on.
    pub handling: Option<Handling>,
    /// Whether retry may settle them.
    pub retries_enabled: Option<bool>,
    /// Its place in a list.
    pub rank: Option<i32>,
}

/// Why an account cannot be closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountRefusal {
    /// There is money in it, or held in it.
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

    /// The same within a sentence.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Closed => "closed",
        }
    }

    pub(super) fn read(text: &str, account: AccountId) -> Result<Self, StoreError> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| StoreError::corrupt("accounts", "status", account.0))
    }

    /// A wallet that is suspended takes no money in, but can be put right, and emptied.
    pub(super) const fn admits(self, movement: Movement) -> bool {
        match (self, movement) {
            (Self::Active, _) | (Self::Suspended, Movement::AdjustUp(_) | Movement::AdjustDown(_)) => true,
            (Self::Suspended, Movement::TopUp) | (Self::Closed, _) => false,
        }
    }
}

impl Store {
    /// All the wallets of an organisation, in the order of their rank.
    pub async fn accounts_of(&self, organisation: OrganisationId) -> Result<Vec<AccountRecord>, StoreError> {
        self.accounts_where(Some(organisation.0), None).await
    }

    /// The wallet of this number.
    pub async fn find_account(&self, account: AccountId) -> Result<Option<AccountRecord>, StoreError> {
        Ok(self.accounts_where(None, Some(account.0)).await?.into_iter().next())
    }

    /// Changes what is to be different about a wallet.
    pub async fn change_account(
        &self,
        account: AccountId,
        change: AccountChange,
        act: Act,
    ) -> Result<(), StoreError> {
        let work = self.operate(move |transaction| {
            Box::pin(async move {
                let written = prepared::<ChangeAccount>()
                    .bind::<BigInt, _>(account.0)
                    .bind::<Nullable<Text>, _>(change.name.as_deref())
                    .bind::<Nullable<Text>, _>(change.handling.map(Handling::as_str))
                    .bind::<Nullable<Bool>, _>(change.retries_enabled)
                    .bind::<Nullable<Integer>, _>(change.rank)
                    .load::<OwnerRow>(&mut *transaction);
                let owner = written.await?.into_iter().next().ok_or_else(|| absent(account))?;
                record(transaction, "account.changed", account, owner.organisation_id, change.told(), &act)
                    .await
            })
        });
        work.await
    }

    /// Suspends, readmits or closes a wallet. Only an empty one can be closed.
    pub async fn set_account_status(
        &self,
        account: AccountId,
        status: AccountStatus,
        act: Act,
    ) -> Result<Result<(), AccountRefusal>, StoreError> {
        let work = self.operate(move |transaction| {
            Box::pin(async move { set_status(transaction, account, status, &act).await })
        });
        work.await
    }

    async fn accounts_where(
        &self,
        organisation: Option<i64>,
        account: Option<i64>,
    ) -> Result<Vec<AccountRecord>, StoreError> {
        let listed = self.read(move |connection| {
            Box::pin(async move {
                let accounts = prepared::<ShowAccounts>()
                    .bind::<Nullable<BigInt>, _>(organisation)
                    .bind::<Nullable<BigInt>, _>(account);
                Ok(accounts.load::<Row>(connection).await?)
            })
        });
        listed.await?.into_iter().map(AccountRecord::try_from).collect()
    }
}

struct ShowAccounts;

impl Statement for ShowAccounts {
    const SQL: &str = "-- show_accounts
SELECT id, organisation_id, name, currency, category, status, handling, retries_enabled, rank, posted, held, created_at
FROM accounts
WHERE organisation_id IS NOT NULL AND (organisation_id = $1 OR $1 IS NULL) AND (id = $2 OR $2 IS NULL)
ORDER BY rank, id";
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = Text)]
    category: String,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Text)]
    handling: String,
    #[diesel(sql_type = Bool)]
    retries_enabled: bool,
    #[diesel(sql_type = Integer)]
    rank: i32,
    #[diesel(sql_type = BigInt)]
    posted: i64,
    #[diesel(sql_type = BigInt)]
    held: i64,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
}

struct ChangeAccount;

impl Statement for ChangeAccount {
    const SQL: &str = "-- change_account
UPDATE accounts SET name = coalesce($2, name), handling = coalesce($3, handling),
    retries_enabled = coalesce($4, retries_enabled), rank = coalesce($5, rank)
WHERE id = $1 AND organisation_id IS NOT NULL
RETURNING organisation_id";
}

struct SetAccountStatus;

impl Statement for SetAccountStatus {
    const SQL: &str = "-- set_account_status
UPDATE accounts SET status = $2 WHERE id = $1";
}

#[derive(diesel::QueryableByName)]
struct OwnerRow {
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
}

struct LockAccount;

impl Statement for LockAccount {
    const SQL: &str = "-- lock_account
SELECT id, organisation_id, name, currency, category, status, handling, retries_enabled, rank, posted, held, created_at
FROM accounts WHERE id = $1 AND organisation_id IS NOT NULL FOR UPDATE";
}

async fn set_status(
    transaction: &mut Transaction,
    account: AccountId,
    status: AccountStatus,
    act: &Act,
) -> Result<Result<(), AccountRefusal>, StoreError> {
    let rows: Vec<Row> =
        prepared::<LockAccount>().bind::<BigInt, _>(account.0).load(&mut *transaction).await?;
    let found = AccountRecord::try_from(rows.into_iter().next().ok_or_else(|| absent(account))?)?;
    if status == AccountStatus::Closed
        && let Err(refusal) = found.can_close()
    {
        return Ok(Err(refusal));
    }
    prepared::<SetAccountStatus>()
        .bind::<BigInt, _>(account.0)
        .bind::<Text, _>(status.as_str())
        .execute(&mut *transaction)
        .await?;
    let details = json!({ "status": status.as_str(), "was": found.status.as_str() });
    record(transaction, "account.status_set", account, found.organisation.0, details, act).await?;
    Ok(Ok(()))
}

async fn record(
    transaction: &mut Transaction,
    action: &'static str,
    account: AccountId,
    organisation: i64,
    details: Value,
    act: &Act,
) -> Result<(), StoreError> {
    let subject = format!("account:{}", account.0);
    let entry = AuditEntry { act, action, organisation_id: Some(organisation), subject, details };
    append(transaction, entry).await
}

fn absent(account: AccountId) -> StoreError {
    StoreError::Absent { what: "account", key: account.0.to_string() }
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

impl AccountChange {
    /// Whether everything stays.
    pub const fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.handling.is_none()
            && self.retries_enabled.is_none()
            && self.rank.is_none()
    }

    /// What the audit log says about it.
    fn told(&self) -> Value {
        let mut told = Map::new();
        let mut tell = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                told.insert(name.to_owned(), value);
            }
        };
        tell("name", self.name.as_deref().map(Value::from));
        tell("handling", self.handling.map(|handling| handling.as_str().into()));
        tell("retries_enabled", self.retries_enabled.map(Value::from));
        tell("rank", self.rank.map(Value::from));
        Value::Object(told)
    }
}

impl TryFrom<Row> for AccountRecord {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let corrupt = |column| StoreError::corrupt("accounts", column, row.id);
        let currency = read_currency("accounts", row.id, &row.currency)?;
        let (posted, held) = (Money::from_minor(row.posted, currency), Money::from_minor(row.held, currency));
        Ok(Self {
            id: AccountId(row.id),
            organisation: OrganisationId(row.organisation_id),
            category: Category::parse(&row.category).ok_or_else(|| corrupt("category"))?,
            status: AccountStatus::read(&row.status, AccountId(row.id))?,
            handling: Handling::parse(&row.handling).ok_or_else(|| corrupt("handling"))?,
            available: posted.minus(held).map_err(|_overflow| corrupt("held"))?,
            name: row.name,
            retries_enabled: row.retries_enabled,
            rank: row.rank,
            created_at: row.created_at,
            currency,
            posted,
            held,
        })
    }
}

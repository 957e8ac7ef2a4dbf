//! Accounts: reading an organisation's, opening them, paying in.

use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text};
use diesel_async::RunQueryDsl;
use ledger::{Account, AccountId, Category, HouseAccount};
use money::{Currency, Money};
use purchase::{Handling, OrganisationId};
use serde_json::json;

use crate::identity::{Act, AuditEntry, append};
use crate::row::read_currency;
use crate::statement::{Statement, prepared};
use crate::transaction::Transaction;
use crate::{Store, StoreError};

struct ListAccounts;

impl Statement for ListAccounts {
    const SQL: &str = "-- list_accounts
SELECT id, name, currency, category, rank, posted - held AS available
FROM accounts
WHERE organisation_id = $1 AND status = 'ACTIVE'
ORDER BY rank, id";
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = Text)]
    category: String,
    #[diesel(sql_type = Integer)]
    rank: i32,
    #[diesel(sql_type = Nullable<BigInt>)]
    available: Option<i64>,
}

#[derive(diesel::QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// A wallet to be opened.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// Whose.
    pub organisation: OrganisationId,
    /// Its label.
    pub name: String,
    /// Of all its amounts.
    pub currency: Currency,
    /// What it is for.
    pub category: Category,
    /// Who settles doubt about purchases out of it.
    pub handling: Handling,
    /// Its place in a list.
    pub rank: i32,
}

impl Store {
    /// The active accounts of an organisation, in the order of their rank.
    pub async fn list_accounts(&self, organisation: OrganisationId) -> Result<Vec<Account>, StoreError> {
        let store = self.clone();
        self.on_engine(async move {
            let rows: Vec<Row> = prepared::<ListAccounts>()
                .bind::<BigInt, _>(organisation.0)
                .load(&mut *store.general.get().await?)
                .await?;
            rows.into_iter().map(Account::try_from).collect()
        })
        .await
    }

    /// Opens a wallet, empty. With the first one of a currency come the house's accounts of that
    /// currency, and with an organisation's first one its commission wallet.
    pub async fn open_account(&self, account: NewAccount, act: Act) -> Result<AccountId, StoreError> {
        let store = self.clone();
        self.on_engine(async move {
            let mut transaction = store.general.begin().await?;
            let outcome = open(&mut transaction, &account, &act).await;
            transaction.end(outcome).await
        })
        .await
    }

    /// Pays `amount` into a wallet, through the ledger.
    pub async fn top_up(&self, account: AccountId, amount: Money, act: Act) -> Result<(), StoreError> {
        let store = self.clone();
        self.on_engine(async move {
            let mut transaction = store.general.begin().await?;
            let outcome = pay_in(&mut transaction, &store, account, amount, &act).await;
            transaction.end(outcome).await
        })
        .await
    }
}

struct OpenHouseAccounts;

impl Statement for OpenHouseAccounts {
    const SQL: &str = "-- open_house_accounts
INSERT INTO accounts (house, name, currency)
SELECT role, role, $2 FROM unnest($1) AS role
ON CONFLICT (house, currency) WHERE house IS NOT NULL DO NOTHING";
}

struct OpenCommissionAccount;

impl Statement for OpenCommissionAccount {
    const SQL: &str = "-- open_commission_account
INSERT INTO accounts (organisation_id, name, currency, category, rank, posted, held)
VALUES ($1, 'Commission', $2, 'COMMISSION', 1000, 0, 0)
ON CONFLICT (organisation_id, currency) WHERE category = 'COMMISSION' DO NOTHING";
}

struct OpenAccount;

impl Statement for OpenAccount {
    const SQL: &str = "-- open_account
INSERT INTO accounts (organisation_id, name, currency, category, handling, rank, posted, held)
VALUES ($1, $2, $3, $4, $5, $6, 0, 0)
RETURNING id";
}

async fn open(
    transaction: &mut Transaction,
    account: &NewAccount,
    act: &Act,
) -> Result<AccountId, StoreError> {
    let currency = account.currency.as_str();
    prepared::<OpenHouseAccounts>()
        .bind::<Array<Text>, _>(HouseAccount::ALL.map(HouseAccount::as_str).to_vec())
        .bind::<Text, _>(currency)
        .execute(transaction)
        .await?;
    if account.category != Category::Commission {
        prepared::<OpenCommissionAccount>()
            .bind::<BigInt, _>(account.organisation.0)
            .bind::<Text, _>(currency)
            .execute(transaction)
            .await?;
    }
    let opened: IdRow = prepared::<OpenAccount>()
        .bind::<BigInt, _>(account.organisation.0)
        .bind::<Text, _>(account.name.as_str())
        .bind::<Text, _>(currency)
        .bind::<Text, _>(account.category.as_str())
        .bind::<Text, _>(account.handling.as_str())
        .bind::<Integer, _>(account.rank)
        .get_result(transaction)
        .await?;
    let entry = AuditEntry {
        act,
        action: "account.opened",
        organisation_id: Some(account.organisation.0),
        subject: format!("account:{}", opened.id),
        details: json!({ "name": account.name, "currency": currency, "category": account.category.as_str() }),
    };
    append(transaction, entry).await?;
    Ok(AccountId(opened.id))
}

struct PayIn;

impl Statement for PayIn {
    const SQL: &str = include_str!("sql/pay_in.sql");
}

#[derive(diesel::QueryableByName)]
struct PaidIn {
    #[diesel(sql_type = Nullable<BigInt>)]
    organisation_id: Option<i64>,
    #[diesel(sql_type = Bool)]
    is_posted: bool,
}

async fn pay_in(
    transaction: &mut Transaction,
    store: &Store,
    account: AccountId,
    amount: Money,
    act: &Act,
) -> Result<(), StoreError> {
    let funding = store.house.get(transaction, HouseAccount::Funding, amount.currency()).await?;
    let paid: Vec<PaidIn> = prepared::<PayIn>()
        .bind::<BigInt, _>(account.0)
        .bind::<BigInt, _>(funding.0)
        .bind::<Text, _>(amount.currency().as_str())
        .bind::<BigInt, _>(amount.minor())
        .bind::<Text, _>(act.reason.as_str())
        .load(transaction)
        .await?;
    let not_that_wallet = StoreError::Stale { what: "an active wallet of that number and currency" };
    let paid = paid.into_iter().find(|paid| paid.is_posted).ok_or(not_that_wallet)?;
    let entry = AuditEntry {
        act,
        action: "account.topped_up",
        organisation_id: paid.organisation_id,
        subject: format!("account:{}", account.0),
        details: json!({ "amount": amount.to_string() }),
    };
    append(transaction, entry).await
}

impl TryFrom<Row> for Account {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let corrupt = |column| StoreError::corrupt("accounts", column, row.id);
        let currency = read_currency("accounts", row.id, &row.currency)?;
        let available = row.available.ok_or_else(|| corrupt("posted"))?;
        Ok(Self {
            id: AccountId(row.id),
            name: row.name,
            currency,
            category: Category::parse(&row.category).ok_or_else(|| corrupt("category"))?,
            rank: row.rank,
            available: Money::from_minor(available, currency),
        })
    }
}

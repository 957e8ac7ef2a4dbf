//! Opening a wallet, together with the other accounts that it needs.

use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    ExpressionMethods, QueryDsl,
    sql_types::{Array, BigInt, Bool, Text},
};
use directory::{AuditContext, Environment};
use ledger::{AccountId, Category, SystemAccount};
use money::{Currency, Money};
use purchase::{Handling, OrganisationId};
use serde_json::json;

use super::{
    log,
    movement::Movement,
    payment::{Payment, post},
};
use crate::schema::{accounts, organisations};

/// A wallet to be opened.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// The organisation that owns it.
    pub organisation: OrganisationId,
    /// Its label.
    pub name: String,
    /// The currency of all its amounts.
    pub currency: Currency,
    /// What it is for.
    pub category: Category,
    /// Which side settles doubt about purchases from it.
    pub handling: Handling,
    /// Its position in a list.
    pub rank: i32,
}

/// A wallet that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedAccount {
    /// Its number.
    pub id: AccountId,
    /// The amount that it was loaded with, if any.
    pub loaded: Option<Money>,
}

/// The initial load of an organisation's first wallet in staging: BWP 1,000,000.00 (specification, section 8).
pub fn staging_load() -> Money {
    let pula = Currency::parse("BWP").expect("three capital letters are a currency");
    Money::from_minor(100_000_000, pula)
}

/// Opens an empty wallet. The first wallet of a currency also opens the system accounts of that currency. An
/// organisation's first wallet of a currency also opens its commission wallet.
pub async fn open_account(
    database: &Database,
    account: NewAccount,
    act: AuditContext,
) -> Result<AccountId, DatabaseError> {
    database
        .operate(move |transaction| Box::pin(async move { open(transaction, &account, &act).await }))
        .await
}

/// Opens a wallet. Pays `load` into it if `load` is positive, the organisation is in staging, and this is its first
/// wallet of that currency that it can buy with. Callers pass [`staging_load`], except a test that needs a smaller
/// amount.
pub async fn open_account_for_staging(
    database: &Database,
    account: NewAccount,
    load: Money,
    act: AuditContext,
) -> Result<OpenedAccount, DatabaseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move {
            let is_loaded = load.is_positive()
                && account.category.can_be_debited()
                && account.currency == load.currency()
                && is_first_in_staging(transaction, &account).await?;
            let id = open(transaction, &account, &act).await?;
            if !is_loaded {
                return Ok(OpenedAccount { id, loaded: None });
            }
            let load_of_it = Payment { wallet: id, movement: Movement::TopUp, amount: load, reference: None };
            let paid = post(transaction, &load_of_it, &act).await?;
            paid.map_err(|_refusal| DatabaseError::Stale { what: "a wallet that was just opened" })?;
            Ok(OpenedAccount { id, loaded: Some(load) })
        })
    });
    work.await
}

struct HasWallet;

impl Statement for HasWallet {
    const SQL: &str = "-- has_wallet
SELECT EXISTS (
    SELECT FROM accounts WHERE organisation_id = $1 AND currency = $2 AND category <> 'COMMISSION'
) AS is_true";
}

#[derive(diesel::QueryableByName)]
struct Truth {
    #[diesel(sql_type = Bool)]
    is_true: bool,
}

/// Locks the organisation, so that only one of two concurrent wallets is the first.
async fn is_first_in_staging(transaction: &Transaction, account: &NewAccount) -> Result<bool, DatabaseError> {
    let organisation = account.organisation.0;
    let environment = organisations::table
        .find(organisation)
        .select(organisations::environment)
        .for_no_key_update()
        .optional::<String>(transaction)
        .await?;
    let wallets: Truth = prepared::<HasWallet>()
        .bind::<BigInt, _>(organisation)
        .bind::<Text, _>(account.currency.as_str())
        .get_result(transaction)
        .await?;
    Ok(environment.as_deref() == Some(Environment::Staging.code()) && !wallets.is_true)
}

struct OpenSystemAccounts;

impl Statement for OpenSystemAccounts {
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

async fn open(
    transaction: &Transaction,
    account: &NewAccount,
    act: &AuditContext,
) -> Result<AccountId, DatabaseError> {
    let currency = account.currency.as_str();
    prepared::<OpenSystemAccounts>()
        .bind::<Array<Text>, _>(SystemAccount::ALL.map(SystemAccount::as_str).to_vec())
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
    let opened = diesel::insert_into(accounts::table)
        .values((
            accounts::organisation_id.eq(account.organisation.0),
            accounts::name.eq(&account.name),
            accounts::currency.eq(currency),
            accounts::category.eq(account.category.as_str()),
            accounts::handling.eq(account.handling.as_str()),
            accounts::rank.eq(account.rank),
            accounts::posted.eq(0_i64),
            accounts::held.eq(0_i64),
        ))
        .returning(accounts::id)
        .get_result::<i64>(transaction);
    let id = AccountId(opened.await?);
    let details =
        json!({ "name": account.name, "currency": currency, "category": account.category.as_str() });
    log(transaction, "account.opened", id, account.organisation, details, act).await?;
    Ok(id)
}

//! An operator's view of a wallet.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Nullable};
use ledger::{AccountId, Category};
use money::{Currency, Money};
use purchase::{Handling, OrganisationId};

use super::status::AccountStatus;
use crate::schema::accounts;

/// A wallet as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRecord {
    /// Its number.
    pub id: AccountId,
    /// The organisation that owns it.
    pub organisation: OrganisationId,
    /// Its label.
    pub name: String,
    /// The currency of all its amounts.
    pub currency: Currency,
    /// What it is for.
    pub category: Category,
    /// Whether it is in use.
    pub status: AccountStatus,
    /// Which side settles doubt about purchases from it.
    pub handling: Handling,
    /// Whether a retry may settle them.
    pub retries_enabled: bool,
    /// Its position in a list.
    pub rank: i32,
    /// The sum of its postings.
    pub posted: Money,
    /// The amount that is held for open purchases.
    pub held: Money,
    /// The amount that can be spent.
    pub available: Money,
    /// The balance below which the feed tells its organisation, if there is one.
    pub low_balance: Option<Money>,
    /// When it was opened.
    pub created_at: DateTime<Utc>,
}

/// All the wallets of an organisation, in the order of their rank.
pub async fn accounts_of(
    database: &Database,
    organisation: OrganisationId,
) -> Result<Vec<AccountRecord>, DatabaseError> {
    accounts_where(database, Some(organisation.0), None).await
}

/// The wallet with this number.
pub async fn find_account(
    database: &Database,
    account: AccountId,
) -> Result<Option<AccountRecord>, DatabaseError> {
    Ok(accounts_where(database, None, Some(account.0)).await?.into_iter().next())
}

async fn accounts_where(
    database: &Database,
    organisation: Option<i64>,
    account: Option<i64>,
) -> Result<Vec<AccountRecord>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let accounts = prepared::<ShowAccounts>()
                .bind::<Nullable<BigInt>, _>(organisation)
                .bind::<Nullable<BigInt>, _>(account);
            accounts.load::<AccountRow>(connection).await
        })
    });
    listed.await?.into_iter().map(AccountRecord::try_from).collect()
}

struct ShowAccounts;

impl Statement for ShowAccounts {
    const SQL: &str = "-- show_accounts
SELECT id, organisation_id, name, currency, category, status, handling, retries_enabled, rank, posted, held,
    low_balance, created_at
FROM accounts
WHERE organisation_id IS NOT NULL AND (organisation_id = $1 OR $1 IS NULL) AND (id = $2 OR $2 IS NULL)
ORDER BY rank, id";
}

#[derive(diesel::Queryable, diesel::QueryableByName, diesel::Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::pg::Pg))]
pub(super) struct AccountRow {
    id: i64,
    organisation_id: Option<i64>,
    name: String,
    currency: String,
    category: Option<String>,
    status: String,
    handling: String,
    retries_enabled: bool,
    rank: i32,
    posted: Option<i64>,
    held: Option<i64>,
    low_balance: Option<i64>,
    created_at: DateTime<Utc>,
}

impl TryFrom<AccountRow> for AccountRecord {
    type Error = DatabaseError;

    fn try_from(row: AccountRow) -> Result<Self, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("accounts", column, row.id);
        let currency = read_currency("accounts", row.id, &row.currency)?;
        let organisation = row.organisation_id.ok_or_else(|| corrupt("organisation_id"))?;
        let category = row.category.as_deref().and_then(Category::parse);
        let posted = Money::from_minor(row.posted.ok_or_else(|| corrupt("posted"))?, currency);
        let held = Money::from_minor(row.held.ok_or_else(|| corrupt("held"))?, currency);
        Ok(Self {
            id: AccountId(row.id),
            organisation: OrganisationId(organisation),
            category: category.ok_or_else(|| corrupt("category"))?,
            status: AccountStatus::read(&row.status, AccountId(row.id))?,
            handling: Handling::parse(&row.handling).ok_or_else(|| corrupt("handling"))?,
            available: posted.minus(held).map_err(|_overflow| corrupt("held"))?,
            name: row.name,
            retries_enabled: row.retries_enabled,
            rank: row.rank,
            low_balance: row.low_balance.map(|minor| Money::from_minor(minor, currency)),
            created_at: row.created_at,
            currency,
            posted,
            held,
        })
    }
}

//! Accounts: an organisation's view of its own accounts, and the operator's changes to them.

mod change;
mod movement;
mod open;
mod payment;
mod record;
mod statement;
mod status;

use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use diesel_async::RunQueryDsl;
use ledger::{Account, AccountId, Category};
use money::Money;
use purchase::OrganisationId;
use serde_json::Value;

use crate::identity::{AuditContext, AuditEntry, append};
use crate::row::read_currency;
use crate::statement::{Statement, prepared};
use crate::transaction::Transaction;
use crate::{Store, StoreError};

pub use change::AccountChange;
pub use movement::Movement;
pub use open::{NewAccount, OpenedAccount, staging_load};
pub use payment::{Paid, Payment, PaymentError, PaymentRefusal};
pub use record::AccountRecord;
pub use statement::{StatementLine, StatementQuery};
pub use status::{AccountRefusal, AccountStatus};

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

impl Store {
    /// The active accounts of an organisation, in the order of their rank.
    pub async fn list_accounts(&self, organisation: OrganisationId) -> Result<Vec<Account>, StoreError> {
        let listed = self.read(move |connection| {
            Box::pin(async move {
                let accounts = prepared::<ListAccounts>().bind::<BigInt, _>(organisation.0);
                Ok(accounts.load::<Row>(connection).await?)
            })
        });
        listed.await?.into_iter().map(Account::try_from).collect()
    }
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

/// Writes a line about a wallet to the audit log.
async fn log(
    transaction: &mut Transaction,
    action: &'static str,
    account: AccountId,
    organisation: OrganisationId,
    details: Value,
    act: &AuditContext,
) -> Result<(), StoreError> {
    let (organisation_id, subject) = (Some(organisation.0), format!("account:{}", account.0));
    append(transaction, AuditEntry { act, action, organisation_id, subject, details }).await
}

fn absent(account: AccountId) -> StoreError {
    StoreError::Absent { what: "account", key: account.0.to_string() }
}

//! The accounts that an organisation can buy from.

use catalogue::read_currency;
use database::{DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use ledger::{Account, AccountId, Category};
use money::Money;
use purchase::OrganisationId;

use crate::Store;

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
    pub async fn list_accounts(&self, organisation: OrganisationId) -> Result<Vec<Account>, DatabaseError> {
        let listed = self.database.read(move |connection| {
            Box::pin(async move {
                let accounts = prepared::<ListAccounts>().bind::<BigInt, _>(organisation.0);
                accounts.load::<Row>(connection).await
            })
        });
        listed.await?.into_iter().map(Account::try_from).collect()
    }
}

impl TryFrom<Row> for Account {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("accounts", column, row.id);
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

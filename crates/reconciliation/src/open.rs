//! Our purchases of a period that have not ended. They are neither matched nor missing yet, whatever the statement says.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use money::Money;
use purchase::{PurchaseId, StateName};
use vend::Product;

use crate::{list::InTheBooks, run::StatementPlan};

/// By the index of open purchases, which are few.
struct ListOpen;

impl Statement for ListOpen {
    const SQL: &str = "-- list_open_of_period
SELECT p.id, p.state, p.provider_reference, p.product, p.currency, p.net, p.created_at,
    CASE WHEN p.product <> 'AIRTIME' THEN p.subscriber_identifier END AS meter
FROM purchases p
WHERE p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW') AND p.provider_code = $1 AND p.created_at >= $2
    AND p.created_at < $3
ORDER BY p.created_at, p.id";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    provider_reference: String,
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    meter: Option<String>,
}

/// A purchase of the period that is still open.
#[derive(Clone, Debug, PartialEq)]
pub struct StillOpen {
    pub provider_reference: String,
    pub ours: InTheBooks,
    /// Whether the statement has a line about it.
    pub is_listed: bool,
}

/// The purchases that were made in the period, widened by its tolerance, and are open now. The oldest first.
pub(crate) async fn list_open(
    database: &Database,
    plan: &StatementPlan,
) -> Result<Vec<StillOpen>, DatabaseError> {
    let (provider_code, period) = (plan.provider_code.clone(), plan.period);
    let read = database.read(move |connection| {
        Box::pin(async move {
            let open = prepared::<ListOpen>()
                .bind::<Text, _>(provider_code)
                .bind::<Timestamptz, _>(period.earliest())
                .bind::<Timestamptz, _>(period.latest());
            open.load::<Row>(connection).await
        })
    });
    read.await?.into_iter().map(StillOpen::try_from).collect()
}

impl TryFrom<Row> for StillOpen {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let corrupt = |name| DatabaseError::corrupt("purchases", name, row.id);
        let currency = read_currency("purchases", row.id, &row.currency)?;
        let ours = InTheBooks {
            purchase: PurchaseId(row.id),
            state: StateName::parse(&row.state).ok_or_else(|| corrupt("state"))?,
            created_at: row.created_at,
            provider_transaction: None,
            product: Product::parse(&row.product).ok_or_else(|| corrupt("product"))?,
            meter: row.meter,
            net: Money::from_minor(row.net, currency),
        };
        Ok(Self { provider_reference: row.provider_reference, ours, is_listed: false })
    }
}

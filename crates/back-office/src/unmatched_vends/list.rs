//! The unmatched vends, and what was decided about them.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bool, Nullable, Text, Timestamptz},
};
use ledger::AccountId;
use money::Money;
use vend::Product;

/// A vend that a provider's statement has and no purchase asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedVendRecord {
    /// Its number.
    pub id: i64,
    pub provider_code: String,
    pub provider_reference: String,
    pub provider_transaction: String,
    pub vended_at: DateTime<Utc>,
    pub product: Product,
    pub subscriber_identifier: String,
    /// What we owe the provider for it.
    pub net: Money,
    /// Whether a sealed token is stored with it.
    pub has_token: bool,
    /// The decision: when, by whom, why.
    pub decided: Option<(DateTime<Utc>, String, String)>,
    /// The wallet that was charged. `None` if it is not decided, waived or withdrawn.
    pub charged: Option<AccountId>,
    /// Whether it was withdrawn: we do not owe it any more.
    pub is_withdrawn: bool,
}

struct ListUnmatchedVends;

impl Statement for ListUnmatchedVends {
    const SQL: &str = "-- list_unmatched_vends
SELECT u.id, u.provider_code, u.provider_reference, u.provider_transaction, u.vended_at, u.product, u.subscriber_identifier,
    u.currency, u.net, u.token_key_id IS NOT NULL AS has_token, d.at AS decided_at, d.actor, d.reason,
    p.debit_account_id AS charged,
    EXISTS (SELECT FROM reversals r WHERE r.entry_id = u.entry_id) AS is_withdrawn
FROM unmatched_vends u
LEFT JOIN unmatched_vend_decisions d ON d.unmatched_vend_id = u.id
LEFT JOIN postings p ON p.entry_id = d.entry_id
WHERE (d.unmatched_vend_id IS NULL OR $1) AND u.id > $2
ORDER BY u.id LIMIT $3";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    provider_reference: String,
    #[diesel(sql_type = Text)]
    provider_transaction: String,
    #[diesel(sql_type = Timestamptz)]
    vended_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Text)]
    subscriber_identifier: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = Bool)]
    has_token: bool,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    decided_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    actor: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    reason: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    charged: Option<i64>,
    #[diesel(sql_type = Bool)]
    is_withdrawn: bool,
}

/// The oldest unmatched vends after `after`, at most `limit`: those without a decision, or all if `with_decided` is set.
pub async fn list_unmatched_vends(
    database: &Database,
    with_decided: bool,
    after: i64,
    limit: u16,
) -> Result<Vec<UnmatchedVendRecord>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let rows = prepared::<ListUnmatchedVends>()
                .bind::<Bool, _>(with_decided)
                .bind::<BigInt, _>(after)
                .bind::<BigInt, _>(i64::from(limit));
            rows.load::<Row>(connection).await
        })
    });
    listed.await?.into_iter().map(UnmatchedVendRecord::try_from).collect()
}

impl TryFrom<Row> for UnmatchedVendRecord {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let currency = read_currency("unmatched_vends", row.id, &row.currency)?;
        let product = Product::parse(&row.product)
            .ok_or_else(|| DatabaseError::corrupt("unmatched_vends", "product", row.id))?;
        let decided = match (row.decided_at, row.actor, row.reason) {
            (Some(at), Some(actor), Some(reason)) => Some((at, actor, reason)),
            _ => None,
        };
        Ok(Self {
            id: row.id,
            provider_code: row.provider_code,
            provider_reference: row.provider_reference,
            provider_transaction: row.provider_transaction,
            vended_at: row.vended_at,
            product,
            subscriber_identifier: row.subscriber_identifier,
            net: Money::from_minor(row.net, currency),
            has_token: row.has_token,
            decided,
            charged: row.charged.map(AccountId),
            is_withdrawn: row.is_withdrawn,
        })
    }
}

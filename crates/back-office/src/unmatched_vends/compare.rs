//! The comparison of a provider's statement with the attempts, line by line, both ways.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Integer, Nullable, Text, Timestamptz},
};
use meter_token::TokenSet;
use money::Money;
use purchase::{PurchaseId, StateName};
use vend::Product;

/// A vend as a provider's statement lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVend {
    /// Our reference of the order, as the provider received it.
    pub provider_reference: String,
    /// The provider's name for the vend.
    pub provider_transaction: String,
    /// When it was vended.
    pub vended_at: DateTime<Utc>,
    pub product: Product,
    pub subscriber_identifier: String,
    /// What we owe for it.
    pub net: Money,
    /// The tokens, if the statement has them.
    pub tokens: Option<TokenSet>,
}

/// What the database knows of a listed vend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No attempt has its reference.
    Unmatched,
    /// It was entered before, as the unmatched vend of this number.
    Entered(i64),
    /// A successful purchase, or an incident of one that has ended, has the same transaction, amount and subscriber.
    Same(PurchaseId),
    /// The purchase is open. The worker asks the provider about it, or it waits for an operator.
    Open(PurchaseId, StateName),
    /// The purchase has ended otherwise than the statement says.
    Different(PurchaseId, StateName),
}

/// A successful purchase that the statement should have, and does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedPurchase {
    pub purchase: PurchaseId,
    pub provider_reference: String,
    pub sent_at: DateTime<Utc>,
    pub net: Money,
}

/// The time that a statement covers: from its begin, and before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementPeriod {
    pub from: DateTime<Utc>,
    pub until: DateTime<Utc>,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// For each listed vend, in the order of the statement.
    pub standings: Vec<Standing>,
    /// At most 1,000, the oldest first.
    pub unlisted: Vec<UnlistedPurchase>,
}

/// The maximum number of unlisted purchases of a comparison.
const UNLISTED_MAX: usize = 1_000;

struct FindListed;

impl Statement for FindListed {
    const SQL: &str = include_str!("find_listed.sql");
}

#[derive(QueryableByName)]
struct ListedRow {
    #[diesel(sql_type = Integer)]
    place: i32,
    #[diesel(sql_type = Nullable<BigInt>)]
    unmatched_vend: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    purchase: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    state: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_transaction: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    subscriber_identifier: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    net: Option<i64>,
}

struct FindUnlisted;

impl Statement for FindUnlisted {
    const SQL: &str = include_str!("find_unlisted.sql");
}

#[derive(QueryableByName)]
struct UnlistedRow {
    #[diesel(sql_type = BigInt)]
    purchase: i64,
    #[diesel(sql_type = Text)]
    provider_reference: String,
    #[diesel(sql_type = Timestamptz)]
    started_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    net: i64,
}

/// Compares a statement of this provider with the attempts. Nothing changes.
pub async fn compare_statement(
    database: &Database,
    provider_code: String,
    listed: Vec<ListedVend>,
    period: StatementPeriod,
) -> Result<Comparison, DatabaseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move {
            let standings = standings(transaction, &provider_code, &listed).await?;
            let unlisted = unlisted(transaction, &provider_code, &listed, period).await?;
            Ok(Comparison { standings, unlisted })
        })
    });
    work.await
}

/// What is known of each listed vend.
pub(super) async fn standings(
    transaction: &Transaction,
    provider_code: &str,
    listed: &[ListedVend],
) -> Result<Vec<Standing>, DatabaseError> {
    let rows: Vec<ListedRow> = prepared::<FindListed>()
        .bind::<Text, _>(provider_code)
        .bind::<Array<Text>, _>(column(listed, |vend| vend.provider_reference.as_str()))
        .bind::<Array<Text>, _>(column(listed, |vend| vend.provider_transaction.as_str()))
        .load(transaction)
        .await?;
    let mut standings = vec![Standing::Unmatched; listed.len()];
    for row in rows {
        let place = usize::try_from(row.place).ok().and_then(|place| place.checked_sub(1));
        let pair = place.and_then(|place| Some((standings.get_mut(place)?, listed.get(place)?)));
        if let Some((standing, vend)) = pair {
            *standing = row.standing(vend)?;
        }
    }
    Ok(standings)
}

async fn unlisted(
    transaction: &Transaction,
    provider_code: &str,
    listed: &[ListedVend],
    period: StatementPeriod,
) -> Result<Vec<UnlistedPurchase>, DatabaseError> {
    let rows: Vec<UnlistedRow> = prepared::<FindUnlisted>()
        .bind::<Text, _>(provider_code)
        .bind::<Timestamptz, _>(period.from)
        .bind::<Timestamptz, _>(period.until)
        .bind::<Array<Text>, _>(column(listed, |vend| vend.provider_reference.as_str()))
        .bind::<BigInt, _>(i64::try_from(UNLISTED_MAX).unwrap_or(i64::MAX))
        .load(transaction)
        .await?;
    rows.into_iter().map(UnlistedPurchase::try_from).collect()
}

impl ListedRow {
    fn standing(self, vend: &ListedVend) -> Result<Standing, DatabaseError> {
        let (Some(id), Some(state)) = (self.purchase, self.state.as_deref()) else {
            return Ok(self.unmatched_vend.map_or(Standing::Unmatched, Standing::Entered));
        };
        let corrupt = |name| DatabaseError::corrupt("purchases", name, id);
        let state = StateName::parse(state).ok_or_else(|| corrupt("state"))?;
        let is_same = self.provider_transaction.as_deref() == Some(&vend.provider_transaction)
            && self.subscriber_identifier.as_deref() == Some(&vend.subscriber_identifier)
            && self.currency.as_deref() == Some(vend.net.currency().as_str())
            && self.net == Some(vend.net.minor());
        let id = PurchaseId(id);
        Ok(match state {
            _ if is_same => Standing::Same(id),
            StateName::Successful | StateName::Failed => Standing::Different(id, state),
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
                Standing::Open(id, state)
            }
        })
    }
}

impl TryFrom<UnlistedRow> for UnlistedPurchase {
    type Error = DatabaseError;

    fn try_from(row: UnlistedRow) -> Result<Self, DatabaseError> {
        let currency = read_currency("purchases", row.purchase, &row.currency)?;
        Ok(Self {
            purchase: PurchaseId(row.purchase),
            provider_reference: row.provider_reference,
            sent_at: row.started_at,
            net: Money::from_minor(row.net, currency),
        })
    }
}

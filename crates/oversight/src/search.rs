//! What a customer or an integrator can name, found by whatever was named: purchases, and confirms that made none.
//!
//! A name is looked up in the index of each thing that it may be. Without a name, a period is searched organisation by
//! organisation, along the index of times.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Connection, Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz},
};
use money::Money;
use purchase::{OrganisationId, Position, PurchaseId, StateName};

use crate::list::LAST;

#[cfg(test)]
mod plans;

/// What is searched for. An absent field does not filter.
#[derive(Clone, Debug)]
pub struct PurchaseSearch {
    /// A meter, phone or account, the integrator's reference, our reference at the provider, or the provider's
    /// transaction. Of a refused confirm also its `X-Request-Id`.
    pub name: Option<String>,
    /// The number of the purchase, if the name may be one.
    pub number: Option<PurchaseId>,
    /// The organisation.
    pub organisation: Option<OrganisationId>,
    /// The states of the purchases.
    pub states: Vec<StateName>,
    /// The code of the provider.
    pub provider_code: Option<String>,
    /// What was asked for, sent to the provider or paid, in hundredths of any currency.
    pub amount: Option<i64>,
    /// The phone that got the token, or that was bought for.
    pub phone: Option<String>,
    /// From this moment on.
    pub since: DateTime<Utc>,
    /// Before this moment.
    pub until: Option<DateTime<Utc>>,
}

/// A purchase that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPurchase {
    /// Its number.
    pub id: PurchaseId,
    /// Its reference for people.
    pub reference: String,
    /// When it was reserved.
    pub created_at: DateTime<Utc>,
    /// Its state.
    pub state: StateName,
    /// The code of its organisation.
    pub organisation: String,
    /// The product.
    pub product: String,
    /// The code of the provider.
    pub provider_code: String,
    /// The meter, phone or account.
    pub subscriber: String,
    /// The phone that gets the token.
    pub phone: String,
    /// What it costs.
    pub total: Money,
    /// The integrator's own reference for it.
    pub external_reference: Option<String>,
    /// The provider's transaction, if it was vended.
    pub provider_transaction: Option<String>,
    /// Whether a token is stored.
    pub has_token: bool,
}

/// The conditions of every search for purchases.
macro_rules! fits {
    () => {
        "($3 IS NULL OR p.organisation_id = $3) AND p.state = ANY ($4) AND ($5 IS NULL OR p.provider_code = $5)
    AND ($6 IS NULL OR $6 IN (p.entry, p.net, p.total))
    AND ($7 IS NULL OR $7 IN (p.beneficiary_phone_number, p.subscriber_identifier))
    AND p.created_at >= $8 AND (p.created_at, p.id) < ($9, $10)"
    };
}

/// The newest of each organisation that fit `$by`: `$first` says which of them are found first.
macro_rules! of_each_organisation {
    ($by:literal, $first:literal) => {
        concat!(
            "SELECT q.id FROM organisations o CROSS JOIN LATERAL (
    SELECT p.id FROM purchases p WHERE p.organisation_id = o.id AND ",
            $by,
            fits!(),
            " ORDER BY ",
            $first,
            "
) q WHERE ($3 IS NULL OR o.id = $3)"
        )
    };
}

/// The page of purchases out of `$found`.
macro_rules! search {
    ($name:literal, $found:expr) => {
        concat!(
            "-- ",
            $name,
            "\nWITH found AS MATERIALIZED (",
            $found,
            ")
SELECT p.id, p.reference, p.created_at, p.state, o.code AS organisation, p.product, p.provider_code, p.subscriber_identifier,
    p.beneficiary_phone_number, p.currency, p.total, p.external_reference, p.provider_transaction,
    p.token_key_id IS NOT NULL AS has_token
FROM found JOIN purchases p ON p.id = found.id JOIN organisations o ON o.id = p.organisation_id
WHERE ",
            fits!(),
            " ORDER BY p.created_at DESC, p.id DESC LIMIT $11"
        )
    };
}

struct SearchByName;

/// No index has the order of an expression, so the index of subscribers is not left for that of times.
impl Statement for SearchByName {
    const SQL: &str = search!(
        "search_by_name",
        concat!(
            "SELECT p.id FROM purchases p WHERE p.id = $2\nUNION\n",
            of_each_organisation!("p.subscriber_identifier = $1 AND ", "p.created_at + interval '0' DESC, p.id DESC LIMIT $11"),
            "\nUNION\n",
            of_each_organisation!(
                "hashtextextended(p.external_reference, 0) = hashtextextended($1, 0) AND p.external_reference = $1 AND ",
                "p.created_at DESC, p.id DESC LIMIT $11"
            ),
            "
UNION
SELECT a.purchase_id FROM providers v JOIN attempts a ON a.provider_code = v.code AND a.provider_reference = $1
UNION
SELECT p.id FROM purchases p WHERE p.state = 'SUCCESSFUL' AND p.provider_transaction = $1
UNION
SELECT i.purchase_id FROM incidents i WHERE i.provider_transaction = $1"
        )
    );
}

/// The index of times does not have the number, so all purchases of the last moment are found.
struct SearchByTime;

impl Statement for SearchByTime {
    const SQL: &str = search!(
        "search_by_time",
        of_each_organisation!("", "p.created_at DESC FETCH FIRST $11 ROWS WITH TIES")
    );
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    reference: String,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    organisation: String,
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    subscriber_identifier: String,
    #[diesel(sql_type = Text)]
    beneficiary_phone_number: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = Nullable<Text>)]
    external_reference: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_transaction: Option<String>,
    #[diesel(sql_type = Bool)]
    has_token: bool,
}

/// The newest purchases that fit, at most `limit`, after this one in the list if there is one.
pub async fn search_purchases(
    database: &Database,
    search: PurchaseSearch,
    after: Option<Position>,
    limit: u16,
) -> Result<Vec<FoundPurchase>, DatabaseError> {
    let read = database.read(move |connection| {
        Box::pin(async move {
            if search.name.is_some() {
                search.run::<SearchByName>(connection, after, limit).await
            } else {
                search.run::<SearchByTime>(connection, after, limit).await
            }
        })
    });
    read.await?.into_iter().map(FoundPurchase::try_from).collect()
}

impl PurchaseSearch {
    async fn run<S: Statement>(
        &self,
        connection: &Connection,
        after: Option<Position>,
        limit: u16,
    ) -> Result<Vec<Row>, DatabaseError> {
        let end = self.until.map_or(LAST, |at| Position { at, id: PurchaseId(i64::MIN) });
        let before = after.unwrap_or(end);
        let states: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
        let rows = prepared::<S>()
            .bind::<Nullable<Text>, _>(self.name.as_deref())
            .bind::<Nullable<BigInt>, _>(self.number.map(|number| number.0))
            .bind::<Nullable<BigInt>, _>(self.organisation.map(|organisation| organisation.0))
            .bind::<Array<Text>, _>(states)
            .bind::<Nullable<Text>, _>(self.provider_code.as_deref())
            .bind::<Nullable<BigInt>, _>(self.amount)
            .bind::<Nullable<Text>, _>(self.phone.as_deref())
            .bind::<Timestamptz, _>(self.since)
            .bind::<Timestamptz, _>(before.at)
            .bind::<BigInt, _>(before.id.0)
            .bind::<BigInt, _>(i64::from(limit))
            .load(connection);
        rows.await
    }
}

impl TryFrom<Row> for FoundPurchase {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let currency = read_currency("purchases", row.id, &row.currency)?;
        let state = StateName::parse(&row.state);
        Ok(Self {
            id: PurchaseId(row.id),
            reference: row.reference,
            created_at: row.created_at,
            state: state.ok_or_else(|| DatabaseError::corrupt("purchases", "state", row.id))?,
            organisation: row.organisation,
            product: row.product,
            provider_code: row.provider_code,
            subscriber: row.subscriber_identifier,
            phone: row.beneficiary_phone_number,
            total: Money::from_minor(row.total, currency),
            external_reference: row.external_reference,
            provider_transaction: row.provider_transaction,
            has_token: row.has_token,
        })
    }
}

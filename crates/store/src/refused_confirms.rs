//! Confirms that made no purchase. They are written in the background, in batches, and listed for an operator.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Nullable, Text, Timestamptz},
};
use money::Money;
use purchase::{OrganisationId, RefusedConfirm};
use vend::Product;

use crate::Store;

/// Which refused confirms are requested. An absent field does not filter.
#[derive(Clone, Debug, Default)]
pub struct RefusedQuery {
    /// The organisation.
    pub organisation: Option<OrganisationId>,
    /// The subscriber identifier.
    pub subscriber: Option<String>,
    /// The integrator's own reference for the purchase.
    pub external_reference: Option<String>,
    /// The `X-Request-Id` of the confirm.
    pub request_id: Option<String>,
    /// The subscriber identifier, the integrator's reference or the `X-Request-Id`.
    pub any_name: Option<String>,
    /// The code of the provider.
    pub provider_code: Option<String>,
    /// The amount, in hundredths of any currency.
    pub amount: Option<i64>,
    /// From this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Before this moment.
    pub until: Option<DateTime<Utc>>,
    /// Only lines with smaller numbers than this one.
    pub before: Option<i64>,
    /// The maximum number of lines.
    pub limit: u16,
}

/// A refused confirm as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRecord {
    /// Its number in the list.
    pub id: i64,
    /// When it was refused.
    pub refused_at: DateTime<Utc>,
    /// The code of its organisation.
    pub organisation: Option<String>,
    /// The name of the OAuth client.
    pub client: Option<String>,
    /// The name of the user.
    pub user: Option<String>,
    /// The meter, phone or account.
    pub subscriber: Option<String>,
    /// The integrator's own reference for the purchase.
    pub external_reference: Option<String>,
    /// The product.
    pub product: Option<String>,
    /// The code of the provider.
    pub provider_code: Option<String>,
    /// The amount.
    pub amount: Option<Money>,
    /// The error code that was returned.
    pub code: String,
    /// The field that caused the error.
    pub param: Option<String>,
    /// The `X-Request-Id` of the confirm.
    pub request_id: String,
}

struct InsertRefusedConfirms;

impl Statement for InsertRefusedConfirms {
    const SQL: &str = "-- insert_refused_confirms
INSERT INTO refused_confirms (refused_at, organisation_id, client_id, user_id, subscriber_identifier, external_reference,
    product, provider_code, currency, amount, code, param, request_id)
SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
}

struct ListRefusedConfirms;

impl Statement for ListRefusedConfirms {
    const SQL: &str = "-- list_refused_confirms
SELECT r.id, r.refused_at, o.code AS organisation, c.client_id AS client, u.username AS \"user\", r.subscriber_identifier,
    r.external_reference, r.product, r.provider_code, r.currency, r.amount, r.code, r.param, r.request_id
FROM refused_confirms r
LEFT JOIN organisations o ON o.id = r.organisation_id
LEFT JOIN oauth_clients c ON c.id = r.client_id
LEFT JOIN users u ON u.id = r.user_id
WHERE ($1::bigint IS NULL OR r.organisation_id = $1) AND ($2::text IS NULL OR r.subscriber_identifier = $2)
    AND ($3::text IS NULL OR r.external_reference = $3) AND ($4::text IS NULL OR r.request_id = $4)
    AND ($5::bigint IS NULL OR r.id < $5) AND ($7::text IS NULL OR r.id IN (
        SELECT s.id FROM refused_confirms s WHERE s.subscriber_identifier = $7
        UNION SELECT s.id FROM refused_confirms s WHERE s.external_reference = $7
        UNION SELECT s.id FROM refused_confirms s WHERE s.request_id = $7))
    AND ($8::text IS NULL OR r.provider_code = $8) AND ($9::bigint IS NULL OR r.amount = $9)
    AND ($10::timestamptz IS NULL OR r.refused_at >= $10) AND ($11::timestamptz IS NULL OR r.refused_at < $11)
ORDER BY r.id DESC LIMIT $6";
}

/// Confirms of the last ten minutes that were refused because their provider did not answer. Those of a pause are not among them.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct UnavailableProvider {
    /// Its code.
    #[diesel(sql_type = Text)]
    pub provider_code: String,
    /// How many of them are stored. There may have been more, see [`Store::keep_refused_confirms`].
    #[diesel(sql_type = BigInt)]
    pub confirms: i64,
    /// When the last one was refused.
    #[diesel(sql_type = Timestamptz)]
    pub last_at: DateTime<Utc>,
}

struct ListUnavailableProviders;

impl Statement for ListUnavailableProviders {
    const SQL: &str = "-- list_unavailable_providers
-- A request of the Current surface names no provider: it goes to the default one of its organisation.
SELECT provider_code, count(*) AS confirms, max(refused_at) AS last_at
FROM (
    SELECT coalesce(r.provider_code, d.provider_code) AS provider_code, r.refused_at
    FROM refused_confirms r
    LEFT JOIN default_providers d ON d.organisation_id = r.organisation_id AND d.product = r.product
    WHERE r.refused_at > clock_timestamp() - interval '10 minutes' AND r.code IN ('provider_unavailable', 'provider_timeout')
) AS refused
WHERE provider_code IS NOT NULL
GROUP BY provider_code";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Timestamptz)]
    refused_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    organisation: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    client: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    user: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    subscriber_identifier: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    external_reference: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    product: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_code: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    amount: Option<i64>,
    #[diesel(sql_type = Text)]
    code: String,
    #[diesel(sql_type = Nullable<Text>)]
    param: Option<String>,
    #[diesel(sql_type = Text)]
    request_id: String,
}

impl Store {
    /// Writes all of them in one transaction, or none.
    pub async fn keep_refused_confirms(&self, refused: Vec<RefusedConfirm>) -> Result<(), DatabaseError> {
        let written = self.database.operate(move |transaction| {
            Box::pin(async move {
                let all = refused.as_slice();
                prepared::<InsertRefusedConfirms>()
                    .bind::<Array<Timestamptz>, _>(column(all, |it| it.at))
                    .bind::<Array<BigInt>, _>(column(all, |it| it.authority.organisation.0))
                    .bind::<Array<BigInt>, _>(column(all, |it| it.authority.client.0))
                    .bind::<Array<BigInt>, _>(column(all, |it| it.authority.user.0))
                    .bind::<Array<Nullable<Text>>, _>(column(all, |it| it.subscriber.as_deref()))
                    .bind::<Array<Nullable<Text>>, _>(column(all, |it| it.external_reference.as_deref()))
                    .bind::<Array<Nullable<Text>>, _>(column(all, |it| it.product.map(Product::as_str)))
                    .bind::<Array<Nullable<Text>>, _>(column(all, |it| it.provider_code.as_deref()))
                    .bind::<Array<Nullable<Text>>, _>(column(all, |it| {
                        it.amount.map(|amount| amount.currency().to_string())
                    }))
                    .bind::<Array<Nullable<BigInt>>, _>(column(all, |it| it.amount.map(Money::minor)))
                    .bind::<Array<Text>, _>(column(all, |it| it.code))
                    .bind::<Array<Nullable<Text>>, _>(column(all, |it| it.param.as_deref()))
                    .bind::<Array<Text>, _>(column(all, |it| it.request_id.as_str()))
                    .execute(transaction)
                    .await?;
                Ok(())
            })
        });
        written.await
    }

    /// The requested lines, the newest first.
    pub async fn list_refused_confirms(
        &self,
        query: RefusedQuery,
    ) -> Result<Vec<RefusedRecord>, DatabaseError> {
        let listed = self.database.read(move |connection| {
            Box::pin(async move {
                let rows: Vec<Row> = prepared::<ListRefusedConfirms>()
                    .bind::<Nullable<BigInt>, _>(query.organisation.map(|organisation| organisation.0))
                    .bind::<Nullable<Text>, _>(query.subscriber)
                    .bind::<Nullable<Text>, _>(query.external_reference)
                    .bind::<Nullable<Text>, _>(query.request_id)
                    .bind::<Nullable<BigInt>, _>(query.before)
                    .bind::<BigInt, _>(i64::from(query.limit))
                    .bind::<Nullable<Text>, _>(query.any_name)
                    .bind::<Nullable<Text>, _>(query.provider_code)
                    .bind::<Nullable<BigInt>, _>(query.amount)
                    .bind::<Nullable<Timestamptz>, _>(query.since)
                    .bind::<Nullable<Timestamptz>, _>(query.until)
                    .load(connection)
                    .await?;
                Ok(rows)
            })
        });
        listed.await?.into_iter().map(RefusedRecord::try_from).collect()
    }

    /// The providers for which confirms were refused within the last ten minutes because they did not answer.
    pub async fn list_unavailable_providers(&self) -> Result<Vec<UnavailableProvider>, DatabaseError> {
        let listed = self.database.read(|connection| {
            Box::pin(async move { prepared::<ListUnavailableProviders>().load(connection).await })
        });
        listed.await
    }
}

impl TryFrom<Row> for RefusedRecord {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let currency =
            row.currency.map(|code| read_currency("refused_confirms", row.id, &code)).transpose()?;
        Ok(Self {
            id: row.id,
            refused_at: row.refused_at,
            organisation: row.organisation,
            client: row.client,
            user: row.user,
            subscriber: row.subscriber_identifier,
            external_reference: row.external_reference,
            product: row.product,
            provider_code: row.provider_code,
            amount: currency.zip(row.amount).map(|(currency, minor)| Money::from_minor(minor, currency)),
            code: row.code,
            param: row.param,
            request_id: row.request_id,
        })
    }
}

//! A purchase's row as its story needs it: everything except sealed values.

use catalogue::{DeclaredRow, read_currency};
use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bool, Nullable, SmallInt, Text, Timestamptz},
};
use money::Money;
use purchase::{Handling, PurchaseId, SourceChannel, StateName};
use store::FailureRow;
use vend::Product;

use super::{StoryAmounts, StoryPurchase};

struct FindOverseen;

impl Statement for FindOverseen {
    const SQL: &str = "-- find_overseen
SELECT p.id, p.reference, o.code AS organisation, o.name AS organisation_name, c.client_id, u.username, p.account_id,
    p.source_channel, p.source_tag, p.language, p.product, p.provider_code, p.subscriber_identifier,
    coalesce(p.vend_subscriber_details, p.subscriber_details) AS subscriber_details, p.beneficiary_phone_number,
    p.currency, p.entry, p.charge, p.net, p.total, p.commission, p.external_reference, p.request_id, p.comment,
    p.created_at, p.state, p.handling, p.fence, p.lease_until, p.due_at, p.attempt, p.copies, p.last_sent_at,
    p.window_closes_at, p.ended_at, p.token_key_id IS NOT NULL AS has_token,
    p.units_quantity::text || ' ' || p.units_unit AS units, p.provider_transaction,
    p.failure, p.failure_reason, p.failure_wording, x.file_name AS archive,
    v.repeat_is_safe, v.remembers_refusals, v.not_found_counts, v.settles_within_s, clock_timestamp() AS seen_at,
    (SELECT r.id FROM approval_requests r WHERE r.open_for = p.id AND r.expires_at > clock_timestamp()) AS open_request,
    (SELECT r.act FROM approval_requests r WHERE r.open_for = p.id AND r.expires_at > clock_timestamp()) = 'RELEASE' AS would_release
FROM purchases p
JOIN organisations o ON o.id = p.organisation_id
JOIN oauth_clients c ON c.id = p.client_id
JOIN users u ON u.id = p.user_id
JOIN providers v ON v.code = p.provider_code
LEFT JOIN archives x ON x.id = p.archive_id
WHERE p.id = $1";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    reference: String,
    #[diesel(sql_type = Text)]
    organisation: String,
    #[diesel(sql_type = Text)]
    organisation_name: String,
    #[diesel(sql_type = Text)]
    client_id: String,
    #[diesel(sql_type = Text)]
    username: String,
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    source_channel: String,
    #[diesel(sql_type = Nullable<Text>)]
    source_tag: Option<String>,
    #[diesel(sql_type = Text)]
    language: String,
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    subscriber_identifier: String,
    #[diesel(sql_type = Nullable<Text>)]
    subscriber_details: Option<String>,
    #[diesel(sql_type = Text)]
    beneficiary_phone_number: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    entry: i64,
    #[diesel(sql_type = BigInt)]
    charge: i64,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = BigInt)]
    commission: i64,
    #[diesel(sql_type = Nullable<Text>)]
    external_reference: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    request_id: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    comment: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    handling: String,
    #[diesel(sql_type = BigInt)]
    fence: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    lease_until: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    due_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = SmallInt)]
    attempt: i16,
    #[diesel(sql_type = Nullable<SmallInt>)]
    copies: Option<i16>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    last_sent_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Timestamptz)]
    window_closes_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    ended_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Bool)]
    has_token: bool,
    #[diesel(sql_type = Nullable<Text>)]
    units: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_transaction: Option<String>,
    #[diesel(embed)]
    failure: FailureRow,
    #[diesel(sql_type = Timestamptz)]
    seen_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    archive: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    open_request: Option<i64>,
    #[diesel(sql_type = Nullable<Bool>)]
    would_release: Option<bool>,
    #[diesel(embed)]
    declared: DeclaredRow,
}

/// The purchase with this number.
pub(super) async fn find(
    transaction: &Transaction,
    id: PurchaseId,
) -> Result<Option<StoryPurchase>, DatabaseError> {
    let rows: Vec<Row> = prepared::<FindOverseen>().bind::<BigInt, _>(id.0).load(transaction).await?;
    rows.into_iter().next().map(StoryPurchase::try_from).transpose()
}

impl TryFrom<Row> for StoryPurchase {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("purchases", column, row.id);
        let count = |number: i16, column| u16::try_from(number).map_err(|_negative| corrupt(column));
        Ok(Self {
            id: PurchaseId(row.id),
            source_channel: SourceChannel::parse(&row.source_channel)
                .ok_or_else(|| corrupt("source_channel"))?,
            product: Product::parse(&row.product).ok_or_else(|| corrupt("product"))?,
            state: StateName::parse(&row.state).ok_or_else(|| corrupt("state"))?,
            handling: Handling::parse(&row.handling).ok_or_else(|| corrupt("handling"))?,
            attempt: count(row.attempt, "attempt")?,
            copies: row.copies.map(|copies| count(copies, "copies")).transpose()?,
            amounts: row.amounts()?,
            declared: row.declared.capabilities(),
            failure: row.failure.failure(row.id)?,
            reference: row.reference,
            organisation: (row.organisation, row.organisation_name),
            client_id: row.client_id,
            username: row.username,
            account: row.account_id,
            source_tag: row.source_tag,
            language: row.language,
            provider_code: row.provider_code,
            subscriber: row.subscriber_identifier,
            subscriber_details: row.subscriber_details,
            beneficiary_phone_number: row.beneficiary_phone_number,
            external_reference: row.external_reference,
            request_id: row.request_id,
            comment: row.comment,
            created_at: row.created_at,
            fence: row.fence,
            lease_until: row.lease_until,
            due_at: row.due_at,
            last_sent_at: row.last_sent_at,
            window_closes_at: row.window_closes_at,
            ended_at: row.ended_at,
            has_token: row.has_token,
            units: row.units,
            provider_transaction: row.provider_transaction,
            archive: row.archive,
            open_request: row.open_request,
            would_release: row.would_release.unwrap_or_default(),
            seen_at: row.seen_at,
        })
    }
}

impl Row {
    fn amounts(&self) -> Result<StoryAmounts, DatabaseError> {
        let currency = read_currency("purchases", self.id, &self.currency)?;
        let amount = |minor| Money::from_minor(minor, currency);
        Ok(StoryAmounts {
            entry: amount(self.entry),
            charge: amount(self.charge),
            net: amount(self.net),
            total: amount(self.total),
            commission: amount(self.commission),
        })
    }
}

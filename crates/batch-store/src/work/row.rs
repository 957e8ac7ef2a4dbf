//! A line as a worker takes it.

use database::DatabaseError;
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bool, Integer, Nullable, SmallInt, Text},
};
use ledger::AccountId;
use money::Money;
use purchase::{
    AccessTokenId, Authority, ClientId, IdempotencyKey, NotificationFlags, OrganisationId, PurchaseRequest,
    SourceChannel, UserId,
};
use store::BatchClaim;
use vend::{Product, SubscriberIdentifier};

use super::TakenLine;
use crate::row::currency;

#[derive(QueryableByName)]
pub(super) struct TakenRow {
    #[diesel(sql_type = BigInt)]
    batch_id: i64,
    #[diesel(sql_type = Integer)]
    number: i32,
    #[diesel(sql_type = BigInt)]
    fence: i64,
    #[diesel(sql_type = SmallInt)]
    tries: i16,
    #[diesel(sql_type = Bool)]
    is_running: bool,
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(sql_type = BigInt)]
    client_id: i64,
    #[diesel(sql_type = BigInt)]
    user_id: i64,
    #[diesel(sql_type = BigInt)]
    access_token_id: i64,
    #[diesel(sql_type = Nullable<Text>)]
    request_id: Option<String>,
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    language: String,
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
    amount: i64,
    #[diesel(sql_type = Bool)]
    charges_on_top: bool,
    #[diesel(sql_type = Nullable<Text>)]
    comment: Option<String>,
    #[diesel(sql_type = Text)]
    external_reference: String,
    #[diesel(sql_type = Bool)]
    requester_sms: bool,
    #[diesel(sql_type = Bool)]
    beneficiary_sms: bool,
    #[diesel(sql_type = Bool)]
    requester_email: bool,
    #[diesel(sql_type = Bool)]
    beneficiary_email: bool,
    #[diesel(sql_type = Text)]
    idempotency_key: String,
}

impl TryFrom<TakenRow> for TakenLine {
    type Error = DatabaseError;

    fn try_from(row: TakenRow) -> Result<Self, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("batch_lines", column, row.batch_id);
        let key = IdempotencyKey::parse(&row.idempotency_key).map_err(|_no_key| corrupt("number"))?;
        let subscriber = SubscriberIdentifier::parse(&row.subscriber_identifier);
        let request = PurchaseRequest {
            source_channel: SourceChannel::Batch,
            source_tag: None,
            language: row.language,
            product: Product::parse(&row.product).ok_or_else(|| corrupt("product"))?,
            subscriber: subscriber.map_err(|_no_identifier| corrupt("subscriber_identifier"))?,
            provider_code: row.provider_code,
            debited_account: AccountId(row.account_id),
            beneficiary_phone_number: row.beneficiary_phone_number,
            amount: Money::from_minor(row.amount, currency("batch_lines", &row.currency, row.batch_id)?),
            charges_on_top: row.charges_on_top,
            comment: row.comment,
            external_reference: Some(row.external_reference),
            notifications: NotificationFlags {
                requester_sms: row.requester_sms,
                beneficiary_sms: row.beneficiary_sms,
                requester_email: row.requester_email,
                beneficiary_email: row.beneficiary_email,
            },
        };
        Ok(Self {
            claim: BatchClaim { batch: row.batch_id, line: row.number, fence: row.fence },
            tries: row.tries.unsigned_abs(),
            is_running: row.is_running,
            authority: Authority {
                organisation: OrganisationId(row.organisation_id),
                client: ClientId(row.client_id),
                user: UserId(row.user_id),
                access_token: AccessTokenId(row.access_token_id),
            },
            key,
            request_id: row.request_id,
            request,
        })
    }
}

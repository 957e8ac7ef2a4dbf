//! Adds a batch with all its lines, once for each reference.

use database::{DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text},
};
use purchase::{Authority, PurchaseRequest, RequestHash};
use sha2::{Digest, Sha256};

use crate::{BatchId, BatchStore, OPEN_BATCHES_MAX};

/// A batch that is to be made. Its lines have been checked.
#[derive(Clone, Debug)]
pub struct NewBatch {
    /// Under whose authority its lines are bought.
    pub authority: Authority,
    /// The `X-Request-Id` of the request, which is stored with each purchase.
    pub request_id: Option<String>,
    /// The integrator's own name for it: 1 to 64 characters.
    pub reference: String,
    /// The lines in their order: the same wallet, currency and language, and an external reference of its own for each.
    pub lines: Vec<PurchaseRequest>,
}

/// Why a batch was not made.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// A batch without lines, or with a line that has another wallet or currency or no reference.
    #[error("the lines of the batch do not belong together")]
    Malformed,
    /// A batch with other content has this reference.
    #[error("the organisation has another batch of this reference")]
    OtherContent,
    /// The organisation has [`OPEN_BATCHES_MAX`] unfinished batches.
    #[error("the organisation has as many unfinished batches as it may have")]
    TooMany,
    /// The database refused it or was not available.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// One request at a time adds a batch to an organisation, so that its limit holds and a reference is used once.
struct LockBatches;

impl Statement for LockBatches {
    const SQL: &str = "-- lock_batches
SELECT count(*) AS id FROM pg_advisory_xact_lock(hashtextextended('vendgate.batches.' || $1::bigint, 0))";
}

struct FindBatch;

impl Statement for FindBatch {
    const SQL: &str = "-- find_batch
SELECT id, content_hash FROM batches WHERE organisation_id = $1 AND reference = $2";
}

struct InsertBatch;

impl Statement for InsertBatch {
    const SQL: &str = "-- insert_batch
INSERT INTO batches (organisation_id, client_id, user_id, access_token_id, request_id, reference, content_hash, account_id, language,
    currency, amount, lines, open_lines, changed_by)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $3
WHERE (SELECT count(*) FROM batches WHERE organisation_id = $1 AND status <> 'FINISHED') < $13
RETURNING id";
}

struct InsertLines;

impl Statement for InsertLines {
    const SQL: &str = "-- insert_batch_lines
INSERT INTO batch_lines (batch_id, number, product, provider_code, subscriber_identifier, beneficiary_phone_number, currency, amount,
    charges_on_top, comment, external_reference, requester_sms, beneficiary_sms, requester_email, beneficiary_email)
SELECT $1, l.ordinal, l.product, l.provider_code, l.subscriber, l.phone_number, $2, l.amount, l.charges_on_top, l.comment,
    l.external_reference, l.requester_sms, l.beneficiary_sms, l.requester_email, l.beneficiary_email
FROM unnest($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) WITH ORDINALITY
    AS l (product, provider_code, subscriber, phone_number, amount, charges_on_top, comment, external_reference, requester_sms,
        beneficiary_sms, requester_email, beneficiary_email, ordinal)";
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

#[derive(QueryableByName)]
struct KnownRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Binary)]
    content_hash: Vec<u8>,
}

/// What is the same for all lines, and their sum.
struct Sum {
    amount: i64,
    lines: i32,
    content_hash: [u8; 32],
}

impl BatchStore {
    /// Makes a batch with all its lines, or nothing. The same content under the same reference is the batch that is there.
    pub async fn add(&self, new: NewBatch) -> Result<BatchId, AddError> {
        let sum = sum_of(&new.lines).ok_or(AddError::Malformed)?;
        let added = self
            .database
            .operate(move |transaction| Box::pin(async move { add(transaction, &new, &sum).await }));
        added.await?
    }
}

async fn add(
    transaction: &Transaction,
    new: &NewBatch,
    sum: &Sum,
) -> Result<Result<BatchId, AddError>, DatabaseError> {
    let organisation = new.authority.organisation.0;
    prepared::<LockBatches>().bind::<BigInt, _>(organisation).get_result::<IdRow>(transaction).await?;
    let known: Vec<KnownRow> = prepared::<FindBatch>()
        .bind::<BigInt, _>(organisation)
        .bind::<Text, _>(&new.reference)
        .load(transaction)
        .await?;
    if let Some(known) = known.first() {
        let is_same = known.content_hash == sum.content_hash;
        return Ok(if is_same { Ok(BatchId(known.id)) } else { Err(AddError::OtherContent) });
    }
    let Some(first) = new.lines.first() else { return Ok(Err(AddError::Malformed)) };
    let inserted: Vec<IdRow> = prepared::<InsertBatch>()
        .bind::<BigInt, _>(organisation)
        .bind::<BigInt, _>(new.authority.client.0)
        .bind::<BigInt, _>(new.authority.user.0)
        .bind::<BigInt, _>(new.authority.access_token.0)
        .bind::<Nullable<Text>, _>(new.request_id.as_deref())
        .bind::<Text, _>(&new.reference)
        .bind::<Binary, _>(sum.content_hash.as_slice())
        .bind::<BigInt, _>(first.debited_account.0)
        .bind::<Text, _>(&first.language)
        .bind::<Text, _>(first.amount.currency().to_string())
        .bind::<BigInt, _>(sum.amount)
        .bind::<Integer, _>(sum.lines)
        .bind::<BigInt, _>(i64::from(OPEN_BATCHES_MAX))
        .load(transaction)
        .await?;
    let Some(IdRow { id }) = inserted.first() else { return Ok(Err(AddError::TooMany)) };
    insert_lines(transaction, *id, &new.lines).await?;
    Ok(Ok(BatchId(*id)))
}

async fn insert_lines(
    transaction: &Transaction,
    batch: i64,
    lines: &[PurchaseRequest],
) -> Result<(), DatabaseError> {
    let currency = lines.first().map(|line| line.amount.currency().to_string());
    prepared::<InsertLines>()
        .bind::<BigInt, _>(batch)
        .bind::<Text, _>(currency.unwrap_or_default())
        .bind::<Array<Text>, _>(column(lines, |line| line.product.as_str()))
        .bind::<Array<Text>, _>(column(lines, |line| line.provider_code.as_str()))
        .bind::<Array<Text>, _>(column(lines, |line| line.subscriber.as_str()))
        .bind::<Array<Text>, _>(column(lines, |line| line.beneficiary_phone_number.as_str()))
        .bind::<Array<BigInt>, _>(column(lines, |line| line.amount.minor()))
        .bind::<Array<Bool>, _>(column(lines, |line| line.charges_on_top))
        .bind::<Array<Nullable<Text>>, _>(column(lines, |line| line.comment.as_deref()))
        .bind::<Array<Nullable<Text>>, _>(column(lines, |line| line.external_reference.as_deref()))
        .bind::<Array<Bool>, _>(column(lines, |line| line.notifications.requester_sms))
        .bind::<Array<Bool>, _>(column(lines, |line| line.notifications.beneficiary_sms))
        .bind::<Array<Bool>, _>(column(lines, |line| line.notifications.requester_email))
        .bind::<Array<Bool>, _>(column(lines, |line| line.notifications.beneficiary_email))
        .execute(transaction)
        .await?;
    Ok(())
}

/// `None` if the lines do not belong together, or their sum is no amount.
fn sum_of(lines: &[PurchaseRequest]) -> Option<Sum> {
    let first = lines.first()?;
    let mut hash = Sha256::new();
    let mut amount: i64 = 0;
    for line in lines {
        let belongs = line.debited_account == first.debited_account
            && line.amount.currency() == first.amount.currency()
            && line.language == first.language
            && line.source_channel == first.source_channel;
        line.external_reference.as_ref().filter(|_| belongs)?;
        amount = amount.checked_add(line.amount.minor())?;
        hash.update(RequestHash::of(line).as_bytes());
    }
    Some(Sum { amount, lines: i32::try_from(lines.len()).ok()?, content_hash: hash.finalize().into() })
}

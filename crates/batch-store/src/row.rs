//! The rows that are read of batches.

use chrono::{DateTime, Utc};
use database::DatabaseError;
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Binary, Integer, Nullable, Text, Timestamptz},
};
use ledger::AccountId;
use money::{Currency, Money};
use purchase::PurchaseId;
use secrecy::SecretString;
use store::{Aad, FailureRow, Sealed, SealingKeys, TOKEN_COLUMN};
use vend::Product;

use crate::{
    Batch, BatchId, BatchStatus, Line, LinePurchase, LineState, PausedBecause, Share, StoredRejection,
};

/// A batch, with one of the states that its lines are in.
#[derive(QueryableByName)]
pub(crate) struct BatchRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    reference: String,
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = Integer)]
    lines: i32,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Timestamptz)]
    status_since: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    paused_because: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = BigInt)]
    state_lines: i64,
    #[diesel(sql_type = BigInt)]
    state_amount: i64,
}

impl BatchRow {
    /// The batches of these rows. The rows of a batch follow each other.
    pub(crate) fn together(rows: Vec<Self>) -> Result<Vec<Batch>, DatabaseError> {
        let mut batches: Vec<Batch> = Vec::new();
        for row in rows {
            let share = row.share()?;
            if let Some(batch) = batches.last_mut().filter(|last| last.id.0 == row.id) {
                batch.count(share);
            } else {
                let mut batch = row.batch()?;
                batch.count(share);
                batches.push(batch);
            }
        }
        Ok(batches)
    }

    fn share(&self) -> Result<Share, DatabaseError> {
        let currency = currency("batches", &self.currency, self.id)?;
        Ok(Share {
            state: state(&self.state, self.id)?,
            lines: u32::try_from(self.state_lines).unwrap_or(u32::MAX),
            amount: Money::from_minor(self.state_amount, currency),
        })
    }

    fn batch(self) -> Result<Batch, DatabaseError> {
        let currency = currency("batches", &self.currency, self.id)?;
        let because = |name: String| {
            let known = PausedBecause::ALL.into_iter().find(|one| one.as_str() == name);
            known.ok_or_else(|| DatabaseError::corrupt("batches", "paused_because", self.id))
        };
        let none = |state| Share { state, lines: 0, amount: Money::zero(currency) };
        Ok(Batch {
            id: BatchId(self.id),
            status: status(&self.status, BatchId(self.id))?,
            reference: self.reference,
            account: AccountId(self.account_id),
            amount: Money::from_minor(self.amount, currency),
            lines: self.lines.unsigned_abs(),
            status_since: self.status_since,
            paused_because: self.paused_because.map(because).transpose()?,
            created_at: self.created_at,
            progress: LineState::ALL.map(none).into(),
        })
    }
}

impl Batch {
    fn count(&mut self, share: Share) {
        for counted in self.progress.iter_mut().filter(|counted| counted.state == share.state) {
            *counted = share;
        }
    }
}

/// A line with what is shown of its purchase.
#[derive(QueryableByName)]
pub(crate) struct LineRow {
    #[diesel(sql_type = Integer)]
    number: i32,
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    subscriber_identifier: String,
    #[diesel(sql_type = Text)]
    external_reference: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    ended_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    rejection: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    rejection_reason: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    rejection_amount: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    purchase_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    reference: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    total: Option<i64>,
    #[diesel(embed)]
    failure: FailureRow,
    #[diesel(sql_type = Nullable<Integer>)]
    token_key_id: Option<i32>,
    #[diesel(sql_type = Nullable<Binary>)]
    sealed_token: Option<Vec<u8>>,
}

impl LineRow {
    pub(crate) fn line(mut self, batch: BatchId, sealing: &SealingKeys) -> Result<Line, DatabaseError> {
        let currency = currency("batch_lines", &self.currency, batch.0)?;
        let rejection = self.rejection.take().map(|kind| StoredRejection {
            kind,
            reason: self.rejection_reason.take(),
            amount: self.rejection_amount,
        });
        let product = Product::parse(&self.product);
        Ok(Line {
            number: self.number.unsigned_abs(),
            product: product.ok_or_else(|| DatabaseError::corrupt("batch_lines", "product", batch.0))?,
            state: state(&self.state, batch.0)?,
            amount: Money::from_minor(self.amount, currency),
            ended_at: self.ended_at,
            rejection,
            purchase: self.purchase(currency, sealing)?,
            provider_code: self.provider_code,
            subscriber: self.subscriber_identifier,
            external_reference: self.external_reference,
        })
    }

    fn purchase(
        &mut self,
        currency: Currency,
        sealing: &SealingKeys,
    ) -> Result<Option<LinePurchase>, DatabaseError> {
        let Some(((id, reference), total)) = self.purchase_id.zip(self.reference.take()).zip(self.total)
        else {
            return Ok(None);
        };
        let sealed = self.token_key_id.zip(self.sealed_token.take());
        Ok(Some(LinePurchase {
            id: PurchaseId(id),
            reference,
            total: Money::from_minor(total, currency),
            failure: self.failure.failure(id)?,
            token: sealed.and_then(|(key_id, bytes)| open(id, &Sealed { key_id, bytes }, sealing)),
        }))
    }
}

/// `None` if the token cannot be opened here, which is logged.
fn open(id: i64, sealed: &Sealed, sealing: &SealingKeys) -> Option<SecretString> {
    let opened = sealing.open(sealed, Aad { row_id: id, column: TOKEN_COLUMN });
    let text = opened.inspect_err(|error| {
        let cause: &dyn std::error::Error = error;
        tracing::error!(cause, purchase = id, "a token of a batch cannot be opened");
    });
    Some(std::str::from_utf8(&text.ok()?).ok()?.to_owned().into())
}

pub(crate) fn status(name: &str, of: BatchId) -> Result<BatchStatus, DatabaseError> {
    let known = BatchStatus::ALL.into_iter().find(|one| one.as_str() == name);
    known.ok_or_else(|| DatabaseError::corrupt("batches", "status", of.0))
}

pub(crate) fn currency(table: &'static str, code: &str, of: i64) -> Result<Currency, DatabaseError> {
    Currency::in_hundredths(code).map_err(|_unknown| DatabaseError::corrupt(table, "currency", of))
}

fn state(name: &str, of: i64) -> Result<LineState, DatabaseError> {
    let known = LineState::ALL.into_iter().find(|one| one.as_str() == name);
    known.ok_or_else(|| DatabaseError::corrupt("batch_lines", "state", of))
}

//! Batches on the wire.

use secrecy::ExposeSecret;
use serde::Serialize;
use utoipa::ToSchema;

use vending::{Batch as Found, Line, LineFailure, LineState, PausedBecause};
use web::{Asked, Language, Requested, SharedState, failed_before, rejected};

use super::{csv, moment::Moment};
use crate::schema::values::{
    BatchLineStatus, BatchPausedBecause, BatchStatus, ErrorCode, ErrorType, Money, ProductType,
};

/// Many purchases that were requested at once, and how far they are.
#[derive(Debug, Serialize, ToSchema)]
pub struct Batch {
    id: i64,
    /// Your own name for it.
    reference: String,
    #[schema(value_type = BatchStatus)]
    status: &'static str,
    /// Since when it has this status.
    #[schema(value_type = String, format = DateTime)]
    status_since: Moment,
    /// Why no line is begun, if `status` is `PAUSED`.
    #[schema(value_type = Option<BatchPausedBecause>, required)]
    paused_because: Option<&'static str>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Moment,
    /// The account that pays.
    account_id: i64,
    /// How many lines it has.
    lines: u32,
    /// The sum of their amounts, without charges.
    #[schema(value_type = Money)]
    amount: String,
    /// The same in minor units.
    amount_minor: i64,
    /// Its lines by status. All statuses are listed.
    progress: Vec<BatchShare>,
}

/// The lines of a batch that have one status.
#[derive(Debug, Serialize, ToSchema)]
struct BatchShare {
    #[schema(value_type = BatchLineStatus)]
    status: &'static str,
    /// How many.
    lines: u32,
    /// The sum of their amounts, without charges.
    #[schema(value_type = Money)]
    amount: String,
    /// The same in minor units.
    amount_minor: i64,
}

/// One page of batches, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct BatchPage {
    data: Vec<Batch>,
    /// What to send as `cursor` for the next page; null on the last one.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// A line of a batch, and what has become of it. No `Debug`, because it holds the token.
#[derive(Serialize, ToSchema)]
pub struct BatchLine {
    /// Its place in the batch, from 1.
    line: u32,
    #[schema(value_type = BatchLineStatus)]
    status: &'static str,
    /// The reference of its purchase, for retry and for the list of purchases.
    external_reference: String,
    #[schema(value_type = ProductType)]
    product_type: &'static str,
    provider_code: String,
    subscriber_identifier: String,
    /// The requested amount.
    #[schema(value_type = Money)]
    amount: String,
    /// The same in minor units.
    amount_minor: i64,
    /// Its purchase, if there is one.
    #[schema(required)]
    purchase_id: Option<i64>,
    /// The reference of its purchase for people.
    #[schema(required)]
    reference: Option<String>,
    /// What its purchase takes from the account.
    #[schema(value_type = Option<Money>, required)]
    total: Option<String>,
    /// The same in minor units.
    #[schema(required)]
    total_minor: Option<i64>,
    /// What is typed into the meter, as confirm gives it.
    #[schema(required)]
    token: Option<String>,
    /// Why nothing was bought, if `status` is `FAILED`.
    #[schema(required)]
    failure: Option<BatchLineFailure>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    ended_at: Option<Moment>,
}

/// Why a line of a batch was not bought.
#[derive(Debug, Serialize, ToSchema)]
struct BatchLineFailure {
    #[schema(value_type = ErrorType)]
    r#type: &'static str,
    #[schema(value_type = ErrorCode)]
    code: &'static str,
    message: String,
}

/// One page of the lines of a batch, in their order.
#[derive(Serialize, ToSchema)]
pub struct BatchLinePage {
    data: Vec<BatchLine>,
    /// What to send as `cursor` for the next page; null on the last one.
    #[schema(required)]
    next_cursor: Option<String>,
}

impl Batch {
    /// The batch as its organisation reads it.
    pub fn new(batch: Found, shared: &SharedState) -> Self {
        let zone = shared.zone();
        let share = |share: &vending::Share| BatchShare {
            status: share.state.as_str(),
            lines: share.lines,
            amount: share.amount.to_string(),
            amount_minor: share.amount.minor(),
        };
        Self {
            id: batch.id.0,
            reference: batch.reference,
            status: batch.status.as_str(),
            status_since: Moment(batch.status_since.with_timezone(&zone)),
            paused_because: batch.paused_because.map(PausedBecause::as_str),
            created_at: Moment(batch.created_at.with_timezone(&zone)),
            account_id: batch.account.0,
            lines: batch.lines,
            amount: batch.amount.to_string(),
            amount_minor: batch.amount.minor(),
            progress: batch.progress.iter().map(share).collect(),
        }
    }
}

impl BatchPage {
    /// A page of at most `limit` batches.
    pub fn new(batches: Vec<Found>, limit: u16, shared: &SharedState) -> Self {
        let last = batches.last().filter(|_| batches.len() >= usize::from(limit));
        let next_cursor = last.map(|last| last.id.0.to_string());
        Self { data: batches.into_iter().map(|batch| Batch::new(batch, shared)).collect(), next_cursor }
    }
}

impl BatchLinePage {
    /// A page of at most `limit` lines.
    pub fn new(lines: &[Line], limit: u16, shared: &SharedState, language: Language) -> Self {
        let last = lines.last().filter(|_| lines.len() >= usize::from(limit));
        let next_cursor = last.map(|last| last.number.to_string());
        let data = lines.iter().map(|line| BatchLine::new(line, shared, language));
        Self { data: data.collect(), next_cursor }
    }

    /// What leads to the next page.
    pub fn next_cursor(&self) -> Option<&str> {
        self.next_cursor.as_deref()
    }

    /// The lines as rows.
    pub fn to_csv(&self) -> Result<Vec<u8>, ::csv::Error> {
        let mut rows = csv::writer();
        rows.write_record([
            "line",
            "status",
            "external_reference",
            "product_type",
            "provider_code",
            "subscriber_identifier",
            "amount",
            "amount_minor",
            "purchase_id",
            "reference",
            "total",
            "total_minor",
            "token",
            "failure_code",
            "failure_message",
            "ended_at",
        ])?;
        for line in &self.data {
            rows.serialize(row(line))?;
        }
        csv::finished(rows)
    }
}

impl BatchLine {
    fn new(line: &Line, shared: &SharedState, language: Language) -> Self {
        let purchase = line.purchase.as_ref();
        let failure = LineFailure::of(line).filter(|_| line.state == LineState::Failed);
        Self {
            line: line.number,
            status: line.state.as_str(),
            external_reference: line.external_reference.clone(),
            product_type: line.product.as_str(),
            provider_code: line.provider_code.clone(),
            subscriber_identifier: line.subscriber.clone(),
            amount: line.amount.to_string(),
            amount_minor: line.amount.minor(),
            purchase_id: purchase.map(|purchase| purchase.id.0),
            reference: purchase.map(|purchase| purchase.reference.clone()),
            total: purchase.map(|purchase| purchase.total.to_string()),
            total_minor: purchase.map(|purchase| purchase.total.minor()),
            token: purchase
                .and_then(|purchase| purchase.token.as_ref())
                .map(|token| token.expose_secret().to_owned()),
            failure: failure.map(|failure| BatchLineFailure::new(&failure, line, shared, language)),
            ended_at: line.ended_at.map(|at| Moment(at.with_timezone(&shared.zone()))),
        }
    }
}

impl BatchLineFailure {
    /// What a confirm of the line would have been answered.
    fn new(failure: &LineFailure, line: &Line, shared: &SharedState, language: Language) -> Self {
        let error = match failure {
            LineFailure::Rejected(rejection) => rejected(rejection, line.product, Asked::BeforeAPurchase),
            LineFailure::Purchase(failure) => failed_before(
                failure,
                Requested { product: line.product, provider_code: &line.provider_code },
            ),
        };
        Self {
            r#type: error.code().error_type().as_str(),
            code: error.code().as_str(),
            message: error.message(shared.messages(), language),
        }
    }
}

/// A line with all its columns, the absent ones too.
fn row(line: &BatchLine) -> impl Serialize {
    let failure = line.failure.as_ref();
    (
        (line.line, line.status, &line.external_reference, line.product_type, &line.provider_code),
        (&line.subscriber_identifier, &line.amount, line.amount_minor),
        (line.purchase_id, &line.reference, &line.total, line.total_minor, &line.token),
        (failure.map(|why| why.code), failure.map(|why| &why.message), line.ended_at),
    )
}

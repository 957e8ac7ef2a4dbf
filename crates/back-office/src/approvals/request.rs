//! A request for the approval of another person: made, found and listed.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bool, Bytea, Integer, Jsonb, Nullable, Text, Timestamptz},
};
use directory::{AuditContext, OperatorRole};
use serde_json::Value;
use store::Sealed;

/// The place of a sealed token. Its number is that of the purchase.
pub const SECRET_COLUMN: &str = "approval_requests.sealed_token";

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActKind {
    TopUp,
    Adjust,
    Reverse,
    /// Unmatched vends are charged to a wallet.
    Charge,
    /// A purchase is decided as vended.
    Resolve,
    /// A purchase is decided as not vended.
    Release,
    /// The declarations of a connection change.
    Declare,
    /// A threshold is raised or switched off.
    Threshold,
}

impl ActKind {
    const ALL: [Self; 8] = [
        Self::TopUp,
        Self::Adjust,
        Self::Reverse,
        Self::Charge,
        Self::Resolve,
        Self::Release,
        Self::Declare,
        Self::Threshold,
    ];

    /// As the database has it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::TopUp => "TOP_UP",
            Self::Adjust => "ADJUST",
            Self::Reverse => "REVERSE",
            Self::Charge => "CHARGE",
            Self::Resolve => "RESOLVE",
            Self::Release => "RELEASE",
            Self::Declare => "DECLARE",
            Self::Threshold => "THRESHOLD",
        }
    }

    /// The role of the person who requests it, and of the one who approves it.
    pub const fn role(self) -> OperatorRole {
        match self {
            Self::TopUp | Self::Adjust | Self::Reverse | Self::Charge => OperatorRole::Finance,
            Self::Resolve | Self::Release | Self::Declare | Self::Threshold => OperatorRole::Administrator,
        }
    }
}

/// A request to be made.
#[derive(Clone, Debug)]
pub struct NewRequest {
    pub kind: ActKind,
    /// A JSON object. Never a token.
    pub arguments: Value,
    pub token: Option<SealedRequest>,
}

/// The token of a vend that is entered by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRequest {
    /// Sealed for [`SECRET_COLUMN`].
    pub sealed: Sealed,
    /// The SHA-256 of its wire form.
    pub sha256: Vec<u8>,
}

/// A stored request.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    pub id: i64,
    pub kind: ActKind,
    pub arguments: Value,
    pub reason: String,
    /// The SHA-256 of the wire form of its token, if it has one.
    pub token_sha256: Option<Vec<u8>>,
    /// A login.
    pub requested_by: String,
    pub requested_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub has_expired: bool,
    pub decision: Option<RequestDecision>,
}

/// What became of a request.
#[derive(Clone, Debug)]
pub struct RequestDecision {
    pub is_approved: bool,
    /// A login.
    pub by: String,
    pub at: DateTime<Utc>,
    pub reason: String,
}

struct NeedsApproval;

impl Statement for NeedsApproval {
    const SQL: &str = "-- needs_approval\nSELECT act_needs_approval($1, $2) AS is_true";
}

#[derive(QueryableByName)]
struct Truth {
    #[diesel(sql_type = Bool)]
    is_true: bool,
}

/// Whether an act of this amount, in hundredths, needs the approval of another person. An act without an amount gives 1.
pub async fn needs_approval(database: &Database, kind: ActKind, minor: i64) -> Result<bool, DatabaseError> {
    let asked = database.read(move |connection| {
        Box::pin(async move {
            let asked = prepared::<NeedsApproval>().bind::<Text, _>(kind.code()).bind::<BigInt, _>(minor);
            asked.get_result::<Truth>(connection).await
        })
    });
    Ok(asked.await?.is_true)
}

struct Request;

impl Statement for Request {
    const SQL: &str = "-- request_approval\nSELECT request_approval($1, $2, $3, $4, $5, $6, $7) AS id";
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Makes a request. If the same person has made the same request and it is still open, returns that.
pub async fn request_approval(
    database: &Database,
    request: NewRequest,
    act: AuditContext,
) -> Result<ApprovalRequest, DatabaseError> {
    let made = database.operate(move |transaction| {
        Box::pin(async move {
            let (sealed, sha256) = request.token.map(|token| (token.sealed, token.sha256)).unzip();
            let (key_id, bytes) = sealed.map(|sealed| (sealed.key_id, sealed.bytes)).unzip();
            let made = prepared::<Request>()
                .bind::<Text, _>(request.kind.code())
                .bind::<Jsonb, _>(request.arguments)
                .bind::<Text, _>(act.actor.as_str())
                .bind::<Text, _>(act.reason.as_str())
                .bind::<Nullable<Integer>, _>(key_id)
                .bind::<Nullable<Bytea>, _>(bytes)
                .bind::<Nullable<Bytea>, _>(sha256)
                .get_result::<Number>(transaction)
                .await?;
            let found = read(transaction, made.id).await?;
            found.ok_or(DatabaseError::Stale { what: "a request that was just made" })
        })
    });
    made.await
}

struct ListRequests;

impl Statement for ListRequests {
    const SQL: &str = "-- list_requests
SELECT r.id, r.act, r.arguments, r.reason, r.token_sha256, r.requested_by, r.requested_at,
    r.expires_at, r.expires_at <= clock_timestamp() AS has_expired, d.decision, d.decided_by, d.decided_at,
    d.reason AS decided_because
FROM approval_requests r LEFT JOIN approval_decisions d ON d.request_id = r.id
WHERE ($1::bigint IS NULL OR r.id = $1) AND ($2 OR d.request_id IS NULL AND r.expires_at > clock_timestamp())
    AND ($3::bigint IS NULL OR r.id < $3)
ORDER BY r.id DESC LIMIT $4";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    act: String,
    #[diesel(sql_type = Jsonb)]
    arguments: Value,
    #[diesel(sql_type = Text)]
    reason: String,
    #[diesel(sql_type = Nullable<Bytea>)]
    token_sha256: Option<Vec<u8>>,
    #[diesel(sql_type = Text)]
    requested_by: String,
    #[diesel(sql_type = Timestamptz)]
    requested_at: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    expires_at: DateTime<Utc>,
    #[diesel(sql_type = Bool)]
    has_expired: bool,
    #[diesel(sql_type = Nullable<Text>)]
    decision: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    decided_by: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    decided_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    decided_because: Option<String>,
}

/// The requests that wait, or all of them, the newest first. The next page begins before the last number of this one.
pub async fn list_requests(
    database: &Database,
    with_decided: bool,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<ApprovalRequest>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let rows = prepared::<ListRequests>()
                .bind::<Nullable<BigInt>, _>(None::<i64>)
                .bind::<Bool, _>(with_decided)
                .bind::<Nullable<BigInt>, _>(before)
                .bind::<BigInt, _>(i64::from(limit));
            rows.load::<Row>(connection).await
        })
    });
    listed.await?.into_iter().map(ApprovalRequest::try_from).collect()
}

/// The request of this number.
pub async fn find_request(database: &Database, id: i64) -> Result<Option<ApprovalRequest>, DatabaseError> {
    database.operate(move |transaction| Box::pin(async move { read(transaction, id).await })).await
}

struct FindSealedToken;

impl Statement for FindSealedToken {
    const SQL: &str = "-- find_sealed_token_of_request
SELECT token_key_id, sealed_token FROM approval_requests WHERE id = $1 AND sealed_token IS NOT NULL";
}

#[derive(QueryableByName)]
struct SealedRow {
    #[diesel(sql_type = Integer)]
    token_key_id: i32,
    #[diesel(sql_type = Bytea)]
    sealed_token: Vec<u8>,
}

/// The token of a request, sealed for [`SECRET_COLUMN`], for the person who approves it. `None` once it was decided.
pub async fn find_token_of_request(database: &Database, id: i64) -> Result<Option<Sealed>, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move {
            prepared::<FindSealedToken>().bind::<BigInt, _>(id).optional::<SealedRow>(connection).await
        })
    });
    Ok(found.await?.map(|row| Sealed { key_id: row.token_key_id, bytes: row.sealed_token }))
}

/// A request as the caller's transaction sees it.
pub(super) async fn read(
    transaction: &Transaction,
    id: i64,
) -> Result<Option<ApprovalRequest>, DatabaseError> {
    let rows: Vec<Row> = prepared::<ListRequests>()
        .bind::<Nullable<BigInt>, _>(Some(id))
        .bind::<Bool, _>(true)
        .bind::<Nullable<BigInt>, _>(None::<i64>)
        .bind::<BigInt, _>(1_i64)
        .load(transaction)
        .await?;
    rows.into_iter().next().map(ApprovalRequest::try_from).transpose()
}

impl TryFrom<Row> for ApprovalRequest {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let kind = ActKind::ALL.into_iter().find(|kind| kind.code() == row.act);
        let decision = match (row.decision, row.decided_by, row.decided_at, row.decided_because) {
            (Some(decision), Some(by), Some(at), Some(reason)) => {
                Some(RequestDecision { is_approved: decision == "APPROVED", by, at, reason })
            }
            _ => None,
        };
        Ok(Self {
            id: row.id,
            kind: kind.ok_or_else(|| DatabaseError::corrupt("approval_requests", "act", row.id))?,
            arguments: row.arguments,
            reason: row.reason,
            token_sha256: row.token_sha256,
            requested_by: row.requested_by,
            requested_at: row.requested_at,
            expires_at: row.expires_at,
            has_expired: row.has_expired,
            decision,
        })
    }
}

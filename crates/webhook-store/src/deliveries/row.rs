//! The rows that a worker reads.

use chrono::{DateTime, Utc};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, SmallInt, Text, Timestamptz},
};
use feed::Position;
use purchase::{OrganisationId, PurchaseId};
use secrecy::SecretString;
use store::{Aad, Sealed, SealingKeys, TOKEN_COLUMN};
use webhook::{EndpointId, SigningKeys};
use zeroize::Zeroizing;

use super::{Lane, Retry, Taken};
use crate::endpoints::KEYS_COLUMN;

#[derive(QueryableByName)]
pub(super) struct TakenRow {
    #[diesel(sql_type = BigInt)]
    pub(super) endpoint_id: i64,
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(sql_type = BigInt)]
    fence: i64,
    #[diesel(sql_type = BigInt)]
    transaction_no: i64,
    #[diesel(sql_type = BigInt)]
    event_id: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    failing_since: Option<DateTime<Utc>>,
    #[diesel(sql_type = Integer)]
    failed_rounds: i32,
    #[diesel(sql_type = Text)]
    url: String,
    #[diesel(sql_type = Array<Text>)]
    event_types: Vec<String>,
    #[diesel(sql_type = Bool)]
    include_tokens: bool,
}

#[derive(QueryableByName)]
pub(super) struct KeysRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    endpoint_id: i64,
    #[diesel(sql_type = Integer)]
    key_id: i32,
    #[diesel(sql_type = Binary)]
    sealed: Vec<u8>,
}

#[derive(QueryableByName)]
pub(super) struct TokenRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Integer)]
    key_id: i32,
    #[diesel(sql_type = Binary)]
    sealed: Vec<u8>,
}

#[derive(QueryableByName)]
pub(super) struct RetryRow {
    #[diesel(sql_type = BigInt)]
    transaction_no: i64,
    #[diesel(sql_type = BigInt)]
    event_id: i64,
    #[diesel(sql_type = SmallInt)]
    attempts: i16,
}

impl TakenRow {
    /// The endpoint with those of `keys` that are its own and can be opened.
    pub(super) fn taken(self, lane: Lane, keys: &[KeysRow], sealing: &SealingKeys) -> Taken {
        let own = keys.iter().filter(|row| row.endpoint_id == self.endpoint_id);
        Taken {
            endpoint: EndpointId(self.endpoint_id),
            organisation: OrganisationId(self.organisation_id),
            fence: self.fence,
            lane,
            position: Position { transaction: self.transaction_no, number: self.event_id },
            failing_since: self.failing_since,
            failed_rounds: self.failed_rounds.unsigned_abs(),
            url: self.url,
            event_types: self.event_types,
            include_tokens: self.include_tokens,
            keys: own.filter_map(|row| row.open(sealing)).collect(),
        }
    }
}

impl KeysRow {
    fn open(&self, sealing: &SealingKeys) -> Option<SigningKeys> {
        let sealed = Sealed { key_id: self.key_id, bytes: self.sealed.clone() };
        let opened = sealing.open(&sealed, Aad { row_id: self.id, column: KEYS_COLUMN });
        let random = opened.inspect_err(|error| {
            let cause: &dyn std::error::Error = error;
            tracing::error!(
                cause,
                endpoint = self.endpoint_id,
                "the keys of a webhook endpoint cannot be opened"
            );
        });
        let random: Option<[u8; SigningKeys::LENGTH]> = random.ok()?.as_slice().try_into().ok();
        random.map(Zeroizing::new).map(|random| SigningKeys::from_random(&random))
    }
}

impl TokenRow {
    pub(super) fn open(self, sealing: &SealingKeys) -> Option<(PurchaseId, SecretString)> {
        let sealed = Sealed { key_id: self.key_id, bytes: self.sealed };
        let opened = sealing.open(&sealed, Aad { row_id: self.id, column: TOKEN_COLUMN });
        let text = opened.inspect_err(|error| {
            let cause: &dyn std::error::Error = error;
            tracing::error!(cause, purchase = self.id, "a token for a webhook endpoint cannot be opened");
        });
        let text = text.ok()?;
        let text = std::str::from_utf8(&text).ok()?.to_owned();
        Some((PurchaseId(self.id), text.into()))
    }
}

impl From<RetryRow> for Retry {
    fn from(row: RetryRow) -> Self {
        Self {
            event: Position { transaction: row.transaction_no, number: row.event_id },
            attempts: row.attempts.unsigned_abs(),
        }
    }
}

//! Idempotency keys: which purchase holds one. A purchase is written with its key, and lets go of it by what becomes of it;
//! so a key is read and never changed.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, BigInt, Bytea, Integer, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use purchase::{ClientId, Failure, IdempotencyKey, PurchaseId, RequestHash, StateName, holds_its_key};

use crate::row::FailureRow;
use crate::statement::{Statement, prepared};
use crate::{Store, StoreError};

/// The purchase that holds a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHolder {
    /// Which.
    pub purchase: PurchaseId,
    /// What was asked for.
    pub request: RequestHash,
    /// Where it stands.
    pub state: StateName,
}

/// The purchase that was made last under a key, whether or not it still holds it.
#[derive(Clone, Debug)]
pub(crate) struct LastUse {
    pub(crate) holder: KeyHolder,
    number: i32,
    failure: Option<Failure>,
    ended_at: Option<DateTime<Utc>>,
}

/// A key, whose it is, and a place of the caller's choosing at which its answer is put.
pub(crate) struct KeyQuestion<'a> {
    pub(crate) place: usize,
    pub(crate) client: ClientId,
    pub(crate) key: &'a IdempotencyKey,
}

struct LastUses;

impl Statement for LastUses {
    const SQL: &str = include_str!("sql/last_uses.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Nullable<Integer>)]
    idempotency_use: Option<i32>,
    #[diesel(sql_type = Nullable<Bytea>)]
    request_hash: Option<Vec<u8>>,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    ended_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
    #[diesel(embed)]
    failure: FailureRow,
}

impl Store {
    /// The purchase that holds a client's key now, if one does.
    pub async fn find_key_holder(
        &self,
        client: ClientId,
        key: IdempotencyKey,
    ) -> Result<Option<KeyHolder>, StoreError> {
        let store = self.clone();
        self.on_engine(async move {
            let question = KeyQuestion { place: 0, client, key: &key };
            let rows = load(&*store.general.get().await?, &[question]).await?;
            let Some(row) = rows.into_iter().next() else { return Ok(None) };
            let at = row.at;
            let last = LastUse::try_from(row)?;
            Ok(last.holds(at).then_some(last.holder))
        })
        .await
    }
}

/// The last uses of keys, by their places. Where no key is asked about, nobody is asked.
pub(crate) async fn last_uses(
    connection: &AsyncPgConnection,
    questions: &[KeyQuestion<'_>],
) -> Result<BTreeMap<usize, LastUse>, StoreError> {
    if questions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = load(connection, questions).await?;
    let at_its_place = rows.into_iter().map(|row| {
        let place =
            usize::try_from(row.place).map_err(|_negative| StoreError::corrupt("purchases", "place", row.id));
        Ok((place?, LastUse::try_from(row)?))
    });
    at_its_place.collect()
}

impl LastUse {
    /// Whether it holds the key at this moment of the database's clock.
    pub(crate) fn holds(&self, at: DateTime<Utc>) -> bool {
        self.holds_in(self.holder.state, self.failure.as_ref(), at)
    }

    /// The same, if it came to this state since it was read.
    pub(crate) fn holds_in(&self, state: StateName, failure: Option<&Failure>, at: DateTime<Utc>) -> bool {
        holds_its_key(state, failure, self.ended_at, at)
    }

    /// The number of the use that follows it.
    pub(crate) const fn next_number(&self) -> i32 {
        self.number.saturating_add(1)
    }
}

async fn load(
    mut connection: &AsyncPgConnection,
    questions: &[KeyQuestion<'_>],
) -> Result<Vec<Row>, StoreError> {
    let places = questions.iter().map(|asked| i64::try_from(asked.place).unwrap_or(i64::MAX));
    let rows = prepared::<LastUses>()
        .bind::<Array<BigInt>, _>(places.collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(questions.iter().map(|asked| asked.client.0).collect::<Vec<_>>())
        .bind::<Array<Text>, _>(questions.iter().map(|asked| asked.key.as_str()).collect::<Vec<_>>())
        .load(&mut connection)
        .await?;
    Ok(rows)
}

impl TryFrom<Row> for LastUse {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let corrupt = |column| StoreError::corrupt("purchases", column, row.id);
        let hash = row.request_hash.as_deref().and_then(RequestHash::from_record);
        Ok(Self {
            holder: KeyHolder {
                purchase: PurchaseId(row.id),
                request: hash.ok_or_else(|| corrupt("request_hash"))?,
                state: StateName::parse(&row.state).ok_or_else(|| corrupt("state"))?,
            },
            number: row.idempotency_use.ok_or_else(|| corrupt("idempotency_use"))?,
            failure: row.failure.failure(row.id)?,
            ended_at: row.ended_at,
        })
    }
}

//! Idempotency keys: which purchase holds a key, and which free keys are closed. A purchase is written with its key.
//! Its later state decides whether it still holds the key, so this module only reads it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use database::{Connection, DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bytea, Integer, Nullable, Text, Timestamptz},
};
use purchase::{
    ClientId, Failure, IdempotencyKey, OrganisationId, PurchaseId, RequestHash, StateName, holds_its_key,
};

use crate::{Store, closings::lock_own_wallets, row::FailureRow};

/// The purchase that holds a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHolder {
    /// The purchase.
    pub purchase: PurchaseId,
    /// The hash of its request.
    pub request: RequestHash,
    /// Its state.
    pub state: StateName,
}

/// What is stored about a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyStanding {
    pub(crate) last_use: Option<LastUse>,
    /// When the key was closed for the confirms that had arrived by then.
    pub(crate) closed_at: Option<DateTime<Utc>>,
}

/// The last purchase made under a key, whether or not it still holds the key.
#[derive(Clone, Debug)]
pub(crate) struct LastUse {
    pub(crate) holder: KeyHolder,
    number: i32,
    failure: Option<Failure>,
    ended_at: Option<DateTime<Utc>>,
}

/// A key, its client, and an index that the caller chooses. The answer is returned under that index.
pub(crate) struct KeyQuestion<'a> {
    pub(crate) place: usize,
    pub(crate) client: ClientId,
    pub(crate) key: &'a IdempotencyKey,
}

struct ReadKeys;

impl Statement for ReadKeys {
    const SQL: &str = include_str!("sql/read_keys.sql");
}

struct CloseKey;

impl Statement for CloseKey {
    const SQL: &str = include_str!("sql/close_key.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    id: Option<i64>,
    #[diesel(sql_type = Nullable<Integer>)]
    idempotency_use: Option<i32>,
    #[diesel(sql_type = Nullable<Bytea>)]
    request_hash: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<Text>)]
    state: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    ended_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    closed_at: Option<DateTime<Utc>>,
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
    ) -> Result<Option<KeyHolder>, DatabaseError> {
        self.database
            .read(move |connection| Box::pin(async move { find_holder(connection, client, &key).await }))
            .await
    }

    /// Closes a client's key for every confirm that has begun by now, so that it stays true that nothing was bought
    /// under it. If a purchase holds the key after all, closes nothing and returns that purchase instead.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] also if too many keys are being closed. Nothing was done in that case.
    pub async fn close_key(
        &self,
        organisation: OrganisationId,
        client: ClientId,
        key: IdempotencyKey,
    ) -> Result<Option<KeyHolder>, DatabaseError> {
        let store = self.clone();
        self.database
            .on_engine(async move {
                let _permit = store.closing_keys.take().await?;
                let transaction = store.database.transaction().await?;
                let outcome = find_holder_or_close(&transaction, organisation, client, &key).await;
                transaction.end(outcome).await
            })
            .await
    }
}

/// What is stored about keys, by their indexes. Without questions, the database is not queried.
pub(crate) async fn read_keys(
    connection: &Connection,
    questions: &[KeyQuestion<'_>],
) -> Result<BTreeMap<usize, KeyStanding>, DatabaseError> {
    if questions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = load(connection, questions).await?;
    let standings = rows.into_iter().map(|row| {
        let place = usize::try_from(row.place)
            .map_err(|_negative| DatabaseError::corrupt("purchases", "place", row.place))?;
        Ok((place, KeyStanding { closed_at: row.closed_at, last_use: row.last_use()? }))
    });
    standings.collect()
}

/// Every reserve under a key of the organisation locks a wallet before it reads about the key. This function locks all
/// wallets, and then reads. So a reserve either is committed already and is found here, or it will see the closing.
async fn find_holder_or_close(
    transaction: &Transaction,
    organisation: OrganisationId,
    client: ClientId,
    key: &IdempotencyKey,
) -> Result<Option<KeyHolder>, DatabaseError> {
    let ((), (), holder) = tokio::try_join!(
        biased;
        transaction.begin(),
        lock_own_wallets(transaction, organisation),
        find_holder(transaction, client, key),
    )?;
    if holder.is_none() {
        prepared::<CloseKey>()
            .bind::<BigInt, _>(client.0)
            .bind::<Text, _>(key.as_str())
            .execute(transaction)
            .await?;
    }
    Ok(holder)
}

async fn find_holder(
    connection: &Connection,
    client: ClientId,
    key: &IdempotencyKey,
) -> Result<Option<KeyHolder>, DatabaseError> {
    let question = KeyQuestion { place: 0, client, key };
    let Some(row) = load(connection, &[question]).await?.into_iter().next() else { return Ok(None) };
    let at = row.at;
    Ok(row.last_use()?.filter(|last| last.holds(at)).map(|last| last.holder))
}

impl LastUse {
    /// Whether it holds the key at this moment of the database's clock.
    pub(crate) fn holds(&self, at: DateTime<Utc>) -> bool {
        self.holds_in(self.holder.state, self.failure.as_ref(), at)
    }

    /// The same, for a state and failure that it reached since it was read.
    pub(crate) fn holds_in(&self, state: StateName, failure: Option<&Failure>, at: DateTime<Utc>) -> bool {
        holds_its_key(state, failure, self.ended_at, at)
    }

    /// The number of the next use of the key.
    pub(crate) const fn next_number(&self) -> i32 {
        self.number.saturating_add(1)
    }
}

async fn load(connection: &Connection, questions: &[KeyQuestion<'_>]) -> Result<Vec<Row>, DatabaseError> {
    let rows = prepared::<ReadKeys>()
        .bind::<Array<BigInt>, _>(column(questions, |asked| i64::try_from(asked.place).unwrap_or(i64::MAX)))
        .bind::<Array<BigInt>, _>(column(questions, |asked| asked.client.0))
        .bind::<Array<Text>, _>(column(questions, |asked| asked.key.as_str()))
        .load(connection)
        .await?;
    Ok(rows)
}

impl Row {
    fn last_use(self) -> Result<Option<LastUse>, DatabaseError> {
        let Some(id) = self.id else { return Ok(None) };
        let corrupt = |column| DatabaseError::corrupt("purchases", column, id);
        let hash = self.request_hash.as_deref().and_then(RequestHash::from_record);
        let state = self.state.as_deref().and_then(StateName::parse);
        Ok(Some(LastUse {
            holder: KeyHolder {
                purchase: PurchaseId(id),
                request: hash.ok_or_else(|| corrupt("request_hash"))?,
                state: state.ok_or_else(|| corrupt("state"))?,
            },
            number: self.idempotency_use.ok_or_else(|| corrupt("idempotency_use"))?,
            failure: self.failure.failure(id)?,
            ended_at: self.ended_at,
        }))
    }
}

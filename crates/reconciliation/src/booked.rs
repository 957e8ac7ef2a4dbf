//! What the books have about the vends that a statement lists.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Connection, DatabaseError, Run, Statement, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Bytea, Integer, Nullable, Text, Timestamptz},
};
use money::Money;
use purchase::{PurchaseId, StateName};
use store::{Sealed, SealingKeys, open_tokens};
use vend::Product;

use crate::{
    coverage::Span,
    listed::{ListedVend, token_digest},
};

/// What the books have about a listed vend.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// No attempt has its reference.
    Nothing,
    /// No attempt has its reference, and it was entered as the unmatched vend of this number.
    Entered(i64),
    /// An attempt of this purchase has its reference.
    Booked(Box<Booked>),
}

/// A purchase of which a listed vend may be.
#[derive(Clone, Debug)]
pub(crate) struct Booked {
    pub(crate) purchase: PurchaseId,
    pub(crate) state: StateName,
    /// Whether the statement names the last attempt, under which the purchase was vended.
    pub(crate) is_current: bool,
    /// When the vend of this transaction became known, if that was after the end of the purchase.
    pub(crate) incident_at: Option<DateTime<Utc>>,
    pub(crate) provider_transaction: Option<String>,
    pub(crate) product: Product,
    /// `None` if it was erased.
    pub(crate) subscriber_identifier: Option<String>,
    pub(crate) net: Money,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) ended_at: Option<DateTime<Utc>>,
    sealed_token: Option<Sealed>,
}

struct FindListed;

impl Statement for FindListed {
    const SQL: &str = include_str!("find_listed.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Integer)]
    place: i32,
    #[diesel(sql_type = Nullable<BigInt>)]
    unmatched_vend: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    purchase: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    state: Option<String>,
    #[diesel(sql_type = Nullable<Bool>)]
    is_current: Option<bool>,
    #[diesel(sql_type = Nullable<Text>)]
    product: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    net: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_transaction: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    incident_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    created_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    ended_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    subscriber_identifier: Option<String>,
    #[diesel(sql_type = Nullable<Integer>)]
    token_key_id: Option<i32>,
    #[diesel(sql_type = Nullable<Bytea>)]
    sealed_token: Option<Vec<u8>>,
}

/// What the books have about each listed vend, in the order of the list.
pub(crate) async fn find_booked(
    connection: &Connection,
    provider_code: &str,
    listed: &[&ListedVend],
) -> Result<Vec<Found>, DatabaseError> {
    let rows: Vec<Row> = prepared::<FindListed>()
        .bind::<Text, _>(provider_code)
        .bind::<Array<Text>, _>(column(listed, |vend| vend.provider_reference.as_str()))
        .bind::<Array<Text>, _>(column(listed, |vend| vend.provider_transaction.as_str()))
        .load(connection)
        .await?;
    let mut found = vec![Found::Nothing; listed.len()];
    for row in rows {
        let place = usize::try_from(row.place).ok().and_then(|place| place.checked_sub(1));
        if let Some(entry) = place.and_then(|place| found.get_mut(place)) {
            *entry = row.found()?;
        }
    }
    Ok(found)
}

impl Row {
    fn found(self) -> Result<Found, DatabaseError> {
        let Some(id) = self.purchase else {
            return Ok(self.unmatched_vend.map_or(Found::Nothing, Found::Entered));
        };
        let corrupt = |name| DatabaseError::corrupt("purchases", name, id);
        let state = self.state.as_deref().and_then(StateName::parse).ok_or_else(|| corrupt("state"))?;
        let product = self.product.as_deref().and_then(Product::parse).ok_or_else(|| corrupt("product"))?;
        let currency = read_currency("purchases", id, self.currency.as_deref().unwrap_or_default())?;
        let sealed = self.token_key_id.zip(self.sealed_token);
        Ok(Found::Booked(Box::new(Booked {
            purchase: PurchaseId(id),
            state,
            is_current: self.is_current.unwrap_or_default(),
            incident_at: self.incident_at,
            provider_transaction: self.provider_transaction,
            product,
            subscriber_identifier: self.subscriber_identifier,
            net: Money::from_minor(self.net.ok_or_else(|| corrupt("net"))?, currency),
            created_at: self.created_at.ok_or_else(|| corrupt("created_at"))?,
            ended_at: self.ended_at,
            sealed_token: sealed.map(|(key_id, bytes)| Sealed { key_id, bytes }),
        })))
    }
}

impl Booked {
    /// When it was vended, as far as we know. `None` while it is not known whether it was.
    pub(crate) fn span(&self) -> Option<Span> {
        self.incident_at.or(self.ended_at).map(|until| Span { from: self.created_at, until })
    }

    /// One that was vended within a minute.
    #[cfg(test)]
    pub(crate) fn vended(transaction: &str, net: Money, ended_at: DateTime<Utc>) -> Self {
        Self {
            purchase: PurchaseId(1),
            state: StateName::Successful,
            is_current: true,
            incident_at: None,
            provider_transaction: Some(transaction.to_owned()),
            product: Product::Airtime,
            subscriber_identifier: None,
            net,
            created_at: ended_at - chrono::TimeDelta::minutes(1),
            ended_at: Some(ended_at),
            sealed_token: None,
        }
    }

    /// The digest of its token. `None` if it has none any more, or the keys do not open it.
    pub(crate) fn token_digest(&self, sealing: &SealingKeys) -> Option<[u8; 32]> {
        let tokens = open_tokens(sealing, self.purchase.0, self.sealed_token.as_ref()?).ok()?;
        Some(token_digest(&tokens))
    }
}

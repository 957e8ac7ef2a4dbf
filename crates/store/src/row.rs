//! Conversions between a purchase's lifecycle and its row, in both directions.

use chrono::{DateTime, Utc};
use database::DatabaseError;
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, SmallInt, Text, Timestamptz},
};
use money::Money;
use purchase::{Failure, Fence, Handling, Lifecycle, Sending, State, StateName};
use vend::{Refusal, RefusalReason};

use crate::named::Named;

/// The columns that make up a [`Lifecycle`].
#[derive(QueryableByName)]
pub(crate) struct LifecycleRow {
    #[diesel(sql_type = Text)]
    state: Named<StateName>,
    #[diesel(sql_type = Text)]
    handling: Named<Handling>,
    #[diesel(sql_type = BigInt)]
    fence: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    lease_until: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    claimed_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    asked_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = SmallInt)]
    attempt: i16,
    #[diesel(sql_type = SmallInt)]
    requests: i16,
    #[diesel(sql_type = Timestamptz)]
    window_closes_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<SmallInt>)]
    copies: Option<i16>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    last_sent_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    send_ended_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    earlier_sends_ended_by: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    no_record_since: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    pub(crate) provider_transaction: Option<String>,
}

/// The columns that make up a [`Failure`].
#[derive(QueryableByName)]
pub struct FailureRow {
    #[diesel(sql_type = Nullable<Text>)]
    failure: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    failure_reason: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    failure_wording: Option<String>,
}

impl LifecycleRow {
    /// The lifecycle of purchase `id`.
    pub(crate) fn lifecycle(&self, id: i64) -> Result<Lifecycle, DatabaseError> {
        Ok(Lifecycle {
            handling: self.handling.0.ok_or_else(|| corrupt(id, "handling"))?,
            state: self.state(id)?,
            fence: Fence(self.fence),
            lease_until: self.lease_until,
            claimed_at: self.claimed_at,
            asked_at: self.asked_at,
            attempt: u16::try_from(self.attempt).map_err(|_negative| corrupt(id, "attempt"))?,
            requests: u8::try_from(self.requests).map_err(|_outside| corrupt(id, "requests"))?,
            window_closes_at: self.window_closes_at,
        })
    }

    fn state(&self, id: i64) -> Result<State, DatabaseError> {
        match self.state.0.ok_or_else(|| corrupt(id, "state"))? {
            StateName::InFlight => Ok(State::InFlight(self.sending(id)?)),
            StateName::InDoubt => Ok(State::InDoubt(self.sending(id)?)),
            StateName::RetryDue => Ok(State::RetryDue),
            StateName::Review => Ok(State::Review(self.sending(id)?)),
            StateName::Successful => {
                let transaction = self.provider_transaction.clone();
                let transaction = transaction.ok_or_else(|| corrupt(id, "provider_transaction"))?;
                Ok(State::Successful { provider_transaction: transaction })
            }
            StateName::Failed => Ok(State::Failed),
        }
    }

    fn sending(&self, id: i64) -> Result<Sending, DatabaseError> {
        let copies = self.copies.and_then(|copies| u16::try_from(copies).ok());
        let last_sent_at = self.last_sent_at.ok_or_else(|| corrupt(id, "last_sent_at"))?;
        Ok(Sending {
            copies: copies.ok_or_else(|| corrupt(id, "copies"))?,
            last_sent_at,
            // A server of the previous version leaves the end of an earlier copy here when it sends another one.
            ended_at: self.send_ended_at.filter(|ended_at| *ended_at >= last_sent_at),
            earlier_ended_by: self.earlier_sends_ended_by,
            no_record_since: self.no_record_since,
        })
    }
}

impl FailureRow {
    /// The failure of purchase `id`, if it has one.
    pub fn failure(&self, id: i64) -> Result<Option<Failure>, DatabaseError> {
        match self.failure.as_deref() {
            None => Ok(None),
            Some("REFUSED") => {
                let reason = self.failure_reason.as_deref().and_then(RefusalReason::parse);
                let reason = reason.ok_or_else(|| corrupt(id, "failure_reason"))?;
                Ok(Some(Failure::Refused(Refusal { reason, wording: self.failure_wording.clone() })))
            }
            Some("NO_RECORD") => Ok(Some(Failure::NoRecord)),
            Some("OPERATOR") => Ok(Some(Failure::Operator)),
            Some(_) => Err(corrupt(id, "failure")),
        }
    }
}

fn corrupt(id: i64, column: &'static str) -> DatabaseError {
    DatabaseError::corrupt("purchases", column, id)
}

/// A failure as its three columns.
pub(crate) fn failure_columns(
    failure: Option<&Failure>,
) -> (Option<&'static str>, Option<&'static str>, Option<&str>) {
    let refusal = failure.and_then(Failure::refusal);
    (
        failure.map(Failure::as_str),
        refusal.map(|refusal| refusal.reason.as_str()),
        refusal.and_then(|refusal| refusal.wording.as_deref()),
    )
}

/// An optional amount as its minor units.
pub(crate) fn minor(amount: Option<Money>) -> Option<i64> {
    amount.map(Money::minor)
}

//! Conversions between a purchase's lifecycle and its row, in both directions.

use std::time::Duration;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, SmallInt, Text, Timestamptz};
use money::{Currency, Money};
use purchase::{Failure, Fence, Handling, Lifecycle, Sending, State, StateName};
use vend::{Capabilities, ProviderReference, Refusal, RefusalReason};

use crate::StoreError;

/// The columns that make up a [`Lifecycle`].
#[derive(QueryableByName)]
pub(crate) struct LifecycleRow {
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    handling: String,
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
pub(crate) struct FailureRow {
    #[diesel(sql_type = Nullable<Text>)]
    failure: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    failure_reason: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    failure_wording: Option<String>,
}

/// The columns in which a provider's row declares its connection's capabilities.
#[derive(QueryableByName)]
pub(crate) struct DeclaredRow {
    #[diesel(sql_type = Bool)]
    repeat_is_safe: bool,
    #[diesel(sql_type = Bool)]
    remembers_refusals: bool,
    #[diesel(sql_type = Bool)]
    not_found_counts: bool,
    #[diesel(sql_type = Integer)]
    settles_within_s: i32,
}

impl LifecycleRow {
    /// The lifecycle of purchase `id`.
    pub(crate) fn lifecycle(&self, id: i64) -> Result<Lifecycle, StoreError> {
        Ok(Lifecycle {
            handling: Handling::parse(&self.handling).ok_or_else(|| corrupt(id, "handling"))?,
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

    fn state(&self, id: i64) -> Result<State, StoreError> {
        match StateName::parse(&self.state).ok_or_else(|| corrupt(id, "state"))? {
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

    fn sending(&self, id: i64) -> Result<Sending, StoreError> {
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
    pub(crate) fn failure(&self, id: i64) -> Result<Option<Failure>, StoreError> {
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

impl DeclaredRow {
    pub(crate) fn capabilities(&self) -> Capabilities {
        // The database keeps it positive.
        let settles_within = Duration::from_secs(u64::from(self.settles_within_s.unsigned_abs()));
        Capabilities {
            repeat_is_safe: self.repeat_is_safe,
            remembers_refusals: self.remembers_refusals,
            not_found_counts: self.not_found_counts,
            settles_within,
        }
    }
}

fn corrupt(id: i64, column: &'static str) -> StoreError {
    StoreError::corrupt("purchases", column, id)
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

/// A currency as stored.
pub(crate) fn read_currency(table: &'static str, id: i64, code: &str) -> Result<Currency, StoreError> {
    Currency::parse(code).map_err(|_malformed| StoreError::corrupt(table, "currency", id))
}

/// A provider reference as stored.
pub(crate) fn read_provider_reference(id: i64, text: &str) -> Result<ProviderReference, StoreError> {
    vend::CallId::parse(text)
        .map(ProviderReference::new)
        .map_err(|_malformed| StoreError::corrupt("purchases", "provider_reference", id))
}

/// An optional amount as its minor units.
pub(crate) fn minor(amount: Option<Money>) -> Option<i64> {
    amount.map(Money::minor)
}

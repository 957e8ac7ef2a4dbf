//! How a purchase's life lies in its row, both ways.

use chrono::{DateTime, Utc};
use money::{Currency, Money};
use purchase::{Failure, Fence, Handling, Life, Sending, State, StateName};
use vend::{ProviderReference, Refusal, RefusalReason};

use crate::StoreError;

/// The columns that make up a [`Life`].
pub(crate) struct LifeColumns<'a> {
    pub(crate) id: i64,
    pub(crate) state: &'a str,
    pub(crate) handling: &'a str,
    pub(crate) fence: i64,
    pub(crate) lease_until: Option<DateTime<Utc>>,
    pub(crate) attempt: i16,
    pub(crate) requests: i16,
    pub(crate) window_closes_at: DateTime<Utc>,
    pub(crate) copies: Option<i16>,
    pub(crate) last_sent_at: Option<DateTime<Utc>>,
    pub(crate) no_record_since: Option<DateTime<Utc>>,
    pub(crate) provider_transaction: Option<&'a str>,
}

impl LifeColumns<'_> {
    pub(crate) fn life(&self) -> Result<Life, StoreError> {
        Ok(Life {
            handling: Handling::parse(self.handling).ok_or_else(|| self.corrupt("handling"))?,
            state: self.state()?,
            fence: Fence(self.fence),
            lease_until: self.lease_until,
            attempt: u16::try_from(self.attempt).map_err(|_negative| self.corrupt("attempt"))?,
            requests: u8::try_from(self.requests).map_err(|_outside| self.corrupt("requests"))?,
            window_closes_at: self.window_closes_at,
        })
    }

    fn state(&self) -> Result<State, StoreError> {
        match StateName::parse(self.state).ok_or_else(|| self.corrupt("state"))? {
            StateName::InFlight => Ok(State::InFlight(self.sending()?)),
            StateName::InDoubt => Ok(State::InDoubt(self.sending()?)),
            StateName::RetryDue => Ok(State::RetryDue),
            StateName::Review => Ok(State::Review(self.sending()?)),
            StateName::Successful => {
                let transaction =
                    self.provider_transaction.ok_or_else(|| self.corrupt("provider_transaction"))?;
                Ok(State::Successful { provider_transaction: transaction.to_owned() })
            }
            StateName::Failed => Ok(State::Failed),
        }
    }

    fn sending(&self) -> Result<Sending, StoreError> {
        let copies = self.copies.and_then(|copies| u16::try_from(copies).ok());
        Ok(Sending {
            copies: copies.ok_or_else(|| self.corrupt("copies"))?,
            last_sent_at: self.last_sent_at.ok_or_else(|| self.corrupt("last_sent_at"))?,
            no_record_since: self.no_record_since,
        })
    }

    fn corrupt(&self, column: &'static str) -> StoreError {
        StoreError::corrupt("purchases", column, self.id)
    }
}

/// What of a state lies in columns of its own.
pub(crate) fn sending_of(state: &State) -> Option<&Sending> {
    match state {
        State::InFlight(sending) | State::InDoubt(sending) | State::Review(sending) => Some(sending),
        State::RetryDue | State::Successful { .. } | State::Failed => None,
    }
}

/// A failure as its three columns.
pub(crate) fn failure_columns(
    failure: Option<&Failure>,
) -> (Option<&'static str>, Option<&'static str>, Option<&str>) {
    match failure {
        None => (None, None, None),
        Some(Failure::Refused(refusal)) => {
            (Some("REFUSED"), Some(refusal.reason.as_str()), refusal.wording.as_deref())
        }
        Some(Failure::NoRecord) => (Some("NO_RECORD"), None, None),
        Some(Failure::Operator) => (Some("OPERATOR"), None, None),
    }
}

/// The failure that lies in these columns.
pub(crate) fn read_failure(
    id: i64,
    failure: Option<&str>,
    reason: Option<&str>,
    wording: Option<&str>,
) -> Result<Option<Failure>, StoreError> {
    let corrupt = |column| StoreError::corrupt("purchases", column, id);
    match failure {
        None => Ok(None),
        Some("REFUSED") => {
            let reason = reason.and_then(RefusalReason::parse).ok_or_else(|| corrupt("failure_reason"))?;
            Ok(Some(Failure::Refused(Refusal { reason, wording: wording.map(str::to_owned) })))
        }
        Some("NO_RECORD") => Ok(Some(Failure::NoRecord)),
        Some("OPERATOR") => Ok(Some(Failure::Operator)),
        Some(_) => Err(corrupt("failure")),
    }
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

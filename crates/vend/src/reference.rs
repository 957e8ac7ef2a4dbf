//! Identifiers of calls to a provider. Every call has a new one. A later enquiry finds a vend only by its identifier.

use std::fmt;

use chrono::{DateTime, NaiveDateTime, SubsecRound, Utc};

/// Why a number and an instant, or a text, are not a call id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallIdError {
    /// The number is zero or has more than six digits.
    #[error("the call number {0} is not within 1 to {max}", max = CallId::NUMBER_MAX)]
    NumberOutOfRange(u32),
    /// The text does not have the form that `Display` writes.
    #[error("not a call id of 14 and 6 digits")]
    Malformed,
}

/// The identifier of one call to a provider: a second and a number of six digits. The pair is unique for ever among the
/// calls of one client of the provider. Vending protocols such as XMLVend identify a message in this way. An adapter to
/// another provider puts the text into its own field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    at: DateTime<Utc>,
    number: u32,
}

impl CallId {
    /// The largest six-digit number.
    pub const NUMBER_MAX: u32 = 999_999;

    /// Makes a call id. The instant is truncated to the second.
    ///
    /// # Errors
    /// [`CallIdError::NumberOutOfRange`] if the number is not within 1 to 999,999.
    pub fn new(number: u32, at: DateTime<Utc>) -> Result<Self, CallIdError> {
        if (1..=Self::NUMBER_MAX).contains(&number) {
            Ok(Self { at: at.trunc_subsecs(0), number })
        } else {
            Err(CallIdError::NumberOutOfRange(number))
        }
    }

    /// Reads the form that [`Display`](fmt::Display) writes: `20261120093000-000042`.
    pub fn parse(text: &str) -> Result<Self, CallIdError> {
        let malformed = || CallIdError::Malformed;
        let (at, number) = text.split_once('-').ok_or_else(malformed)?;
        if at.len() != 14 || number.len() != 6 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(malformed());
        }
        let at = NaiveDateTime::parse_from_str(at, Self::SECOND_FORMAT).map_err(|_not_a_date| malformed())?;
        Self::new(number.parse().map_err(|_not_a_number| malformed())?, at.and_utc())
    }

    const SECOND_FORMAT: &str = "%Y%m%d%H%M%S";

    /// The number: 1 to 999,999.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The instant, in whole seconds.
    pub const fn at(self) -> DateTime<Utc> {
        self.at
    }

    /// The second as `yyyymmddHHMMSS`, in UTC because UTC never repeats an hour.
    pub fn second(self) -> impl fmt::Display {
        self.at.format(Self::SECOND_FORMAT)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{:06}", self.second(), self.number)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Our unique identifier of one attempt at a vend. It is the call id under which the vend is sent, and sent again if a
/// repeat is safe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderReference(CallId);

impl ProviderReference {
    /// The reference of an attempt is the call id of its first call.
    pub const fn new(call: CallId) -> Self {
        Self(call)
    }

    /// The call id that the provider is sent.
    pub const fn call(self) -> CallId {
        self.0
    }
}

impl fmt::Display for ProviderReference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Debug for ProviderReference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_id_is_a_second_and_six_digits() {
        let at = DateTime::from_timestamp(1_795_167_000, 987_000_000).unwrap();
        let call = CallId::new(42, at).unwrap();
        assert_eq!(call.to_string(), "20261120093000-000042");
        assert_eq!(CallId::parse("20261120093000-000042"), Ok(call));
    }

    #[test]
    fn zero_and_seven_digits_are_no_call_numbers() {
        for number in [0, 1_000_000] {
            assert_eq!(CallId::new(number, DateTime::UNIX_EPOCH), Err(CallIdError::NumberOutOfRange(number)));
        }
    }

    #[test]
    fn a_malformed_call_id_is_refused() {
        for text in [
            "",
            "20261120093000",
            "20261120093000-42",
            "2026112009300-000042",
            "20261320093000-000042",
            "20261120093000-+00042",
        ] {
            assert_eq!(CallId::parse(text), Err(CallIdError::Malformed), "{text:?}");
        }
    }
}

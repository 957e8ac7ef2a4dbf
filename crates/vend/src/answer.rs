//! The answers of a provider, including the absence of one.

use std::fmt;

use meter_token::TokenSet;
use money::Money;
use rust_decimal::Decimal;

use crate::Refusal;

/// The three possible results of a vend. Only the first two prove anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VendOutcome {
    /// The vend happened. Reference, subscriber, amount, currency and token of the answer were validated.
    Vended(Box<Vend>),
    /// The vend did not happen. The proof is the provider's answer, or the fact that no byte was sent.
    Refused(Refusal),
    /// The vend may have happened.
    Unknown(Unclear),
}

/// The answers to an enquiry about an earlier vend. An enquiry never vends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enquiry {
    /// The vend happened.
    Vended(Box<Vend>),
    /// The provider has a record that it refused the vend.
    Refused(Refusal),
    /// The provider has no record of the vend. This alone proves nothing.
    NoRecord,
    /// The provider has accepted the vend but has not finished it.
    StillOpen,
    /// No usable answer came.
    Unanswered(Unclear),
}

impl VendOutcome {
    /// The reason why the result is unknown. `None` if the result is known.
    pub const fn doubt(&self) -> Option<Doubt> {
        match self {
            Self::Vended(_) | Self::Refused(_) => None,
            Self::Unknown(unclear) => Some(unclear.doubt),
        }
    }

    /// The result and its reason, as stable names for records and logs. The reason of a vend is empty.
    pub const fn in_words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Vended(_) => ("vended", ""),
            Self::Refused(refusal) => ("refused", refusal.reason.as_str()),
            Self::Unknown(unclear) => ("unknown", unclear.doubt.as_str()),
        }
    }
}

impl Enquiry {
    /// The reason why no usable answer came. `None` if a usable answer came.
    pub const fn doubt(&self) -> Option<Doubt> {
        match self {
            Self::Vended(_) | Self::Refused(_) | Self::NoRecord | Self::StillOpen => None,
            Self::Unanswered(unclear) => Some(unclear.doubt),
        }
    }

    /// The result and its reason, as stable names for records and logs. The reason is empty if there is none.
    pub const fn in_words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Vended(_) => ("vended", ""),
            Self::Refused(refusal) => ("refused", refusal.reason.as_str()),
            Self::NoRecord => ("no_record", ""),
            Self::StillOpen => ("still_open", ""),
            Self::Unanswered(unclear) => ("unanswered", unclear.doubt.as_str()),
        }
    }
}

/// An answer that proves nothing. It keeps the provider's reply, if there was one, for a review by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    /// Why the answer proves nothing.
    pub doubt: Doubt,
    /// The reply, to be stored encrypted with the record. It is never logged. `None` if no complete reply was read.
    pub raw_reply: Option<RawReply>,
}

impl Unclear {
    /// The maximum number of bytes of a reply that is kept: more than any valid reply to one order.
    pub const REPLY_BYTES_MAX: usize = 64 * 1024;

    /// An answer that proves nothing, with the first [`REPLY_BYTES_MAX`](Self::REPLY_BYTES_MAX) bytes of its reply.
    pub fn said(doubt: Doubt, reply: &[u8]) -> Self {
        let kept = reply.get(..Self::REPLY_BYTES_MAX).unwrap_or(reply);
        Self { doubt, raw_reply: Some(RawReply(kept.to_vec())) }
    }
}

impl From<Doubt> for Unclear {
    /// Doubt without a reply.
    fn from(doubt: Doubt) -> Self {
        Self { doubt, raw_reply: None }
    }
}

/// Why it is unknown whether a vend happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// No answer came within the deadline.
    TimedOut,
    /// The connection broke after bytes may have been sent.
    ConnectionLost,
    /// The answer cannot be read, is too large, or is not a message of the protocol.
    Unreadable,
    /// The answer does not match the order: another reference, subscriber, amount or currency, or a success
    /// without a required token.
    Mismatched,
    /// The fault is not listed as a definite refusal.
    UnlistedFault,
    /// The provider says that the reference exists already. An enquiry must find the result.
    RepeatedReference,
    /// The provider has accepted the order and has not finished it.
    StillOpen,
    /// The sending process never recorded a result: it was killed, or its record was lost.
    NeverReported,
}

impl Doubt {
    /// Every doubt, for storage and for tables.
    pub const ALL: [Self; 8] = [
        Self::TimedOut,
        Self::ConnectionLost,
        Self::Unreadable,
        Self::Mismatched,
        Self::UnlistedFault,
        Self::RepeatedReference,
        Self::StillOpen,
        Self::NeverReported,
    ];

    /// A stable name for records and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TimedOut => "timed_out",
            Self::ConnectionLost => "connection_lost",
            Self::Unreadable => "unreadable",
            Self::Mismatched => "mismatched",
            Self::UnlistedFault => "unlisted_fault",
            Self::RepeatedReference => "repeated_reference",
            Self::StillOpen => "still_open",
            Self::NeverReported => "never_reported",
        }
    }
}

/// A successful vend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vend {
    /// The tokens that the customer enters into the meter. Absent if the product has none.
    pub tokens: Option<TokenSet>,
    /// The quantity that the tokens are worth. Absent for airtime.
    pub units: Option<Units>,
    /// The provider's identifier of the transaction.
    pub provider_transaction: String,
    /// The provider's split of the vended amount. Absent for airtime.
    pub breakdown: Option<Breakdown>,
    /// The consumer's name as the provider has it.
    pub subscriber_details: Option<String>,
    /// The provider's reply, to be stored encrypted with the record. It is never logged.
    pub raw_reply: RawReply,
}

/// The bytes of the provider's reply. They may contain tokens, so `Debug` shows only their length.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RawReply(pub Vec<u8>);

impl fmt::Debug for RawReply {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RawReply({} bytes)", self.0.len())
    }
}

/// What a vend of this amount would yield now. It is not binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotation {
    /// The quantity that the tokens would be worth.
    pub units: Option<Units>,
    /// How the amount would be split.
    pub breakdown: Option<Breakdown>,
    /// The consumer's name as the provider has it.
    pub subscriber_details: Option<String>,
}

/// A quantity of the product, such as 45.2 kWh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// The number of units.
    pub quantity: Decimal,
    /// The unit, as the provider writes it.
    pub unit: String,
}

impl fmt::Display for Units {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.quantity, self.unit)
    }
}

/// The provider's split of a vended amount. The five parts add up to the amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakdown {
    /// The part that pays for the units.
    pub cost: Money,
    /// Value added tax.
    pub vat: Money,
    /// Levies.
    pub levy: Money,
    /// The regulator's fee.
    pub regulatory_fee: Money,
    /// All other parts: fixed charges, arrears.
    pub charge: Money,
}

impl Breakdown {
    /// The parts, in the order of the fields.
    pub const fn parts(&self) -> [Money; 5] {
        [self.cost, self.vat, self.levy, self.regulatory_fee, self.charge]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_kept_up_to_a_limit_and_never_printed() {
        let long = vec![b'7'; Unclear::REPLY_BYTES_MAX + 1];
        let kept = Unclear::said(Doubt::Unreadable, &long);
        assert_eq!(kept.raw_reply, Some(RawReply(vec![b'7'; Unclear::REPLY_BYTES_MAX])));
        let short = Unclear::said(Doubt::Mismatched, b"77");
        assert_eq!(format!("{short:?}"), "Unclear { doubt: Mismatched, raw_reply: Some(RawReply(2 bytes)) }");
        assert_eq!(Unclear::from(Doubt::TimedOut).raw_reply, None);
    }
}

//! What a provider says, or fails to say.

use std::fmt;

use meter_token::TokenSet;
use money::Money;
use rust_decimal::Decimal;

use crate::Refusal;

/// The three answers to a vend. Only the first two prove anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VendOutcome {
    /// It happened: validated against reference, subscriber, amount, currency and token.
    Vended(Box<Vend>),
    /// It did not happen, and the provider (or the fact that no byte left us) proves it.
    Refused(Refusal),
    /// It may have happened.
    Unknown(Unclear),
}

/// The answers to the question what became of an earlier vend. Asking never vends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enquiry {
    /// It happened.
    Vended(Box<Vend>),
    /// The provider remembers having refused it.
    Refused(Refusal),
    /// The provider knows nothing of it, which by itself proves nothing.
    NoRecord,
    /// The provider knows it but has not finished.
    StillOpen,
    /// No usable answer came.
    Unanswered(Unclear),
}

impl VendOutcome {
    /// Why nobody knows whether it happened, if nobody does.
    pub const fn doubt(&self) -> Option<Doubt> {
        match self {
            Self::Vended(_) | Self::Refused(_) => None,
            Self::Unknown(unclear) => Some(unclear.doubt),
        }
    }

    /// What happened and why, as stable names for records and logs; the why of a vend is empty.
    pub const fn in_words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Vended(_) => ("vended", ""),
            Self::Refused(refusal) => ("refused", refusal.reason.as_str()),
            Self::Unknown(unclear) => ("unknown", unclear.doubt.as_str()),
        }
    }
}

impl Enquiry {
    /// Why no usable answer came, if none did.
    pub const fn doubt(&self) -> Option<Doubt> {
        match self {
            Self::Vended(_) | Self::Refused(_) | Self::NoRecord | Self::StillOpen => None,
            Self::Unanswered(unclear) => Some(unclear.doubt),
        }
    }

    /// What was found and why, as stable names for records and logs; the why is empty where there is none.
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

/// No proof either way, and what the provider said where it said anything: a person may read more out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    /// Why it proves nothing.
    pub doubt: Doubt,
    /// For sealing beside the record; never logged. None where no reply came, or none that was read to its end.
    pub raw_reply: Option<RawReply>,
}

impl Unclear {
    /// As much of a reply is kept: more than any about one order, and little enough for any number of them.
    pub const REPLY_BYTES_MAX: usize = 64 * 1024;

    /// The provider said this, and it proves nothing.
    pub fn said(doubt: Doubt, reply: &[u8]) -> Self {
        let kept = reply.get(..Self::REPLY_BYTES_MAX).unwrap_or(reply);
        Self { doubt, raw_reply: Some(RawReply(kept.to_vec())) }
    }
}

impl From<Doubt> for Unclear {
    /// Nothing was said.
    fn from(doubt: Doubt) -> Self {
        Self { doubt, raw_reply: None }
    }
}

/// Why nobody knows whether a vend happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// No answer within the deadline.
    TimedOut,
    /// The connection broke after bytes may have left.
    ConnectionLost,
    /// An answer that cannot be read, is too large, or is none of the protocol's.
    Unreadable,
    /// An answer about something else: another reference, subscriber, amount or currency, or a success
    /// without the token it owes.
    Mismatched,
    /// A fault that is on no list of definite refusals.
    UnlistedFault,
    /// The provider says that it exists already: ask what became of it.
    RepeatedReference,
    /// The provider has taken it and has not finished.
    StillOpen,
    /// The sender never reported back: it was killed, or its record was lost.
    NeverReported,
}

impl Doubt {
    /// Every doubt, for those who store and those who tabulate.
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

/// The provider's success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vend {
    /// What is typed into the meter; absent where the product has none.
    pub tokens: Option<TokenSet>,
    /// What the tokens are worth; absent for airtime.
    pub units: Option<Units>,
    /// The provider's own name for the transaction.
    pub provider_transaction: String,
    /// The provider's split of the vended amount; absent for airtime.
    pub breakdown: Option<Breakdown>,
    /// The consumer's name as the provider has it.
    pub subscriber_details: Option<String>,
    /// What the provider said, for sealing beside the record; never logged.
    pub raw_reply: RawReply,
}

/// The provider's reply as it came. May hold tokens, so `Debug` shows only its length.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RawReply(pub Vec<u8>);

impl fmt::Debug for RawReply {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RawReply({} bytes)", self.0.len())
    }
}

/// What a vend of this amount would yield now. Binds nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotation {
    /// What the tokens would be worth.
    pub units: Option<Units>,
    /// How the amount would be split.
    pub breakdown: Option<Breakdown>,
    /// The consumer's name as the provider has it.
    pub subscriber_details: Option<String>,
}

/// A quantity of the product, such as 45.2 kWh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// How much.
    pub quantity: Decimal,
    /// Of what, as the provider writes it.
    pub unit: String,
}

impl fmt::Display for Units {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.quantity, self.unit)
    }
}

/// The provider's split of a vended amount; the five parts add up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakdown {
    /// What bought units.
    pub cost: Money,
    /// Value added tax.
    pub vat: Money,
    /// Levies.
    pub levy: Money,
    /// The regulator's fee.
    pub regulatory_fee: Money,
    /// Everything else: fixed charges, arrears.
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
    fn what_was_said_is_kept_up_to_a_bound_and_printed_not_at_all() {
        let long = vec![b'7'; Unclear::REPLY_BYTES_MAX + 1];
        let kept = Unclear::said(Doubt::Unreadable, &long);
        assert_eq!(kept.raw_reply, Some(RawReply(vec![b'7'; Unclear::REPLY_BYTES_MAX])));
        let short = Unclear::said(Doubt::Mismatched, b"77");
        assert_eq!(format!("{short:?}"), "Unclear { doubt: Mismatched, raw_reply: Some(RawReply(2 bytes)) }");
        assert_eq!(Unclear::from(Doubt::TimedOut).raw_reply, None);
    }
}

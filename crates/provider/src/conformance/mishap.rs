//! What can go wrong with one call.

use std::fmt;

/// The call of the adapter that a mishap happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// [`check`](crate::Provider::check).
    Check,
    /// [`quote`](crate::Provider::quote).
    Quote,
    /// [`trial`](crate::Provider::trial).
    Trial,
    /// [`vend`](crate::Provider::vend).
    Vend,
    /// [`enquire`](crate::Provider::enquire).
    Enquiry,
}

/// What goes wrong with the next call of one operation, and with no other call.
///
/// The first group happens on the wire. A [`Wire`](super::Wire) does these by itself, and a world with a wire is not
/// asked for them. The second group is caused by the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The connection is cut after the request was read, before the provider sees it.
    RequestLost,
    /// The request is carried out. The connection is cut before the answer.
    ReplyLost,
    /// The request is carried out. No answer is ever sent, and the connection stays open.
    Silence,
    /// The request is carried out. The answer comes byte by byte, and not in time.
    ReplyDrips,
    /// The request is carried out. Half of the answer comes, and then the connection is cut.
    ReplyHalved,
    /// The request is carried out. The answer is replaced by this.
    ReplyGarbled(Garbage),
    /// The request is carried out. The answer is empty.
    ReplyEmpty,
    /// The request is carried out. The answer is larger than any answer of the protocol.
    ReplyEndless,
    /// The request is carried out. The answer is an error page of the server (HTTP 500).
    ServerError,
    /// The request is carried out. The correct answer comes with a failure status (HTTP 500).
    FailingStatus,
    /// The request is not carried out. The answer is a redirect to another address (HTTP 307).
    Redirected,

    /// The request is carried out. The answer has the reference of another request.
    AnswersAnotherReference,
    /// The request is carried out. The answer has no reference.
    ReferenceLeftOut,
    /// The request is carried out. The answer names another subscriber.
    AnswersAnotherSubscriber,
    /// The request is carried out. The answer has another amount.
    AnswersAnotherAmount,
    /// The request is carried out. The answer has another currency.
    AnswersAnotherCurrency,
    /// The request is carried out. The answer lacks the required token.
    TokenLeftOut,
    /// The request is carried out. The answer has the dummy token of a trial.
    TokenDummy,
    /// The request is accepted. The next enquiry finds it in progress. Then it is carried out.
    StillUnderWay,
    /// The request is definitely refused. The refusal has our reference if the provider's refusals have one. The
    /// refusal of an enquiry refuses the question, not the order.
    Refused,
    /// A refusal is answered with the reference of another request.
    RefusedForAnother,
    /// A refusal is answered without a reference.
    RefusedWithoutReference,
    /// A fault is answered that is not a definite refusal.
    UnlistedFault,
    /// For an enquiry about an order that was never sent: "no record" is answered, but to another question.
    NoRecordForAnother,
}

/// Bytes that are not an answer in any protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Garbage {
    /// A sentence.
    Prose,
    /// Bytes that are not text.
    Binary,
    /// An XML element that is opened 100,000 times and never closed.
    NestedXml,
    /// A JSON array that is opened 100,000 times and never closed.
    NestedJson,
    /// A JSON object without fields.
    EmptyJson,
    /// An XML element without content.
    EmptyXml,
}

impl Garbage {
    /// Every kind of garbage.
    pub const ALL: [Self; 6] =
        [Self::Prose, Self::Binary, Self::NestedXml, Self::NestedJson, Self::EmptyJson, Self::EmptyXml];

    const DEPTH: usize = 100_000;

    /// The bytes.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::Prose => b"Please call us during office hours".to_vec(),
            Self::Binary => vec![0xff, 0xfe, 0x00, 0xc3, 0x28, 0x1b, 0x5b, 0x80],
            Self::NestedXml => b"<a>".repeat(Self::DEPTH),
            Self::NestedJson => b"[".repeat(Self::DEPTH),
            Self::EmptyJson => b"{}".to_vec(),
            Self::EmptyXml => b"<a/>".to_vec(),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Check => "check",
            Self::Quote => "quote",
            Self::Trial => "trial",
            Self::Vend => "vend",
            Self::Enquiry => "enquiry",
        })
    }
}

impl fmt::Display for Mishap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::RequestLost => "the connection is cut before the provider sees it",
            Self::ReplyLost => "it is carried out, and the connection is cut before the answer",
            Self::Silence => "it is carried out, and nothing is ever answered",
            Self::ReplyDrips => "it is carried out, and the answer comes byte by byte and not in time",
            Self::ReplyHalved => "it is carried out, and half of the answer comes",
            Self::ReplyGarbled(garbage) => {
                return write!(out, "it is carried out, and the answer is garbage ({garbage:?})");
            }
            Self::ReplyEmpty => "it is carried out, and the answer is empty",
            Self::ReplyEndless => "it is carried out, and the answer is larger than the protocol allows",
            Self::ServerError => "it is carried out, and the answer is HTTP 500 with an error page",
            Self::FailingStatus => "it is carried out, and the correct answer comes as HTTP 500",
            Self::Redirected => "it is not carried out, and the answer is HTTP 307 to another address",
            Self::AnswersAnotherReference => "it is carried out, and the answer has another reference",
            Self::ReferenceLeftOut => "it is carried out, and the answer has no reference",
            Self::AnswersAnotherSubscriber => "it is carried out, and the answer names another subscriber",
            Self::AnswersAnotherAmount => "it is carried out, and the answer has another amount",
            Self::AnswersAnotherCurrency => "it is carried out, and the answer has another currency",
            Self::TokenLeftOut => "it is carried out, and the answer lacks the required token",
            Self::TokenDummy => "it is carried out, and the answer has the dummy token of a trial",
            Self::StillUnderWay => "it is accepted, and is in progress for a while",
            Self::Refused => "it is refused under its own reference",
            Self::RefusedForAnother => "it is refused under another reference",
            Self::RefusedWithoutReference => "it is refused without a reference",
            Self::UnlistedFault => "it is answered with a fault that is not a definite refusal",
            Self::NoRecordForAnother => "\"no record\" is answered to another question",
        })
    }
}

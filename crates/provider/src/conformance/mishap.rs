//! What can go wrong with one call.

use std::fmt;

/// Which of the adapter's calls a mishap happens to.
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

/// What goes wrong with the next call of one operation, and with no other.
///
/// The first group happens on the wire: a [`Wire`](super::Wire) does these by itself, and a world that has one is not
/// asked for them. The second group is something that the provider does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The connection is cut when the request has been read, before the provider sees it.
    RequestLost,
    /// It is carried out; the connection is cut before the answer.
    ReplyLost,
    /// It is carried out; nothing is ever answered, and the connection stays.
    Silence,
    /// It is carried out; the answer comes byte by byte, and not in time.
    ReplyDrips,
    /// It is carried out; half of the answer comes, and the connection is cut.
    ReplyHalved,
    /// It is carried out; the answer is this instead.
    ReplyGarbled(Garbage),
    /// It is carried out; the answer is empty.
    ReplyEmpty,
    /// It is carried out; the answer is larger than any of the protocol's.
    ReplyEndless,
    /// It is carried out; the answer is a page that says that something broke inside (HTTP 500).
    ServerError,
    /// It is carried out; the true answer comes under a status of failure (HTTP 500).
    FailingStatus,
    /// It is not carried out; the answer points elsewhere (HTTP 307).
    Redirected,

    /// It is carried out; the answer carries the reference of another request.
    AnswersAnotherReference,
    /// It is carried out; the answer carries no reference.
    ReferenceLeftOut,
    /// It is carried out; the answer names another subscriber.
    AnswersAnotherSubscriber,
    /// It is carried out; the answer is about another amount.
    AnswersAnotherAmount,
    /// It is carried out; the answer is in another currency.
    AnswersAnotherCurrency,
    /// It is carried out; the answer lacks the token that it owes.
    TokenLeftOut,
    /// It is carried out; the answer holds the dummy token of a trial.
    TokenDummy,
    /// It is taken, and an enquiry finds it under way for a while; then it is carried out.
    StillUnderWay,
    /// It is refused, definitely, by a refusal that carries our reference where the provider's refusals carry one. An
    /// enquiry that is refused says no to the question, not to the order.
    Refused,
    /// It is refused, or said to be, under the reference of another request.
    RefusedForAnother,
    /// It is refused, or said to be, without any reference.
    RefusedWithoutReference,
    /// It is answered with a fault that is no definite refusal.
    UnlistedFault,
    /// Of an enquiry about an order that never was: that there is no record, said in answer to another question.
    NoRecordForAnother,
}

/// Bytes that are no answer in any protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Garbage {
    /// A sentence.
    Prose,
    /// Bytes that are not text.
    Binary,
    /// XML that is opened a hundred thousand times and never closed.
    NestedXml,
    /// JSON of the same kind.
    NestedJson,
    /// JSON that says nothing.
    EmptyJson,
    /// XML that says nothing.
    EmptyXml,
}

impl Garbage {
    /// All of it.
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
            Self::ReplyEndless => "it is carried out, and the answer is larger than any of the protocol's",
            Self::ServerError => "it is carried out, and the answer is HTTP 500 with a page for people",
            Self::FailingStatus => "it is carried out, and the true answer comes as HTTP 500",
            Self::Redirected => "it is not carried out, and the answer is HTTP 307 to another address",
            Self::AnswersAnotherReference => "it is carried out, and the answer carries another reference",
            Self::ReferenceLeftOut => "it is carried out, and the answer carries no reference",
            Self::AnswersAnotherSubscriber => "it is carried out, and the answer names another subscriber",
            Self::AnswersAnotherAmount => "it is carried out, and the answer is about another amount",
            Self::AnswersAnotherCurrency => "it is carried out, and the answer is in another currency",
            Self::TokenLeftOut => "it is carried out, and the answer lacks its token",
            Self::TokenDummy => "it is carried out, and the answer holds the dummy token of a trial",
            Self::StillUnderWay => "it is taken, and is under way for a while",
            Self::Refused => "it is refused under its own reference",
            Self::RefusedForAnother => "it is refused under another reference",
            Self::RefusedWithoutReference => "it is refused without a reference",
            Self::UnlistedFault => "it is answered with a fault that is no definite refusal",
            Self::NoRecordForAnother => "another question is answered: that there is no record",
        })
    }
}

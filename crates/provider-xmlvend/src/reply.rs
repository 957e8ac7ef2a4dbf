//! The typed content of a reply. `classify` decides what it proves.

mod customer;
mod fault;
mod sale;

use vend::CallId;

use crate::envelope::{self, Payload};
use crate::tree::{Element, Malformed, Vocabulary};

pub(crate) use customer::{CustomerReply, CustomerResult};
pub(crate) use fault::FaultReply;
pub(crate) use sale::{KeyChange, Line, SaleReply, Transaction};

/// The possible answers of a gateway.
pub(crate) enum Reply {
    Vend(SaleReply),
    TrialVend(SaleReply),
    Customer(CustomerReply),
    Advice(AdviceReply),
    Fault(FaultReply),
}

/// The answer to an enquiry about an earlier message.
pub(crate) struct AdviceReply {
    /// The id of the enquiry that this answers.
    pub(crate) request: Option<MessageId>,
    /// The id of the earlier message, if the gateway repeats it.
    pub(crate) about: Option<MessageId>,
    /// The answer to the earlier message.
    pub(crate) last_response: LastResponse,
}

/// A complete earlier answer.
pub(crate) enum LastResponse {
    Vend(SaleReply),
    Fault(FaultReply),
}

/// A message id in the gateway's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageId {
    second: String,
    number: String,
}

impl MessageId {
    /// Reads the child with this name. `Ok(None)` if there is no such child.
    fn read(message: &Element<'_>, name: &'static str) -> Result<Option<Self>, Malformed> {
        let Some(id) = message.only(name)? else { return Ok(None) };
        let part = |attribute| id.attribute(attribute).unwrap_or_default().to_owned();
        Ok(Some(Self { second: part("dateTime"), number: part("uniqueNumber") }))
    }

    /// Whether this is our id. Some gateways pad the number with zeros.
    pub(crate) fn names(&self, call: CallId) -> bool {
        let digits = self.number.bytes().all(|byte| byte.is_ascii_digit());
        digits && self.number.parse() == Ok(call.number()) && self.second == call.second().to_string()
    }
}

impl Reply {
    /// Reads a complete reply.
    pub(crate) fn read(document: &[u8]) -> Result<Self, Malformed> {
        let root = Element::parse(document)?;
        let message = match envelope::open(&root)? {
            Payload::Fault(fault) => return FaultReply::from_soap(fault).map(Self::Fault),
            Payload::Message(message) => message,
        };
        if FaultReply::is(message) {
            return FaultReply::read(message).map(Self::Fault);
        }
        if message.vocabulary() != Vocabulary::XmlVend {
            return Err(Malformed::NotOurs);
        }
        match message.name() {
            "creditVendResp" => SaleReply::read(message).map(Self::Vend),
            "trialCreditVendResp" => SaleReply::read(message).map(Self::TrialVend),
            "confirmCustomerResp" => CustomerReply::read(message).map(Self::Customer),
            "adviceResp" => AdviceReply::read(message).map(Self::Advice),
            _ => Err(Malformed::NotOurs),
        }
    }
}

impl AdviceReply {
    fn read(message: &Element<'_>) -> Result<Self, Malformed> {
        let last = message.only("lastResponse")?.ok_or(Malformed::Missing("last response"))?;
        let last_response = match last.kind() {
            Some("CreditVendResp") => LastResponse::Vend(SaleReply::read(last)?),
            Some(kind) if kind.eq_ignore_ascii_case("XMLVendFaultResp") => {
                LastResponse::Fault(FaultReply::read(last)?)
            }
            Some(_) | None => return Err(Malformed::NotOurs),
        };
        Ok(Self {
            request: MessageId::read(message, "reqMsgID")?,
            about: MessageId::read(message, "adviceReqMsgID")?,
            last_response,
        })
    }
}

//! A client's request, read strictly: this server also tests its clients.

use super::{
    Soap,
    element::{Element, NotXml},
    header::{MsgId, Sender},
    namespace::Namespace,
};
use crate::product::Service;

/// A request of the protocol.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) soap: Soap,
    pub(crate) sender: Sender,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) ask: Ask,
}

/// The operator's name and password.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) op_name: String,
    pub(crate) password: String,
}

/// The operations of this utility.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The customer of this meter, and whether they may buy.
    Customer { meter: String },
    /// The quote for this amount.
    TrialVend(VendRequest),
    /// A sale.
    Vend(VendRequest),
    /// The answer to the message with this id.
    LastResponse { about: MsgId },
    /// An operation of the standard that this utility does not offer.
    Unsupported,
}

/// An amount of electricity or water for a meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VendRequest {
    pub(crate) service: Service,
    pub(crate) meter: String,
    /// As written in the request.
    pub(crate) amount: String,
    /// Absent if the client omits the symbol, as some clients do.
    pub(crate) currency: Option<String>,
}

/// A request that cannot be parsed, with the data for the answer.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) soap: Soap,
    pub(crate) sender: Option<Box<Sender>>,
    pub(crate) why: String,
}

impl Request {
    /// Reads an envelope. The root element of the body identifies the message. `SOAPAction` is not used.
    pub(crate) fn read(document: &str) -> Result<Self, Unreadable> {
        let envelope = Element::read(document).map_err(|why| not_soap(&why))?;
        let (soap, message) = Soap::open(&envelope).ok_or_else(|| Unreadable {
            soap: Soap::V11,
            sender: None,
            why: "not a SOAP envelope with a message in its body".to_owned(),
        })?;
        let sender = Sender::read(message).ok_or_else(|| Unreadable {
            soap,
            sender: None,
            why: "clientID, terminalID or msgID is missing or malformed".to_owned(),
        })?;
        match Ask::read(message) {
            Ok(ask) => Ok(Self { soap, sender, credentials: Credentials::read(message), ask }),
            Err(Missing(name)) => {
                let why = format!("{name} is missing or malformed in {}", message.name);
                Err(Unreadable { soap, sender: Some(Box::new(sender)), why })
            }
        }
    }
}

impl Credentials {
    fn read(message: &Element) -> Option<Self> {
        let cred = message.child(Namespace::Base, "authCred")?;
        let text = |name| cred.child(Namespace::Base, name).map(|element| element.text.trim().to_owned());
        Some(Self { op_name: text("opName")?, password: text("password")? })
    }
}

/// The name of a missing element that the schema requires.
struct Missing(&'static str);

impl Ask {
    fn read(message: &Element) -> Result<Self, Missing> {
        match (message.namespace, message.name.as_str()) {
            (Namespace::Revenue, "confirmCustomerReq") => {
                meter_number(message, Namespace::Revenue).map(|meter| Self::Customer { meter })
            }
            (Namespace::Revenue, "trialCreditVendReq") => VendRequest::read(message).map(Self::TrialVend),
            (Namespace::Revenue, "creditVendReq") => VendRequest::read(message).map(Self::Vend),
            (Namespace::Base, "adviceReq") if message.type_name == "LastRespAdviceReq" => message
                .child(Namespace::Base, "adviceReqMsgID")
                .and_then(MsgId::read)
                .map(|about| Self::LastResponse { about })
                .ok_or(Missing("adviceReqMsgID")),
            _ => Ok(Self::Unsupported),
        }
    }
}

impl VendRequest {
    fn read(message: &Element) -> Result<Self, Missing> {
        let service = message
            .child(Namespace::Base, "resource")
            .and_then(|resource| Service::of_resource(&resource.type_name))
            .ok_or(Missing("resource"))?;
        let amount = message
            .child(Namespace::Revenue, "purchaseValue")
            .filter(|value| value.type_name == "PurchaseValueCurrency")
            .and_then(|value| value.child(Namespace::Revenue, "amt"))
            .ok_or(Missing("purchaseValue"))?;
        Ok(Self {
            service,
            meter: meter_number(message, Namespace::Base)?,
            amount: amount.attribute("value").ok_or(Missing("amt"))?.to_owned(),
            currency: amount.attribute("symbol").map(str::to_owned),
        })
    }
}

fn meter_number(message: &Element, namespace_of_id_method: Namespace) -> Result<String, Missing> {
    message
        .child(namespace_of_id_method, "idMethod")
        .filter(|method| method.type_name == "VendIDMethod")
        .and_then(|method| method.child(Namespace::Base, "meterIdentifier"))
        .filter(|meter| meter.type_name == "MeterNumber")
        .and_then(|meter| meter.attribute("msno"))
        .map(str::to_owned)
        .ok_or(Missing("idMethod"))
}

fn not_soap(why: &NotXml) -> Unreadable {
    Unreadable { soap: Soap::V11, sender: None, why: why.to_string() }
}

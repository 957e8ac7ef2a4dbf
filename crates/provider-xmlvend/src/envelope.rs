//! The SOAP envelope. The deployment chooses the version that is written. Both versions are read.

use crate::names;
use crate::settings::SoapVersion;
use crate::tag::Tag;
use crate::tree::{Element, Malformed, Vocabulary};

/// The content of an envelope.
pub(crate) enum Payload<'a> {
    /// A message of the protocol.
    Message(&'a Element<'a>),
    /// A SOAP fault.
    Fault(&'a Element<'a>),
}

impl SoapVersion {
    const fn namespace(self) -> &'static str {
        match self {
            Self::V1_1 => names::SOAP_1_1,
            Self::V1_2 => names::SOAP_1_2,
        }
    }
}

/// Puts a message into an envelope. The prefixes that messages use are declared here.
pub(crate) fn seal(version: SoapVersion, message: Tag<'_>) -> Vec<u8> {
    Tag::new("soap:Envelope")
        .with("xmlns:soap", version.namespace())
        .with("xmlns:b", names::BASE)
        .with("xmlns:r", names::REVENUE)
        .with("xmlns:xsi", names::XSI)
        .around([Tag::new("soap:Body").around([message])])
        .into_document()
}

/// The payload of an envelope. An error unless there is exactly one.
pub(crate) fn open<'a>(root: &'a Element<'a>) -> Result<Payload<'a>, Malformed> {
    if !is_soap(root, "Envelope") {
        return Err(Malformed::NotOurs);
    }
    let mut bodies = root.children().iter().filter(|child| is_soap(child, "Body"));
    let (Some(body), None) = (bodies.next(), bodies.next()) else {
        return Err(Malformed::NotOurs);
    };
    match body.children() {
        [fault] if is_soap(fault, "Fault") => Ok(Payload::Fault(fault)),
        [message] => Ok(Payload::Message(message)),
        _ => Err(Malformed::NotOurs),
    }
}

fn is_soap(element: &Element<'_>, name: &str) -> bool {
    element.vocabulary() == Vocabulary::Soap && element.name() == name
}

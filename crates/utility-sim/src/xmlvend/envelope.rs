//! The SOAP envelope, in both versions that clients of one gateway use.

use super::{
    element::Element,
    namespace::{Namespace, SOAP_1_1, SOAP_1_2},
    xml::Xml,
};

/// The SOAP version of a request. Its answer has the same version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Soap {
    V11,
    V12,
}

impl Soap {
    /// The version of an envelope, and its message.
    pub(crate) fn open(envelope: &Element) -> Option<(Self, &Element)> {
        let soap = match envelope.namespace {
            Namespace::Soap11 => Self::V11,
            Namespace::Soap12 => Self::V12,
            Namespace::Base | Namespace::Revenue | Namespace::Foreign => return None,
        };
        let body = envelope.child(envelope.namespace, "Body").filter(|_| envelope.name == "Envelope")?;
        body.children.first().map(|message| (soap, message))
    }

    /// Writes an envelope around a message.
    pub(crate) fn seal(self, message: impl FnOnce(&mut Xml)) -> Vec<u8> {
        let mut xml = Xml::document();
        xml.within("soap:Envelope", &[("xmlns:soap", self.namespace())], |xml| {
            xml.within("soap:Body", &[], message);
        });
        xml.into_bytes()
    }

    /// Writes a fault with XMLVend's detail.
    pub(crate) fn fault(self, xml: &mut Xml, text: &str, detail: impl FnOnce(&mut Xml)) {
        match self {
            Self::V11 => xml.within("soap:Fault", &[], |xml| {
                xml.text("faultcode", "soap:Server");
                xml.text("faultstring", text);
                detail(xml);
            }),
            Self::V12 => xml.within("soap:Fault", &[], |xml| {
                xml.within("soap:Code", &[], |xml| xml.text("soap:Value", "soap:Receiver"));
                xml.within("soap:Reason", &[], |xml| {
                    xml.text_with("soap:Text", &[("xml:lang", "en")], text);
                });
                detail(xml);
            }),
        }
    }

    /// The name of the element for a fault's detail.
    pub(crate) const fn detail(self) -> &'static str {
        match self {
            Self::V11 => "detail",
            Self::V12 => "soap:Detail",
        }
    }

    const fn namespace(self) -> &'static str {
        match self {
            Self::V11 => SOAP_1_1,
            Self::V12 => SOAP_1_2,
        }
    }
}

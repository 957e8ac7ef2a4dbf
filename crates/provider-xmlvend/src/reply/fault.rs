//! A fault: a refusal by the gateway, or its own failure.

use vend::one_line;

use crate::reply::MessageId;
use crate::tree::{Element, Malformed, Vocabulary};

/// The content of a fault. `classify` decides whether it is definite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FaultReply {
    /// The id of the message that it refuses, if it states one.
    pub(crate) request: Option<MessageId>,
    /// The local part of its type, such as `UnknownMeterEx`.
    pub(crate) kind: Option<String>,
    /// Every text in it. The text for customers comes first.
    texts: Vec<String>,
}

impl FaultReply {
    /// Whether this element is a fault message. One vendor writes its name capitalised and without a namespace.
    pub(super) fn is(message: &Element<'_>) -> bool {
        message.name().eq_ignore_ascii_case("xmlvendFaultResp")
            && matches!(message.vocabulary(), Vocabulary::XmlVend | Vocabulary::Unqualified)
    }

    /// Reads `xmlvendFaultResp`, or a `lastResponse` of that type.
    pub(super) fn read(message: &Element<'_>) -> Result<Self, Malformed> {
        let fault = message.only("fault")?.ok_or(Malformed::Missing("fault"))?;
        let said = [
            message.only("custMsg")?,
            message.only("operatorMsg")?,
            fault.only("desc")?,
            fault.only("faultCode")?,
        ];
        Ok(Self {
            request: MessageId::read(message, "reqMsgID")?,
            kind: fault.kind().map(str::to_owned),
            texts: said.into_iter().flatten().filter_map(Element::text).filter_map(one_line).collect(),
        })
    }

    /// Reads a SOAP fault of either version. If its detail has no message of the protocol, only its text is known.
    pub(super) fn from_soap(fault: &Element<'_>) -> Result<Self, Malformed> {
        if let Some(message) = find(fault, &Self::is) {
            return Self::read(message);
        }
        let is_wording = |element: &Element<'_>| matches!(element.name(), "faultstring" | "Text");
        let texts = find(fault, &is_wording).and_then(Element::text).and_then(one_line);
        Ok(Self { texts: texts.into_iter().collect(), ..Self::default() })
    }

    /// The provider's wording, in a form that may be shown to others.
    pub(crate) fn wording(&self) -> Option<String> {
        self.texts.first().cloned()
    }

    /// All texts of the fault.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    /// Whether one of its texts contains this text. Upper and lower case are equal.
    pub(crate) fn says(&self, lower_case_text: &str) -> bool {
        self.texts.iter().any(|text| text.to_lowercase().contains(lower_case_text))
    }
}

fn find<'a>(element: &'a Element<'a>, wanted: &dyn Fn(&Element<'_>) -> bool) -> Option<&'a Element<'a>> {
    element.children().iter().find_map(|child| if wanted(child) { Some(child) } else { find(child, wanted) })
}

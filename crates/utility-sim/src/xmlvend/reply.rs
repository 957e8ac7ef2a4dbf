//! What the utility answers, as values: kept as given, so that an advice repeats it to the letter.

use std::sync::Arc;

use money::Money;

use super::{Header, MsgId, render::Style};
use crate::{
    memory::Remembered,
    meter::{Issue, MeterData},
    refusal::Refusal,
    tariff::{Limits, Split},
};

/// An answer with its header.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) header: Header,
    pub(crate) reply: Reply,
    /// Plain, unless a script spoils it.
    pub(crate) style: Style,
}

/// What is answered to each operation.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Customer(CustomerReply),
    TrialVend(Box<Receipt>),
    Vend(Box<Receipt>),
    LastResponse { about: MsgId, stored: Arc<Message> },
    Fault(Refusal),
}

/// Who is behind a meter, and what they may buy.
#[derive(Clone, Debug)]
pub(crate) struct CustomerReply {
    pub(crate) meter: MeterData,
    pub(crate) can_vend: bool,
    pub(crate) limits: Limits,
}

/// What a customer is handed.
#[derive(Clone, Debug)]
pub(crate) struct Receipt {
    pub(crate) number: String,
    pub(crate) split: Split,
    pub(crate) issue: Issue,
    /// What is left of the vendor's float.
    pub(crate) available_credit: Money,
}

impl Message {
    /// Whether something was sold.
    pub(crate) fn is_vend(&self) -> bool {
        matches!(self.reply, Reply::Vend(_))
    }

    /// The meter that it was sold for.
    pub(crate) fn subscriber(&self) -> Option<String> {
        if let Reply::Vend(receipt) = &self.reply {
            Some(receipt.issue.meter.number.to_string())
        } else {
            None
        }
    }
}

impl Remembered for Message {
    fn is_refusal(&self) -> bool {
        matches!(self.reply, Reply::Fault(_))
    }
}

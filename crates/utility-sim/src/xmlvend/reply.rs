//! The answers of the utility, as values. They are stored as sent, so that an advice repeats them exactly.

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
    /// The default, unless a script changes it.
    pub(crate) style: Style,
}

/// The answer to each operation.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Customer(CustomerReply),
    TrialVend(Box<Receipt>),
    Vend(Box<Receipt>),
    LastResponse { about: MsgId, stored: Arc<Message> },
    Fault(Refusal),
}

/// The customer of a meter, and the limits of a purchase.
#[derive(Clone, Debug)]
pub(crate) struct CustomerReply {
    pub(crate) meter: MeterData,
    pub(crate) can_vend: bool,
    pub(crate) limits: Limits,
}

/// The receipt of a sale.
#[derive(Clone, Debug)]
pub(crate) struct Receipt {
    pub(crate) number: String,
    pub(crate) split: Split,
    pub(crate) issue: Issue,
    /// The remaining balance of the vendor.
    pub(crate) available_credit: Money,
}

impl Message {
    /// Whether it is the answer to a successful vend.
    pub(crate) fn is_vend(&self) -> bool {
        matches!(self.reply, Reply::Vend(_))
    }

    /// The meter of the sale.
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

//! Credit tokens, class 0: so much of something, once.

use crate::amount::CreditAmount;
use crate::block::{Class, Payload};
use crate::credit_kind::CreditKind;
use crate::rnd::Rnd;
use crate::tid::Tid;

/// What a credit token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Credit {
    /// What is credited.
    pub kind: CreditKind,
    /// How much of it.
    pub amount: CreditAmount,
    /// When the token was made; a meter takes each identifier once.
    pub tid: Tid,
    /// Four random bits.
    pub rnd: Rnd,
}

impl Credit {
    pub(crate) fn payload(self) -> Payload {
        let [high, middle, low] = self.tid.to_field();
        let [amount_high, amount_low] = self.amount.to_field().to_be_bytes();
        let head = (self.kind.code() << 4) | self.rnd.bits();
        Payload { class: Class::Credit, bytes: [head, high, middle, low, amount_high, amount_low] }
    }

    pub(crate) fn from_payload([head, high, middle, low, amount_high, amount_low]: [u8; 6]) -> Option<Self> {
        Some(Self {
            kind: CreditKind::from_code(head >> 4)?,
            amount: CreditAmount::from_field(u16::from_be_bytes([amount_high, amount_low])),
            tid: Tid::from_field([high, middle, low]),
            rnd: Rnd::from_byte(head),
        })
    }
}

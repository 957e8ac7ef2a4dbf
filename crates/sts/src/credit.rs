//! Credit tokens, class 0. Each adds an amount of credit once.

use crate::amount::CreditAmount;
use crate::block::{Payload, TokenClass};
use crate::credit_kind::CreditKind;
use crate::rnd::Rnd;
use crate::tid::Tid;

/// The content of a credit token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Credit {
    /// The kind of credit.
    pub kind: CreditKind,
    /// The amount of credit.
    pub amount: CreditAmount,
    /// The minute in which the token was made. A meter accepts each identifier once.
    pub tid: Tid,
    /// Four random bits.
    pub rnd: Rnd,
}

impl Credit {
    pub(crate) fn payload(self) -> Payload {
        let [high, middle, low] = self.tid.to_field();
        let [amount_high, amount_low] = self.amount.to_field().to_be_bytes();
        let head = (self.kind.code() << 4) | self.rnd.bits();
        Payload { class: TokenClass::Credit, bytes: [head, high, middle, low, amount_high, amount_low] }
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

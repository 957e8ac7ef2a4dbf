//! Clear-credit tokens, class 2. An engineer uses them to remove the remaining credit from a meter.

use crate::block::{Payload, TokenClass};
use crate::credit_kind::CreditKind;
use crate::rnd::Rnd;
use crate::tid::Tid;

pub(crate) const SUB_CLASS: u8 = 1;

const ALL_REGISTERS: u16 = u16::MAX;
const FIRST_CURRENCY_REGISTER: u16 = 4;

/// The content of a clear-credit token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClearCredit {
    /// The registers that are cleared.
    pub registers: CreditRegisters,
    /// The minute in which the token was made. A meter accepts each identifier once.
    pub tid: Tid,
    /// Four random bits.
    pub rnd: Rnd,
}

/// The credit registers that a clear-credit token clears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CreditRegisters {
    /// Every register of the meter.
    All,
    /// One register. Its number is the sub-class of its credit tokens.
    One(CreditKind),
    /// The register of credit in currency for one service.
    Currency(CreditKind),
}

impl ClearCredit {
    pub(crate) fn payload(self) -> Payload {
        let [high, middle, low] = self.tid.to_field();
        let [register_high, register_low] = self.registers.to_field().to_be_bytes();
        let head = (SUB_CLASS << 4) | self.rnd.bits();
        Payload {
            class: TokenClass::MeterSpecific,
            bytes: [head, high, middle, low, register_high, register_low],
        }
    }

    pub(crate) fn from_payload(
        [head, high, middle, low, register_high, register_low]: [u8; 6],
    ) -> Option<Self> {
        Some(Self {
            registers: CreditRegisters::from_field(u16::from_be_bytes([register_high, register_low]))?,
            tid: Tid::from_field([high, middle, low]),
            rnd: Rnd::from_byte(head),
        })
    }
}

impl CreditRegisters {
    fn to_field(self) -> u16 {
        match self {
            Self::All => ALL_REGISTERS,
            Self::One(kind) => u16::from(kind.code()),
            Self::Currency(kind) => FIRST_CURRENCY_REGISTER + u16::from(kind.code()),
        }
    }

    fn from_field(field: u16) -> Option<Self> {
        match field {
            ALL_REGISTERS => Some(Self::All),
            one => {
                let kind = |register: u16| u8::try_from(register).ok().and_then(CreditKind::from_code);
                let currency = || one.checked_sub(FIRST_CURRENCY_REGISTER).and_then(kind).map(Self::Currency);
                kind(one).map(Self::One).or_else(currency)
            }
        }
    }
}

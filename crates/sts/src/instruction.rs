//! Instructions of class 2: an engineer changes the settings of one meter.

use crate::amount::{AmountError, CreditAmount};
use crate::block::{Payload, TokenClass};
use crate::rnd::Rnd;
use crate::tid::Tid;

/// An instruction to one meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Instruction {
    /// Sub-class 0: the most power that the load may draw.
    MaximumPower(PowerLimit),
    /// Sub-class 2: the rate of the tariff. The standard reserves the meaning of these bits.
    TariffRate(u16),
    /// Sub-class 5: the meter forgets that it was tampered with, and what it did because of that.
    ClearTamper,
    /// Sub-class 6: the greatest difference of power between the phases.
    PhaseUnbalance(PowerLimit),
    /// Sub-class 7: the factor of a water meter. The standard reserves the meaning of these bits.
    WaterFactor(u16),
}

/// The content of an instruction token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstructionToken {
    /// What the meter is told to do.
    pub instruction: Instruction,
    /// The minute in which the token was made. A meter accepts each identifier once.
    pub tid: Tid,
    /// Four random bits.
    pub rnd: Rnd,
}

/// A limit in watts, in the form of a token: as a [`CreditAmount`], rounded up where the field cannot express it.
///
/// ```
/// use sts::PowerLimit;
///
/// assert_eq!(PowerLimit::rounding_up(1_000)?.watts(), 1_000);
/// assert_eq!(PowerLimit::rounding_up(16_385)?.watts(), 16_394);
/// # Ok::<(), sts::AmountError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PowerLimit(CreditAmount);

impl PowerLimit {
    /// The smallest limit a token can carry that is not less than `watts`.
    pub fn rounding_up(watts: u64) -> Result<Self, AmountError> {
        CreditAmount::rounding_up(watts).map(Self).map_err(|_overflow| AmountError::PowerOverflow { watts })
    }

    /// The limit of these sixteen bits. Every value is valid.
    pub fn from_field(field: u16) -> Self {
        Self(CreditAmount::from_field(field))
    }

    /// The limit, in watts.
    pub fn watts(self) -> u32 {
        self.0.tenths()
    }
}

impl Instruction {
    fn sub_class(self) -> u8 {
        match self {
            Self::MaximumPower(_) => 0,
            Self::TariffRate(_) => 2,
            Self::ClearTamper => 5,
            Self::PhaseUnbalance(_) => 6,
            Self::WaterFactor(_) => 7,
        }
    }

    fn field(self) -> u16 {
        match self {
            Self::MaximumPower(limit) | Self::PhaseUnbalance(limit) => limit.0.to_field(),
            Self::TariffRate(bits) | Self::WaterFactor(bits) => bits,
            Self::ClearTamper => 0,
        }
    }

    fn from_parts(sub_class: u8, field: u16) -> Option<Self> {
        match (sub_class, field) {
            (0, limit) => Some(Self::MaximumPower(PowerLimit::from_field(limit))),
            (2, bits) => Some(Self::TariffRate(bits)),
            (5, 0) => Some(Self::ClearTamper),
            (6, limit) => Some(Self::PhaseUnbalance(PowerLimit::from_field(limit))),
            (7, bits) => Some(Self::WaterFactor(bits)),
            _ => None,
        }
    }
}

impl InstructionToken {
    pub(crate) fn payload(self) -> Payload {
        let [high, middle, low] = self.tid.to_field();
        let [field_high, field_low] = self.instruction.field().to_be_bytes();
        let head = (self.instruction.sub_class() << 4) | self.rnd.bits();
        Payload { class: TokenClass::MeterSpecific, bytes: [head, high, middle, low, field_high, field_low] }
    }

    pub(crate) fn from_payload([head, high, middle, low, field_high, field_low]: [u8; 6]) -> Option<Self> {
        Some(Self {
            instruction: Instruction::from_parts(head >> 4, u16::from_be_bytes([field_high, field_low]))?,
            tid: Tid::from_field([high, middle, low]),
            rnd: Rnd::from_byte(head),
        })
    }
}

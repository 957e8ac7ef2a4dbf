//! The kinds of credit of a prepayment meter.

/// The service that a credit token pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CreditKind {
    /// Electricity, in tenths of a kilowatt-hour.
    Electricity,
    /// Water, in tenths of a cubic metre.
    Water,
    /// Gas, in tenths of a cubic metre.
    Gas,
    /// Time, in tenths of a minute.
    Time,
}

impl CreditKind {
    /// The sub-class of class 0 for this kind.
    pub fn code(self) -> u8 {
        match self {
            Self::Electricity => 0,
            Self::Water => 1,
            Self::Gas => 2,
            Self::Time => 3,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Electricity),
            1 => Some(Self::Water),
            2 => Some(Self::Gas),
            3 => Some(Self::Time),
            _ => None,
        }
    }
}

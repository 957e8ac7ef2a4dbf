//! What a decoder key may be used for.

/// A key type (KT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// 0, DITK: set by the maker, to be replaced before the meter is used.
    Initialisation,
    /// 1, DDTK: a meter in no supply group yet.
    Default,
    /// 2, DUTK: unique to one meter; what a utility's meter normally has.
    Unique,
    /// 3, DCTK: common to a group of meters.
    Common,
}

impl KeyType {
    /// The number that stands for this type, in key derivation and in a key change.
    pub fn code(self) -> u8 {
        match self {
            Self::Initialisation => 0,
            Self::Default => 1,
            Self::Unique => 2,
            Self::Common => 3,
        }
    }

    /// The type that the lowest two bits stand for.
    pub(crate) fn from_low_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0 => Self::Initialisation,
            1 => Self::Default,
            2 => Self::Unique,
            _ => Self::Common,
        }
    }
}

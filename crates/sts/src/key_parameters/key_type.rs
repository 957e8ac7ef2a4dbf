//! The permitted use of a decoder key.

/// A key type (KT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// 0, DITK: the key that the manufacturer sets. It is replaced before the meter is used.
    Initialisation,
    /// 1, DDTK: the key of a meter that is in no supply group yet.
    Default,
    /// 2, DUTK: a key that is unique to one meter. A utility's meter normally has this type.
    Unique,
    /// 3, DCTK: a key that a group of meters shares.
    Common,
}

impl KeyType {
    /// The number of this type, in key derivation and in a key change.
    pub fn code(self) -> u8 {
        match self {
            Self::Initialisation => 0,
            Self::Default => 1,
            Self::Unique => 2,
            Self::Common => 3,
        }
    }

    /// The type of the lowest two bits.
    pub(crate) fn from_low_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0 => Self::Initialisation,
            1 => Self::Default,
            2 => Self::Unique,
            _ => Self::Common,
        }
    }
}

//! The encryption algorithms of meters.

/// The encryption algorithm of a meter's decoder, by its IEC 62055-41 code.
///
/// EA07 is not supported, because its tables are confidential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EncryptionAlgorithm {
    /// EA09: single DES under a decoder key of 64 bits. A key change takes two tokens. The edition of 2018
    /// withdrew it.
    Ea09,
    /// EA11: MISTY1 under a decoder key of 128 bits. A key change takes four tokens.
    Ea11,
}

impl EncryptionAlgorithm {
    /// The two digits of this algorithm, in key derivation and on the wire.
    pub fn code(self) -> &'static str {
        match self {
            Self::Ea09 => "09",
            Self::Ea11 => "11",
        }
    }

    /// The length of a decoder key.
    pub(crate) fn key_bytes(self) -> usize {
        match self {
            Self::Ea09 => 8,
            Self::Ea11 => 16,
        }
    }

    /// The number of tokens of a key change.
    pub fn key_change_tokens(self) -> usize {
        match self {
            Self::Ea09 => 2,
            Self::Ea11 => 4,
        }
    }
}

//! One section of a key change. It is the content of one token.

use core::fmt;

use alloc::vec::Vec;

use zeroize::Zeroize;

use super::KeyChange;
use crate::block::{Payload, TokenClass};
use crate::decoder_key::DecoderKey;
use crate::key_parameters::{KeyParameters, KeyRevision, KeyType, TariffIndex};

const ROLL_OVER: u8 = 0b1000;
const THREE_TOKENS: u8 = 0b0100;

/// One section of a key change (class 2): four bytes of the new key, and some of its parameters.
///
/// It contains key material. Its bytes are erased when it is dropped, and `Debug` shows only its number.
#[derive(Clone, PartialEq, Eq)]
pub struct KeySection {
    pub(super) label: SectionLabel,
    pub(super) quarter: [u8; 4],
}

/// The number of a section. Sections are entered in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SectionNumber {
    /// Sub-class 3.
    First,
    /// Sub-class 4. It is the last section for a key of 64 bits.
    Second,
    /// Sub-class 8.
    Third,
    /// Sub-class 9.
    Fourth,
}

/// The parameters in a section. An expiry number has two halves of 4 bits, a supply group code two halves of 12 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SectionLabel {
    First { expiry_high: u8, revision: KeyRevision, roll_over: bool, key_type: KeyType },
    Second { expiry_low: u8, tariff_index: TariffIndex },
    Third { supply_group_low: u16 },
    Fourth { supply_group_high: u16 },
}

impl SectionNumber {
    /// All numbers, in the order of entry.
    pub const ALL: [Self; 4] = [Self::First, Self::Second, Self::Third, Self::Fourth];

    fn sub_class(self) -> u8 {
        match self {
            Self::First => 3,
            Self::Second => 4,
            Self::Third => 8,
            Self::Fourth => 9,
        }
    }

    fn from_sub_class(sub_class: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|number| number.sub_class() == sub_class)
    }
}

impl fmt::Display for SectionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "1st",
            Self::Second => "2nd",
            Self::Third => "3rd",
            Self::Fourth => "4th",
        })
    }
}

impl KeySection {
    /// The sections of a change to this key with these parameters, in the order of entry: two for a key of 64 bits, four for a
    /// key of 128 bits. `roll_over` tells the meter that its base date moves to the next one.
    ///
    /// [`TokenIssuer::key_change_to`](crate::TokenIssuer::key_change_to) makes the tokens at once. This is for a security module
    /// from which the new key leaves ([`IssuingKey::key_change`](crate::IssuingKey::key_change)).
    pub fn of(new_key: &DecoderKey, parameters: &KeyParameters, roll_over: bool) -> Vec<Self> {
        KeyChange::sections(new_key, parameters, roll_over)
    }

    /// The number of this section.
    pub fn number(&self) -> SectionNumber {
        match self.label {
            SectionLabel::First { .. } => SectionNumber::First,
            SectionLabel::Second { .. } => SectionNumber::Second,
            SectionLabel::Third { .. } => SectionNumber::Third,
            SectionLabel::Fourth { .. } => SectionNumber::Fourth,
        }
    }

    pub(crate) fn payload(&self) -> Payload {
        let [a, b, c, d] = self.quarter;
        let (nibble, byte) = self.label.to_bits();
        let head = (self.number().sub_class() << 4) | nibble;
        Payload { class: TokenClass::MeterSpecific, bytes: [head, byte, a, b, c, d] }
    }

    pub(crate) fn from_payload([head, byte, a, b, c, d]: [u8; 6]) -> Option<Self> {
        let number = SectionNumber::from_sub_class(head >> 4)?;
        let label = SectionLabel::from_bits(number, head & 0x0F, byte)?;
        Some(Self { label, quarter: [a, b, c, d] })
    }
}

impl fmt::Debug for KeySection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySection({}, redacted)", self.number())
    }
}

impl Drop for KeySection {
    fn drop(&mut self) {
        self.quarter.zeroize();
    }
}

impl SectionLabel {
    /// The twelve bits between the sub-class and the key: the first four, and the other eight.
    fn to_bits(self) -> (u8, u8) {
        match self {
            Self::First { expiry_high, revision, roll_over, key_type } => {
                let roll_over = if roll_over { ROLL_OVER } else { 0 };
                (expiry_high, (revision.get() << 4) | roll_over | key_type.code())
            }
            Self::Second { expiry_low, tariff_index } => (expiry_low, tariff_index.get()),
            Self::Third { supply_group_low: half } | Self::Fourth { supply_group_high: half } => {
                let [nibble, byte] = half.to_be_bytes();
                (nibble, byte)
            }
        }
    }

    /// `None` if a field has an invalid value or announces a key change of three tokens.
    fn from_bits(number: SectionNumber, nibble: u8, byte: u8) -> Option<Self> {
        let half = u16::from_be_bytes([nibble, byte]);
        match number {
            SectionNumber::First if byte & THREE_TOKENS != 0 => None,
            SectionNumber::First => Some(Self::First {
                expiry_high: nibble,
                revision: KeyRevision::try_new(byte >> 4).ok()?,
                roll_over: byte & ROLL_OVER != 0,
                key_type: KeyType::from_low_bits(byte),
            }),
            SectionNumber::Second => {
                Some(Self::Second { expiry_low: nibble, tariff_index: TariffIndex::try_new(byte).ok()? })
            }
            SectionNumber::Third => Some(Self::Third { supply_group_low: half }),
            SectionNumber::Fourth => Some(Self::Fourth { supply_group_high: half }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_with_an_impossible_field_is_not_read() {
        for bytes in [
            [0x3F, 0x02, 1, 2, 3, 4],
            [0x3F, 0xA2, 1, 2, 3, 4],
            [0x3F, 0x16, 1, 2, 3, 4],
            [0x4F, 100, 1, 2, 3, 4],
            [0x5F, 0x12, 1, 2, 3, 4],
        ] {
            assert!(KeySection::from_payload(bytes).is_none(), "{bytes:02x?}");
        }
    }

    #[test]
    fn key_material_never_reaches_debug_output() {
        let section = KeySection::from_payload([0x4F, 1, 0xAB, 0xCD, 0xEF, 0x12]).unwrap();
        assert_eq!(format!("{section:?}"), "KeySection(2nd, redacted)");
    }
}

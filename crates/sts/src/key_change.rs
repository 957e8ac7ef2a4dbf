//! A key change: a new decoder key is split into sections and joined again in the meter.

mod section;

pub use section::{KeySection, SectionNumber};

use alloc::vec;
use alloc::vec::Vec;

use crate::base_date::BaseDate;
use crate::decoder_key::DecoderKey;
use crate::key_parameters::{KeyExpiry, KeyParameters, KeyRevision, KeyType, SupplyGroupCode, TariffIndex};

use section::SectionLabel;

/// The joint content of all sections of one key change.
#[derive(Clone, Debug)]
pub(crate) struct KeyChange {
    pub(crate) key: DecoderKey,
    pub(crate) revision: KeyRevision,
    pub(crate) tariff_index: TariffIndex,
    pub(crate) key_type: KeyType,
    pub(crate) expiry: KeyExpiry,
    /// Whether the base date moves to the next one. Then the meter forgets which identifiers it has seen.
    pub(crate) roll_over: bool,
    /// The supply group. Only a key change of four sections contains it.
    pub(crate) supply_group: Option<SupplyGroupCode>,
}

impl KeyChange {
    /// The sections in the order of entry: two for a key of 64 bits, four for a key of 128 bits.
    pub(crate) fn sections(
        new_key: &DecoderKey,
        parameters: &KeyParameters,
        roll_over: bool,
    ) -> Vec<KeySection> {
        let expiry = parameters.expiry.get();
        let (supply_group_high, supply_group_low) = parameters.supply_group.to_halves();
        let first = SectionLabel::First {
            expiry_high: expiry >> 4,
            revision: parameters.revision,
            roll_over,
            key_type: parameters.key_type,
        };
        let second =
            SectionLabel::Second { expiry_low: expiry & 0x0F, tariff_index: parameters.tariff_index };
        let third = SectionLabel::Third { supply_group_low };
        let fourth = SectionLabel::Fourth { supply_group_high };

        let section = |label, quarter: &[u8; 4]| KeySection { label, quarter: *quarter };
        match new_key.expose_quarters().as_slice() {
            [a, b, c, d] => {
                vec![section(first, a), section(second, d), section(third, b), section(fourth, c)]
            }
            quarters => {
                [first, second].into_iter().zip(quarters).map(|(label, q)| section(label, q)).collect()
            }
        }
    }

    /// Joins the sections of one key change. `None` unless there are two or four, in order and with valid fields.
    pub(crate) fn from_sections(sections: &[KeySection]) -> Option<Self> {
        let [first, second, rest @ ..] = sections else { return None };
        let SectionLabel::First { expiry_high, revision, roll_over, key_type } = first.label else {
            return None;
        };
        let SectionLabel::Second { expiry_low, tariff_index } = second.label else { return None };
        let (key, supply_group) = match rest {
            [] => (DecoderKey::from_ea09_quarters([first.quarter, second.quarter]), None),
            [third, fourth] => {
                let SectionLabel::Third { supply_group_low } = third.label else { return None };
                let SectionLabel::Fourth { supply_group_high } = fourth.label else { return None };
                let quarters = [first.quarter, third.quarter, fourth.quarter, second.quarter];
                let code = SupplyGroupCode::from_halves(supply_group_high, supply_group_low).ok()?;
                (DecoderKey::from_ea11_quarters(quarters), Some(code))
            }
            _ => return None,
        };
        let expiry = KeyExpiry::after_period((expiry_high << 4) | expiry_low);
        Some(Self { key, revision, tariff_index, key_type, expiry, roll_over, supply_group })
    }

    /// The key parameters that the meter has after this change, if it had `before`.
    pub(crate) fn applied_to(&self, before: &KeyParameters) -> KeyParameters {
        KeyParameters {
            supply_group: self.supply_group.unwrap_or(before.supply_group),
            tariff_index: self.tariff_index,
            revision: self.revision,
            key_type: self.key_type,
            base_date: self.base_date_after(before.base_date),
            expiry: self.expiry,
        }
    }

    fn base_date_after(&self, before: BaseDate) -> BaseDate {
        if self.roll_over { before.next().unwrap_or(before) } else { before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(base_date: BaseDate, revision: u8) -> KeyParameters {
        KeyParameters {
            supply_group: SupplyGroupCode::parse("123457").unwrap(),
            tariff_index: TariffIndex::try_new(2).unwrap(),
            revision: KeyRevision::try_new(revision).unwrap(),
            key_type: KeyType::Unique,
            base_date,
            expiry: KeyExpiry::NEVER,
        }
    }

    fn key(value: u128) -> DecoderKey {
        DecoderKey::from_ea11_bytes(value.to_be_bytes())
    }

    fn blocks(sections: &[KeySection]) -> Vec<String> {
        sections.iter().map(|section| hex::encode(section.payload().block())).collect()
    }

    #[test]
    fn the_published_key_change_has_these_blocks() {
        let new = key(0xb208_8343_72ef_892e_f6e0_4c28_5930_90d4);
        let sections = KeyChange::sections(&new, &parameters(BaseDate::Year1993, 1), false);
        assert_eq!(
            blocks(&sections),
            ["3f12b208834303b7", "4f02593090d431f3", "824172ef892ed7ec", "901ef6e04c288b32"]
        );
    }

    #[test]
    fn the_published_roll_over_has_these_blocks() {
        let new = key(0x1d7b_719a_e473_0402_c3b4_5e18_e23f_f59d);
        let sections = KeyChange::sections(&new, &parameters(BaseDate::Year2014, 4), true);
        assert_eq!(
            blocks(&sections),
            ["3f4a1d7b719a764f", "4f02e23ff59dcfb2", "8241e47304025ec7", "901ec3b45e18c99a"]
        );
    }

    #[test]
    fn sections_in_order_give_back_the_key_and_its_parameters() {
        let new = key(0x1d7b_719a_e473_0402_c3b4_5e18_e23f_f59d);
        let asked =
            KeyParameters { expiry: KeyExpiry::after_period(0x5A), ..parameters(BaseDate::Year2014, 4) };
        let change = KeyChange::from_sections(&KeyChange::sections(&new, &asked, true)).unwrap();
        assert_eq!(change.key.expose_quarters(), new.expose_quarters());
        let before = KeyParameters {
            supply_group: SupplyGroupCode::parse("000001").unwrap(),
            ..parameters(BaseDate::Year1993, 1)
        };
        assert_eq!(change.applied_to(&before), asked);
    }

    #[test]
    fn a_key_of_64_bits_has_no_room_for_the_supply_group() {
        let new = DecoderKey::from_ea09_bytes([1, 2, 3, 4, 5, 6, 7, 8]);
        let sections = KeyChange::sections(&new, &parameters(BaseDate::Year2014, 4), false);
        assert_eq!(sections.len(), 2);
        assert_eq!(sections[0].payload().bytes, [0x3F, 0x42, 1, 2, 3, 4]);
        assert_eq!(sections[1].payload().bytes, [0x4F, 0x02, 5, 6, 7, 8]);
        let change = KeyChange::from_sections(&sections).unwrap();
        assert_eq!(change.key.expose_quarters(), new.expose_quarters());
        assert_eq!(change.supply_group, None);
    }

    #[test]
    fn sections_in_another_order_make_no_key() {
        let new = key(7);
        let mut sections = KeyChange::sections(&new, &parameters(BaseDate::Year2014, 4), false);
        sections.swap(2, 3);
        assert!(KeyChange::from_sections(&sections).is_none());
        assert!(KeyChange::from_sections(&sections[..3]).is_none());
        assert!(KeyChange::from_sections(&[]).is_none());
    }
}

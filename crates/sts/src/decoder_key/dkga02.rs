//! Key derivation DKGA02: single DES over the account number and the parameters of a decoder key.

use des::Des;
use des::cipher::{BlockCipherEncrypt, KeyInit};

use alloc::format;

use crate::key_parameters::KeyParameters;
use crate::meter_pan::MeterPan;
use crate::vending_key::DesVendingKey;

/// The derived key: the bytes of `E(block) ^ block ^ vending key`, in reverse order.
pub(super) fn derive(vending_key: &DesVendingKey, parameters: &KeyParameters, pan: &MeterPan) -> [u8; 8] {
    let block = data_block(parameters, pan);
    let mut encrypted = block.into();
    Des::new(vending_key.expose().into()).encrypt_block(&mut encrypted);
    let encrypted: [u8; 8] = encrypted.into();
    let mut key = [0; 8];
    for (place, byte) in key.iter_mut().rev().enumerate() {
        let at = |bytes: &[u8; 8]| bytes.get(place).copied().unwrap_or_default();
        *byte = at(&encrypted) ^ at(&block) ^ at(vending_key.expose());
    }
    key
}

/// Sixteen digits of the account number, without its last one, and sixteen digits of the parameters.
fn data_block(parameters: &KeyParameters, pan: &MeterPan) -> [u8; 8] {
    let account = pan.as_str().get(1..17).expect("an account number has 18 digits");
    let control = format!(
        "{}{}{}{}FFFFFF",
        parameters.key_type.code(),
        parameters.supply_group,
        parameters.tariff_index,
        parameters.revision
    );
    let number = |digits: &str| u64::from_str_radix(digits, 16).expect("sixteen digits");
    (number(account) ^ number(&control)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base_date::BaseDate;
    use crate::key_parameters::{KeyExpiry, KeyRevision, KeyType, SupplyGroupCode, TariffIndex};

    #[test]
    fn the_published_key_is_derived() {
        let parameters = KeyParameters {
            supply_group: SupplyGroupCode::parse("123456").unwrap(),
            tariff_index: TariffIndex::try_new(1).unwrap(),
            revision: KeyRevision::try_new(1).unwrap(),
            key_type: KeyType::Unique,
            base_date: BaseDate::Year1993,
            expiry: KeyExpiry::NEVER,
        };
        let pan = MeterPan::parse("600727000000000009").unwrap();
        assert_eq!(data_block(&parameters, &pan), 0x2151_3560_11FF_FFFF_u64.to_be_bytes());
        let key = derive(&DesVendingKey::from_bytes([0xAB; 8]), &parameters, &pan);
        assert_eq!(key, 0x6ff3_5b9d_1f34_53e6_u64.to_be_bytes());
    }
}

//! Key derivation DKGA04: HMAC-SHA-256 over all parameters of a decoder key.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::key_parameters::KeyParameters;
use crate::meter_pan::MeterPan;
use crate::vending_key::VendingKey;

/// The digest of which the first bytes are the decoder key.
pub(super) fn hmac(vending_key: &VendingKey, message: &[u8]) -> [u8; 32] {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(vending_key.expose()).expect("HMAC takes keys of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// What the vending key authenticates, for a decoder key of this many bytes and the encryption algorithm with this code.
pub(super) fn message(
    algorithm_code: &str,
    parameters: &KeyParameters,
    pan: &MeterPan,
    key_bytes: usize,
) -> Vec<u8> {
    let mut block = vec![4];
    append(&mut block, "04");
    append(&mut block, parameters.base_date.code());
    append(&mut block, algorithm_code);
    append(&mut block, &parameters.tariff_index.to_string());
    // Two constant bytes. They are not the length of a field.
    block.extend([0x00, 0x04]);
    append(&mut block, &parameters.supply_group.to_string());
    append(&mut block, &parameters.key_type.code().to_string());
    append(&mut block, &parameters.revision.to_string());
    append(&mut block, pan.as_str());
    let key_bits = u32::try_from(key_bytes * 8).expect("a decoder key has a few hundred bits at most");
    block.extend(key_bits.to_be_bytes());
    block
}

/// Appends a field: its length in one byte, then its text.
fn append(block: &mut Vec<u8>, text: &str) {
    block.push(u8::try_from(text.len()).expect("no field is longer than a PAN of 18 digits"));
    block.extend(text.bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base_date::BaseDate;
    use crate::key_parameters::{KeyExpiry, KeyRevision, KeyType, SupplyGroupCode, TariffIndex};

    fn parameters(base_date: BaseDate, revision: u8, tariff_index: u8) -> KeyParameters {
        KeyParameters {
            supply_group: SupplyGroupCode::parse("123457").unwrap(),
            tariff_index: TariffIndex::try_new(tariff_index).unwrap(),
            revision: KeyRevision::try_new(revision).unwrap(),
            key_type: KeyType::Unique,
            base_date,
            expiry: KeyExpiry::NEVER,
        }
    }

    fn vending_key() -> VendingKey {
        let bytes = hex::decode("abababababababab949494949494949401234567").unwrap();
        VendingKey::from_bytes(bytes.try_into().unwrap())
    }

    fn pan() -> MeterPan {
        MeterPan::parse("600727000000000009").unwrap()
    }

    fn key<const N: usize>(algorithm: &str, parameters: &KeyParameters) -> String {
        hex::encode(&hmac(&vending_key(), &message(algorithm, parameters, &pan(), N))[..N])
    }

    #[test]
    fn the_message_is_the_published_one() {
        assert_eq!(
            hex::encode(message("11", &parameters(BaseDate::Year1993, 1, 1), &pan(), 16)),
            "04023034023933023131023031000406313233343537013201311236303037323730303030303030303030303900000080"
        );
    }

    #[test]
    fn the_published_keys_of_128_bits_are_derived() {
        for (parameters, expected) in [
            (parameters(BaseDate::Year1993, 1, 1), "f94b6ed353c3bfdb113e2d3a7ea3c41d"),
            (parameters(BaseDate::Year1993, 1, 2), "b208834372ef892ef6e04c28593090d4"),
            (parameters(BaseDate::Year2014, 4, 2), "1d7b719ae4730402c3b45e18e23ff59d"),
        ] {
            assert_eq!(key::<16>("11", &parameters), expected);
        }
    }

    #[test]
    fn the_published_key_of_64_bits_is_derived() {
        assert_eq!(key::<8>("07", &parameters(BaseDate::Year1993, 1, 1)), "aa4baa8749c10d27");
    }
}

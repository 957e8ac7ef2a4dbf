//! The decoder key of one meter, with its cipher.

mod dkga04;

use std::fmt;

use des::Des;
use des::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use zeroize::Zeroize;

use crate::algorithm::EncryptionAlgorithm;
use crate::key_parameters::KeyParameters;
use crate::meter_pan::MeterPan;
use crate::misty1::Misty1;
use crate::vending_key::VendingKey;

/// A decoder key. With it one can make tokens for one meter.
///
/// Its bytes are erased when it is dropped. `Debug` shows only its algorithm.
///
/// ```
/// let key = sts::DecoderKey::from_ea11_bytes([7; 16]);
/// assert_eq!(format!("{key:?}"), "DecoderKey(Ea11, redacted)");
/// ```
#[derive(Clone)]
pub struct DecoderKey(KeyBytes);

#[derive(Clone)]
enum KeyBytes {
    Ea09([u8; 8]),
    Ea11([u8; 16]),
}

impl DecoderKey {
    /// Derives the key of one meter by DKGA04: HMAC-SHA-256 with the vending key, truncated to the key length of the
    /// cipher.
    pub fn derive(
        vending_key: &VendingKey,
        algorithm: EncryptionAlgorithm,
        parameters: &KeyParameters,
        pan: &MeterPan,
    ) -> Self {
        let code = algorithm.code();
        Self(match algorithm {
            EncryptionAlgorithm::Ea09 => KeyBytes::Ea09(dkga04::derive(vending_key, code, parameters, pan)),
            EncryptionAlgorithm::Ea11 => KeyBytes::Ea11(dkga04::derive(vending_key, code, parameters, pan)),
        })
    }

    /// A key for single DES. The parity bits are kept, because a key change carries them. The cipher ignores them.
    pub fn from_ea09_bytes(bytes: [u8; 8]) -> Self {
        Self(KeyBytes::Ea09(bytes))
    }

    /// A key for MISTY1.
    pub fn from_ea11_bytes(bytes: [u8; 16]) -> Self {
        Self(KeyBytes::Ea11(bytes))
    }

    /// The cipher that this key is for.
    pub fn algorithm(&self) -> EncryptionAlgorithm {
        match &self.0 {
            KeyBytes::Ea09(_) => EncryptionAlgorithm::Ea09,
            KeyBytes::Ea11(_) => EncryptionAlgorithm::Ea11,
        }
    }

    pub(crate) fn encrypt(&self, block: [u8; 8]) -> [u8; 8] {
        match &self.0 {
            KeyBytes::Ea09(key) => {
                let mut block = block.into();
                Des::new(key.into()).encrypt_block(&mut block);
                block.into()
            }
            KeyBytes::Ea11(key) => Misty1::new(key).encrypt(block),
        }
    }

    pub(crate) fn decrypt(&self, block: [u8; 8]) -> [u8; 8] {
        match &self.0 {
            KeyBytes::Ea09(key) => {
                let mut block = block.into();
                Des::new(key.into()).decrypt_block(&mut block);
                block.into()
            }
            KeyBytes::Ea11(key) => Misty1::new(key).decrypt(block),
        }
    }

    pub(crate) fn from_ea09_quarters(quarters: [[u8; 4]; 2]) -> Self {
        Self::from_ea09_bytes(*quarters.as_flattened().first_chunk().expect("two quarters have eight bytes"))
    }

    pub(crate) fn from_ea11_quarters(quarters: [[u8; 4]; 4]) -> Self {
        Self::from_ea11_bytes(*quarters.as_flattened().first_chunk().expect("four quarters have 16 bytes"))
    }

    /// The key in parts of four bytes, in the order of the key: two or four parts.
    pub(crate) fn expose_quarters(&self) -> &[[u8; 4]] {
        let (quarters, _) = match &self.0 {
            KeyBytes::Ea09(key) => key.as_chunks(),
            KeyBytes::Ea11(key) => key.as_chunks(),
        };
        quarters
    }
}

impl fmt::Debug for DecoderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecoderKey({:?}, redacted)", self.algorithm())
    }
}

impl Drop for KeyBytes {
    fn drop(&mut self) {
        match self {
            Self::Ea09(key) => key.zeroize(),
            Self::Ea11(key) => key.zeroize(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ea09_is_single_des() {
        let key = DecoderKey::from_ea09_bytes(0x1334_5779_9BBC_DFF1_u64.to_be_bytes());
        let secret = key.encrypt(0x0123_4567_89AB_CDEF_u64.to_be_bytes());
        assert_eq!(secret, 0x85E8_1354_0F0A_B405_u64.to_be_bytes());
        assert_eq!(key.decrypt(secret), 0x0123_4567_89AB_CDEF_u64.to_be_bytes());
    }
}

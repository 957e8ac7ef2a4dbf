//! The decoder key of one meter, with its cipher.

mod dkga02;
mod dkga04;

use core::convert::Infallible;
use core::fmt;

use alloc::vec::Vec;

use des::Des;
use des::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use zeroize::{Zeroize, Zeroizing};

use crate::algorithm::EncryptionAlgorithm;
use crate::key_parameters::{KeyParameters, KeyType};
use crate::meter_pan::MeterPan;
use crate::misty1::Misty1;
use crate::vending_key::{DesVendingKey, VendingKey};

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

/// Why a decoder key was not derived.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DerivationError {
    /// No published key shows how a key of this type is derived by DKGA02.
    #[error("a key of the type {key_type:?} is not derived by DKGA02 here")]
    KeyType {
        /// The type of the requested key.
        key_type: KeyType,
    },
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
        let hmac = |message: &[u8]| Ok::<_, Infallible>(dkga04::hmac(vending_key, message));
        let Ok(key) = Self::derive_with(algorithm, parameters, pan, hmac);
        key
    }

    /// As [`derive`](Self::derive), where something else computes the HMAC-SHA-256 of the message that it gets, for example a
    /// security module that keeps the vending key. The decoder key leaves that module.
    ///
    /// # Errors
    /// That of `hmac`.
    pub fn derive_with<E>(
        algorithm: EncryptionAlgorithm,
        parameters: &KeyParameters,
        pan: &MeterPan,
        hmac: impl FnOnce(&[u8]) -> Result<[u8; 32], E>,
    ) -> Result<Self, E> {
        let message = dkga04::message(algorithm.code(), parameters, pan, algorithm.key_bytes());
        let digest = Zeroizing::new(hmac(&message)?);
        Ok(match algorithm {
            EncryptionAlgorithm::Ea09 => Self::from_ea09_bytes(leading(&digest)),
            EncryptionAlgorithm::Ea11 => Self::from_ea11_bytes(leading(&digest)),
        })
    }

    /// Derives the key of one meter by DKGA02: single DES with a vending key of 64 bits. The key is one for
    /// [`Ea09`](EncryptionAlgorithm::Ea09).
    ///
    /// Only one published key confirms this derivation, and all bytes of its vending key are equal, so it cannot show in which
    /// order they are taken. They are taken as they are written. New meters have keys by DKGA04.
    ///
    /// # Errors
    /// [`DerivationError`] unless the key type is [`Default`](crate::KeyType::Default) or
    /// [`Unique`](crate::KeyType::Unique).
    pub fn derive_by_dkga02(
        vending_key: &DesVendingKey,
        parameters: &KeyParameters,
        pan: &MeterPan,
    ) -> Result<Self, DerivationError> {
        match parameters.key_type {
            KeyType::Default | KeyType::Unique => {
                Ok(Self::from_ea09_bytes(dkga02::derive(vending_key, parameters, pan)))
            }
            KeyType::Initialisation | KeyType::Common => {
                Err(DerivationError::KeyType { key_type: parameters.key_type })
            }
        }
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

    pub(crate) fn encrypt_block(&self, block: [u8; 8]) -> [u8; 8] {
        match &self.0 {
            KeyBytes::Ea09(key) => {
                let mut block = block.into();
                Des::new(key.into()).encrypt_block(&mut block);
                block.into()
            }
            KeyBytes::Ea11(key) => Misty1::new(key).encrypt(block),
        }
    }

    pub(crate) fn decrypt_block(&self, block: [u8; 8]) -> [u8; 8] {
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
    pub(crate) fn expose_quarters(&self) -> Zeroizing<Vec<[u8; 4]>> {
        let key: &[u8] = match &self.0 {
            KeyBytes::Ea09(key) => key,
            KeyBytes::Ea11(key) => key,
        };
        let quarter = |bytes: &[u8]| bytes.try_into().expect("a chunk of four bytes");
        Zeroizing::new(key.chunks_exact(4).map(quarter).collect())
    }
}

/// The first bytes of a digest.
fn leading<const N: usize>(digest: &[u8; 32]) -> [u8; N] {
    *digest.first_chunk().expect("a decoder key is shorter than a SHA-256 digest")
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
        let secret = key.encrypt_block(0x0123_4567_89AB_CDEF_u64.to_be_bytes());
        assert_eq!(secret, 0x85E8_1354_0F0A_B405_u64.to_be_bytes());
        assert_eq!(key.decrypt_block(secret), 0x0123_4567_89AB_CDEF_u64.to_be_bytes());
    }
}

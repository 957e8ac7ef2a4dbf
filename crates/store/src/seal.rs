//! Sealing at rest. Stored meter tokens and raw provider replies are unreadable without the deployment's keys, and
//! cannot be moved to another purchase or column.

mod replies;
mod settings;

use std::fmt;

use aes_gcm_siv::{
    Aes256GcmSiv, Nonce,
    aead::{Aead, KeyInit, Payload},
};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

pub use settings::{KeySettings, SealingSettings};

const NONCE_LENGTH: usize = 12;

/// The keys of a deployment: one that seals, and any number of older ones that still open.
#[derive(Debug, Clone)]
pub struct SealingKeys {
    current: SealingKey,
    older: Vec<SealingKey>,
}

/// One key with the number that rows use for it.
#[derive(Clone)]
pub struct SealingKey {
    id: i32,
    cipher: Aes256GcmSiv,
}

/// The row and column that a sealed value belongs to. It does not open anywhere else. The row of a purchase has the purchase's
/// number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aad {
    pub row_id: i64,
    pub column: &'static str,
}

/// A sealed value as stored: the number of its key, and the nonce and ciphertext together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    pub key_id: i32,
    pub bytes: Vec<u8>,
}

/// Why something could not be sealed or opened.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// A key is not 64 hexadecimal digits.
    // Without the decoder's message, because that names a character of the key.
    #[error("sealing key {id} is not 64 hexadecimal digits")]
    Malformed { id: i32 },
    /// Two keys have the same number.
    #[error("sealing key {id} is given twice")]
    KeyTwice { id: i32 },
    /// The deployment does not have the key that sealed this.
    #[error("sealing key {id} is not known")]
    KeyUnknown { id: i32 },
    /// The value was changed, moved from another row or column, or sealed under another key.
    #[error("the sealed {column} of row {row_id} does not open")]
    Broken { row_id: i64, column: &'static str },
    /// The operating system returned no randomness.
    #[error("no randomness for a nonce")]
    NoRandomness {
        #[source]
        source: getrandom::Error,
    },
}

impl SealingKey {
    /// The key numbered `id`.
    pub fn new(id: i32, key: &[u8; 32]) -> Self {
        Self { id, cipher: Aes256GcmSiv::new(key.into()) }
    }

    /// The key numbered `id`, from 64 hexadecimal digits.
    pub fn from_hex(id: i32, digits: &SecretString) -> Result<Self, SealError> {
        let mut key = Zeroizing::new([0; 32]);
        hex::decode_to_slice(digits.expose_secret(), key.as_mut_slice())
            .map_err(|_names_a_digit| SealError::Malformed { id })?;
        Ok(Self::new(id, &key))
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealingKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SealingKeys {
    /// Seals with `current`, and opens with `older` too.
    pub fn try_new(current: SealingKey, older: Vec<SealingKey>) -> Result<Self, SealError> {
        let mut ids: Vec<_> = older.iter().map(|key| key.id).chain([current.id]).collect();
        ids.sort_unstable();
        match ids.iter().zip(ids.iter().skip(1)).find(|(id, next)| id == next) {
            Some((&id, _)) => Err(SealError::KeyTwice { id }),
            None => Ok(Self { current, older }),
        }
    }

    /// Seals `plaintext` for `aad`.
    pub fn seal(&self, plaintext: &[u8], aad: Aad) -> Result<Sealed, SealError> {
        let mut nonce = [0; NONCE_LENGTH];
        getrandom::fill(&mut nonce).map_err(|source| SealError::NoRandomness { source })?;
        let payload = Payload { msg: plaintext, aad: &aad.bytes() };
        let ciphertext = self.current.cipher.encrypt(&Nonce::from(nonce), payload);
        let ciphertext = ciphertext.expect("every sealed value is far below the cipher's limit of 64 GiB");
        Ok(Sealed { key_id: self.current.id, bytes: [nonce.as_slice(), &ciphertext].concat() })
    }

    /// Opens a value that was sealed for `aad`.
    pub fn open(&self, sealed: &Sealed, aad: Aad) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let key = self.key(sealed.key_id)?;
        let broken = SealError::Broken { row_id: aad.row_id, column: aad.column };
        let Some((nonce, ciphertext)) = sealed.bytes.split_first_chunk::<NONCE_LENGTH>() else {
            return Err(broken);
        };
        let payload = Payload { msg: ciphertext, aad: &aad.bytes() };
        key.cipher.decrypt(&Nonce::from(*nonce), payload).map(Zeroizing::new).or(Err(broken))
    }

    fn key(&self, id: i32) -> Result<&SealingKey, SealError> {
        let mut keys = std::iter::once(&self.current).chain(&self.older);
        keys.find(|key| key.id == id).ok_or(SealError::KeyUnknown { id })
    }
}

impl Aad {
    fn bytes(self) -> Vec<u8> {
        [self.row_id.to_be_bytes().as_slice(), self.column.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &[u8] = b"1234 5678 9012 3456 7890";

    fn aad(row_id: i64, column: &'static str) -> Aad {
        Aad { row_id, column }
    }

    fn keys() -> SealingKeys {
        SealingKeys::try_new(SealingKey::new(2, &[2; 32]), vec![SealingKey::new(1, &[1; 32])]).unwrap()
    }

    #[test]
    fn what_was_sealed_opens_in_its_own_place_and_in_no_other() {
        let (keys, own) = (keys(), aad(7, "token"));
        let sealed = keys.seal(TOKEN, own).unwrap();

        assert_eq!(keys.open(&sealed, own).unwrap().as_slice(), TOKEN);
        for elsewhere in [aad(8, "token"), aad(7, "reply")] {
            assert!(matches!(keys.open(&sealed, elsewhere), Err(SealError::Broken { .. })));
        }
    }

    #[test]
    fn a_changed_or_cut_value_does_not_open() {
        let (keys, own) = (keys(), aad(7, "token"));
        let sealed = keys.seal(TOKEN, own).unwrap();
        for position in 0..sealed.bytes.len() {
            let mut changed = sealed.clone();
            changed.bytes[position] ^= 1;
            assert!(matches!(keys.open(&changed, own), Err(SealError::Broken { .. })));
            changed.bytes.truncate(position);
            assert!(matches!(keys.open(&changed, own), Err(SealError::Broken { .. })));
        }
    }

    #[test]
    fn an_older_key_opens_what_it_sealed_and_seals_no_more() {
        let old = SealingKeys::try_new(SealingKey::new(1, &[1; 32]), Vec::new()).unwrap();
        let sealed = old.seal(TOKEN, aad(7, "token")).unwrap();

        assert_eq!(keys().open(&sealed, aad(7, "token")).unwrap().as_slice(), TOKEN);
        assert_eq!(keys().seal(TOKEN, aad(7, "token")).unwrap().key_id, 2);
        let newer = keys().seal(TOKEN, aad(7, "token")).unwrap();
        assert!(matches!(old.open(&newer, aad(7, "token")), Err(SealError::KeyUnknown { id: 2 })));
    }

    #[test]
    fn the_same_value_sealed_twice_does_not_look_the_same() {
        let keys = keys();
        assert_ne!(keys.seal(TOKEN, aad(7, "token")).unwrap(), keys.seal(TOKEN, aad(7, "token")).unwrap());
    }

    #[test]
    fn two_keys_with_one_number_are_refused() {
        let twice = SealingKeys::try_new(SealingKey::new(1, &[1; 32]), vec![SealingKey::new(1, &[2; 32])]);
        assert!(matches!(twice, Err(SealError::KeyTwice { id: 1 })));
    }

    #[test]
    fn a_key_shows_its_number_and_nothing_of_itself() {
        let key = SealingKey::from_hex(3, &"ab".repeat(32).into()).unwrap();
        assert_eq!(format!("{key:?}"), "SealingKey { id: 3, .. }");
        assert!(matches!(SealingKey::from_hex(3, &"ab".into()), Err(SealError::Malformed { id: 3 })));
    }
}

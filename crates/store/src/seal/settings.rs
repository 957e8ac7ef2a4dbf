//! The sealing keys in a deployment's settings.

use secrecy::SecretString;
use serde::Deserialize;

use super::{SealError, SealingKey, SealingKeys};

/// The keys that seal tokens at rest: one that seals, and older ones that still open.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealingSettings {
    /// The key that seals, and opens what it sealed.
    pub current: KeySettings,
    /// Earlier keys, which still open what they sealed.
    #[serde(default)]
    pub older: Vec<KeySettings>,
}

/// One key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeySettings {
    /// The number by which sealed tokens name the key. Each key has another number, for ever.
    pub id: i32,
    /// The key itself, as 64 hexadecimal digits.
    pub key: SecretString,
}

impl SealingSettings {
    /// The keys of these settings.
    ///
    /// # Errors
    /// [`SealError::Malformed`] or [`SealError::KeyTwice`].
    pub fn keys(&self) -> Result<SealingKeys, SealError> {
        let key = |settings: &KeySettings| SealingKey::from_hex(settings.id, &settings.key);
        let older = self.older.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        SealingKeys::try_new(key(&self.current)?, older)
    }
}

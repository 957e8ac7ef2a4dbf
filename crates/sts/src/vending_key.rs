//! The secret of a supply group, from which every meter's key follows.

use std::fmt;

use zeroize::Zeroize;

/// A vending key of 160 bits, as key derivation DKGA04 takes it.
///
/// Whoever holds it can make credit for every meter of the supply group. Production keys live in a security module
/// and are never seen outside; this type is for published test keys and their like. It is wiped when dropped and
/// shows nothing in `Debug`.
///
/// ```
/// let key = sts::VendingKey::from_bytes([7; 20]);
/// assert_eq!(format!("{key:?}"), "VendingKey(redacted)");
/// ```
#[derive(Clone)]
pub struct VendingKey([u8; 20]);

impl VendingKey {
    /// Takes the key's bytes.
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    pub(crate) fn expose(&self) -> &[u8; 20] {
        &self.0
    }
}

impl fmt::Debug for VendingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VendingKey(redacted)")
    }
}

impl Drop for VendingKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

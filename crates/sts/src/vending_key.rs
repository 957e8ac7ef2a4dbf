//! The vending keys of a supply group. All decoder keys of the group are derived from it.

use core::fmt;

use zeroize::Zeroize;

/// A vending key of 160 bits for key derivation DKGA04.
///
/// With it one can make credit for every meter of the supply group. Production keys stay inside a security module, see
/// [`SecurityModule`](crate::SecurityModule). This type is for test keys, such as the published ones. Its bytes are erased when it is dropped, and `Debug` shows no
/// part of it.
///
/// ```
/// let key = sts::VendingKey::from_bytes([7; 20]);
/// assert_eq!(format!("{key:?}"), "VendingKey(redacted)");
/// ```
#[derive(Clone)]
pub struct VendingKey([u8; 20]);

impl VendingKey {
    /// A key with these bytes.
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

/// A vending key of 64 bits for key derivation DKGA02, which is older.
///
/// Its bytes are erased when it is dropped, and `Debug` shows no part of it.
#[derive(Clone)]
pub struct DesVendingKey([u8; 8]);

impl DesVendingKey {
    /// A key with these bytes.
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn expose(&self) -> &[u8; 8] {
        &self.0
    }
}

impl fmt::Debug for DesVendingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DesVendingKey(redacted)")
    }
}

impl Drop for DesVendingKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

//! The time at which a meter stops accepting credit under a key.

use crate::tid::Tid;

/// A key expiry number (KEN): the last period in which tokens are accepted. A period has 2¹⁶ minutes, about 45 days.
///
/// It is compared with the upper eight bits of a token's identifier. So 255 never expires.
///
/// ```
/// use sts::{KeyExpiry, Tid};
///
/// let expiry = KeyExpiry::after_period(1);
/// assert!(expiry.admits(Tid::try_new(0x01_FFFF)?));
/// assert!(!expiry.admits(Tid::try_new(0x02_0000)?));
/// assert!(KeyExpiry::NEVER.admits(Tid::try_new(0xFF_FFFF)?));
/// # Ok::<(), sts::TidError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyExpiry(u8);

impl KeyExpiry {
    /// The key does not expire within the range of its base date.
    pub const NEVER: Self = Self(u8::MAX);

    /// The key expires after this period, counted from the base date.
    pub fn after_period(number: u8) -> Self {
        Self(number)
    }

    /// The number itself.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Whether a token with this identifier is still accepted.
    pub fn admits(self, tid: Tid) -> bool {
        let [period, _, _] = tid.to_field();
        period <= self.0
    }
}

//! The four random bits of a token.

/// The random field (RND) of a token: four bits, so that equal purchases look different.
///
/// This crate generates no random bits. The caller passes a random byte, and its lower four bits are kept.
///
/// ```
/// assert_eq!(sts::Rnd::from_byte(0xA5), sts::Rnd::from_byte(0x05));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rnd(u8);

impl Rnd {
    /// Keeps the lower four bits.
    pub fn from_byte(byte: u8) -> Self {
        Self(byte & 0x0F)
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }
}

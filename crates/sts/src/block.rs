//! The conversion between six bytes of content and twenty digits: checksum, cipher, and the position of the class.

use crate::crc;
use crate::decoder_key::DecoderKey;
use crate::sts_token::StsToken;

/// The class of a token replaces the two bits at this position of the cipher text. These two bits move to the front.
const CLASS_BITS: u32 = 27;
const TWO_BITS: u128 = 0b11;
const CIPHER_LENGTH: u32 = u64::BITS;

/// The classes whose tokens are encrypted and in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Credit,
    MeterSpecific,
}

/// The decrypted content of a token, not interpreted yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) class: Class,
    pub(crate) bytes: [u8; 6],
}

/// Why a token has no valid payload.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unopened {
    Class(u8),
    Checksum,
}

impl Class {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Credit => 0,
            Self::MeterSpecific => 2,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Credit),
            2 => Some(Self::MeterSpecific),
            _ => None,
        }
    }
}

impl Payload {
    pub(crate) fn seal(&self, key: &DecoderKey) -> StsToken {
        let cipher = u128::from(u64::from_be_bytes(key.encrypt(self.block())));
        let moved = (cipher >> CLASS_BITS) & TWO_BITS;
        let class = u128::from(self.class.code());
        let kept = cipher & !(TWO_BITS << CLASS_BITS);
        StsToken::from_number((moved << CIPHER_LENGTH) | kept | (class << CLASS_BITS))
    }

    pub(crate) fn open(token: &StsToken, key: &DecoderKey) -> Result<Self, Unopened> {
        let number = token.number();
        let code = u8::try_from((number >> CLASS_BITS) & TWO_BITS).expect("two bits fit in a byte");
        let class = Class::from_code(code).ok_or(Unopened::Class(code))?;

        let moved = number >> CIPHER_LENGTH;
        let kept = number & u128::from(u64::MAX) & !(TWO_BITS << CLASS_BITS);
        let cipher = u64::try_from(kept | (moved << CLASS_BITS)).expect("64 bits were kept");
        let block = key.decrypt(cipher.to_be_bytes());

        let [bytes @ .., _, _] = block;
        let payload = Self { class, bytes };
        if payload.block() == block { Ok(payload) } else { Err(Unopened::Checksum) }
    }

    /// The content and its checksum. The checksum also covers the class.
    pub(crate) fn block(&self) -> [u8; 8] {
        let [b0, b1, b2, b3, b4, b5] = self.bytes;
        let [low, high] = crc::checksum(&[self.class.code(), b0, b1, b2, b3, b4, b5]);
        [b0, b1, b2, b3, b4, b5, low, high]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published() -> Payload {
        Payload { class: Class::Credit, bytes: [0x05, 0x59, 0x98, 0x2c, 0x00, 0x01] }
    }

    fn key() -> DecoderKey {
        DecoderKey::from_ea11_bytes(0xf94b_6ed3_53c3_bfdb_113e_2d3a_7ea3_c41d_u128.to_be_bytes())
    }

    #[test]
    fn the_published_block_becomes_the_published_cipher_and_digits() {
        assert_eq!(published().block(), 0x0559_982c_0001_2831_u64.to_be_bytes());
        assert_eq!(key().encrypt(published().block()), 0x3826_9a8e_5931_9817_u64.to_be_bytes());
        let token = published().seal(&key());
        assert_eq!(token.number(), 0x3_3826_9a8e_4131_9817);
        assert_eq!(token.digits(), "59386323472137426967");
        assert_eq!(Payload::open(&token, &key()), Ok(published()));
    }

    #[test]
    fn a_class_that_is_not_encrypted_or_not_in_use_is_named() {
        for code in [1_u8, 3] {
            let token = StsToken::from_number(u128::from(code) << CLASS_BITS);
            assert_eq!(Payload::open(&token, &key()), Err(Unopened::Class(code)));
        }
    }
}

//! The conversion between six bytes of content and twenty digits: checksum, cipher, and the position of the class.

use crate::cipher::Cipher;
use crate::crc;
use crate::sts_token::StsToken;

/// The class of a token replaces the two bits at this position of the cipher text. These two bits move to the front.
const CLASS_BITS: u32 = 27;
const TWO_BITS: u128 = 0b11;
const CIPHER_LENGTH: u32 = u64::BITS;

/// The sub-classes of credit in currency. One more byte is checked with them.
const CURRENCY_SUB_CLASSES: core::ops::RangeInclusive<u8> = 4..=7;
const CURRENCY_MARK: u8 = 1;

/// The classes of tokens that are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenClass {
    /// Class 0: credit. It is encrypted.
    Credit,
    /// Class 1: tests and displays, for every meter. It is not encrypted.
    MeterTest,
    /// Class 2: management of one meter. It is encrypted.
    MeterSpecific,
}

/// The decrypted content of a token, not interpreted yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) class: TokenClass,
    pub(crate) bytes: [u8; 6],
}

/// Why a token has no valid payload.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unopened<E> {
    Cipher(E),
    Checksum,
    Reserved(u8),
}

impl TokenClass {
    /// The number of the class.
    pub const fn code(self) -> u8 {
        match self {
            Self::Credit => 0,
            Self::MeterTest => 1,
            Self::MeterSpecific => 2,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Credit),
            1 => Some(Self::MeterTest),
            2 => Some(Self::MeterSpecific),
            _ => None,
        }
    }
}

impl StsToken {
    /// The token of this class with a block that was encrypted elsewhere, for example a section of a key change that a
    /// security module has made from a key that it keeps. A block of class 1 is not encrypted.
    pub fn from_block(class: TokenClass, block: [u8; 8]) -> Self {
        let cipher = u128::from(u64::from_be_bytes(block));
        let moved = (cipher >> CLASS_BITS) & TWO_BITS;
        let kept = cipher & !(TWO_BITS << CLASS_BITS);
        let class = u128::from(class.code());
        Self::from_number((moved << CIPHER_LENGTH) | kept | (class << CLASS_BITS))
    }

    /// The number of the class, 0 to 3, and the block.
    fn to_block(self) -> (u8, [u8; 8]) {
        let number = self.number();
        let class = u8::try_from((number >> CLASS_BITS) & TWO_BITS).expect("two bits fit in a byte");
        let moved = number >> CIPHER_LENGTH;
        let kept = number & u128::from(u64::MAX) & !(TWO_BITS << CLASS_BITS);
        let block = u64::try_from(kept | (moved << CLASS_BITS)).expect("64 bits were kept");
        (class, block.to_be_bytes())
    }
}

impl Payload {
    pub(crate) fn seal<C: Cipher>(&self, cipher: &C) -> Result<StsToken, C::Error> {
        let block = match self.class {
            TokenClass::MeterTest => self.block(),
            TokenClass::Credit | TokenClass::MeterSpecific => cipher.encrypt(self.block())?,
        };
        Ok(StsToken::from_block(self.class, block))
    }

    /// The checksum is judged before the class. A mistyped digit often changes the class too, and then the class says nothing.
    pub(crate) fn open<C: Cipher>(token: &StsToken, cipher: &C) -> Result<Self, Unopened<C::Error>> {
        let (code, block) = token.to_block();
        let block = match TokenClass::from_code(code) {
            Some(TokenClass::MeterTest) => block,
            Some(TokenClass::Credit | TokenClass::MeterSpecific) | None => {
                cipher.decrypt(block).map_err(Unopened::Cipher)?
            }
        };
        let [bytes @ .., low, high] = block;
        if checksum(code, bytes) != [low, high] {
            return Err(Unopened::Checksum);
        }
        let class = TokenClass::from_code(code).ok_or(Unopened::Reserved(code))?;
        Ok(Self { class, bytes })
    }

    /// The content and its checksum.
    pub(crate) fn block(&self) -> [u8; 8] {
        let [b0, b1, b2, b3, b4, b5] = self.bytes;
        let [low, high] = checksum(self.class.code(), self.bytes);
        [b0, b1, b2, b3, b4, b5, low, high]
    }
}

/// The checksum of a content. It also covers the class.
fn checksum(class: u8, [b0, b1, b2, b3, b4, b5]: [u8; 6]) -> [u8; 2] {
    if class == TokenClass::Credit.code() && CURRENCY_SUB_CLASSES.contains(&(b0 >> 4)) {
        return crc::checksum(&[class, b0, b1, b2, b3, b4, b5, CURRENCY_MARK]);
    }
    crc::checksum(&[class, b0, b1, b2, b3, b4, b5])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder_key::DecoderKey;

    fn published() -> Payload {
        Payload { class: TokenClass::Credit, bytes: [0x05, 0x59, 0x98, 0x2c, 0x00, 0x01] }
    }

    fn key() -> DecoderKey {
        DecoderKey::from_ea11_bytes(0xf94b_6ed3_53c3_bfdb_113e_2d3a_7ea3_c41d_u128.to_be_bytes())
    }

    #[test]
    fn the_published_block_becomes_the_published_cipher_and_digits() {
        assert_eq!(published().block(), 0x0559_982c_0001_2831_u64.to_be_bytes());
        assert_eq!(key().encrypt_block(published().block()), 0x3826_9a8e_5931_9817_u64.to_be_bytes());
        let token = published().seal(&key()).unwrap();
        assert_eq!(token.number(), 0x3_3826_9a8e_4131_9817);
        assert_eq!(token.digits(), "59386323472137426967");
        assert_eq!(Payload::open(&token, &key()), Ok(published()));
    }

    #[test]
    fn the_checksum_is_judged_before_the_class() {
        let token = published().seal(&key()).unwrap();
        for code in 1..=3_u128 {
            let mistyped = StsToken::from_number(token.number() ^ (code << CLASS_BITS));
            assert_eq!(Payload::open(&mistyped, &key()), Err(Unopened::Checksum), "class {code}");
        }
    }

    #[test]
    fn a_reserved_class_with_a_valid_checksum_is_named() {
        let mut block = [7; 8];
        [block[6], block[7]] = checksum(3, [7; 6]);
        let cipher = u128::from(u64::from_be_bytes(key().encrypt_block(block)));
        let moved = (cipher >> CLASS_BITS) & TWO_BITS;
        let token = (moved << CIPHER_LENGTH) | cipher | (TWO_BITS << CLASS_BITS);
        assert_eq!(Payload::open(&StsToken::from_number(token), &key()), Err(Unopened::Reserved(3)));
    }
}

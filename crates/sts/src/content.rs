//! The possible contents of a token, and their conversion to and from twenty digits.

use crate::block::{Payload, TokenClass, Unopened};
use crate::cipher::{Cipher, ReadError};
use crate::clear_credit::{self, ClearCredit};
use crate::credit::Credit;
use crate::currency_credit::CurrencyCredit;
use crate::decoder_key::DecoderKey;
use crate::instruction::InstructionToken;
use crate::key_change::KeySection;
use crate::meter_test::MeterTest;
use crate::sts_token::StsToken;

/// The content of a token: an instruction to the meter.
///
/// ```
/// use sts::{Credit, CreditAmount, CreditKind, DecodeError, DecoderKey, Rnd, Tid, TokenContent};
///
/// let key = DecoderKey::from_ea11_bytes(0xf94b6ed353c3bfdb113e2d3a7ea3c41d_u128.to_be_bytes());
/// let credit = TokenContent::Credit(Credit {
///     kind: CreditKind::Electricity,
///     amount: CreditAmount::rounding_up(1)?,
///     tid: Tid::try_new(5_871_660)?,
///     rnd: Rnd::from_byte(5),
/// });
/// let token = credit.encode(&key);
/// assert_eq!(token.digits(), "59386323472137426967");
/// assert_eq!(TokenContent::decode(&token, &key)?, credit);
///
/// let another_meter = DecoderKey::from_ea11_bytes([0; 16]);
/// assert_eq!(TokenContent::decode(&token, &another_meter), Err(DecodeError::WrongChecksum));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenContent {
    /// Add credit.
    Credit(Credit),
    /// Add credit in currency.
    CurrencyCredit(CurrencyCredit),
    /// Start tests or displays. It is not encrypted.
    MeterTest(MeterTest),
    /// Remove credit.
    ClearCredit(ClearCredit),
    /// Change a setting.
    Instruction(InstructionToken),
    /// Store one section of a new decoder key.
    KeySection(KeySection),
}

/// Why a token cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The checksum is wrong. That proves only that these digits are no token under this key: a digit is mistyped, or the token
    /// was made for another meter or under another key, or it is invented. Nothing tells which.
    #[error(
        "the checksum is wrong: a digit is mistyped, or the token was made for another meter or under another key"
    )]
    WrongChecksum,
    /// The checksum is right, and the class is reserved: 3.
    #[error("tokens of class {class} are not supported")]
    UnsupportedClass {
        /// The class of the token.
        class: u8,
    },
    /// The token was made under this key, but this crate does not know its content.
    #[error("tokens of class {class}, sub-class {sub_class} with these fields are not supported")]
    UnsupportedContent {
        /// The class of the token.
        class: u8,
        /// The sub-class of the token.
        sub_class: u8,
    },
}

impl TokenContent {
    /// Makes the token for the meter with this key.
    pub fn encode(&self, key: &DecoderKey) -> StsToken {
        let Ok(token) = self.encode_with(key);
        token
    }

    /// As [`encode`](Self::encode), with any cipher, for example a security module.
    ///
    /// # Errors
    /// That of the cipher.
    pub fn encode_with<C: Cipher>(&self, cipher: &C) -> Result<StsToken, C::Error> {
        match self {
            Self::Credit(credit) => credit.payload(),
            Self::CurrencyCredit(credit) => credit.payload(),
            Self::MeterTest(test) => test.payload(),
            Self::ClearCredit(clear) => clear.payload(),
            Self::Instruction(instruction) => instruction.payload(),
            Self::KeySection(section) => section.payload(),
        }
        .seal(cipher)
    }

    /// Reads a token in the same way as the meter with this key.
    ///
    /// The checksum has sixteen bits, so about one wrong token in 65,536 passes it. Most of those are refused because
    /// their content is invalid. The standard cannot detect the others.
    pub fn decode(token: &StsToken, key: &DecoderKey) -> Result<Self, DecodeError> {
        Self::decode_with(token, key).map_err(|error| match error {
            ReadError::Token(error) => error,
            ReadError::Cipher(never) => match never {},
        })
    }

    /// As [`decode`](Self::decode), with any cipher, for example a security module.
    pub fn decode_with<C: Cipher>(token: &StsToken, cipher: &C) -> Result<Self, ReadError<C::Error>> {
        let payload = Payload::open(token, cipher).map_err(|unopened| match unopened {
            Unopened::Checksum => ReadError::Token(DecodeError::WrongChecksum),
            Unopened::Reserved(class) => ReadError::Token(DecodeError::UnsupportedClass { class }),
            Unopened::Cipher(error) => ReadError::Cipher(error),
        })?;
        Self::from_payload(&payload).ok_or_else(|| {
            let [head, ..] = payload.bytes;
            DecodeError::UnsupportedContent { class: payload.class.code(), sub_class: head >> 4 }.into()
        })
    }

    fn from_payload(payload: &Payload) -> Option<Self> {
        let bytes = payload.bytes;
        let [head, ..] = bytes;
        match (payload.class, head >> 4) {
            (TokenClass::Credit, 0..=3) => Credit::from_payload(bytes).map(Self::Credit),
            (TokenClass::Credit, _) => CurrencyCredit::from_payload(bytes).map(Self::CurrencyCredit),
            (TokenClass::MeterTest, _) => MeterTest::from_payload(bytes).map(Self::MeterTest),
            (TokenClass::MeterSpecific, clear_credit::SUB_CLASS) => {
                ClearCredit::from_payload(bytes).map(Self::ClearCredit)
            }
            (TokenClass::MeterSpecific, _) => {
                let instruction = InstructionToken::from_payload(bytes).map(Self::Instruction);
                instruction.or_else(|| KeySection::from_payload(bytes).map(Self::KeySection))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_token_with_unknown_content_is_not_reported_as_a_wrong_key() {
        let key = DecoderKey::from_ea09_bytes([7; 8]);
        for (class, head, code) in [
            (TokenClass::Credit, 0x85, 0),
            (TokenClass::MeterTest, 0x25, 1),
            (TokenClass::MeterSpecific, 0xA5, 2),
        ] {
            let Ok(token) = Payload { class, bytes: [head, 0, 0, 9, 0, 1] }.seal(&key);
            assert_eq!(
                TokenContent::decode(&token, &key),
                Err(DecodeError::UnsupportedContent { class: code, sub_class: head >> 4 })
            );
        }
    }
}

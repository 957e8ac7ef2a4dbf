//! Tokens of class 1: tests and displays. They are for every meter, so they are not encrypted and need no key.

use crate::block::{Payload, TokenClass, Unopened};
use crate::cipher::Cipher;
use crate::content::DecodeError;
use crate::sts_token::StsToken;

use core::convert::Infallible;

const TWO_DIGITS: u8 = 0;
const FOUR_DIGITS: u8 = 1;

const CONTROL_BITS_OF_TWO_DIGITS: u32 = 36;
const CONTROL_BITS_OF_FOUR_DIGITS: u32 = 28;

/// The content of a token that starts tests or displays of a meter.
///
/// Each bit of the control field is one test. Their meanings are in the standard and in the manuals of meters. A meter with a
/// manufacturer code of two digits has 36 of them, one with four digits has 28.
///
/// ```
/// use sts::MeterTest;
///
/// let all_tests = MeterTest::for_two_digits(0xF_FFFF_FFFF, 0).expect("36 bits").token();
/// assert_eq!(all_tests.digits(), "56493153725450313471");
/// assert_eq!(MeterTest::read(&all_tests)?.control(), 0xF_FFFF_FFFF);
/// # Ok::<(), sts::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeterTest(Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    TwoDigits { control: u64, manufacturer: u8 },
    FourDigits { control: u64, manufacturer: u16 },
}

impl MeterTest {
    /// For meters whose manufacturer code has two digits (sub-class 0). The code is given as its eight bits; in the published
    /// tokens they are zero. `None` if the control field has more than 36 bits.
    pub fn for_two_digits(control: u64, manufacturer: u8) -> Option<Self> {
        (control >> CONTROL_BITS_OF_TWO_DIGITS == 0)
            .then_some(Self(Form::TwoDigits { control, manufacturer }))
    }

    /// For meters whose manufacturer code has four digits (sub-class 1). The code is given as its sixteen bits; in the
    /// published tokens they are zero. `None` if the control field has more than 28 bits.
    pub fn for_four_digits(control: u64, manufacturer: u16) -> Option<Self> {
        (control >> CONTROL_BITS_OF_FOUR_DIGITS == 0)
            .then_some(Self(Form::FourDigits { control, manufacturer }))
    }

    /// The control field: one bit for each test.
    pub fn control(self) -> u64 {
        match self.0 {
            Form::TwoDigits { control, .. } | Form::FourDigits { control, .. } => control,
        }
    }

    /// The bits of the manufacturer code.
    pub fn manufacturer(self) -> u16 {
        match self.0 {
            Form::TwoDigits { manufacturer, .. } => manufacturer.into(),
            Form::FourDigits { manufacturer, .. } => manufacturer,
        }
    }

    /// The token.
    pub fn token(self) -> StsToken {
        let Ok(token) = self.payload().seal(&NoCipher);
        token
    }

    /// Reads a token of class 1. No key is needed.
    pub fn read(token: &StsToken) -> Result<Self, DecodeError> {
        let payload = Payload::open(token, &NoCipher).map_err(|unopened| match unopened {
            Unopened::Checksum => DecodeError::WrongChecksum,
            Unopened::Reserved(class) => DecodeError::UnsupportedClass { class },
            Unopened::Cipher(never) => match never {},
        })?;
        let [head, ..] = payload.bytes;
        let other = DecodeError::UnsupportedContent { class: payload.class.code(), sub_class: head >> 4 };
        match payload.class {
            TokenClass::MeterTest => Self::from_payload(payload.bytes).ok_or(other),
            TokenClass::Credit | TokenClass::MeterSpecific => Err(other),
        }
    }

    pub(crate) fn payload(self) -> Payload {
        let (sub_class, fields) = match self.0 {
            Form::TwoDigits { control, manufacturer } => {
                (TWO_DIGITS, (control << 8) | u64::from(manufacturer))
            }
            Form::FourDigits { control, manufacturer } => {
                (FOUR_DIGITS, (control << 16) | u64::from(manufacturer))
            }
        };
        let [_, _, head, b1, b2, b3, b4, b5] = fields.to_be_bytes();
        let head = (sub_class << 4) | head;
        Payload { class: TokenClass::MeterTest, bytes: [head, b1, b2, b3, b4, b5] }
    }

    pub(crate) fn from_payload([head, b1, b2, b3, b4, b5]: [u8; 6]) -> Option<Self> {
        let fields = u64::from_be_bytes([0, 0, head & 0x0F, b1, b2, b3, b4, b5]);
        match head >> 4 {
            TWO_DIGITS => Self::for_two_digits(fields >> 8, b5),
            FOUR_DIGITS => Self::for_four_digits(fields >> 16, u16::from_be_bytes([b4, b5])),
            _ => None,
        }
    }
}

/// Changes nothing: a token that is not of class 1 fails its checksum.
struct NoCipher;

impl Cipher for NoCipher {
    type Error = Infallible;

    fn encrypt(&self, block: [u8; 8]) -> Result<[u8; 8], Infallible> {
        Ok(block)
    }

    fn decrypt(&self, block: [u8; 8]) -> Result<[u8; 8], Infallible> {
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_field_that_is_too_long_is_refused() {
        assert!(
            MeterTest::for_two_digits(1 << 35, 0).is_some()
                && MeterTest::for_two_digits(1 << 36, 0).is_none()
        );
        assert!(
            MeterTest::for_four_digits(1 << 27, 0).is_some()
                && MeterTest::for_four_digits(1 << 28, 0).is_none()
        );
    }

    #[test]
    fn every_field_is_read_back() {
        for test in [
            MeterTest::for_two_digits(0x8_0000_0001, 0x12).unwrap(),
            MeterTest::for_four_digits(0x800_0001, 0x1234).unwrap(),
        ] {
            assert_eq!(MeterTest::read(&test.token()), Ok(test));
        }
    }

    #[test]
    fn a_mistyped_digit_is_noticed_without_a_key() {
        let token = MeterTest::for_two_digits(1, 0).unwrap().token();
        let mistyped = StsToken::from_number(token.number() + 10);
        assert_eq!(MeterTest::read(&mistyped), Err(DecodeError::WrongChecksum));
    }
}

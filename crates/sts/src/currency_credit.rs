//! Credit in currency, class 0: for meters that compute with prices.

use crate::amount::AmountError;
use crate::block::{Payload, TokenClass};
use crate::credit_kind::CreditKind;
use crate::tid::Tid;

/// The sub-class of electricity credit in currency. Those of the other kinds follow.
const FIRST_SUB_CLASS: u8 = 4;

const MANTISSA_BITS: u32 = 14;
const MANTISSAS: i128 = 1 << MANTISSA_BITS;
const SIGN: u32 = 1 << 19;

/// The content of a credit token in currency. It has no random bits: the amount takes their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CurrencyCredit {
    /// The service that is paid for.
    pub kind: CreditKind,
    /// The amount of money. It may be negative.
    pub amount: CurrencyAmount,
    /// The minute in which the token was made. A meter accepts each identifier once.
    pub tid: Tid,
}

/// An amount of money in the form of a token: a sign, an exponent of 5 bits and a mantissa of 14 bits, in hundred-thousandths of
/// the currency. The token does not name the currency.
///
/// An amount that the field cannot express is rounded up to the next one, in the customer's favour.
///
/// ```
/// use sts::CurrencyAmount;
///
/// let one = CurrencyAmount::rounding_up(100_000)?;
/// assert_eq!(one.hundred_thousandths(), 100_004);
/// assert_eq!(CurrencyAmount::rounding_up(-100_000)?.hundred_thousandths(), -99_994);
/// # Ok::<(), sts::AmountError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CurrencyAmount(u32);

impl CurrencyAmount {
    /// The smallest amount a token can carry that is not less than this number of hundred-thousandths.
    ///
    /// # Errors
    /// [`AmountError::CurrencyOverflow`] if the number is beyond the range of the field.
    pub fn rounding_up(hundred_thousandths: i128) -> Result<Self, AmountError> {
        let overflow = AmountError::CurrencyOverflow;
        let magnitude =
            i128::try_from(hundred_thousandths.unsigned_abs()).map_err(|_too_large| overflow.clone())?;
        let (exponent, band) = (0_u32..32)
            .map(|exponent| (exponent, Band::of(exponent)))
            .take_while(|(_, band)| band.first <= magnitude)
            .last()
            .unwrap_or((0, Band::of(0)));
        let beyond = magnitude - band.first;
        let (whole, rest) = (beyond / band.step, beyond % band.step);
        // A debit is rounded towards zero. A credit may carry into the next band, because larger fields are larger amounts.
        let steps = if hundred_thousandths > 0 && rest > 0 { whole + 1 } else { whole };
        let field = (i128::from(exponent) << MANTISSA_BITS) + steps;
        let field = u32::try_from(field).ok().filter(|field| *field < SIGN).ok_or(overflow)?;
        Ok(Self(if hundred_thousandths < 0 { field | SIGN } else { field }))
    }

    /// The amount that the meter credits, in hundred-thousandths of the currency.
    pub fn hundred_thousandths(self) -> i128 {
        let (sign, field) = (self.0 & SIGN, self.0 & !SIGN);
        let band = Band::of(field >> MANTISSA_BITS);
        let magnitude = band.first + (i128::from(field) % MANTISSAS) * band.step;
        if sign == 0 { magnitude } else { -magnitude }
    }
}

/// The range of amounts of one exponent. It begins where the range of the next smaller exponent ends.
struct Band {
    first: i128,
    step: i128,
}

impl Band {
    fn of(exponent: u32) -> Self {
        let step = 10_i128.pow(exponent);
        Self { first: MANTISSAS * ((step - 1) / 9), step }
    }
}

impl CurrencyCredit {
    pub(crate) fn payload(self) -> Payload {
        let [high, middle, low] = self.tid.to_field();
        let [_, nibble, amount_high, amount_low] = self.amount.0.to_be_bytes();
        let head = ((FIRST_SUB_CLASS + self.kind.code()) << 4) | nibble;
        Payload { class: TokenClass::Credit, bytes: [head, high, middle, low, amount_high, amount_low] }
    }

    pub(crate) fn from_payload([head, high, middle, low, amount_high, amount_low]: [u8; 6]) -> Option<Self> {
        Some(Self {
            kind: CreditKind::from_code((head >> 4).checked_sub(FIRST_SUB_CLASS)?)?,
            amount: CurrencyAmount(u32::from_be_bytes([0, head & 0x0F, amount_high, amount_low])),
            tid: Tid::from_field([high, middle, low]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_the_tightest_for_its_own_amount() {
        for field in (0..SIGN).step_by(7).chain([SIGN - 1, 16_383, 16_384]) {
            for amount in [CurrencyAmount(field), CurrencyAmount(field | SIGN)] {
                let value = amount.hundred_thousandths();
                let again = CurrencyAmount::rounding_up(value).unwrap();
                assert_eq!(again.hundred_thousandths(), value, "field {field:#x}");
            }
        }
    }

    #[test]
    fn rounding_is_never_against_the_customer_and_what_does_not_fit_is_refused() {
        let most = CurrencyAmount(SIGN - 1).hundred_thousandths();
        assert!(CurrencyAmount::rounding_up(most).is_ok());
        for beyond in [most + 1, i128::MAX, i128::MIN] {
            assert_eq!(CurrencyAmount::rounding_up(beyond), Err(AmountError::CurrencyOverflow));
        }
        for value in [1_638_399, 1_638_400, 18_022_399, -18_022_399, 123_456_789, -123_456_789] {
            assert!(CurrencyAmount::rounding_up(value).unwrap().hundred_thousandths() >= value, "{value}");
        }
    }
}

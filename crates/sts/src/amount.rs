//! The amount field of a token: sixteen bits.

/// An amount in the form of a token: a mantissa of 14 bits and an exponent of 2 bits, in tenths of a unit.
///
/// A tenth is 0.1 kWh of electricity, 0.1 m³ of water or gas, 0.1 min of time. Above 1638.3 units the field cannot
/// express every amount. Then an amount is rounded **up** to the next possible one, in the customer's favour. So a
/// receipt can show less than the meter credits. [`tenths`](Self::tenths) is the amount that the meter credits.
///
/// ```
/// use sts::CreditAmount;
///
/// assert_eq!(CreditAmount::rounding_up(452)?.tenths(), 452);
/// assert_eq!(CreditAmount::rounding_up(16_385)?.tenths(), 16_394);
/// # Ok::<(), sts::AmountError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CreditAmount(u16);

/// Why an amount does not fit in a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// The amount is more than [`CreditAmount::MAX`].
    #[error("{tenths} tenths are more than one token can carry ({})", CreditAmount::MAX.tenths())]
    Overflow {
        /// The amount asked for.
        tenths: u64,
    },
    /// A limit is more than one token can carry.
    #[error("{watts} W are more than one token can carry")]
    PowerOverflow {
        /// The limit asked for.
        watts: u64,
    },
    /// An amount of money is more than one token can carry.
    #[error("the amount of money is more than one token can carry")]
    CurrencyOverflow,
}

/// The range of amounts of one exponent. It begins where the range of the next smaller exponent ends.
struct Band {
    first_tenths: u32,
    step: u32,
}

const BANDS: [Band; 4] = [
    Band { first_tenths: 0, step: 1 },
    Band { first_tenths: 16_384, step: 10 },
    Band { first_tenths: 180_224, step: 100 },
    Band { first_tenths: 1_818_624, step: 1_000 },
];

const MANTISSA_BITS: u32 = 14;

impl CreditAmount {
    /// The most that one token can carry: 1 820 162.4 units.
    pub const MAX: Self = Self(u16::MAX);

    /// The smallest amount a token can carry that is not less than `tenths`.
    pub fn rounding_up(tenths: u64) -> Result<Self, AmountError> {
        let (exponent, band) = (0_u64..)
            .zip(&BANDS)
            .take_while(|(_, band)| u64::from(band.first_tenths) <= tenths)
            .last()
            .expect("the first band begins at zero");
        let steps = (tenths - u64::from(band.first_tenths)).div_ceil(u64::from(band.step));
        // Larger fields are larger amounts. So the addition carries from the gap at the end of a band into the next
        // band. A bitwise OR of exponent and mantissa would give the start of the same band instead.
        u16::try_from((exponent << MANTISSA_BITS) + steps)
            .map(Self)
            .map_err(|_past_the_last_band| AmountError::Overflow { tenths })
    }

    /// The amount of these sixteen bits. Every value is valid.
    pub fn from_field(field: u16) -> Self {
        Self(field)
    }

    /// The sixteen bits.
    pub fn to_field(self) -> u16 {
        self.0
    }

    /// The amount that the meter credits, in tenths of a unit.
    pub fn tenths(self) -> u32 {
        let (exponent, mantissa) = (self.0 >> MANTISSA_BITS, self.0 & 0x3FFF);
        let band = BANDS.get(usize::from(exponent)).expect("two bits choose one of four bands");
        band.first_tenths + u32::from(mantissa) * band.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_round_up_and_carry_into_the_next_band() {
        for (asked, field, credited) in [
            (0, 0x0000, 0),
            (16_383, 0x3FFF, 16_383),
            (16_384, 0x4000, 16_384),
            (16_385, 0x4001, 16_394),
            (163_830, 0x7999, 163_834),
            (180_214, 0x7FFF, 180_214),
            (180_215, 0x8000, 180_224),
            (180_223, 0x8000, 180_224),
            (1_802_240, 0xBF5D, 1_802_324),
            (1_818_524, 0xBFFF, 1_818_524),
            (1_818_525, 0xC000, 1_818_624),
            (1_818_623, 0xC000, 1_818_624),
            (18_201_624, 0xFFFF, 18_201_624),
        ] {
            let amount = CreditAmount::rounding_up(asked).unwrap();
            assert_eq!((amount.to_field(), amount.tenths()), (field, credited), "{asked} tenths");
        }
    }

    #[test]
    fn more_than_the_field_holds_is_refused() {
        for tenths in [18_201_625, u64::MAX] {
            assert_eq!(CreditAmount::rounding_up(tenths), Err(AmountError::Overflow { tenths }));
        }
    }

    #[test]
    fn every_field_is_the_tightest_for_its_own_amount_and_amounts_rise_with_fields() {
        let mut below = None;
        for field in 0..=u16::MAX {
            let amount = CreditAmount::from_field(field);
            assert_eq!(CreditAmount::rounding_up(u64::from(amount.tenths())), Ok(amount));
            assert!(below < Some(amount.tenths()), "field {field:#06x}");
            below = Some(amount.tenths());
        }
    }
}

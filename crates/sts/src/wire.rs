//! Tokens in the form in which they are sold: those of `vendgate-meter-token`.

use meter_token::{MeterToken, TypicalDescription};

use crate::key_change::SectionNumber;
use crate::sts_token::{MalformedToken, StsToken};

/// The twenty digits, without groups.
///
/// ```
/// use meter_token::{DescribedToken, MeterToken, TokenSet, TypicalDescription};
/// use sts::StsToken;
///
/// let credit = StsToken::parse("08086259498974263587")?;
/// let sold = TokenSet::single(DescribedToken::issued(None, TypicalDescription::Credit, credit.into()));
/// assert_eq!(sold.wire_form(), "08086259498974263587");
///
/// let typed = MeterToken::parse("0808 6259 4989 7426 3587")?;
/// assert_eq!(StsToken::try_from(&typed)?, credit);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl From<StsToken> for MeterToken {
    fn from(token: StsToken) -> Self {
        Self::parse(token.digits()).expect("twenty digits are the text of a token")
    }
}

/// The twenty digits, grouped or not. Not every token that is sold is one of this standard.
impl TryFrom<&MeterToken> for StsToken {
    type Error = MalformedToken;

    fn try_from(token: &MeterToken) -> Result<Self, MalformedToken> {
        Self::parse_grouped(token.expose())
    }
}

/// The description of a section of a key change.
impl From<SectionNumber> for TypicalDescription {
    fn from(section: SectionNumber) -> Self {
        match section {
            SectionNumber::First => Self::FirstKeyChange,
            SectionNumber::Second => Self::SecondKeyChange,
            SectionNumber::Third => Self::ThirdKeyChange,
            SectionNumber::Fourth => Self::FourthKeyChange,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_sold_is_read_back_if_it_is_one_of_the_standard() {
        let token = StsToken::parse("08086259498974263587").unwrap();
        assert_eq!(StsToken::try_from(&MeterToken::from(token)), Ok(token));
        for other in ["VCH-1234-99", "99999999999999999999", "0808"] {
            assert!(StsToken::try_from(&MeterToken::parse(other).unwrap()).is_err(), "{other}");
        }
    }

    #[test]
    fn the_sections_of_a_key_change_are_described_in_their_order() {
        let sections =
            [SectionNumber::First, SectionNumber::Second, SectionNumber::Third, SectionNumber::Fourth];
        let described = sections.map(|section| TypicalDescription::from(section).as_str());
        let expected = ["KeyChange Token1", "KeyChange Token2", "KeyChange Token3", "KeyChange Token4"];
        assert_eq!(described, expected);
        for (number, section) in (1..).zip(sections) {
            assert_eq!(TypicalDescription::key_change(number), Some(section.into()));
        }
        assert_eq!([0, 5].map(TypicalDescription::key_change), [None, None]);
    }
}

//! The last digit of meter numbers and PANs: a check digit by the Luhn formula (ISO/IEC 7812-1).

/// The check digit to append to `payload`. `None` if `payload` has a character that is not an ASCII digit.
///
/// ```
/// assert_eq!(sts::luhn_check_digit("0425767046"), Some(5));
/// assert_eq!(sts::luhn_check_digit("04257-7046"), None);
/// ```
pub fn luhn_check_digit(payload: &str) -> Option<u8> {
    let mut sum = 0;
    for (place, character) in payload.chars().rev().enumerate() {
        let digit = character.to_digit(10)?;
        let weighed = if place % 2 == 0 { digit * 2 } else { digit };
        sum = (sum + weighed / 10 + weighed % 10) % 10;
    }
    u8::try_from((10 - sum) % 10).ok()
}

/// The expected and the actual last digit of `digits`. `None` if they are equal, or if `digits` is not a number.
pub(crate) fn mismatch(digits: &str) -> Option<Mismatch> {
    let (payload, last) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    let found = last.parse().ok()?;
    let expected = luhn_check_digit(payload)?;
    (expected != found).then_some(Mismatch { expected, found })
}

pub(crate) struct Mismatch {
    pub(crate) expected: u8,
    pub(crate) found: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_digit_mistake_is_noticed() {
        let number = "07040904562";
        assert!(mismatch(number).is_none());
        for place in 0..number.len() {
            for wrong in (b'0'..=b'9').filter(|digit| *digit != number.as_bytes()[place]) {
                let mut typed = number.as_bytes().to_vec();
                typed[place] = wrong;
                assert!(mismatch(core::str::from_utf8(&typed).unwrap()).is_some());
            }
        }
    }
}

//! What a caller says on the phone, as the operator types it.

use crate::parse::phone_number;

/// A number as a caller says it: with a plus or blanks among its digits. Any other name stays as it is.
pub fn said_name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("an empty name finds nothing".to_owned());
    }
    let is_number = text.chars().all(|letter| letter.is_ascii_digit() || letter == ' ' || letter == '+');
    let in_capitals = text.to_ascii_uppercase();
    Ok(match text {
        _ if is_number => text.chars().filter(char::is_ascii_digit).collect(),
        _ if in_capitals.starts_with("TOP/") => in_capitals,
        name => name.to_owned(),
    })
}

/// A phone as a caller says it.
pub fn said_phone(text: &str) -> Result<String, String> {
    said_name(text).and_then(|digits| phone_number(&digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_as_it_is_said_and_a_reference_as_it_is_written() {
        for said in ["+267 7100 0011", "267 71000011", "26771000011"] {
            assert_eq!(said_phone(said).as_deref(), Ok("26771000011"));
        }
        assert_eq!(said_name("2026-001").as_deref(), Ok("2026-001"));
        assert!(said_name(" ").is_err());
        assert_eq!(said_name("top/2026/11/0000004217").as_deref(), Ok("TOP/2026/11/0000004217"));
    }
}

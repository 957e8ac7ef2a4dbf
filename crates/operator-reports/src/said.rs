//! What a caller says on the phone, as the operator types it.

use crate::parse::{international_number, phone_number, whole_reference};

/// A number as a caller says it: with a plus or blanks among its digits. Any other name stays as it is.
pub fn said_name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("an empty name finds nothing".to_owned());
    }
    let text = text.trim();
    let is_number = text.chars().all(|letter| letter.is_ascii_digit() || letter == ' ' || letter == '+');
    let in_capitals = text.to_ascii_uppercase();
    Ok(match text {
        _ if is_number => text.chars().filter(char::is_ascii_digit).collect(),
        _ if in_capitals.starts_with("TOP/") => whole_reference(in_capitals),
        name => name.to_owned(),
    })
}

/// A phone as a caller says it.
pub fn said_phone(text: &str) -> Result<String, String> {
    said_name(text).and_then(|digits| phone_number(&digits))
}

/// A phone to which something is sent, as a caller says it or as it is written: `+267 71 234 567`, `(267) 71-234-567`.
pub fn said_international(text: &str) -> Result<String, String> {
    let is_kept = |letter: &char| !letter.is_whitespace() && !"-.()".contains(*letter);
    international_number(&text.chars().filter(is_kept).collect::<String>())
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
        assert_eq!(said_name(" till-7 ").as_deref(), Ok("till-7"));
        for said in ["+267 71 234 567", "(267) 71-234-567", "26771234567"] {
            assert_eq!(said_international(said).as_deref(), Ok("26771234567"), "{said}");
        }
        assert!(said_international("71 234 567").is_err());
        for said in ["top/2026/11/0000004217", "TOP/2026/11/4217"] {
            assert_eq!(said_name(said).as_deref(), Ok("TOP/2026/11/0000004217"));
        }
    }
}

//! The names of a purchase: its number, and the reference that people read out.

use std::fmt;

/// A purchase's number, the `id` on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PurchaseId(pub i64);

/// `TOP/<year>/<month>/<number, zero padded to 10>` (specification, section 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference(String);

impl Reference {
    /// The month is the one in the service's own time zone at the time when the number was taken.
    pub fn new(id: PurchaseId, year: i32, month: u32) -> Self {
        Self(format!("TOP/{year}/{month:02}/{:010}", id.0))
    }

    /// A reference as stored.
    pub fn from_record(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_year_month_and_ten_digits() {
        assert_eq!(Reference::new(PurchaseId(4_217), 2026, 3).as_str(), "TOP/2026/03/0000004217");
    }
}

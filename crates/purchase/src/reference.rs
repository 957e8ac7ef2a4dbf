//! The names of a purchase: its number, and the reference that people read out.

use std::fmt;

/// A purchase's number. The caller gives the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PurchaseId(pub i64);

/// A prefix, the year, the month of two digits and the number of at least ten digits, separated by slashes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference(String);

impl Reference {
    /// The prefix of [`new`](Self::new).
    pub const PREFIX: &str = "TOP";

    /// A reference with the usual prefix: `TOP/2026/03/0000004217`. The month is that of the seller's time zone, when the
    /// number was taken.
    pub fn new(id: PurchaseId, year: i32, month: u32) -> Self {
        Self::with_prefix(Self::PREFIX, id, year, month)
    }

    /// A reference with a prefix of one's own.
    ///
    /// ```
    /// use purchase::{PurchaseId, Reference};
    ///
    /// assert_eq!(Reference::with_prefix("SHOP", PurchaseId(4_217), 2026, 3).as_str(), "SHOP/2026/03/0000004217");
    /// ```
    pub fn with_prefix(prefix: &str, id: PurchaseId, year: i32, month: u32) -> Self {
        Self(format!("{prefix}/{year}/{month:02}/{:010}", id.0))
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

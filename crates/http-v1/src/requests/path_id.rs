//! The id at the end of a path. An id has exactly one spelling, so that each object has one address.

use ledger::AccountId;
use purchase::PurchaseId;
use web::{ApiError, found};

/// The account named in a path. The answer is 404 if the segment is not spelled as an id.
pub fn account_in_path(segment: &str) -> Result<AccountId, ApiError> {
    number(segment).map(AccountId)
}

/// The purchase named in a path. The answer is 404 if the segment is not spelled as an id.
pub fn purchase_in_path(segment: &str) -> Result<PurchaseId, ApiError> {
    number(segment).map(PurchaseId)
}

/// Digits only, without a sign and without leading zeros.
pub(super) fn number(segment: &str) -> Result<i64, ApiError> {
    let is_spelled_so = segment.bytes().all(|byte| byte.is_ascii_digit()) && !segment.starts_with('0');
    let number = Some(segment).filter(|_| is_spelled_so).and_then(|digits| digits.parse().ok());
    found(number)
}

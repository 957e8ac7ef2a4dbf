//! The id that a path ends with. An id has one spelling, so that each thing has one address.

use error_codes::ErrorCode;
use ledger::AccountId;
use purchase::PurchaseId;
use web::ApiError;

/// The account named in a path; 404 for whatever is not spelled as ids are.
pub fn account_in_path(segment: &str) -> Result<AccountId, ApiError> {
    number(segment).map(AccountId)
}

/// The purchase named in a path; 404 for whatever is not spelled as ids are.
pub fn purchase_in_path(segment: &str) -> Result<PurchaseId, ApiError> {
    number(segment).map(PurchaseId)
}

/// Digits, without a sign and without a zero in front.
fn number(segment: &str) -> Result<i64, ApiError> {
    let is_spelled_so = segment.bytes().all(|byte| byte.is_ascii_digit()) && !segment.starts_with('0');
    let number = Some(segment).filter(|_| is_spelled_so).and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| ApiError::new(ErrorCode::ResourceNotFound))
}

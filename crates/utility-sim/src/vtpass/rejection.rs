//! Answers that name no order: a code and a sentence.

use std::borrow::Cow;

/// A request that became no transaction. The answer has no request id, as in the vendor's sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) code: Cow<'static, str>,
    pub(super) description: Cow<'static, str>,
}

/// The code of a transaction that failed. Such an answer has a request id.
pub(super) const FAILED: &str = "016";

impl Rejection {
    const fn new(code: &'static str, description: &'static str) -> Self {
        Self { code: Cow::Borrowed(code), description: Cow::Borrowed(description) }
    }

    pub(crate) const fn invalid_arguments() -> Self {
        Self::new("011", "INVALID ARGUMENTS")
    }

    pub(super) const fn unknown_product() -> Self {
        Self::new("012", "PRODUCT DOES NOT EXIST")
    }

    pub(super) const fn below_minimum() -> Self {
        Self::new("013", "BELOW MINIMUM AMOUNT ALLOWED")
    }

    pub(super) const fn repeated_request_id() -> Self {
        Self::new("014", "REQUEST ID ALREADY EXIST")
    }

    pub(super) const fn unknown_request_id() -> Self {
        Self::new("015", "INVALID REQUEST ID")
    }

    pub(super) const fn above_maximum() -> Self {
        Self::new("017", "ABOVE MAXIMUM AMOUNT ALLOWED")
    }

    pub(super) const fn low_balance() -> Self {
        Self::new("018", "LOW WALLET BALANCE")
    }

    pub(super) const fn likely_duplicate() -> Self {
        Self::new("019", "LIKELY DUPLICATE TRANSACTION")
    }

    pub(crate) const fn unreachable() -> Self {
        Self::new("030", "BILLER NOT REACHABLE AT THIS POINT")
    }

    pub(super) const fn system_error() -> Self {
        Self::new("083", "SYSTEM ERROR")
    }

    pub(super) const fn improper_request_id() -> Self {
        Self::new("085", "IMPROPER REQUEST ID: DATE NOT TODAY'S DATE")
    }

    pub(super) const fn wrong_keys() -> Self {
        Self::new("087", "INVALID CREDENTIALS")
    }

    pub(crate) fn scripted(code: Option<&str>, description: Option<&str>) -> Self {
        let owned = |text: &str| Cow::Owned(text.to_owned());
        Self {
            code: code.map_or(Cow::Borrowed(FAILED), owned),
            description: description.map_or(Cow::Borrowed("TRANSACTION FAILED"), owned),
        }
    }

    /// Whether it is the failure of a transaction, which is stored.
    pub(super) fn is_of_a_transaction(&self) -> bool {
        self.code == FAILED
    }

    pub(crate) fn is_system_error(&self) -> bool {
        *self == Self::system_error()
    }
}

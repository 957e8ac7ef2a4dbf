//! The refusals of the aggregator: an HTTP status, a code and a sentence.

use std::borrow::Cow;

use actix_web::http::StatusCode;

/// A final or temporary refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// Absent only if a script removed it.
    pub(crate) code: Option<Cow<'static, str>>,
    pub(crate) message: Cow<'static, str>,
}

const INVALID_TOKEN: &str = "INVALID_TOKEN";

impl Refusal {
    const fn new(status: StatusCode, code: &'static str, message: &'static str) -> Self {
        Self { status, code: Some(Cow::Borrowed(code)), message: Cow::Borrowed(message) }
    }

    const fn bad_request(code: &'static str, message: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(super) const fn wrong_credentials() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "INVALID_CREDENTIALS", "Access Denied")
    }

    pub(super) const fn wrong_audience() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "INVALID_AUDIENCE", "No such audience is served here")
    }

    pub(super) const fn wrong_grant_type() -> Self {
        Self::bad_request("UNSUPPORTED_GRANT_TYPE", "Only client_credentials is supported")
    }

    pub(super) const fn invalid_token() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, INVALID_TOKEN, "Full authentication is required")
    }

    pub(super) const fn not_acceptable() -> Self {
        let message = "Only application/com.reloadly.topups-v1+json is produced here";
        Self::new(StatusCode::NOT_ACCEPTABLE, "MEDIA_TYPE_NOT_ACCEPTABLE", message)
    }

    pub(crate) const fn unsupported_media_type() -> Self {
        let message = "Only application/json is read here";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message)
    }

    pub(crate) fn unreadable(why: &serde_json::Error) -> Self {
        let message = Cow::Owned(format!("The request cannot be read: {why}"));
        Self { status: StatusCode::BAD_REQUEST, code: Some(Cow::Borrowed("BAD_REQUEST")), message }
    }

    pub(crate) const fn no_such_path() -> Self {
        Self::new(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND", "There is no such path")
    }

    pub(super) const fn no_such_transaction() -> Self {
        Self::new(StatusCode::NOT_FOUND, "TRANSACTION_NOT_FOUND", "There is no such transaction")
    }

    pub(super) const fn country_not_supported() -> Self {
        Self::new(StatusCode::NOT_FOUND, "COUNTRY_NOT_SUPPORTED", "The country is not supported")
    }

    pub(super) const fn no_operator() -> Self {
        let message = "The operator of the phone number cannot be detected";
        Self::new(StatusCode::NOT_FOUND, "COULD_NOT_AUTO_DETECT_OPERATOR", message)
    }

    pub(super) const fn invalid_amount() -> Self {
        Self::bad_request("INVALID_AMOUNT", "The amount is not a positive number with two decimals")
    }

    pub(crate) const fn invalid_date() -> Self {
        Self::bad_request("INVALID_DATE", "Dates are written like 2026-11-20 09:30:00")
    }

    pub(super) const fn invalid_recipient() -> Self {
        let message = "The recipient phone number is not valid for the operator and country";
        Self::bad_request("INVALID_RECIPIENT_PHONE", message)
    }

    pub(super) const fn unknown_operator() -> Self {
        Self::bad_request("OPERATOR_UNAVAILABLE_OR_CURRENTLY_INACTIVE", "There is no such operator")
    }

    pub(super) const fn amount_out_of_range() -> Self {
        Self::bad_request("INVALID_AMOUNT_FOR_OPERATOR", "The amount is outside the operator's range")
    }

    pub(super) const fn balance_exhausted() -> Self {
        Self::bad_request("INSUFFICIENT_BALANCE", "The account balance is insufficient")
    }

    /// The top-up exists, and the client must enquire about it.
    pub(super) const fn repeated_identifier() -> Self {
        let message = "The custom identifier was used before";
        Self::bad_request("CUSTOM_IDENTIFIER_ALREADY_USED", message)
    }

    pub(super) const fn failed() -> Self {
        Self::bad_request("TOPUP_TRANSACTION_FAILED", "The operator did not take the top-up")
    }

    pub(crate) const fn busy() -> Self {
        Self::bad_request("OPERATOR_NOT_IN_SERVICE", "The operator is not in service, please try again")
    }

    pub(super) const fn system_failure() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "INTERNAL_SERVER_ERROR",
            "An internal error has occurred",
        )
    }

    /// A refusal with the code and the sentence of a script.
    pub(crate) fn scripted(code: Option<&str>, message: Option<&str>) -> Self {
        let code = code.unwrap_or("TOPUP_TRANSACTION_FAILED").to_owned();
        let message = message.unwrap_or("Refused by script").to_owned();
        let status = if code == INVALID_TOKEN { StatusCode::UNAUTHORIZED } else { StatusCode::BAD_REQUEST };
        Self { status, code: Some(Cow::Owned(code)), message: Cow::Owned(message) }
    }

    /// Whether the request was refused because of its credentials.
    pub(super) fn is_unauthorized(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }
}

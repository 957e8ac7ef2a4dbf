//! The body of a request to send a message again.

use web::{ApiError, Fields};

/// The field with the corrected number.
pub const PHONE_NUMBER: &str = "phone_number";

/// The corrected number as E.164 digits, if there is one.
pub fn corrected_number(fields: &Fields) -> Result<Option<String>, ApiError> {
    let locale = fields.optional_locale("language")?.unwrap_or_default();
    fields.optional_phone_number(PHONE_NUMBER, &locale)
}

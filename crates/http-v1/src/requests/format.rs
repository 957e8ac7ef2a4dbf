//! The format of an answer, by the parameter `format` or else by `Accept`.

use actix_web::{HttpRequest, http::header::ACCEPT};
use web::{ApiError, Fields};

/// A format in which books are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// Comma-separated values with a header (RFC 4180).
    Csv,
    /// ISO 20022 `BankToCustomerStatement`.
    Camt053,
}

impl Format {
    /// The formats of a statement.
    pub const OF_STATEMENT: [Self; 3] = [Self::Json, Self::Csv, Self::Camt053];
    /// The formats of a report.
    pub const OF_REPORT: [Self; 2] = [Self::Json, Self::Csv];

    /// The name in the parameter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Camt053 => "camt.053",
        }
    }

    /// The media type of the answer.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv",
            Self::Camt053 => "application/xml",
        }
    }

    /// The first of `formats` that `Accept` names, in the order of the header. JSON if it names none.
    pub(super) fn read(request: &HttpRequest, fields: &Fields, formats: &[Self]) -> Result<Self, ApiError> {
        if let Some(format) = fields.optional_one_of("format", formats, Self::as_str)? {
            return Ok(format);
        }
        let named = accepted_types(request)
            .find_map(|name| formats.iter().copied().find(|format| format.is_named(&name)));
        Ok(named.unwrap_or(Self::Json))
    }

    fn is_named(self, name: &str) -> bool {
        name == self.media_type() || (self == Self::Camt053 && name == "text/xml")
    }
}

/// The media types that `Accept` names, in its order.
pub(super) fn accepted_types(request: &HttpRequest) -> impl Iterator<Item = String> {
    let accepted = request.headers().get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).map(media_type_of)
}

/// The type without its parameters, in lower case.
fn media_type_of(range: &str) -> String {
    range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn the_parameter_decides_and_else_the_first_type_that_is_known() {
        let read = |accept: &str, fields: &str| {
            let request = TestRequest::get().insert_header((ACCEPT, accept)).to_http_request();
            Format::read(&request, &Fields::parse(fields.as_bytes()).unwrap(), &Format::OF_STATEMENT).ok()
        };
        assert_eq!(read("*/*", "{}"), Some(Format::Json));
        assert_eq!(read("image/png, Text/CSV;q=0.9, application/json", "{}"), Some(Format::Csv));
        assert_eq!(read("text/xml", "{}"), Some(Format::Camt053));
        assert_eq!(read("application/xml", r#"{"format":"json"}"#), Some(Format::Json));
        assert_eq!(read("*/*", r#"{"format":"camt.053"}"#), Some(Format::Camt053));
        assert_eq!(read("*/*", r#"{"format":"pdf"}"#), None);
    }
}

//! The names of the query parameters of a request.

use actix_web::web::Query;

use error_codes::ErrorCode;
use web::{ApiError, Detail, printable};

/// Refuses a query with a parameter that is not in `known`, by its name.
pub fn known_parameters(query: &str, known: &[&str]) -> Result<(), ApiError> {
    let pairs = pairs(query)?;
    let Some((unknown, _)) = pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let detail = if known.is_empty() { Detail::NoParameters } else { Detail::UnknownParameter };
    Err(ApiError::new(detail).about(printable(unknown)).with("allowed", known.join(", ")))
}

/// The names and values of a query, with escapes decoded.
pub(super) fn pairs(query: &str) -> Result<Vec<(String, String)>, ApiError> {
    let pairs = Query::<Vec<(String, String)>>::from_query(query)
        .map_err(|malformed| ApiError::new(ErrorCode::InvalidArgument).because(malformed.to_string()))?;
    Ok(pairs.into_inner())
}

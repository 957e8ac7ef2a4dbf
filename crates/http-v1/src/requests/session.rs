//! The bodies of login and refresh (specification, section 5).

use identity::LoginCredentials;
use web::{ApiError, Fields, requests};

use super::limits::CHANNELS;

pub use web::requests::refresh_request;

/// The body of login.
pub fn login_request(fields: &Fields) -> Result<LoginCredentials, ApiError> {
    requests::login_request(fields, &CHANNELS)
}

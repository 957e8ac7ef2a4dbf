//! What one surface says in its own way, on answers that no handler of its own gives: its errors, and the headers of
//! everything below its paths.

use std::fmt;

use actix_web::http::header::{HeaderName, HeaderValue};
use chrono::{DateTime, Utc};

use error_codes::ErrorCode;
use purchase::Recovery;

use crate::RequestId;

/// A surface. Paths that belong to none of those that [`crate::Front::with_surface`] was told of answer as the versioned one does.
pub trait Surface: fmt::Debug + Send + Sync {
    /// The beginnings of its paths: `/auth` is the beginning of itself and of everything below it.
    fn roots(&self) -> &[&str];

    /// What it calls the field that the versioned surface calls `field`.
    fn field<'a>(&self, field: &'a str) -> &'a str;

    /// The JSON body of an error.
    fn error_body(&self, error: &ToldError<'_>) -> String;

    /// What an error carries in its head beside what every surface's does.
    fn error_headers(&self, error: &ToldError<'_>) -> Vec<(HeaderName, HeaderValue)>;

    /// What each of its answers carries beside what every answer carries, at a server that is reached at this address.
    fn headers(&self, public_url: &str) -> Vec<(HeaderName, HeaderValue)>;
}

/// A surface as it is served: what stands on each of its answers is made once.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) surface: Box<dyn Surface>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Served {
    pub(crate) fn new(surface: impl Surface + 'static, public_url: &str) -> Self {
        Self { headers: surface.headers(public_url), surface: Box::new(surface) }
    }

    /// Whether a path, as the router reads it, is one of its own.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.surface.roots().iter().any(|root| is_below(root, path))
    }
}

/// All that an error answer may tell.
#[derive(Clone, Copy, Debug)]
pub struct ToldError<'a> {
    /// The code, which has decided the status.
    pub code: ErrorCode,
    /// The sentence, in the caller's language.
    pub message: &'a str,
    /// The field of the request that is to blame, by this surface's own name.
    pub field: Option<&'a str>,
    /// Whether the very same request may be sent again.
    pub is_retryable: bool,
    /// The page that documents the code.
    pub doc_url: &'a str,
    /// The name of the request.
    pub request_id: &'a RequestId,
    /// When it is told.
    pub at: DateTime<Utc>,
    /// How the caller comes to the outcome, where the answer is not final.
    pub recovery: Option<&'a Recovery>,
    /// Where a purchase has failed: whether a new one may succeed.
    pub buy_again: Option<bool>,
}

/// Whether a path is this beginning or lies below it.
fn is_below(root: &str, path: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_a_beginning_by_whole_segments() {
        for path in ["/auth", "/auth/", "/auth/login", "/auth/no/such"] {
            assert!(is_below("/auth", path), "{path}");
        }
        for path in ["", "/", "/authors", "/AUTH/login", "/public/v1/auth/login", "//auth/login"] {
            assert!(!is_below("/auth", path), "{path}");
        }
    }
}

//! The parts of a surface that are used where no handler of its own answers: its form of errors, and the headers of
//! everything below its paths.

use std::fmt;

use actix_web::http::header::{HeaderName, HeaderValue};
use chrono::{DateTime, Utc};

use error_codes::ErrorCode;
use messages::Sentence;
use purchase::Recovery;
use serde::Serialize;

use crate::RequestId;

/// A surface. A path that belongs to no surface of [`crate::SharedState::with_surface`] is answered as the versioned
/// surface does.
pub trait Surface: fmt::Debug + Send + Sync {
    /// The prefixes of its paths. `/auth` is the prefix of itself and of everything below it.
    fn roots(&self) -> &[&str];

    /// Its name for the field that the versioned surface calls `field`.
    fn field<'a>(&self, field: &'a str) -> &'a str;

    /// What it says where the versioned surface says this sentence.
    fn sentence(&self, sentence: Sentence) -> Sentence;

    /// The JSON body of an error.
    fn error_body(&self, error: &ErrorDetails<'_>) -> String;

    /// The headers of an error, in addition to those that every surface sends.
    fn error_headers(&self, error: &ErrorDetails<'_>) -> Vec<(HeaderName, HeaderValue)>;

    /// The headers of each of its answers, in addition to those of every answer. The server is reached at `public_url`.
    fn headers(&self, public_url: &str) -> Vec<(HeaderName, HeaderValue)>;
}

/// A surface in use. The headers of its answers are made once.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) surface: Box<dyn Surface>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Served {
    pub(crate) fn new(surface: impl Surface + 'static, public_url: &str) -> Self {
        Self { headers: surface.headers(public_url), surface: Box::new(surface) }
    }

    /// Whether a path, as the router reads it, belongs to this surface.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.surface.roots().iter().any(|root| is_below(root, path))
    }
}

/// Everything that an error answer may contain.
#[derive(Clone, Copy, Debug)]
pub struct ErrorDetails<'a> {
    /// The code. It decides the status.
    pub code: ErrorCode,
    /// The message, in the caller's language.
    pub message: &'a str,
    /// The field of the request that caused the error, by this surface's own name.
    pub field: Option<&'a str>,
    /// Whether the same request may be sent again unchanged.
    pub is_retryable: bool,
    /// The page that documents the code.
    pub doc_url: &'a str,
    /// The id of the request.
    pub request_id: &'a RequestId,
    /// When the error is answered.
    pub at: DateTime<Utc>,
    /// How the caller gets the outcome, if the answer is not final.
    pub recovery: Option<&'a Recovery>,
    /// If a purchase has failed: whether a new one may succeed.
    pub buy_again: Option<bool>,
    /// What is wrong with lines of a batch.
    pub lines: &'a [LineMistake],
}

/// What is wrong with a line of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineMistake {
    /// The number of the line, from 1.
    pub line: usize,
    /// The code.
    pub code: &'static str,
    /// The field of the line that is wrong, where there is one.
    pub param: Option<String>,
    /// The message, in the caller's language.
    pub message: String,
}

/// Whether a path is this prefix or lies below it.
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

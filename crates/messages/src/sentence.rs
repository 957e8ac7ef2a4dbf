//! The choice of an error message: that of a code, or that of one of its details.

use error_codes::ErrorCode;

use crate::Detail;

/// An error message. It cannot combine a detail with a code to which the detail does not belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence {
    code: ErrorCode,
    detail: Option<Detail>,
}

impl Sentence {
    /// The code that the message explains.
    pub const fn code(self) -> ErrorCode {
        self.code
    }

    /// The detail, if there is one.
    pub const fn detail(self) -> Option<Detail> {
        self.detail
    }
}

impl From<ErrorCode> for Sentence {
    fn from(code: ErrorCode) -> Self {
        Self { code, detail: None }
    }
}

impl From<Detail> for Sentence {
    fn from(detail: Detail) -> Self {
        Self { code: detail.code(), detail: Some(detail) }
    }
}

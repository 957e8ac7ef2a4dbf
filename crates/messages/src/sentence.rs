//! Which sentence is to be said: that of a code, or that of one of its details.

use error_codes::ErrorCode;

use crate::Detail;

/// A sentence about an error. It cannot pair a detail with a code that it does not belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence {
    code: ErrorCode,
    detail: Option<Detail>,
}

impl Sentence {
    /// The code that the sentence explains.
    pub const fn code(self) -> ErrorCode {
        self.code
    }

    /// The finer point, where there is one.
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

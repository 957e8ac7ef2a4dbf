//! What must not happen on the tour.

use std::{fmt, io};

use money::MoneyError;

/// Something is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum Surprise {
    /// Something else was found than what was expected.
    #[error("{what} should be {expected}, and is {found}")]
    Different {
        /// What was looked at.
        what: String,
        /// What it should have been.
        expected: String,
        /// What it was.
        found: String,
    },
    /// Nobody answered.
    #[error("there was no answer")]
    NoAnswer(#[from] reqwest::Error),
    /// Somebody answered with something that is no JSON.
    #[error("the answer is not JSON")]
    NotJson(#[from] serde_json::Error),
    /// An amount that is none, or two that do not go together.
    #[error("the amounts of an answer make no sense")]
    Money(#[from] MoneyError),
    /// Nobody can be told.
    #[error("the tour cannot be printed")]
    Unprintable(#[from] io::Error),
}

impl Surprise {
    pub(super) fn different(what: &str, expected: &dyn fmt::Display, found: &dyn fmt::Display) -> Self {
        Self::Different { what: what.to_owned(), expected: expected.to_string(), found: found.to_string() }
    }

    pub(super) fn unless_equal<T: fmt::Display + PartialEq>(
        what: &str,
        expected: &T,
        found: &T,
    ) -> Result<(), Self> {
        if expected == found { Ok(()) } else { Err(Self::different(what, expected, found)) }
    }
}

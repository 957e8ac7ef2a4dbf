//! The failures of the tour.

use std::{fmt, io};

use money::MoneyError;

/// A result differs from the expected one.
#[derive(Debug, thiserror::Error)]
pub enum Surprise {
    /// A value differs from the expected one.
    #[error("{what} should be {expected}, but is {found}")]
    Different {
        /// The value.
        what: String,
        /// The expected value.
        expected: String,
        /// The actual value.
        found: String,
    },
    /// A request was not answered.
    #[error("there was no answer")]
    NoAnswer(#[from] reqwest::Error),
    /// The body of an answer is not JSON.
    #[error("the answer is not JSON")]
    NotJson(#[from] serde_json::Error),
    /// An amount is not valid, or two amounts cannot be combined.
    #[error("an answer contains invalid amounts")]
    Money(#[from] MoneyError),
    /// The output failed.
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

//! The vendor's prepaid float with the utility.

use std::sync::{Mutex, PoisonError};

use money::Money;

use crate::refusal::Refusal;

/// What is left of what the vendor paid in.
#[derive(Debug)]
pub(crate) struct VendorFloat(Mutex<Money>);

impl VendorFloat {
    pub(crate) fn new(paid_in: Money) -> Self {
        Self(Mutex::new(paid_in))
    }

    /// Takes a sale's amount, and says what is left; an amount that is not there is refused.
    pub(crate) fn take(&self, amount: Money) -> Result<Money, Refusal> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rest =
            left.minus(amount).ok().filter(|rest| rest.minor() >= 0).ok_or_else(Refusal::credit_exhausted)?;
        *left = rest;
        Ok(rest)
    }

    pub(crate) fn left(&self) -> Money {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The vendor's prepaid balance: one with the utility and one with the airtime aggregator.

use std::sync::{Mutex, PoisonError};

use money::Money;

/// The remaining balance.
#[derive(Debug)]
pub(crate) struct VendorFloat(Mutex<Money>);

impl VendorFloat {
    pub(crate) fn new(paid_in: Money) -> Self {
        Self(Mutex::new(paid_in))
    }

    /// Takes the amount of a sale and returns the remaining balance. Takes nothing if the balance is too small.
    pub(crate) fn take(&self, amount: Money) -> Option<Money> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = left.minus(amount).ok().filter(|rest| rest.minor() >= 0)?;
        *left = rest;
        Some(rest)
    }

    pub(crate) fn left(&self) -> Money {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

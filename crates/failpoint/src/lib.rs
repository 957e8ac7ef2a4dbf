//! Named points at which a test may kill or stop the process that passes them.
//!
//! Code that moves money marks its position between two steps with one line:
//!
//! ```
//! failpoint::hit(failpoint::Point::ConfirmBeforeReserve);
//! ```
//!
//! That line does nothing unless the feature `armed` is on. Only package `acceptance` switches it on. Even
//! then nothing happens until [`arm`] is called, and only the binaries of `acceptance` call it. Another
//! binary of the same build is therefore not affected.
#![warn(missing_docs)]

mod point;
#[cfg(feature = "armed")]
mod trigger;

pub use point::Point;
#[cfg(feature = "armed")]
pub use trigger::{Action, Trigger, TriggerError, arm};

/// Marks that the process is at this point. Returns, unless a test armed a trigger for it.
#[cfg(not(feature = "armed"))]
#[inline]
pub const fn hit(_point: Point) {}

/// Marks that the process is at this point. Returns, unless a test armed a trigger for it.
#[cfg(feature = "armed")]
pub fn hit(point: Point) {
    trigger::hit(point);
}

//! Named places at which a test may kill or stop the process that passes them.
//!
//! Whoever moves money says where it stands, with one line between two steps:
//!
//! ```
//! failpoint::reach(failpoint::Point::ConfirmBeforeReserve);
//! ```
//!
//! That line is nothing at all unless the feature `armed` is on, and only package `acceptance` switches it on.
//! Even then nothing happens until the process was told to by [`arm`], which only the binaries of `acceptance`
//! call; so a binary that was built together with them is as harmless as one that was not.
#![warn(missing_docs)]

#[cfg(feature = "armed")]
mod order;
mod point;

#[cfg(feature = "armed")]
pub use order::{Action, Order, OrderError, arm};
pub use point::Point;

/// Says that the process stands at this point. Returns, unless a test wants it otherwise.
#[cfg(not(feature = "armed"))]
#[inline]
pub const fn reach(_point: Point) {}

/// Says that the process stands at this point. Returns, unless a test wants it otherwise.
#[cfg(feature = "armed")]
pub fn reach(point: Point) {
    order::reached(point);
}

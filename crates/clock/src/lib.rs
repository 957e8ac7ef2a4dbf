//! Wall and monotonic time as a value that can be passed, and stopped.
//!
//! Two clocks, because they answer two questions. The *wall* says when something happened and is what
//! people, records and other machines see; it can be set, and can jump. The *monotonic* clock says how
//! long something took; deadlines inside a process compare with nothing else.

use std::{fmt, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};

mod manual;
mod monotonic;
mod system;

pub use manual::ManualClock;
pub use monotonic::Monotonic;
pub use system::SystemClock;

/// Where a room gets the time from.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The wall time: for records and for people, never for measuring how long something took.
    fn now(&self) -> DateTime<Utc>;

    /// The monotonic time: for deadlines and durations within this process.
    fn monotonic(&self) -> Monotonic;

    /// How much of the monotonic time the machine has spent suspended; nothing where that cannot be told.
    fn suspended(&self) -> Duration;
}

/// A clock as it is handed around between threads and tasks.
pub type SharedClock = Arc<dyn Clock>;

//! Wall and monotonic time as a value that the caller passes in. A test can stop it.
//!
//! There are two clocks because they answer two questions. The *wall* clock says when something happened.
//! People, records and other machines see it. It can be set and can jump. The *monotonic* clock says how long
//! something took. Deadlines inside a process use only this clock.

use std::{fmt, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};

mod jitter;
mod manual;
mod monotonic;
mod system;

pub use jitter::jittered;
pub use manual::ManualClock;
pub use monotonic::Monotonic;
pub use system::SystemClock;

/// The source of the time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The wall time. It is for records and people, never for measuring a duration.
    fn now(&self) -> DateTime<Utc>;

    /// The monotonic time: for deadlines and durations within this process.
    fn monotonic(&self) -> Monotonic;

    /// How much of the monotonic time the machine was suspended. Zero where the system cannot tell.
    fn suspended(&self) -> Duration;
}

/// A clock that threads and tasks share.
pub type SharedClock = Arc<dyn Clock>;

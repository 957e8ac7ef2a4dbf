//! A moment on the wire: RFC 3339 in the service's zone, exact to the microsecond, as the database stores it.

use chrono::DateTime;
use chrono_tz::Tz;
use serde::{Serialize, Serializer};

/// `2026-11-20T13:00:00.000000+02:00`. It is written without a text of its own, because confirm writes two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment(pub(super) DateTime<Tz>);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0.format("%Y-%m-%dT%H:%M:%S%.6f%:z"))
    }
}

//! Timelines: a standby that is promoted begins a new one (PostgreSQL, 26.3.5). So of two servers that both take
//! themselves for the primary, the one with the older timeline is wrong.

use tokio::sync::watch;

use crate::DatabaseError;

/// The number of a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timeline(u32);

/// The newest timeline that this process has seen on its database. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timelines(watch::Sender<Timeline>);

/// A server is behind another one.
#[derive(Debug, thiserror::Error)]
#[error(
    "the server is on timeline {} and another one was seen on timeline {}: it is a former primary, or the database was \
     restored from a dump, and then this process must be restarted",
    found.0, newest.0
)]
struct FormerPrimary {
    found: Timeline,
    newest: Timeline,
}

impl Timeline {
    /// The timeline of the first eight hexadecimal digits of a WAL file's name.
    pub(crate) fn of_a_wal_file(name: &str) -> Option<Self> {
        u32::from_str_radix(name, 16).ok().map(Self)
    }
}

impl Timelines {
    /// Notes the timeline of a server, and refuses an older one than the newest.
    pub(crate) fn see(&self, found: Timeline) -> Result<(), DatabaseError> {
        self.0.send_if_modified(|newest| {
            let is_newer = found > *newest;
            if is_newer {
                *newest = found;
            }
            is_newer
        });
        let newest = *self.0.borrow();
        if found < newest {
            return Err(DatabaseError::unavailable(FormerPrimary { found, newest }));
        }
        Ok(())
    }

    /// Whether no newer timeline was seen.
    pub(crate) fn is_newest(&self, found: Timeline) -> bool {
        found >= *self.0.borrow()
    }

    /// Waits until a newer timeline is seen.
    pub(crate) async fn superseded(&self, found: Timeline) {
        // The sender is here, so it cannot be gone.
        let _newest: Result<_, watch::error::RecvError> =
            self.0.subscribe().wait_for(|newest| *newest > found).await.map(drop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_that_is_older_than_the_newest_is_refused() {
        let timelines = Timelines::default();
        let [first, second] = ["0000000A", "0000000B"].map(|name| Timeline::of_a_wal_file(name).unwrap());
        timelines.see(first).unwrap();
        assert!(timelines.is_newest(first));
        timelines.see(second).unwrap();
        assert!(!timelines.is_newest(first) && timelines.is_newest(second));
        assert!(matches!(timelines.see(first), Err(DatabaseError::Unavailable { .. })));
        timelines.see(second).unwrap();
    }
}

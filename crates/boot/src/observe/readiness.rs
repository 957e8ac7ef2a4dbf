//! Whether the process can do its work. It is checked rarely, however often it is requested.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use chrono::{DateTime, Utc};
use clock::{Monotonic, SharedClock};
use tokio::{sync::Mutex, time::timeout};

use super::Answer;

/// How long an answer is valid. It keeps probes from loading the database.
const FRESH: Duration = Duration::from_secs(2);
/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why a process cannot do its work now: a phrase without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotReady {
    /// The phrase.
    pub(super) why: String,
}

/// The readiness of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// `None` if it is ready.
    pub(super) not_ready: Option<NotReady>,
    /// When it became ready, or not ready.
    pub(super) since: DateTime<Utc>,
}

/// The check, its last answer, and whether the process is about to stop.
pub(super) struct Readiness {
    clock: SharedClock,
    ask: Box<dyn Fn() -> Answer + Send + Sync>,
    /// Locked during a check: other requests wait for the same answer.
    last: Mutex<Option<(Monotonic, Standing)>>,
    stopping_since: OnceLock<DateTime<Utc>>,
}

impl Readiness {
    pub(super) fn new(clock: SharedClock, ask: Box<dyn Fn() -> Answer + Send + Sync>) -> Self {
        Self { clock, ask, last: Mutex::new(None), stopping_since: OnceLock::new() }
    }

    pub(super) fn stop(&self) {
        let _since = self.stopping_since.get_or_init(|| self.clock.now());
    }

    /// The readiness, checked at most once every two seconds.
    pub(super) async fn standing(self: &Arc<Self>) -> Standing {
        if let Some(since) = self.stopping_since.get() {
            return Standing { not_ready: Some(NotReady::because("the process is stopping")), since: *since };
        }
        let mut last = self.last.lock().await;
        let now = self.clock.monotonic();
        if let Some((asked, standing)) = last.as_ref()
            && now.elapsed_since(*asked) < FRESH
        {
            return standing.clone();
        }
        let answer = timeout(PATIENCE, (self.ask)()).await;
        let answer = answer.unwrap_or_else(|_elapsed| Err(NotReady::because("no answer within a second")));
        let standing = self.after(last.as_ref().map(|(_, standing)| standing), answer.err());
        *last = Some((now, standing.clone()));
        standing
    }

    fn after(&self, before: Option<&Standing>, not_ready: Option<NotReady>) -> Standing {
        let unchanged = before.filter(|before| before.not_ready.is_some() == not_ready.is_some());
        let since = unchanged.map_or_else(|| self.clock.now(), |before| before.since);
        match (&not_ready, unchanged, before) {
            (Some(NotReady { why }), None, _) => tracing::warn!(why, "not ready"),
            (None, None, Some(_)) => tracing::info!("ready again"),
            (Some(_) | None, _, _) => {}
        }
        Standing { not_ready, since }
    }
}

impl NotReady {
    pub(super) fn because(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Readiness").field("stopping_since", &self.stopping_since).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use chrono::TimeDelta;
    use clock::ManualClock;

    use super::*;

    const NOON: DateTime<Utc> = DateTime::UNIX_EPOCH;

    /// Ready at first, then not ready for two checks, then ready again. Also returns the number of checks.
    fn shaky(clock: &ManualClock) -> (Arc<Readiness>, Arc<AtomicU32>) {
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        let ask = move || -> Answer {
            let times = counted.fetch_add(1, Ordering::Relaxed);
            let away = (1..=2).contains(&times);
            Box::pin(async move { if away { Err(NotReady::because("away")) } else { Ok(()) } })
        };
        (Arc::new(Readiness::new(Arc::new(clock.clone()), Box::new(ask))), asked)
    }

    #[tokio::test]
    async fn it_is_asked_every_two_seconds_and_says_since_when_it_has_been_so() {
        let clock = ManualClock::at(NOON);
        let (readiness, asked) = shaky(&clock);
        let mut seen = Vec::new();
        for _second in 0..7 {
            let Standing { not_ready, since } = readiness.standing().await;
            seen.push((not_ready.is_none(), (since - NOON).num_seconds()));
            clock.advance(Duration::from_secs(1));
        }
        let expected = [(true, 0), (true, 0), (false, 2), (false, 2), (false, 2), (false, 2), (true, 6)];
        assert_eq!(seen, expected);
        assert_eq!(asked.load(Ordering::Relaxed), 4);
    }

    #[tokio::test]
    async fn a_process_that_stops_is_not_ready_whatever_it_can_do() {
        let clock = ManualClock::at(NOON);
        let (readiness, _asked) = shaky(&clock);
        assert_eq!(readiness.standing().await.not_ready, None);
        clock.advance(Duration::from_mins(1));
        readiness.stop();
        clock.advance(Duration::from_mins(1));
        readiness.stop();
        let expected = Standing {
            not_ready: Some(NotReady::because("the process is stopping")),
            since: NOON + TimeDelta::seconds(60),
        };
        assert_eq!(readiness.standing().await, expected);
    }

    #[tokio::test]
    async fn no_answer_is_an_answer() {
        let clock = ManualClock::at(NOON);
        let never = || -> Answer { Box::pin(std::future::pending()) };
        let readiness = Arc::new(Readiness::new(Arc::new(clock), Box::new(never)));
        let standing = readiness.standing().await;
        assert_eq!(standing.not_ready, Some(NotReady::because("no answer within a second")));
    }
}

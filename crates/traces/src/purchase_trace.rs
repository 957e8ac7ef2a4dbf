//! The trace of one purchase: the spans that any process reports about it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use clock::Monotonic;

use crate::{
    Reporter,
    ids::{SpanId, TraceId},
    span::{Name, Span, SpanEnd},
};

/// The trace of one purchase, or none.
///
/// Its root is the span from the arrival to the reserve, whose id follows from the purchase, too. It is reported as soon as the money is
/// held. All other spans are its children: no span waits for one that a crash could take away.
#[derive(Clone, Debug, Default)]
pub struct PurchaseTrace(Option<Arc<Traced>>);

#[derive(Debug)]
struct Traced {
    reporter: Arc<Reporter>,
    purchase: i64,
    trace: TraceId,
    root: SpanId,
    /// One moment by both clocks. All wall times follow from it, so the spans of a process are in order, whatever happens between two
    /// readings and however the wall clock is set.
    at: (DateTime<Utc>, Monotonic),
}

/// A span that has begun. It is reported only by [`OpenSpan::end`].
#[derive(Debug)]
#[must_use]
pub struct OpenSpan(Option<Begun>);

#[derive(Debug)]
struct Begun {
    of: Arc<Traced>,
    name: Name,
    at: Monotonic,
}

/// When the lane of a reserve had what it needs to decide.
#[derive(Clone, Debug, Default)]
pub struct LaneMark(Option<Arc<AtomicU64>>);

/// The place where a use case leaves the trace of the purchase that a request turned out to be about.
#[derive(Clone, Debug, Default)]
pub struct RequestTrace(Option<Arc<Mutex<PurchaseTrace>>>);

impl PurchaseTrace {
    /// No trace.
    pub const fn off() -> Self {
        Self(None)
    }

    pub(crate) fn new(reporter: Arc<Reporter>, purchase: i64, (trace, root): (TraceId, SpanId)) -> Self {
        let at = (reporter.clock.now(), reporter.clock.monotonic());
        Self(Some(Arc::new(Traced { reporter, purchase, trace, root, at })))
    }

    #[cfg(test)]
    pub(crate) fn ids(&self) -> Option<(TraceId, SpanId)> {
        self.0.as_ref().map(|of| (of.trace, of.root))
    }

    /// Begins a span now.
    pub fn begin(&self, name: Name) -> OpenSpan {
        OpenSpan(self.0.as_ref().map(|of| Begun { of: of.clone(), name, at: of.now() }))
    }

    /// A span that began at `at`.
    pub fn began(&self, name: Name, at: Monotonic) -> OpenSpan {
        OpenSpan(self.0.as_ref().map(|of| Begun { of: of.clone(), name, at }))
    }

    /// Reports a span that is over.
    pub fn passed(&self, name: Name, (from, until): (Monotonic, Monotonic), end: impl FnOnce() -> SpanEnd) {
        if let Some(of) = &self.0 {
            let parent = (name != Name::Purchase).then_some(of.root);
            of.report((name, parent), (from, until), end());
        }
    }

    /// Reports that the money is held, with the root of the trace: the request arrived, then the reserve began, and it has ended now.
    pub fn is_reserved(
        &self,
        (arrived, began): (Monotonic, Monotonic),
        lane: &LaneMark,
        end: impl FnOnce() -> [SpanEnd; 2],
    ) {
        let Some(of) = &self.0 else { return };
        let ([purchase, reserve], now) = (end(), of.now());
        of.report_as(of.root, (Name::Purchase, None), (arrived, now), purchase);
        let id = of.report((Name::Reserve, Some(of.root)), (began, now), reserve);
        if let Some(decided) = lane.moment() {
            of.report((Name::LaneWait, Some(id)), (began, decided), SpanEnd::default());
            of.report((Name::LaneCommit, Some(id)), (decided, now), SpanEnd::default());
        }
    }

    /// A mark for the lane that the reserve waits in.
    pub fn lane_mark(&self) -> LaneMark {
        LaneMark(self.0.as_ref().map(|_on| Arc::default()))
    }
}

impl Traced {
    fn now(&self) -> Monotonic {
        self.reporter.clock.monotonic()
    }

    fn report(&self, name: (Name, Option<SpanId>), passed: (Monotonic, Monotonic), end: SpanEnd) -> SpanId {
        let id = self.reporter.fresh_id();
        self.report_as(id, name, passed, end);
        id
    }

    fn wall_time(&self, moment: Monotonic) -> DateTime<Utc> {
        let (wall, monotonic) = self.at;
        if moment >= monotonic {
            wall + moment.elapsed_since(monotonic)
        } else {
            wall - monotonic.elapsed_since(moment)
        }
    }

    fn report_as(
        &self,
        id: SpanId,
        (name, parent): (Name, Option<SpanId>),
        (from, until): (Monotonic, Monotonic),
        end: SpanEnd,
    ) {
        self.reporter.report(Span {
            trace: self.trace,
            id,
            parent,
            name,
            began_at: self.wall_time(from),
            took: until.elapsed_since(from),
            purchase: self.purchase,
            end,
        });
    }
}

impl OpenSpan {
    /// Ends the span now, and reports it with what `end` says. Without a trace `end` is not called.
    pub fn end(self, end: impl FnOnce() -> SpanEnd) {
        if let Some(Begun { of, name, at }) = self.0 {
            of.report((name, Some(of.root)), (at, of.now()), end());
        }
    }
}

impl LaneMark {
    /// The lane has what it needs, now. The last of several runs counts.
    pub fn decides(&self, now: Monotonic) {
        if let Some(mark) = &self.0 {
            let since_origin = u64::try_from(now.since_origin().as_nanos()).unwrap_or_default();
            mark.store(since_origin, Ordering::Relaxed);
        }
    }

    fn moment(&self) -> Option<Monotonic> {
        let nanoseconds = self.0.as_ref()?.load(Ordering::Relaxed);
        (nanoseconds > 0).then(|| Monotonic::from_origin(Duration::from_nanos(nanoseconds)))
    }
}

impl RequestTrace {
    /// No trace.
    pub const fn off() -> Self {
        Self(None)
    }

    pub(crate) fn open() -> Self {
        Self(Some(Arc::default()))
    }

    /// The request is about this purchase. The last one counts.
    pub fn about(&self, trace: &PurchaseTrace) {
        if let Some(found) = &self.0 {
            found.lock().unwrap_or_else(PoisonError::into_inner).clone_from(trace);
        }
    }

    /// The trace of the purchase that the request was about.
    pub fn found(&self) -> PurchaseTrace {
        let found = self.0.as_ref();
        found.map_or_else(PurchaseTrace::off, |found| {
            found.lock().unwrap_or_else(PoisonError::into_inner).clone()
        })
    }
}

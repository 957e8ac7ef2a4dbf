//! Traces of purchases: what was done for one purchase, by every process, as the spans of one trace.
//!
//! The id of a trace follows from the purchase's reference ([`PurchaseTrace`]). So a process that finds a purchase after a crash
//! continues its trace, and nothing about it is stored. While traces are off, a report costs one comparison.

mod exporter;
mod ids;
mod measures;
mod otlp;
mod purchase_trace;
mod settings;
mod span;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clock::{Monotonic, SharedClock};
use tokio::sync::mpsc;

pub use exporter::{Exporter, StartError};
pub use measures::describe_metrics;
pub use purchase_trace::{LaneMark, OpenSpan, PurchaseTrace, RequestTrace};
pub use settings::{BadTraceSettings, TraceSettings};
pub use span::{Attribute, Name, SpanEnd};

use ids::SpanId;
use span::Span;

/// The traces of a process: off, or on. Clones report to the same exporter.
#[derive(Clone, Debug, Default)]
pub struct Traces(Option<Arc<Reporter>>);

/// What every span needs.
#[derive(Debug)]
struct Reporter {
    clock: SharedClock,
    one_in: u64,
    queue: mpsc::Sender<Span>,
    /// Span ids are hashes of a counter, under a key that the standard library takes from the system.
    key: RandomState,
    spans: AtomicU64,
}

impl Traces {
    /// No traces.
    pub const fn off() -> Self {
        Self(None)
    }

    fn to(queue: mpsc::Sender<Span>, one_in: u64, clock: SharedClock) -> Self {
        Self(Some(Arc::new(Reporter {
            clock,
            one_in,
            queue,
            key: RandomState::new(),
            spans: AtomicU64::new(0),
        })))
    }

    /// The time, if traces are on: the beginning of a span whose purchase is not known yet.
    pub fn now(&self) -> Option<Monotonic> {
        self.0.as_ref().map(|reporter| reporter.clock.monotonic())
    }

    /// The trace of a purchase: its number, and its public reference. It is off if traces are, or if this purchase is not one of
    /// those that are traced.
    pub fn of(&self, purchase: i64, reference: &str) -> PurchaseTrace {
        let Some(reporter) = &self.0 else { return PurchaseTrace::off() };
        let (trace, root) = ids::of_purchase(reference);
        if trace.is_one_in(reporter.one_in) {
            PurchaseTrace::new(reporter.clone(), purchase, (trace, root))
        } else {
            PurchaseTrace::off()
        }
    }

    /// A place where a use case leaves the trace of the purchase that a request turned out to be about.
    pub fn of_request(&self) -> RequestTrace {
        if self.0.is_some() { RequestTrace::open() } else { RequestTrace::off() }
    }
}

impl Reporter {
    fn fresh_id(&self) -> SpanId {
        SpanId::from_number(self.key.hash_one(self.spans.fetch_add(1, Ordering::Relaxed)))
    }

    /// Never waits.
    fn report(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            measures::dropped(measures::Dropped::QueueFull, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use clock::ManualClock;
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    const REFERENCE: &str = "TOP/2026/03/0000004217";

    fn queue(length: usize, one_in: u64) -> (Traces, mpsc::Receiver<Span>) {
        let (queue, spans) = mpsc::channel(length);
        (Traces::to(queue, one_in, Arc::new(ManualClock::at(DateTime::UNIX_EPOCH))), spans)
    }

    #[test]
    fn without_traces_nothing_is_asked_and_no_time_is_read() {
        let traces = Traces::off();
        assert_eq!(traces.now(), None);
        let trace = traces.of(4_217, REFERENCE);
        trace.begin(Name::Send).end(|| panic!("there is no receiver"));
        let request = traces.of_request();
        request.about(&trace);
        request.found().begin(Name::Request).end(|| panic!("there is no receiver"));
    }

    #[test]
    fn every_process_finds_the_same_trace_and_keeps_the_same_purchases() {
        let ((server, _to_server), (worker, _to_worker)) = (queue(9, 3), queue(9, 3));
        for number in 0..50 {
            let reference = format!("TOP/2026/03/{number:010}");
            let [one, other] = [&server, &worker].map(|traces| traces.of(number, &reference));
            assert_eq!(one.ids(), other.ids(), "{reference}");
        }
        assert!((0..50).any(|number| server.of(number, &number.to_string()).ids().is_none()));
    }

    #[test]
    fn a_full_queue_drops_spans_and_counts_them_and_no_caller_waits() {
        let recorder = PrometheusBuilder::new().build_recorder();
        metrics::with_local_recorder(&recorder, || {
            let (traces, mut spans) = queue(2, 1);
            for _ in 0..5 {
                traces.of(4_217, REFERENCE).begin(Name::Enquiry).end(SpanEnd::default);
            }
            assert!(spans.try_recv().is_ok() && spans.try_recv().is_ok() && spans.try_recv().is_err());
        });
        let told = recorder.handle().render();
        assert!(told.contains("vendgate_spans_dropped_total{why=\"queue_full\"} 3"), "{told}");
    }

    #[test]
    fn all_spans_but_the_root_are_below_the_root_or_the_reserve() {
        let (traces, mut spans) = queue(9, 1);
        let trace = traces.of(4_217, REFERENCE);
        let (lane, now) = (trace.lane_mark(), Monotonic::from_origin(std::time::Duration::from_nanos(1)));
        lane.decides(now);
        trace.is_reserved((now, now), &lane, || [SpanEnd::default(), SpanEnd::default()]);
        trace.begin(Name::Send).end(SpanEnd::default);
        let mut next = || spans.try_recv().unwrap();
        let [root, reserve, wait, commit, send] = std::array::from_fn(|_place| next());
        assert_eq!(
            (root.name, root.parent, Some((root.trace, root.id))),
            (Name::Purchase, None, trace.ids())
        );
        assert_eq!([reserve.parent, send.parent], [Some(root.id); 2]);
        assert_eq!([wait.parent, commit.parent], [Some(reserve.id); 2]);
    }
}

//! When and over which connection a request arrived, and whether its caller still waits for it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use clock::{Monotonic, SharedClock};
use store::PendingRequest;
use traces::{LaneMark, RequestTrace};

/// The connection that a request came over.
pub trait CallerConnection: fmt::Debug + Send + Sync {
    /// Whether the caller has closed it, or it is broken.
    fn is_closed(&self) -> bool;
}

/// When a request arrived, its id and its connection.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The earlier of two moments: the last byte of the request reached the kernel, or its head was read.
    pub at: Monotonic,
    /// Its `X-Request-Id`. It is stored with the purchase, so that later actions on the purchase can be traced back
    /// to the request.
    pub request_id: Option<String>,
    /// The connection over which its caller waits for the answer. `None` if the connection cannot be observed.
    pub connection: Option<Arc<dyn CallerConnection>>,
    /// Where the trace of its purchase is left for the span of the request.
    pub trace: RequestTrace,
}

/// An arrival as the reserve checks it.
#[derive(Debug)]
pub(crate) struct WaitingCaller {
    pub(crate) arrived: Monotonic,
    pub(crate) clock: SharedClock,
    pub(crate) connection: Option<Arc<dyn CallerConnection>>,
    /// The lane asks for the age when it has all it needs to decide.
    pub(crate) lane: LaneMark,
}

impl PendingRequest for WaitingCaller {
    fn age(&self) -> Duration {
        let now = self.clock.monotonic();
        self.lane.decides(now);
        now.elapsed_since(self.arrived)
    }

    fn is_abandoned(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.is_closed())
    }
}

//! How a request came in, and whether its caller still waits for it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use clock::{Monotonic, SharedClock};
use store::PendingRequest;

/// The connection that a request came over.
pub trait CallerConnection: fmt::Debug + Send + Sync {
    /// Whether the caller has closed it, or it broke.
    fn is_closed(&self) -> bool;
}

/// When a request arrived, what it is called, and over what it came.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When its last byte had reached this machine, whether or not this process had read it.
    pub at: Monotonic,
    /// Its `X-Request-Id`. It is kept with the purchase, so that whatever is done about that later can be traced back to
    /// the request.
    pub request_id: Option<String>,
    /// Over which its caller waits for the answer; none where that cannot be seen.
    pub connection: Option<Arc<dyn CallerConnection>>,
}

/// An arrival as its reserve asks about it.
#[derive(Debug)]
pub(crate) struct WaitingCaller {
    pub(crate) arrived: Monotonic,
    pub(crate) clock: SharedClock,
    pub(crate) connection: Option<Arc<dyn CallerConnection>>,
}

impl PendingRequest for WaitingCaller {
    fn age(&self) -> Duration {
        self.clock.monotonic().elapsed_since(self.arrived)
    }

    fn is_abandoned(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.is_closed())
    }
}

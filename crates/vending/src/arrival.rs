//! How a request came in.

use clock::Monotonic;

/// When a request arrived, and what it is called.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When its head had come in.
    pub at: Monotonic,
    /// Its `X-Request-Id`. It is kept with the purchase, so that whatever is done about that later can be traced back to
    /// the request.
    pub request_id: Option<String>,
}

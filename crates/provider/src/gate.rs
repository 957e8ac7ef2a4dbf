//! The last check before an order is sent.

use std::fmt;
use std::sync::Arc;

/// Whether the order may still be sent. A process that was suspended for an hour must not resume and send an order that
/// another process has settled. So the sender checks the gate at the last possible moment.
#[derive(Clone)]
pub struct Gate(Arc<dyn Fn() -> bool + Send + Sync>);

impl Gate {
    /// A gate that is open while the condition is true. The condition is usually a monotonic deadline.
    pub fn while_true(condition: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(condition))
    }

    /// Evaluates the condition now.
    pub fn is_open(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.is_open() { "Gate(open)" } else { "Gate(closed)" })
    }
}

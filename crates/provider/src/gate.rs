//! The last look before an order leaves.

use std::fmt;
use std::sync::Arc;

/// Whether it is still right to send. A process that was stopped for an hour must not wake up and send
/// what others have long settled, so the sender asks at the last possible moment.
#[derive(Clone)]
pub struct Gate(Arc<dyn Fn() -> bool + Send + Sync>);

impl Gate {
    /// A gate that is open as long as the condition holds; typically a monotonic deadline.
    pub fn while_true(condition: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(condition))
    }

    /// Looks now.
    pub fn is_open(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.is_open() { "Gate(open)" } else { "Gate(closed)" })
    }
}

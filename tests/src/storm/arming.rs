//! How the binaries of this package are told where to die.

use failpoint::{Order, OrderError};

/// The variable in which an order stands: `confirm.before_send:1:kill`.
pub(super) const VARIABLE: &str = "VENDGATE_FAILPOINT";

/// Has this process act on the order in its environment, if there is one.
///
/// # Errors
/// When there is something else in its place.
#[expect(clippy::disallowed_methods, reason = "an order to a failpoint is no setting of the service")]
pub fn armed_by_the_environment() -> Result<(), OrderError> {
    if let Ok(written) = std::env::var(VARIABLE) {
        failpoint::arm(written.parse::<Order>()?);
    }
    Ok(())
}

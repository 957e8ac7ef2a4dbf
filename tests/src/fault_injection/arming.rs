//! Arms a failpoint in the binaries of this package from an environment variable.

use failpoint::{Trigger, TriggerError};

/// The environment variable that holds a trigger: `confirm.before_send:1:kill`.
pub(super) const VARIABLE: &str = "VENDGATE_FAILPOINT";

/// Arms this process with the trigger in its environment, if there is one.
///
/// # Errors
/// When the variable holds something that is not a trigger.
#[expect(clippy::disallowed_methods, reason = "the trigger of a failpoint is not a setting of the service")]
pub fn armed_by_the_environment() -> Result<(), TriggerError> {
    if let Ok(written) = std::env::var(VARIABLE) {
        failpoint::arm(written.parse::<Trigger>()?);
    }
    Ok(())
}

//! Waiting for what happens in the background.

use std::time::Duration;

/// Polls until the condition holds, for half a minute. Does not block the runtime of the test.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let waited = tokio::time::timeout(Duration::from_secs(30), async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    assert!(waited.await.is_ok(), "timed out waiting until {what}");
}

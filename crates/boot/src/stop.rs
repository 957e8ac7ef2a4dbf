//! The request to stop, from a terminal or from the service manager.

use std::{future::Future, io};

use tokio::signal::unix::{SignalKind, signal};

/// A future that resolves at the first SIGTERM or SIGINT. Both mean: stop gracefully.
///
/// From this call on, not from the first poll, neither signal ends the process by itself, and a second signal has no
/// effect: a repeated Ctrl-C must not interrupt a vend. Only SIGKILL ends the process at once. Call this function
/// within a tokio runtime. The signal handling of a server must be disabled.
pub fn stop_requested() -> io::Result<impl Future<Output = ()> + Send> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        let received = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        tracing::info!(signal = received, "asked to stop");
    })
}

//! The request to stop, from a terminal or from whatever runs the service.

use std::{future::Future, io};

use tokio::signal::unix::{SignalKind, signal};

/// A future that resolves at the first SIGTERM or SIGINT: both mean *stop in good order*.
///
/// From this call on, not from the first poll, neither signal ends the process by itself, and a second one
/// changes nothing: an impatient Ctrl-C must not cut off a vend half way. What cannot wait is SIGKILL.
/// To be called within a tokio runtime; a server that has its own ideas about signals must be told to drop them.
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

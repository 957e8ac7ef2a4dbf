//! A process that is asked to stop finishes its work: the signal is an event and does not end the process.

use std::{
    process::{Command, id},
    time::Duration,
};

use tokio::time::timeout;

const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn either_signal_asks_and_none_kills_however_often_it_comes() {
    for signal in ["-TERM", "-INT"] {
        let stop = boot::stop_requested().unwrap();
        // Before the future is polled for the first time.
        send(signal);
        timeout(LONG, stop).await.expect("the process was asked to stop");
    }
    let again = boot::stop_requested().unwrap();
    send("-INT");
    send("-TERM");
    timeout(LONG, again).await.expect("the process still runs and was asked again");
}

fn send(signal: &str) {
    let status = Command::new("kill").args([signal, &id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "kill {signal}");
}

//! Panics are defects. Each is counted and logged, without any data from run time.

use std::panic::{self, PanicHookInfo};

use metrics::{counter, describe_counter};

const PANICS: &str = "vendgate_panics_total";

/// Registers the descriptions of the metrics of this module.
pub fn describe_metrics() {
    describe_counter!(PANICS, "Panics in this process, caught ones included. Each is a defect.");
}

/// Counts and logs every panic of this process from now on, instead of the default message.
///
/// A message that is formatted at run time may contain a token or a name. Therefore only a message that is a literal in
/// the source is logged. The source location is logged in every case.
pub fn report() {
    counter!(PANICS).absolute(0);
    panic::set_hook(Box::new(|panic| {
        counter!(PANICS).increment(1);
        let thread = std::thread::current();
        tracing::error!(
            at = panic.location().map(ToString::to_string),
            thread = thread.name(),
            said = literal(panic),
            "panicked: a defect"
        );
    }));
}

fn literal<'a>(panic: &'a PanicHookInfo<'_>) -> Option<&'a str> {
    panic.payload().downcast_ref::<&'static str>().copied()
}

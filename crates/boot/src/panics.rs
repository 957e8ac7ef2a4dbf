//! Panics: defects, wherever they happen. Each is counted and logged; none says what it was about.

use std::panic::{self, PanicHookInfo};

use metrics::{counter, describe_counter};

const PANICS: &str = "vendgate_panics_total";

/// Says what is counted here, to whoever keeps it.
pub fn describe_metrics() {
    describe_counter!(PANICS, "Defects: panics in this process, whoever caught them.");
}

/// Counts and logs every panic of this process from now on, in place of what is printed otherwise.
///
/// A message that was put together while the process ran may hold a token or a name: only one that stands in the
/// program as it is gets into the log. Where it happened says the rest.
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

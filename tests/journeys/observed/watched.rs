//! A town of its own, with a worker that says all that it can; its database stands still now and then.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use sandbox::{Options, Process, Sandbox};

use crate::town::{directory, programs};

/// What makes a program say all that it can, for machines.
pub const TALKATIVE: [(&str, &str); 2] =
    [("VENDGATE__TELEMETRY__FILTER", "trace"), ("VENDGATE__TELEMETRY__FORMAT", "json")];

pub struct Watched {
    pub sandbox: Sandbox,
    pub worker: Process,
}

/// The town. It is founded beside every runtime, for it has one of its own.
pub fn watched() -> &'static Watched {
    static WATCHED: OnceLock<Watched> = OnceLock::new();
    WATCHED.get_or_init(|| std::thread::spawn(found).join().unwrap())
}

/// Until it is dropped, nobody else makes the town's database stand still, or needs it to go on.
pub fn undisturbed() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn found() -> Watched {
    let options = Options { works: false, ..Options::for_tests(directory().join("watched")) };
    let programs = programs();
    let sandbox = Sandbox::start(&options, &programs).unwrap();
    let worker =
        sandbox.another_retry_worker(&programs.retry_worker, "worker-that-talks", &TALKATIVE).unwrap();
    Watched { sandbox, worker }
}

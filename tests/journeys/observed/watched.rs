//! A separate environment whose worker logs at the most verbose level. Tests stop its database now and then.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use sandbox::{Options, Process, Sandbox};

use crate::env::{directory, programs};

/// Settings that make a program log everything as JSON.
pub const TALKATIVE: [(&str, &str); 2] =
    [("VENDGATE__TELEMETRY__FILTER", "trace"), ("VENDGATE__TELEMETRY__FORMAT", "json")];

pub struct Watched {
    pub sandbox: Sandbox,
    pub worker: Process,
}

/// The shared environment. It is started on its own thread, because it has its own runtime.
pub fn watched() -> &'static Watched {
    static WATCHED: OnceLock<Watched> = OnceLock::new();
    WATCHED.get_or_init(|| std::thread::spawn(start).join().unwrap())
}

/// A lock on the environment's database. While it is held, no other test stops the database or needs it.
pub fn undisturbed() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start() -> Watched {
    let options = Options { works: false, ..Options::for_tests(directory().join("watched")) };
    let programs = programs();
    let sandbox = Sandbox::start(&options, &programs).unwrap();
    let worker =
        sandbox.another_retry_worker(&programs.retry_worker, "worker-that-talks", &TALKATIVE).unwrap();
    Watched { sandbox, worker }
}

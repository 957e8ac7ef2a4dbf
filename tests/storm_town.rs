//! A town for each test, one at a time: they are about time, and there are two cores.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use acceptance::storm::StormTown;
use sandbox::{Pace, Program, Programs};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The turn of one test.
pub fn turn() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new town at the storm's pace.
pub fn found(name: &str) -> StormTown {
    found_at(Pace::Breathless, name)
}

/// A new town.
pub fn found_at(pace: Pace, name: &str) -> StormTown {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(name);
    StormTown::found_at(pace, programs(), directory)
}

fn programs() -> Programs {
    Programs {
        api_server: Program::at(env!("CARGO_BIN_EXE_acceptance-api-server")),
        retry_worker: Program::at(env!("CARGO_BIN_EXE_acceptance-retry-worker")),
        utility_sim: Program::at(env!("CARGO_BIN_EXE_acceptance-utility-sim")),
    }
}

//! A town for each test, one at a time: they are about time, and there are two cores.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use acceptance::{
    checker::{Moment, check},
    storm::{StormTown, Surface},
};
use sandbox::{Program, Programs};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The turn of one test.
pub fn turn() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new town.
pub fn found(surface: Surface, name: &str) -> StormTown {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("crashes").join(name);
    StormTown::found(surface, programs(), directory)
}

/// Fails with every law that is broken, each with what `explain` knows about it.
#[track_caller]
pub fn assert_lawful(town: &StormTown, explain: impl Fn(&str) -> String) {
    let evidence = town.evidence(Moment::AtRest);
    let violations: Vec<String> = check(&evidence)
        .iter()
        .map(ToString::to_string)
        .map(|broken| format!("{broken}{}", explain(&broken)))
        .collect();
    assert!(
        violations.is_empty(),
        "{} laws broken, among {} purchases:\n{}",
        violations.len(),
        evidence.books.purchases.len(),
        violations.join("\n")
    );
}

fn programs() -> Programs {
    Programs {
        api_server: Program::at(env!("CARGO_BIN_EXE_acceptance-api-server")),
        retry_worker: Program::at(env!("CARGO_BIN_EXE_acceptance-retry-worker")),
        utility_sim: Program::at(env!("CARGO_BIN_EXE_acceptance-utility-sim")),
    }
}

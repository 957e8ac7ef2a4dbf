//! One test environment for each test. Few tests run at the same time, because they depend on time and there are two
//! cores.

use std::{
    path::PathBuf,
    sync::{Condvar, Mutex, PoisonError},
};

use acceptance::fault_injection::FaultEnv;
use sandbox::{Pace, Program, Programs};
use tokio::runtime::{Builder, Runtime};

/// A test waits for leases and timers most of its time.
const AT_A_TIME: usize = 6;

static TESTS: Mutex<Tests> = Mutex::new(Tests { arrived: 0, ended: 0 });
static ONE_HAS_ENDED: Condvar = Condvar::new();

struct Tests {
    arrived: usize,
    ended: usize,
}

/// The right to run, until it is dropped.
pub struct Turn(());

/// Waits until few enough other tests run. Tests run in the order in which they arrive.
pub fn turn() -> Turn {
    let mut tests = TESTS.lock().unwrap_or_else(PoisonError::into_inner);
    let before = tests.arrived;
    tests.arrived += 1;
    let _tests = ONE_HAS_ENDED
        .wait_while(tests, |tests| before >= tests.ended + AT_A_TIME)
        .unwrap_or_else(PoisonError::into_inner);
    Turn(())
}

impl Drop for Turn {
    fn drop(&mut self) {
        TESTS.lock().unwrap_or_else(PoisonError::into_inner).ended += 1;
        ONE_HAS_ENDED.notify_all();
    }
}

/// A new test environment at the pace of fault injection.
pub fn start_env(name: &str) -> FaultEnv {
    start_env_at(Pace::Breathless, name)
}

/// A new test environment.
pub fn start_env_at(pace: Pace, name: &str) -> FaultEnv {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("attacks").join(name);
    FaultEnv::start_at(pace, programs(), directory)
}

/// Two threads for the clients of an attack, beside the servers that it attacks.
pub fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn programs() -> Programs {
    Programs {
        api_server: Program::at(env!("CARGO_BIN_EXE_acceptance-api-server")),
        retry_worker: Program::at(env!("CARGO_BIN_EXE_acceptance-retry-worker")),
        utility_sim: Program::at(env!("CARGO_BIN_EXE_acceptance-utility-sim")),
        console: Program::at(env!("CARGO_BIN_EXE_acceptance-console")),
    }
}

//! The engine's runtime. It is separate from the runtimes that serve or claim, so a stop of those does not stop a
//! vend.

use std::io;
use std::time::Duration;

use crate::Engine;
use tokio::runtime::{Builder, Runtime};

/// When this is used, everything has been drained or the deadline has passed.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// A runtime and the engine on it.
#[derive(Debug)]
pub struct EngineRuntime {
    runtime: Runtime,
    engine: Engine,
}

impl EngineRuntime {
    /// Starts the runtime with this number of threads.
    pub fn start(threads: usize) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads.max(1))
            .thread_name("engine")
            .enable_all()
            .build()?;
        let engine = Engine::new(runtime.handle().clone());
        Ok(Self { runtime, engine })
    }

    /// The engine.
    pub fn engine(&self) -> Engine {
        self.engine.clone()
    }

    /// Ends the runtime, after the program has drained it.
    pub fn finish(self) {
        self.runtime.shutdown_timeout(LAST_GRACE);
    }
}

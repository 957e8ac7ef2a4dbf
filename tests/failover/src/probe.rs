//! Writes to the cluster all the time, on its own, so that the pause of the cluster can be told from the pause of the sales.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use acceptance::{fault_injection::now, time::pause};
use tokio::{runtime::Handle, task::JoinHandle, time::timeout};
use tokio_postgres::{Config, NoTls, config::TargetSessionAttrs};

use crate::{Failure, cluster::PORT};

/// The pause between two writes to one machine.
const EVERY: Duration = Duration::from_millis(200);
/// A write that waits longer for a standby is given up.
const PATIENCE: Duration = Duration::from_secs(2);

/// The moments at which a write was acknowledged.
#[derive(Clone, Default)]
pub struct Probe(Arc<Mutex<Vec<i64>>>);

impl Probe {
    /// Begins to write, with one task for each machine. They end with the runtime.
    pub fn start(runtime: &Handle, addresses: &[String], password: &str) -> Self {
        let probe = Self::default();
        for address in addresses {
            let mut config = Config::new();
            config.host(address).port(PORT).user("postgres").password(password).dbname("postgres");
            config.target_session_attrs(TargetSessionAttrs::ReadWrite).connect_timeout(PATIENCE);
            let _runs_on: JoinHandle<()> = runtime.spawn(probe.clone().write_to(config));
        }
        probe
    }

    /// All moments so far.
    pub fn moments(&self) -> Vec<i64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn write_to(self, config: Config) {
        loop {
            // A machine that is lost, or a standby, has no answer. That is what is measured.
            let _refused: Result<Result<(), Failure>, _> =
                timeout(PATIENCE * 2, self.write_on(&config)).await;
            pause(EVERY).await;
        }
    }

    /// Writes over one connection until a write fails. `pg_logical_emit_message` commits a few bytes and needs no table.
    async fn write_on(&self, config: &Config) -> Result<(), Failure> {
        let (client, connection) = config.connect(NoTls).await?;
        tokio::spawn(connection);
        client.batch_execute("SELECT pg_logical_emit_message(true, 'probe', '')").await?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(now());
        Ok(())
    }
}

//! A whole system on this machine to measure: Postgres that syncs every commit, the simulated utility, servers and workers.
//! The server that every sandbox starts is idle, so that a measurement has servers of its own.

use std::{env, fs, path::PathBuf, process};

use local_postgres::Durability;
use purchase::Handling;
use sandbox::{Merchant, MerchantPlan, Options, Pace, Process, Programs, Sandbox, WalletPlan};

use crate::{Failure, till::UNLIMITED};

/// More money than any measurement spends.
const WALLET_MINOR: i64 = 100_000_000_000_000;

/// A running system. If a measurement in it fails, its directory stays, because the logs are there.
pub struct Shop {
    pub sandbox: Sandbox,
    programs: Programs,
    directory: PathBuf,
}

impl Shop {
    /// Starts a system with this many meters. This executable plays all its parts.
    pub fn open(name: &str, pace: Pace, meters: u32) -> Result<Self, Failure> {
        Self::open_with(name, pace, meters, &[])
    }

    /// The same on a Postgres with settings of its own, each as `name=value`.
    pub fn open_with(
        name: &str,
        pace: Pace,
        meters: u32,
        postgres_settings: &'static [&'static str],
    ) -> Result<Self, Failure> {
        let options = Options {
            durability: Durability::Durable,
            postgres_settings,
            pace,
            works: false,
            population: meters,
            ..Options::for_tests(env::temp_dir().join(format!("vendgate-{name}-{}", process::id())))
        };
        let programs = Programs::of_this_executable()?;
        let sandbox = Sandbox::start(&options, &programs)?;
        Ok(Self { sandbox, programs, directory: options.directory })
    }

    /// Starts a server without a limit per client.
    pub fn server(&self, name: &str) -> Result<Process, Failure> {
        self.server_with(name, &UNLIMITED)
    }

    /// Starts a server with these settings, and the defaults besides.
    pub fn server_with(&self, name: &str, settings: &[(&str, &str)]) -> Result<Process, Failure> {
        Ok(self.sandbox.another_api_server(&self.programs.api_server, name, settings)?)
    }

    /// Starts a worker.
    pub fn worker(&self, name: &str) -> Result<Process, Failure> {
        Ok(self.sandbox.another_retry_worker(&self.programs.retry_worker, name, &[])?)
    }

    /// Ends the system at once: everything has been measured.
    pub fn close(self) -> Result<(), Failure> {
        self.sandbox.stop(|| true);
        Ok(fs::remove_dir_all(self.directory)?)
    }
}

/// A merchant with one wallet, which no measurement empties.
pub async fn open_merchant(sandbox: &Sandbox, code: &str) -> Result<Merchant, Failure> {
    let mut plan = MerchantPlan::staging(code, "Bench Stores");
    let till = WalletPlan::loaded("Till", Handling::SelfManaged);
    plan.wallets = vec![WalletPlan { minor: WALLET_MINOR, ..till }];
    Ok(sandbox.office().open_merchant(plan).await?)
}

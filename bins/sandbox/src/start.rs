//! Starts everything in order.

mod console;
mod directory;
mod local_database;
mod ports;
mod servers;

use std::{
    io,
    path::{Path, PathBuf},
};

use clock::{Clock, SystemClock};
use database::{DatabaseError, DatabaseSettings, Purpose};
use identity::EntropyError;
use local_postgres::LocalPostgresError;
use purchase::{Handling, Timing};
use store::{SealError, SealingKey, SealingKeys, Store};
use tokio::runtime::{Builder, Runtime};
use utility_sim::Product;
use vend::{SubscriberIdentifier, SubscriberIdentifierError};

use crate::{
    Listener, Merchant, MerchantPlan, Office, OfficeError, Options, Pace, Process, ProcessError, Program,
    Programs, Sandbox, SandboxInfo, Subscribers, WalletPlan,
    controls::Controls,
    info::write_private,
    launch::{Launch, run_to_end},
    office::random_word,
    running::Watches,
    settings::{migrate_toml, utility_sim_toml, vendctl_airtime_toml, vendctl_toml},
};

pub use ports::free_port;
pub(crate) use servers::Servers;

use console::start_console;
use local_database::{TestEnv, find_database};

/// Why the sandbox could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another process listens on the API's port.
    #[error("port {port} is taken: stop what listens there, or choose another one with --port")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// This user may not use the port.
    #[error("port {port} cannot be used")]
    Port {
        /// The port.
        port: u16,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The private Postgres could not be started.
    #[error(transparent)]
    Postgres(#[from] LocalPostgresError),
    /// The directory contains files of another program.
    #[error("{} contains files of another program: choose an empty or a new directory", path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// Another sandbox is running in the directory.
    #[error("another sandbox is running in {}: end it, or choose another directory with --directory", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A file of the sandbox cannot be written.
    #[error("cannot write {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A part is not running.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The operator's connection failed.
    #[error("the database cannot be used")]
    Database(#[from] DatabaseError),
    /// A key is not valid.
    #[error("the sealing key cannot be used")]
    Seal(#[from] SealError),
    /// The organisations could not be created.
    #[error("the sandbox could not be seeded")]
    Seed(#[from] OfficeError),
    /// The simulator has a subscriber whose identifier is not valid.
    #[error("the simulator has a subscriber with an invalid identifier")]
    Subscriber(#[from] SubscriberIdentifierError),
    /// There is no randomness for keys and passwords.
    #[error("no keys could be generated")]
    Entropy(#[from] EntropyError),
    /// The server of the controls could not be started.
    #[error("the controls cannot be served")]
    Controls(#[source] io::Error),
    /// The threads could not be started.
    #[error("no threads can be started")]
    Threads(#[source] io::Error),
}

impl StartError {
    /// Whether the failure may be temporary, so that another start may succeed. All other causes must first be
    /// corrected on the machine or by the user: a port that is taken, a program that is not installed, a disk that
    /// cannot be written.
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::Process(ProcessError::Ended { .. } | ProcessError::Silent { .. })
            | Self::Postgres(
                LocalPostgresError::ProgramFailed { .. }
                | LocalPostgresError::DidNotStart { .. }
                | LocalPostgresError::WatcherKilled
                | LocalPostgresError::Template { .. },
            )
            | Self::Database(_)
            | Self::Seed(_) => true,
            Self::Process(ProcessError::NotStarted { .. })
            | Self::Postgres(
                LocalPostgresError::NotInstalled { .. }
                | LocalPostgresError::InstallForbidden { .. }
                | LocalPostgresError::CannotRun { .. }
                | LocalPostgresError::Directory { .. }
                | LocalPostgresError::NoUserToRunAs
                | LocalPostgresError::System { .. }
                | LocalPostgresError::BadName { .. },
            )
            | Self::PortTaken { .. }
            | Self::Port { .. }
            | Self::NotOurs { .. }
            | Self::InUse { .. }
            | Self::File { .. }
            | Self::Seal(_)
            | Self::Subscriber(_)
            | Self::Entropy(_)
            | Self::Controls(_)
            | Self::Threads(_) => false,
        }
    }
}

impl Sandbox {
    /// Starts everything. Takes a few seconds, and must not be called on a thread of an async runtime.
    ///
    /// # Errors
    /// The missing requirement, or the part that does not start.
    pub fn start(options: &Options, programs: &Programs) -> Result<Self, StartError> {
        // Checked before any files of another running sandbox are changed.
        let taken = directory::take(&options.directory)?;
        free_port(options.port)?;
        directory::clear(&options.directory)?;
        let (postgres, database) = find_database(options)?;
        let env = TestEnv::with_new_passwords(database)?;
        migrate(&programs.api_server, &options.directory, &env.owner_url)?;
        env.separate_worker()?;
        let sealing_key = random_word(32)?;
        let engine = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(StartError::Threads)?;
        let store = open_store(&engine, &env.operator_url, &sealing_key)?;
        let office = Office::new(store, options.environment, simulator(options.population)?);
        let (first, second) = engine.block_on(seed(&office, options.pace))?;

        let utility_sim = start_simulator(&programs.utility_sim, options)?;
        let servers = Servers {
            api_database_url: env.api_url.clone(),
            worker_database_url: env.worker_url.clone(),
            simulator_url: utility_sim.url().to_owned(),
            smtp_address: utility_sim.address(Listener::Smtp).to_owned(),
            sealing_key,
            refresh_key: random_word(32)?,
            certificate_key: options.certifies.then(|| random_word(32)).transpose()?,
            environment: options.environment,
            pace: options.pace,
            requires_standby: options.requires_standby,
            webhooks_stay_here: options.webhooks_stay_here,
            directory: options.directory.clone(),
        };
        let port = free_port(options.port)?;
        let api_server = servers.api_server(&programs.api_server, "api-server", port, &[])?;
        let start_worker = || servers.retry_worker(&programs.retry_worker, "retry-worker", &[]);
        let retry_worker = options.works.then(start_worker).transpose()?;
        let console = start_console(&programs.console, options, &env, &servers.sealing_key)?;
        let console_url = console.as_ref().map(|console| console.url().to_owned());
        write_settings_of_people(&env, &servers, console_url.as_deref())?;
        let controls = Controls::serve(office.clone()).map_err(StartError::Controls)?;
        let watched = std::iter::once(&api_server).chain(&retry_worker);
        let metrics_urls = watched.map(|server| format!("{}/metrics", server.address(Listener::Observe)));
        let info = SandboxInfo {
            metrics_urls: metrics_urls.collect(),
            operator_settings: options.directory.join(OPERATOR_SETTINGS),
            console_url,
            control_url: controls.url().to_owned(),
            ..info(&api_server, &utility_sim, &env, first, &second)
        };
        Ok(Self {
            api_server,
            retry_worker,
            utility_sim,
            console,
            controls,
            office,
            info,
            servers,
            directory: options.directory.clone(),
            _taken: taken,
            engine,
            database: env.database,
            postgres,
            watches: Watches::begin(SystemClock.monotonic()),
        })
    }
}

/// The settings of `vendctl` for each person who uses it.
fn write_settings_of_people(
    env: &TestEnv,
    servers: &Servers,
    console_url: Option<&str>,
) -> Result<(), StartError> {
    // Who only helps customers has no credentials of providers.
    let airtime = vendctl_airtime_toml(&servers.simulator_url);
    for (file, login, providers) in [
        (OPERATOR_SETTINGS, &env.operator_url, airtime.as_str()),
        (COLLEAGUE_SETTINGS, &env.colleague_url, airtime.as_str()),
        (SUPPORT_SETTINGS, &env.support_url, ""),
    ] {
        let settings = vendctl_toml(login, console_url, &servers.sealing_key) + providers;
        write_settings(&servers.directory.join(file), &settings)?;
    }
    Ok(())
}

fn info(
    api_server: &Process,
    utility_sim: &Process,
    env: &TestEnv,
    first: Merchant,
    second: &Merchant,
) -> SandboxInfo {
    let wallet = |index: usize| first.wallets.get(index).map_or(0, |account| account.0);
    SandboxInfo {
        base_url: api_server.url().to_owned(),
        simulator_url: utility_sim.url().to_owned(),
        control_url: String::new(),
        console_url: None,
        database_url: env.database.url(),
        metrics_urls: Vec::new(),
        operator_url: env.operator_url.as_str().into(),
        operator_settings: PathBuf::new(),
        account_id: wallet(0),
        managed_account_id: wallet(1),
        credentials: first.credentials,
        second_organisation: second.credentials.clone(),
        subscribers: Subscribers::of_the_simulator(),
    }
}

/// The file with the operator's settings of `vendctl`.
const OPERATOR_SETTINGS: &str = "vendctl.toml";

/// The file with those of a second operator, beside it.
pub const COLLEAGUE_SETTINGS: &str = "vendctl-colleague.toml";

/// The file with those of a person at the support desk.
pub const SUPPORT_SETTINGS: &str = "vendctl-support.toml";

const MIGRATE_SETTINGS: &str = "migrate.toml";

/// Migrates as an operator does: with the server's program, in the role of the owner.
fn migrate(program: &Program, directory: &Path, owner_url: &str) -> Result<(), StartError> {
    let settings = directory.join(MIGRATE_SETTINGS);
    write_settings(&settings, &migrate_toml(owner_url))?;
    let log = directory.join("migrate.log");
    Ok(run_to_end("api-server migrate", program, ["migrate".as_ref(), settings.as_os_str()], &log)?)
}

fn open_store(engine: &Runtime, operator_url: &str, sealing_key: &str) -> Result<Store, StartError> {
    let keys = SealingKeys::try_new(SealingKey::from_hex(1, &sealing_key.into())?, Vec::new())?;
    let mut settings = DatabaseSettings::for_database(operator_url);
    settings.pool_size = 4;
    settings.money_pool_size = 1;
    // No customer waits for the operator of a sandbox. On a busy machine another act may keep a lock for seconds.
    settings.lock_timeout_ms = 15_000;
    settings.statement_timeout_ms = 20_000;
    let handle = engine.handle().clone();
    Ok(engine.block_on(Store::connect(settings, keys, Timing::default(), Purpose::General, handle))?)
}

/// All named subscribers of the simulator, and this many ordinary meters.
fn simulator(population: u32) -> Result<Vec<SubscriberIdentifier>, StartError> {
    let named = [Product::Electricity, Product::Water, Product::Airtime]
        .into_iter()
        .flat_map(utility_sim::subscribers);
    let named = named.map(|subscriber| subscriber.identifier.to_owned());
    let all = named.chain(utility_sim::ordinary(Product::Electricity, population));
    Ok(all.map(|identifier| SubscriberIdentifier::parse(&identifier)).collect::<Result<_, _>>()?)
}

async fn seed(office: &Office, pace: Pace) -> Result<(Merchant, Merchant), OfficeError> {
    office.stock_catalogue(pace).await?;
    let mut first = MerchantPlan::staging("SANDBOX", "Sandbox Stores");
    first.wallets.push(WalletPlan::loaded("Managed wallet", Handling::Managed));
    let first = office.open_merchant(first).await?;
    let second = office.open_merchant(MerchantPlan::staging("NEIGHBOUR", "Neighbour Stores")).await?;
    Ok((first, second))
}

fn start_simulator(program: &Program, options: &Options) -> Result<Process, StartError> {
    let settings = options.directory.join("utility-sim.toml");
    // The ports must not change in a restart, because they are in the settings of the servers.
    let ports = [free_port(0)?, free_port(0)?];
    write_settings(
        &settings,
        &utility_sim_toml(options.pace, options.population, ports, &options.directory),
    )?;
    Ok(Process::start(Launch {
        name: "utility-sim",
        program: program.clone(),
        settings,
        environment: Vec::new(),
        log: options.directory.join("utility-sim.log"),
        listeners: &[Listener::Http, Listener::Smtp],
        forgets: Some("its inbox and its fault script are empty; vends, meters and answers are restored"),
    })?)
}

fn write_settings(path: &Path, text: &str) -> Result<(), StartError> {
    write_private(path, text).map_err(|source| StartError::File { path: path.to_owned(), source })
}

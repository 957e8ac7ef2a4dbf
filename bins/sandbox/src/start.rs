//! Bringing everything up, in order.

mod database;
mod ports;
mod servers;

use std::{
    ffi::OsStr,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use clock::{Clock, SystemClock};
use identity::EntropyError;
use local_postgres::{LocalPostgres, LocalPostgresError};
use purchase::{Handling, Timing};
use store::{SealError, SealingKey, SealingKeys, Store, StoreError, StoreSettings};
use tokio::runtime::{Builder, Runtime};
use utility_sim::Product;
use vend::{SubscriberIdentifier, SubscriberIdentifierError};

use crate::{
    Door, Facts, Office, OfficeError, Options, Pace, Process, ProcessError, Program, Programs, Sandbox, Shop,
    ShopPlan, Subscribers, WalletPlan,
    facts::write_private,
    launch::{Launch, run_to_end},
    office::random_word,
    running::Watches,
    settings::{migrate_toml, utility_sim_toml, vendctl_toml},
};

pub use ports::free_port;
pub(crate) use servers::Servers;

use database::Town;

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Somebody else listens on the API's port.
    #[error("port {port} is taken: stop what listens there, or choose another one with --port")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The port is not for this user.
    #[error("nobody can listen on port {port}")]
    Port {
        /// The port.
        port: u16,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// No private Postgres.
    #[error(transparent)]
    Postgres(#[from] LocalPostgresError),
    /// The directory is somebody else's.
    #[error("{} holds files, and no sandbox has been there: name an empty directory, or a new one", path.display())]
    NotOurs {
        /// Which.
        path: PathBuf,
    },
    /// A file of the sandbox cannot be written.
    #[error("cannot write {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A part does not run.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The operator's connection fails.
    #[error("the database cannot be used")]
    Store(#[from] StoreError),
    /// A key is not usable.
    #[error("the sealing key cannot be used")]
    Seal(#[from] SealError),
    /// The organisations could not be let in.
    #[error("the sandbox could not be seeded")]
    Seed(#[from] OfficeError),
    /// The simulator knows somebody by a name that nobody can have.
    #[error("the simulator has a subscriber that cannot be")]
    Subscriber(#[from] SubscriberIdentifierError),
    /// There is no randomness for keys and passwords.
    #[error("no keys could be made")]
    Entropy(#[from] EntropyError),
    /// No threads.
    #[error("no threads can be started")]
    Threads(#[source] io::Error),
}

impl StartError {
    /// Whether something has ended or failed that may do better at another start. What is left is the machine's or the
    /// person's to change first: a port that is taken, a program that is not installed, a disk that cannot be written.
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::Process(ProcessError::Ended { .. } | ProcessError::Silent { .. })
            | Self::Postgres(
                LocalPostgresError::ProgramFailed { .. }
                | LocalPostgresError::DidNotStart { .. }
                | LocalPostgresError::WatcherKilled
                | LocalPostgresError::Template { .. },
            )
            | Self::Store(_)
            | Self::Seed(_) => true,
            Self::Process(ProcessError::NotStarted { .. })
            | Self::Postgres(
                LocalPostgresError::NotInstalled { .. }
                | LocalPostgresError::CannotRun { .. }
                | LocalPostgresError::Directory { .. }
                | LocalPostgresError::NobodyToRunIt
                | LocalPostgresError::System { .. }
                | LocalPostgresError::BadName { .. },
            )
            | Self::PortTaken { .. }
            | Self::Port { .. }
            | Self::NotOurs { .. }
            | Self::File { .. }
            | Self::Seal(_)
            | Self::Subscriber(_)
            | Self::Entropy(_)
            | Self::Threads(_) => false,
        }
    }
}

impl Sandbox {
    /// Brings everything up. Takes a few seconds, and must not be called on an async runtime's thread.
    ///
    /// # Errors
    /// What is missing, or which part does not start.
    pub fn start(options: &Options, programs: &Programs) -> Result<Self, StartError> {
        // Before anything of another sandbox that still runs is touched.
        free_port(options.port)?;
        make_directory(&options.directory)?;
        let postgres = LocalPostgres::start(options.durability)?;
        let town = Town::found(&postgres)?;
        migrate(&programs.api_server, &options.directory, &town.owner_url)?;
        town.separate_worker()?;
        let sealing_key = random_word(32)?;
        let engine = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(StartError::Threads)?;
        let store = open_store(&engine, &town.operator_url, &sealing_key)?;
        let office = Office::new(store, street(options.population)?);
        let (first, second) = engine.block_on(seed(&office, options.pace))?;

        let utility_sim = start_simulator(&programs.utility_sim, options)?;
        let servers = Servers {
            api_database_url: town.api_url.clone(),
            worker_database_url: town.worker_url.clone(),
            simulator_url: utility_sim.url().to_owned(),
            smtp_address: utility_sim.address(Door::Smtp).to_owned(),
            sealing_key,
            refresh_key: random_word(32)?,
            pace: options.pace,
            directory: options.directory.clone(),
        };
        let port = free_port(options.port)?;
        let api_server = servers.api_server(&programs.api_server, "api-server", port, &[])?;
        let start_worker = || servers.retry_worker(&programs.retry_worker, "retry-worker", &[]);
        let retry_worker = options.works.then(start_worker).transpose()?;
        let operator_settings = options.directory.join("vendctl.toml");
        write_settings(&operator_settings, &vendctl_toml(&town.operator_url, &servers.sealing_key))?;
        let watched = std::iter::once(&api_server).chain(&retry_worker);
        let metrics_urls = watched.map(|server| format!("{}/metrics", server.address(Door::Observe)));
        let facts = Facts {
            metrics_urls: metrics_urls.collect(),
            operator_settings,
            ..facts(&api_server, &utility_sim, &town, first, &second)
        };
        Ok(Self {
            api_server,
            retry_worker,
            utility_sim,
            office,
            facts,
            servers,
            directory: options.directory.clone(),
            engine,
            database: town.database,
            postgres,
            watches: Watches::begin(SystemClock.monotonic()),
        })
    }
}

fn facts(api_server: &Process, utility_sim: &Process, town: &Town, first: Shop, second: &Shop) -> Facts {
    let wallet = |index: usize| first.wallets.get(index).map_or(0, |account| account.0);
    Facts {
        base_url: api_server.url().to_owned(),
        simulator_url: utility_sim.url().to_owned(),
        database_url: town.database.url(),
        metrics_urls: Vec::new(),
        operator_settings: PathBuf::new(),
        account_id: wallet(0),
        managed_account_id: wallet(1),
        credentials: first.credentials,
        second_organisation: second.credentials.clone(),
        subscribers: Subscribers::of_the_simulator(),
    }
}

/// In every directory that a sandbox has been in. One of an older version is known by two files of its own.
const MARK: &str = ".vendgate-sandbox";
const MIGRATE_SETTINGS: &str = "migrate.toml";

/// Fresh logs for a fresh sandbox, where nobody else looks: tokens are among them.
fn make_directory(path: &Path) -> Result<(), StartError> {
    let failed = |source| StartError::File { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(failed)?;
    let holds = |file: &str| path.join(file).exists();
    let is_ours = holds(MARK) || (holds(MIGRATE_SETTINGS) && holds("utility-sim.toml"));
    if !is_ours && fs::read_dir(path).map_err(failed)?.next().is_some() {
        return Err(StartError::NotOurs { path: path.to_owned() });
    }
    fs::write(path.join(MARK), "").map_err(failed)?;
    fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed)?;
    for entry in fs::read_dir(path).map_err(failed)?.flatten() {
        let name = entry.file_name();
        let ours = ["log", "toml", "json", "events"].map(OsStr::new);
        if Path::new(&name).extension().is_some_and(|extension| ours.contains(&extension)) {
            fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

/// As an operator does it: the server's own program, as the owner.
fn migrate(program: &Program, directory: &Path, owner_url: &str) -> Result<(), StartError> {
    let settings = directory.join(MIGRATE_SETTINGS);
    write_settings(&settings, &migrate_toml(owner_url))?;
    let log = directory.join("migrate.log");
    Ok(run_to_end("api-server migrate", program, ["migrate".as_ref(), settings.as_os_str()], &log)?)
}

fn open_store(engine: &Runtime, operator_url: &str, sealing_key: &str) -> Result<Store, StartError> {
    let keys = SealingKeys::try_new(SealingKey::from_hex(1, &sealing_key.into())?, Vec::new())?;
    let mut settings = StoreSettings::for_database(operator_url);
    settings.pool_size = 4;
    settings.money_pool_size = 1;
    settings.lanes = 1;
    let handle = engine.handle().clone();
    Ok(engine.block_on(Store::connect(settings, keys, Timing::default(), handle))?)
}

/// Everybody whom the simulator knows by name, and so many ordinary meters.
fn street(population: u32) -> Result<Vec<SubscriberIdentifier>, StartError> {
    let named = [Product::Electricity, Product::Water, Product::Airtime]
        .into_iter()
        .flat_map(utility_sim::subscribers);
    let named = named.map(|subscriber| subscriber.identifier.to_owned());
    let everybody = named.chain(utility_sim::ordinary(Product::Electricity, population));
    Ok(everybody.map(|identifier| SubscriberIdentifier::parse(&identifier)).collect::<Result<_, _>>()?)
}

async fn seed(office: &Office, pace: Pace) -> Result<(Shop, Shop), OfficeError> {
    office.stock_catalogue(pace).await?;
    let mut first = ShopPlan::staging("SANDBOX", "Sandbox Stores");
    first.wallets.push(WalletPlan::loaded("Managed wallet", Handling::Managed));
    let first = office.open_shop(first).await?;
    let second = office.open_shop(ShopPlan::staging("NEIGHBOUR", "Neighbour Stores")).await?;
    Ok((first, second))
}

fn start_simulator(program: &Program, options: &Options) -> Result<Process, StartError> {
    let settings = options.directory.join("utility-sim.toml");
    // Where it listens must not change when it is started again: the servers' settings say where it is.
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
        doors: &[Door::Http, Door::Smtp],
        forgets: Some(
            "its inbox and its script of faults are empty; vends, meters and answers are as they were",
        ),
    })?)
}

fn write_settings(path: &Path, text: &str) -> Result<(), StartError> {
    write_private(path, text).map_err(|source| StartError::File { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    #[test]
    fn a_directory_with_somebody_elses_files_is_left_alone() {
        let directory = env::temp_dir().join(format!("vendgate-not-ours-{}", std::process::id()));
        let file = directory.join("Cargo.toml");
        fs::create_dir_all(&directory).unwrap();
        fs::write(&file, "precious").unwrap();
        assert!(matches!(make_directory(&directory), Err(StartError::NotOurs { .. })));
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
        fs::remove_file(&file).unwrap();
        make_directory(&directory).unwrap();
        fs::write(directory.join("api-server.log"), "of the last time").unwrap();
        make_directory(&directory).unwrap();
        assert!(!directory.join("api-server.log").exists());
        fs::remove_dir_all(&directory).unwrap();
    }
}

//! The test environment that all journeys share. The first test starts it, and it ends with the process.

use std::{
    fs::{self, File},
    iter,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use acceptance::surface::Surface;
use clock::{Clock, SystemClock};
use identity::Role;
use sandbox::{
    MerchantPlan, Options, Process, Program, Programs, Sandbox, SandboxInfo, StartError, WalletPlan,
};

use crate::merchant::Merchant;

/// Longer than any test waits for anything, on a very busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

/// A running sandbox, and counters of the meters and merchants that tests use.
pub struct TestEnv {
    pub sandbox: Sandbox,
    meters_given: AtomicUsize,
    merchants_opened: AtomicUsize,
}

/// The shared test environment.
pub fn env() -> &'static TestEnv {
    static ENV: OnceLock<Result<TestEnv, String>> = OnceLock::new();
    // The environment has its own runtime, so it cannot be started on a test's runtime.
    let start = || thread::spawn(TestEnv::start).join().unwrap().map_err(|why| format!("{why:?}"));
    ENV.get_or_init(start).as_ref().unwrap()
}

impl TestEnv {
    fn start() -> Result<Self, StartError> {
        // Without a worker, a purchase in doubt stays so until its test retries. A test that needs a worker starts
        // its own environment.
        let options = Options {
            population: POPULATION,
            works: false,
            ..Options::for_tests(directory().join("target/sandbox"))
        };
        let sandbox = Sandbox::start(&options, &programs())?;
        sandbox.write_info().unwrap();
        Ok(Self { sandbox, meters_given: AtomicUsize::new(0), merchants_opened: AtomicUsize::new(0) })
    }

    /// An organisation with a wallet of BWP 1000000.00, logged in.
    pub async fn open_merchant(&self) -> Merchant {
        self.open_merchant_on(Surface::V1).await
    }

    /// The same on another surface.
    pub async fn open_merchant_on(&self, surface: Surface) -> Merchant {
        let merchant = self.open_as(surface, self.plan()).await;
        assert_eq!(merchant.balance().await, "BWP 1000000.00");
        merchant
    }

    /// An organisation with this wallet, logged in.
    pub async fn open_merchant_with(&self, wallet: WalletPlan) -> Merchant {
        self.open_as(Surface::V1, MerchantPlan { wallets: vec![wallet], ..self.plan() }).await
    }

    /// An organisation whose user may read but may not move money.
    pub async fn open_merchant_of_a_viewer(&self) -> Merchant {
        self.open_as(Surface::V1, MerchantPlan { role: Role::Viewer, ..self.plan() }).await
    }

    /// An organisation with the test's own plan, logged in on a surface.
    pub async fn open_as(&self, surface: Surface, plan: MerchantPlan) -> Merchant {
        let opened = self.sandbox.office().open_merchant(plan).await.unwrap();
        Merchant::log_in_on(surface, opened, &self.info().base_url).await
    }

    /// One self-managed, loaded wallet and a unique code.
    pub fn plan(&self) -> MerchantPlan {
        let number = self.merchants_opened.fetch_add(1, Ordering::Relaxed);
        MerchantPlan::staging(&format!("SHOP{number}"), "A shop")
    }

    /// The number of an ordinary meter that no other test uses.
    pub fn meter(&self) -> String {
        let given = self.meters_given.fetch_add(1, Ordering::Relaxed);
        utility_sim::population(POPULATION).nth(KNOWN + given).expect("there are more meters than tests")
    }

    /// The number of a configured meter.
    pub fn scenario(&self, name: &str) -> &'static str {
        self.info().subscribers.electricity[name]
    }

    pub fn info(&self) -> &SandboxInfo {
        self.sandbox.info()
    }

    /// Another API server, which the test may stop.
    pub fn another_api_server(&self, name: &str) -> Process {
        self.another_api_server_with(name, &[])
    }

    /// The same with additional settings in its environment.
    pub fn another_api_server_with(&self, name: &str, environment: &[(&str, &str)]) -> Process {
        self.sandbox.another_api_server(&api_server(), name, environment).unwrap()
    }

    /// The result of a query, as text.
    pub fn asks_the_database(&self, sql: &str) -> String {
        self.sandbox.database().run_sql(sql).unwrap()
    }
}

/// The working directory of the sandbox, like a clone in which `cargo sandbox` was run. A second test run at the same
/// time uses another directory.
pub fn directory() -> PathBuf {
    static OWN: OnceLock<(PathBuf, File)> = OnceLock::new();
    let claim = |name: String| {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&directory).unwrap();
        let lock = File::create(directory.join("lock")).unwrap();
        lock.try_lock().is_ok().then_some((directory, lock))
    };
    let names = || (2..).map(|number| format!("journeys-{number}"));
    let first_free = || iter::once("journeys".to_owned()).chain(names()).find_map(claim).unwrap();
    OWN.get_or_init(first_free).0.clone()
}

/// The number of an ordinary meter that is the same in every run. Each position is used by one test.
pub fn known_meter(place: usize) -> String {
    assert!(place < KNOWN);
    utility_sim::population(POPULATION).nth(place).unwrap()
}

/// Polls until the answer is yes.
pub async fn eventually(what: &str, mut answer: impl AsyncFnMut() -> bool) {
    let began = SystemClock.monotonic();
    while !answer().await {
        let waited = SystemClock.monotonic().elapsed_since(began);
        assert!(waited < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const POPULATION: u32 = 460;
/// The number of meters with a fixed position.
const KNOWN: usize = 120;

/// A separate environment with one merchant and a worker, which the test may break.
pub fn another_env(name: &str) -> (Sandbox, sandbox::Merchant) {
    another_env_with(&Options::for_tests(directory().join(name)))
}

/// The same, whose servers have no key for certificates.
pub fn another_env_without_certificates(name: &str) -> (Sandbox, sandbox::Merchant) {
    another_env_with(&Options { certifies: false, ..Options::for_tests(directory().join(name)) })
}

fn another_env_with(options: &Options) -> (Sandbox, sandbox::Merchant) {
    let sandbox = Sandbox::start(options, &programs()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let plan = MerchantPlan::staging("SHOP", "A shop");
    let merchant = runtime.block_on(sandbox.office().open_merchant(plan)).unwrap();
    (sandbox, merchant)
}

/// `vendctl` with these settings and no environment. Its further arguments are the caller's.
pub fn vendctl(settings: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acceptance-vendctl"));
    command.env_clear().arg("--settings").arg(settings);
    command
}

pub fn programs() -> Programs {
    Programs {
        api_server: api_server(),
        retry_worker: retry_worker(),
        utility_sim: Program::at(env!("CARGO_BIN_EXE_acceptance-utility-sim")),
        console: Program::at(env!("CARGO_BIN_EXE_acceptance-console")),
    }
}

fn api_server() -> Program {
    Program::at(env!("CARGO_BIN_EXE_acceptance-api-server"))
}

fn retry_worker() -> Program {
    Program::at(env!("CARGO_BIN_EXE_acceptance-retry-worker"))
}

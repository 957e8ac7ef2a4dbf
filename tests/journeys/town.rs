//! The one town of all journeys: brought up by the first test, gone with the process.

use std::{
    fs::{self, File},
    iter,
    path::PathBuf,
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
use sandbox::{Facts, Options, Process, Program, Programs, Sandbox, ShopPlan, StartError, WalletPlan};

use crate::shop::Shop;

/// Longer than anything that a test waits for, on a very busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

/// A running sandbox, and what has been given away of it.
pub struct Town {
    pub sandbox: Sandbox,
    meters_given: AtomicUsize,
    shops_opened: AtomicUsize,
}

/// The town.
pub fn town() -> &'static Town {
    static TOWN: OnceLock<Result<Town, String>> = OnceLock::new();
    // It has a runtime of its own, so it cannot be founded on a test's.
    let found = || thread::spawn(Town::found).join().unwrap().map_err(|why| format!("{why:?}"));
    TOWN.get_or_init(found).as_ref().unwrap()
}

impl Town {
    fn found() -> Result<Self, StartError> {
        // What is in doubt here stays so until the test that put it there asks; a test that wants a worker has a town
        // of its own.
        let options = Options {
            population: POPULATION,
            works: false,
            ..Options::for_tests(directory().join("target/sandbox"))
        };
        let sandbox = Sandbox::start(&options, &programs())?;
        sandbox.write_facts().unwrap();
        Ok(Self { sandbox, meters_given: AtomicUsize::new(0), shops_opened: AtomicUsize::new(0) })
    }

    /// An organisation with a wallet of BWP 1000000.00, logged in.
    pub async fn open_shop(&self) -> Shop {
        self.open_shop_on(Surface::V1).await
    }

    /// The same, calling one surface.
    pub async fn open_shop_on(&self, surface: Surface) -> Shop {
        let shop = self.open_as(surface, self.plan()).await;
        assert_eq!(shop.balance().await, "BWP 1000000.00");
        shop
    }

    /// An organisation with such a wallet, logged in.
    pub async fn open_shop_with(&self, wallet: WalletPlan) -> Shop {
        self.open_as(Surface::V1, ShopPlan { wallets: vec![wallet], ..self.plan() }).await
    }

    /// An organisation whose user may look, and move no money.
    pub async fn open_shop_of_a_viewer(&self) -> Shop {
        self.open_as(Surface::V1, ShopPlan { role: Role::Viewer, ..self.plan() }).await
    }

    /// An organisation by a plan of the test's own, logged in at a surface.
    pub async fn open_as(&self, surface: Surface, plan: ShopPlan) -> Shop {
        let opened = self.sandbox.office().open_shop(plan).await.unwrap();
        Shop::log_in_on(surface, opened, &self.facts().base_url).await
    }

    /// One self-managed wallet, loaded, and a code that nobody else has.
    pub fn plan(&self) -> ShopPlan {
        let number = self.shops_opened.fetch_add(1, Ordering::Relaxed);
        ShopPlan::staging(&format!("SHOP{number}"), "A shop")
    }

    /// The number of an ordinary meter that nobody else has.
    pub fn meter(&self) -> String {
        let given = self.meters_given.fetch_add(1, Ordering::Relaxed);
        utility_sim::population(POPULATION).nth(KNOWN + given).expect("there are more meters than tests")
    }

    /// The number of a configured meter.
    pub fn scenario(&self, name: &str) -> &'static str {
        self.facts().subscribers.electricity[name]
    }

    pub fn facts(&self) -> &Facts {
        self.sandbox.facts()
    }

    /// One more API server, for a test to stop.
    pub fn another_api_server(&self, name: &str) -> Process {
        self.another_api_server_with(name, &[])
    }

    /// The same, with settings of its own in its environment.
    pub fn another_api_server_with(&self, name: &str, environment: &[(&str, &str)]) -> Process {
        self.sandbox.another_api_server(&api_server(), name, environment).unwrap()
    }

    /// What the database says to a question, as text.
    pub fn asks_the_database(&self, sql: &str) -> String {
        self.sandbox.database().run_sql(sql).unwrap()
    }
}

/// The directory in which the town looks like a clone in which somebody has typed `cargo sandbox`. Whoever runs these
/// tests a second time meanwhile has another one.
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

/// The number of an ordinary meter that is the same in every run, for the one test that knows it by this place.
pub fn known_meter(place: usize) -> String {
    assert!(place < KNOWN);
    utility_sim::population(POPULATION).nth(place).unwrap()
}

/// Asks again and again until the answer is yes.
pub async fn eventually(what: &str, mut answer: impl AsyncFnMut() -> bool) {
    let began = SystemClock.monotonic();
    while !answer().await {
        let waited = SystemClock.monotonic().elapsed_since(began);
        assert!(waited < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const POPULATION: u32 = 600;
/// How many of them have their places in every run.
const KNOWN: usize = 120;

/// Another town with one shop and a worker, for a test to break.
pub fn another_town(name: &str) -> (Sandbox, sandbox::Shop) {
    let sandbox = Sandbox::start(&Options::for_tests(directory().join(name)), &programs()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let plan = ShopPlan::staging("SHOP", "A shop");
    let shop = runtime.block_on(sandbox.office().open_shop(plan)).unwrap();
    (sandbox, shop)
}

pub fn programs() -> Programs {
    Programs {
        api_server: api_server(),
        retry_worker: retry_worker(),
        utility_sim: Program::at(env!("CARGO_BIN_EXE_acceptance-utility-sim")),
    }
}

fn api_server() -> Program {
    Program::at(env!("CARGO_BIN_EXE_acceptance-api-server"))
}

fn retry_worker() -> Program {
    Program::at(env!("CARGO_BIN_EXE_acceptance-retry-worker"))
}

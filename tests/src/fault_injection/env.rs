//! A test environment with short time limits, so that leases expire while a test waits.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use catalogue::{Declaration, NewProvider};
use clock::{Clock, SystemClock};
use directory::AuditContext;
use purchase::Handling;
use sandbox::{MerchantPlan, Options, Pace, Programs, Sandbox, Signal, WalletPlan};
use tokio::runtime::Runtime;
use vend::Capabilities;

use super::{Integrator, SimulatorClient};
use crate::{
    checker::{Evidence, History, HoldSample, Message, Moment, Purchase, SAMPLE_OF_HOLDS, VendLog, gather},
    surface::Surface,
};

/// The number of ordinary meters for a rehearsal of minutes, besides those with a name. An allow-list has room for this many.
pub const MANY_METERS: u32 = 850;
/// The number for some hundred purchases at a time.
const METERS: u32 = 400;
/// The lease at the pace of fault injection, with a margin.
const PAST_THE_LEASE: Duration = Duration::from_millis(1_800);
/// Longer than the window at the pace of fault injection, on a busy machine.
const UNTIL_AT_REST: Duration = Duration::from_secs(40);
/// Counts the purchases that are open or leased and the messages that are still to be sent.
const OPEN_OR_OWED: &str = "SELECT
    (SELECT count(*) FROM purchases WHERE ended_at IS NULL AND (state <> 'REVIEW' OR lease_until IS NOT NULL)) +
    (SELECT count(*) FROM outbox WHERE sent_at IS NULL AND given_up_at IS NULL)";

/// Purchases that an operator must decide, until the worker's next enquiry finds out what happened.
const UNDER_REVIEW: &str = "SELECT p.product, a.provider_reference FROM purchases p
    JOIN attempts a ON a.purchase_id = p.id WHERE p.state = 'REVIEW'";

/// A sandbox under attack. It has one API server and one worker without faults, and two organisations. Each
/// organisation logs in over another surface and buys over both. All requests are recorded.
pub struct FaultEnv {
    pub sandbox: Sandbox,
    pub programs: Programs,
    pub integrators: Vec<Arc<Integrator>>,
    pub simulator: SimulatorClient,
    directory: PathBuf,
    meters: Mutex<Vec<String>>,
    holds: Mutex<Vec<HoldSample>>,
}

impl FaultEnv {
    /// Starts at the pace of fault injection. Takes some seconds. Must not be called on an async runtime's thread.
    pub fn start(programs: Programs, directory: PathBuf) -> Self {
        Self::start_at(Pace::Breathless, programs, directory)
    }

    /// Starts at another pace, with the same conditions.
    pub fn start_at(pace: Pace, programs: Programs, directory: PathBuf) -> Self {
        Self::start_with(Options { pace, population: METERS, ..Options::for_tests(directory) }, programs)
    }

    /// Starts with these options, with the same conditions.
    pub fn start_with(options: Options, programs: Programs) -> Self {
        let sandbox = Sandbox::start(&options, &programs).unwrap();
        let base_url = sandbox.info().base_url.clone();
        let runtime = Runtime::new().unwrap();
        let integrators = [("STORM0", Surface::V1), ("STORM1", Surface::Current)].map(|(code, surface)| {
            let managed = WalletPlan::loaded("Managed", Handling::Managed);
            let mut plan = MerchantPlan::staging(code, "A shop in a storm");
            plan.wallets.push(managed);
            let merchant = runtime.block_on(sandbox.office().open_merchant(plan)).unwrap();
            Arc::new(runtime.block_on(Integrator::log_in(surface, merchant, &base_url)))
        });
        let simulator = SimulatorClient::new(&sandbox.info().simulator_url);
        Self {
            sandbox,
            programs,
            integrators: integrators.into(),
            simulator,
            directory: options.directory,
            meters: Mutex::new(utility_sim::population(options.population).collect()),
            holds: Mutex::default(),
        }
    }

    /// The URL of the server without faults.
    pub fn url(&self) -> &str {
        &self.sandbox.info().base_url
    }

    /// The directory of the settings and logs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// An ordinary meter without an open purchase.
    pub fn takes_meter(&self) -> String {
        self.meters.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap()
    }

    /// Returns meters to the pool. Only meters without an open purchase are taken back.
    pub fn gives_back(&self, meters: impl IntoIterator<Item = String>) {
        let open = self.asks("SELECT DISTINCT subscriber_identifier FROM purchases WHERE ended_at IS NULL");
        let free = meters.into_iter().filter(|meter| !open.lines().any(|line| line == meter));
        let mut meters = self.meters.lock().unwrap_or_else(PoisonError::into_inner);
        // The oldest are taken last.
        let rest = std::mem::take(&mut *meters);
        meters.extend(free);
        meters.extend(rest);
    }

    /// Stops or continues the worker without faults.
    pub fn worker(&self, goes_on: bool) {
        if let Some(worker) = self.sandbox.retry_worker() {
            worker.signal(if goes_on { Signal::CONT } else { Signal::STOP }).unwrap();
        }
    }

    /// The operator declares what the connection to the electricity provider guarantees in doubt. The declaration may
    /// claim less than the provider can do.
    pub async fn declares(&self, declared: Capabilities) {
        let provider =
            NewProvider { code: "BPC".to_owned(), name: "A provider in a storm".to_owned(), declared };
        let act = AuditContext { actor: "storm".to_owned(), reason: "an attack".to_owned() };
        catalogue::put_provider(self.sandbox.office().store().database(), provider, act).await.unwrap();
    }

    /// The operator declares how many purchases of the electricity provider all workers together may have in hand.
    pub async fn declares_slots(&self, slots: u16) {
        let declaration = Declaration { worker_slots: Some(slots), ..Declaration::default() };
        let act = AuditContext { actor: "storm".to_owned(), reason: "an attack".to_owned() };
        let database = self.sandbox.office().store().database();
        catalogue::declare_provider(database, "BPC".to_owned(), declaration, act).await.unwrap();
    }

    /// Waits until every lease that exists now has expired.
    pub async fn leases_run_out() {
        tokio::time::sleep(PAST_THE_LEASE).await;
    }

    /// Waits until no purchase is open except those that an operator must decide. The checker reports when this is
    /// never reached.
    pub async fn comes_to_rest(&self) {
        self.comes_to_rest_within(UNTIL_AT_REST).await;
    }

    /// Waits for the same, at most this long.
    pub async fn comes_to_rest_within(&self, patience: Duration) {
        let began = SystemClock.monotonic();
        while !self.is_at_rest() && SystemClock.monotonic().elapsed_since(began) < patience {
            self.looks_at_the_holds();
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    }

    fn is_at_rest(&self) -> bool {
        let database = self.sandbox.database();
        database.run_sql(OPEN_OR_OWED).is_ok_and(|count| count == "0")
            && database.run_sql(UNDER_REVIEW).is_ok_and(|rows| !self.has_vended_one_of(&rows))
    }

    fn has_vended_one_of(&self, rows: &str) -> bool {
        let log = VendLog::read(&self.sandbox.vend_log());
        let vended = log.vended();
        rows.lines().filter_map(|row| row.split_once('|')).any(|name| vended.contains_key(&name))
    }

    /// Samples what the wallets hold now, for the checker.
    pub fn looks_at_the_holds(&self) {
        let Ok(rows) = self.sandbox.database().run_sql(SAMPLE_OF_HOLDS) else { return };
        let sample = HoldSample::parse(&rows);
        self.holds.lock().unwrap_or_else(PoisonError::into_inner).extend(sample);
    }

    /// Everything that the invariants are checked against. Must not be called on an async thread.
    pub fn evidence(&self, moment: Moment) -> Evidence {
        let evidence = self.gathered(moment);
        let is_looked_at = |purchase: &Purchase| purchase.state == "REVIEW" && purchase.is_leased;
        // The worker enquires about a purchase under review and holds a lease meanwhile, but never for long. If that ends the purchase,
        // its messages are owed for a moment.
        let is_passing = evidence.books.purchases.iter().any(is_looked_at)
            || evidence.books.outbox.iter().any(Message::is_owed);
        if moment == Moment::AtRest && is_passing {
            Runtime::new().unwrap().block_on(self.comes_to_rest());
            return self.gathered(moment);
        }
        evidence
    }

    fn gathered(&self, moment: Moment) -> Evidence {
        let mut history = History::default();
        let mut secrets = Vec::new();
        for integrator in &self.integrators {
            history.exchanges.extend(integrator.history().iter().cloned());
            history.complete_for.insert(integrator.organisation);
            secrets.extend(integrator.secrets());
        }
        history.exchanges.sort_by_key(|exchange| (exchange.invoked_at, exchange.returned_at));
        let vend_log = self.sandbox.vend_log();
        let database = self.sandbox.database();
        let mut evidence = gather(database, &vend_log, moment, history)
            .with_logs_in(&self.directory, &vend_log)
            .with_a_dump_of(database);
        evidence.secrets = secrets;
        evidence.inbox = Some(Runtime::new().unwrap().block_on(self.simulator.inbox()));
        evidence.holds.extend(self.holds.lock().unwrap_or_else(PoisonError::into_inner).iter());
        evidence
    }

    /// The result of a query, as text.
    pub fn asks(&self, sql: &str) -> String {
        self.sandbox.database().run_sql(sql).unwrap()
    }
}

/// The machine's wall clock, in microseconds since the epoch. The database uses the same clock.
pub fn now() -> i64 {
    SystemClock.now().timestamp_micros()
}

/// Polls until the answer is yes.
pub async fn until(what: &str, patience: Duration, mut answer: impl AsyncFnMut() -> bool) {
    let began = SystemClock.monotonic();
    while !answer().await {
        let waited = SystemClock.monotonic().elapsed_since(began);
        assert!(waited < patience, "{what}: not within {patience:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Drop for FaultEnv {
    fn drop(&mut self) {
        // A stopped worker does not notice that its test environment has ended.
        if !thread::panicking() {
            self.worker(true);
        }
    }
}

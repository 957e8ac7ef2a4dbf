//! A town that lives fast, so that leases run out while a test looks on.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use clock::{Clock, SystemClock};
use purchase::Handling;
use sandbox::{Options, Pace, Programs, Sandbox, ShopPlan, Signal, WalletPlan};
use store::{NewProvider, identity::Act};
use tokio::runtime::Runtime;
use vend::Capabilities;

use super::{Integrator, Street};
use crate::{
    checker::{Evidence, History, HoldSample, Moment, Purchase, SAMPLE_OF_HOLDS, VendLog, gather},
    surface::Surface,
};

/// So many ordinary meters, beside those with a name; an allow-list has room for as many.
const POPULATION: u32 = 850;
/// The lease at the storm's pace, and a breath.
const PAST_THE_LEASE: Duration = Duration::from_millis(1_800);
/// Longer than the window at the storm's pace, on a busy machine.
const UNTIL_AT_REST: Duration = Duration::from_secs(40);
/// What is under way, or somebody's, or to be told to somebody.
const OPEN_OR_OWED: &str = "SELECT
    (SELECT count(*) FROM purchases WHERE ended_at IS NULL AND (state <> 'REVIEW' OR lease_until IS NOT NULL)) +
    (SELECT count(*) FROM outbox WHERE sent_at IS NULL AND given_up_at IS NULL)";

/// What a person is asked to decide, until the worker's next look finds out what became of it.
const UNDER_REVIEW: &str = "SELECT p.product, a.provider_reference FROM purchases p
    JOIN attempts a ON a.purchase_id = p.id WHERE p.state = 'REVIEW'";

/// A sandbox under attack: one API server and one worker that nobody harms, two organisations, each logged in over
/// another surface and buying over both, and the record of all that was asked.
pub struct StormTown {
    pub sandbox: Sandbox,
    pub programs: Programs,
    pub integrators: Vec<Arc<Integrator>>,
    pub street: Street,
    directory: PathBuf,
    meters: Mutex<Vec<String>>,
    holds: Mutex<Vec<HoldSample>>,
}

impl StormTown {
    /// At the storm's pace. Takes some seconds; must not be called on an async runtime's thread.
    pub fn found(programs: Programs, directory: PathBuf) -> Self {
        Self::found_at(Pace::Breathless, programs, directory)
    }

    /// At another pace, likewise.
    pub fn found_at(pace: Pace, programs: Programs, directory: PathBuf) -> Self {
        let options = Options { pace, population: POPULATION, ..Options::for_tests(directory.clone()) };
        let sandbox = Sandbox::start(&options, &programs).unwrap();
        let base_url = sandbox.facts().base_url.clone();
        let runtime = Runtime::new().unwrap();
        let integrators = [("STORM0", Surface::V1), ("STORM1", Surface::Current)].map(|(code, surface)| {
            let managed = WalletPlan::loaded("Managed", Handling::Managed);
            let mut plan = ShopPlan::staging(code, "A shop in a storm");
            plan.wallets.push(managed);
            let shop = runtime.block_on(sandbox.office().open_shop(plan)).unwrap();
            Arc::new(runtime.block_on(Integrator::log_in(surface, shop, &base_url)))
        });
        let street = Street::new(&sandbox.facts().simulator_url);
        Self {
            sandbox,
            programs,
            integrators: integrators.into(),
            street,
            directory,
            meters: Mutex::new(utility_sim::population(POPULATION).collect()),
            holds: Mutex::default(),
        }
    }

    /// The server that nobody harms.
    pub fn url(&self) -> &str {
        &self.sandbox.facts().base_url
    }

    /// Where settings and logs lie.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// An ordinary meter with nothing open on it.
    pub fn takes_meter(&self) -> String {
        self.meters.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap()
    }

    /// Meters on which nothing is open may be used again.
    pub fn gives_back(&self, meters: impl IntoIterator<Item = String>) {
        let open = self.asks("SELECT DISTINCT subscriber_identifier FROM purchases WHERE ended_at IS NULL");
        let free = meters.into_iter().filter(|meter| !open.lines().any(|line| line == meter));
        let mut meters = self.meters.lock().unwrap_or_else(PoisonError::into_inner);
        // The oldest are taken last.
        let rest = std::mem::take(&mut *meters);
        meters.extend(free);
        meters.extend(rest);
    }

    /// Has the worker that nobody harms stand still, or go on.
    pub fn worker(&self, goes_on: bool) {
        if let Some(worker) = self.sandbox.retry_worker() {
            worker.signal(if goes_on { Signal::CONT } else { Signal::STOP }).unwrap();
        }
    }

    /// The operator declares what the connection to the electricity provider does in doubt. It may say less than is true.
    pub async fn declares(&self, declared: Capabilities) {
        let provider =
            NewProvider { code: "BPC".to_owned(), name: "A provider in a storm".to_owned(), declared };
        let act = Act { actor: "storm".to_owned(), reason: "an attack".to_owned() };
        self.sandbox.office().store().put_provider(provider, act).await.unwrap();
    }

    /// Whoever held a purchase when this began to wait holds it no more.
    pub async fn leases_run_out() {
        tokio::time::sleep(PAST_THE_LEASE).await;
    }

    /// Waits until nothing is open any more but what a person must decide; if that never comes, the checker says so.
    pub async fn comes_to_rest(&self) {
        let began = SystemClock.monotonic();
        while !self.is_at_rest() && SystemClock.monotonic().elapsed_since(began) < UNTIL_AT_REST {
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

    /// What wallets hold at this moment, for the checker to look at.
    pub fn looks_at_the_holds(&self) {
        let Ok(rows) = self.sandbox.database().run_sql(SAMPLE_OF_HOLDS) else { return };
        let sample = HoldSample::parse(&rows);
        self.holds.lock().unwrap_or_else(PoisonError::into_inner).extend(sample);
    }

    /// Everything that there is to hold against the laws. Not for an async thread.
    pub fn evidence(&self, moment: Moment) -> Evidence {
        let evidence = self.gathered(moment);
        let is_looked_at = |purchase: &Purchase| purchase.state == "REVIEW" && purchase.is_leased;
        // The worker asks about what is under review as long as it is, and holds it while it does: never for long.
        if moment == Moment::AtRest && evidence.books.purchases.iter().any(is_looked_at) {
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
        evidence.inbox = Some(Runtime::new().unwrap().block_on(self.street.inbox()));
        evidence.holds.extend(self.holds.lock().unwrap_or_else(PoisonError::into_inner).iter());
        evidence
    }

    /// What the database says to a question, as text.
    pub fn asks(&self, sql: &str) -> String {
        self.sandbox.database().run_sql(sql).unwrap()
    }
}

/// The machine's wall clock, in microseconds of the epoch: the database's too.
pub fn now() -> i64 {
    SystemClock.now().timestamp_micros()
}

/// Asks again and again until the answer is yes.
pub async fn until(what: &str, patience: Duration, mut answer: impl AsyncFnMut() -> bool) {
    let began = SystemClock.monotonic();
    while !answer().await {
        let waited = SystemClock.monotonic().elapsed_since(began);
        assert!(waited < patience, "{what}: not within {patience:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Drop for StormTown {
    fn drop(&mut self) {
        // A worker that stands still does not hear that its town is gone.
        if !thread::panicking() {
            self.worker(true);
        }
    }
}

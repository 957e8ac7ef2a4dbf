//! The environment of one test: its own migrated database behind a wire that can be cut, a scripted provider,
//! the vending service between them, and a clock that only the test moves.
//!
//! A test ends with `env.closes().await`, which checks the books. An environment that is never closed fails
//! its test.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use catalogue::{Breaker, NewPause, NewProvider};
use clock::{Clock, ManualClock, Monotonic};
use database::Database;
use identity::{Environment, Identity, Onboarding, SystemEntropy};
use local_postgres::LocalDatabase;
use money::{Money, Rate};
use provider::{
    Gate, Provider,
    scripted::{Conduct, ScriptedProvider},
};
use purchase::{Event, FeeSchedule, Handling, OrganisationId, PurchaseId, Record, SubscriberFormat, Terms};
use store::Store;
use test_kit::{
    database::{OPERATOR, SERVER, add_logins, settings_at},
    organisation::identity_settings,
    purchases::{connect_store, open_wallet, put_provider},
};
pub use test_kit::{organisation::act, purchases::PROVIDER, waiting::until};
use tokio::runtime::{Builder, Handle, Runtime};
use vend::{CallId, Capabilities, Product, ProviderReference, Sale, VendOrder};
use vending::{Arrival, Engine, Providers, RequestTrace, Traces, Vending, VendingSettings};

mod books;
mod first_merchant;
mod line;
mod merchant;
mod steps;
mod wire;

use first_merchant::SignedIn;
pub use line::Line;
pub use merchant::{
    METER, Merchant, REFERENCE, assert_pending, assert_rests, assert_unknown, assert_unreachable, meter,
};
pub use wire::{Lost, Wire};

/// The rejection of a check, a quote or a trial that got this from the provider.
pub fn unchecked(unanswered: vend::Unanswered) -> vending::Rejection {
    vending::Rejection::Check { provider_code: PROVIDER.to_owned(), unanswered }
}

/// Another provider. It is connected too, and offers nothing until a test says so.
pub const NEIGHBOUR: &str = "WUC";

/// Longer than a lease in this environment.
pub const LEASE_AND_MORE: Duration = Duration::from_secs(186);
/// Shorter than a lease. Ten seconds later the lease has run out.
pub const ALMOST_A_LEASE: Duration = Duration::from_secs(176);

/// Longer than a reference rests.
pub const REST_AND_MORE: Duration = Duration::from_secs(61);

/// The id of every request.
pub const REQUEST_ID: &str = "till-3:0001";

/// The kind of environment that a test needs.
pub struct Plan {
    /// How the provider behaves.
    pub conduct: Conduct,
    /// What its connection is declared to do, truly or not.
    pub declared: Capabilities,
    pub settings: VendingSettings,
}

pub struct TestEnv {
    pub clock: ManualClock,
    pub utility: Arc<ScriptedProvider>,
    /// Between the vending services and the provider.
    pub line: Arc<Line>,
    /// The other provider.
    pub neighbour: Arc<ScriptedProvider>,
    /// Between the vending services and the other provider.
    pub neighbours_line: Arc<Line>,
    pub engine: Engine,
    pub vending: Vending,
    /// Between the vending service and its database.
    pub wire: Wire,
    pub onboarding: Onboarding,
    identity: Identity,
    operator: Store,
    database: LocalDatabase,
    plan: Plan,
    merchants: AtomicU32,
    is_closed: bool,
}

/// Another process that serves the same environment.
pub struct OtherProcess {
    pub vending: Vending,
    pub wire: Wire,
}

/// A process that serves the same environment and will be killed: all of its work runs on its own runtime.
pub struct DoomedProcess {
    pub vending: Vending,
    pub runtime: Runtime,
}

pub fn pula(amount: &str) -> Money {
    let cents = if amount.contains('.') { "" } else { ".00" };
    Money::parse_wire(&format!("BWP {amount}{cents}")).unwrap()
}

/// A fee of 1.50, a commission of one per cent.
pub fn terms() -> Terms {
    let fees = FeeSchedule { fixed: pula("1.50"), rate: Rate::ZERO, floor: None, cap: None };
    Terms { fees, commission: Rate::parse("0.01").unwrap(), minimum: None, maximum: None }
}

impl Default for Plan {
    /// A provider that rejects repeats and remembers everything, and is declared to do nothing of that.
    fn default() -> Self {
        Self {
            conduct: Conduct::REJECTS_REPEATS,
            declared: Capabilities::default(),
            settings: VendingSettings {
                // No holder renews while a test runs: leases run out only in the time that the test lets
                // pass.
                lease_ms: 180_000,
                enquiry_gap_ms: 1,
                ..VendingSettings::default()
            },
        }
    }
}

impl Plan {
    /// A provider whose declaration is true.
    pub fn declared_truly(conduct: Conduct) -> Self {
        Self { conduct, declared: conduct.capabilities(), ..Self::default() }
    }

    /// The same gap between two enquiries about one purchase as in production.
    pub fn with_turns() -> Self {
        let here = Self::default();
        let enquiry_gap_ms = VendingSettings::default().enquiry_gap_ms;
        Self { settings: VendingSettings { enquiry_gap_ms, ..here.settings }, ..here }
    }

    /// A lease of less than a third of a second and shorter timeouts, for callers that stop waiting.
    pub fn of_short_patience() -> Self {
        let settings = VendingSettings {
            gate_ms: 50,
            intake_ms: 100,
            provider_timeout_ms: 200,
            lease_ms: 300,
            enquiry_gap_ms: 1,
            not_found_gap_ms: 100,
            window_ms: 60_000,
            repeats_ms: [1_000, 2_000, 5_000, 10_000, 20_000],
            repeats_end_ms: 3_000,
            first_look_ms: 100,
            longest_pause_ms: 5_000,
            attempts_ms: [2_000, 6_000, 14_000, 28_000, 50_000],
            patience_ms: 100,
            ..VendingSettings::default()
        };
        Self { settings, ..Self::default() }
    }
}

impl TestEnv {
    pub async fn open() -> Self {
        Self::of(Plan::default()).await
    }

    pub async fn of(plan: Plan) -> Self {
        let database = first_merchant::database();
        add_logins(&database);
        // One process here is server and worker.
        let works = "GRANT SELECT, INSERT, UPDATE, DELETE ON slot_shares TO vendgate_api;
             GRANT EXECUTE ON FUNCTION renew_slot_shares, batch_line_key TO vendgate_api;
             GRANT SELECT, INSERT, UPDATE ON provider_floats TO vendgate_api;
             GRANT EXECUTE ON FUNCTION open_breakers, take_breaker_trials, end_breaker_pause TO vendgate_api;
             GRANT UPDATE ON batch_lines TO vendgate_api";
        database.run_sql(works).unwrap();
        let wire = Wire::to(database.port()).await;
        let clock = started_clock();
        let here = Handle::current();
        let address = wire.address(&database.url_as(SERVER, SERVER));
        let server = connect(address, &plan, here.clone()).await;
        let operator = connect(database.url_as(OPERATOR, OPERATOR), &plan, here.clone()).await;
        let [utility, neighbour] = [(); 2].map(|()| Arc::new(ScriptedProvider::of_conduct(plan.conduct)));
        let line = Arc::new(Line::to(utility.clone(), clock.clone()));
        let neighbours_line = Arc::new(Line::to(neighbour.clone(), clock.clone()));
        let engine = Engine::new(here);
        let env = Self {
            vending: process(&server, [&line, &neighbours_line], &clock, &engine, plan.settings.clone()),
            onboarding: onboarding_over(operator.database(), &clock),
            identity: identity_over(server.database().clone(), &clock),
            clock,
            utility,
            line,
            neighbour,
            neighbours_line,
            engine,
            wire,
            operator,
            database,
            plan,
            merchants: AtomicU32::new(0),
            is_closed: false,
        };
        env.enters_its_catalogue().await;
        env
    }

    async fn enters_its_catalogue(&self) {
        self.declares(self.plan.declared).await;
        for product in Product::ALL {
            let format = SubscriberFormat::new(Some(11), Some(13), Some("^[0-9]+$")).unwrap();
            catalogue::put_product(self.operator.database(), product, format, None, act()).await.unwrap();
        }
    }

    pub async fn other_process(&self) -> OtherProcess {
        let wire = Wire::to(self.database.port()).await;
        let url = wire.address(&self.database.url_as(SERVER, SERVER));
        let store = connect(url, &self.plan, self.engine.runtime().clone()).await;
        OtherProcess { vending: self.service_over(&store, &self.engine), wire }
    }

    pub async fn doomed_process(&self) -> DoomedProcess {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let url = self.database.url_as(SERVER, SERVER);
        let store = connect(url, &self.plan, runtime.handle().clone()).await;
        DoomedProcess { vending: self.service_over(&store, &Engine::new(runtime.handle().clone())), runtime }
    }

    fn service_over(&self, store: &Store, engine: &Engine) -> Vending {
        let lines = [&self.line, &self.neighbours_line];
        process(store, lines, &self.clock, engine, self.plan.settings.clone())
    }

    /// Makes another attempt at a purchase that is due for one, as a worker does.
    pub async fn attempts_again(&self, record: &Record) {
        let (store, id, of) = (&self.operator, record.id, record.organisation);
        let fence = store.record(id, of, Event::Claimed).await.unwrap().lifecycle.fence;
        let calls = store.take_call_ids(PROVIDER, 1).await.unwrap();
        let reference = ProviderReference::new(CallId::new(calls.first, calls.at).unwrap());
        let started = store.record(id, of, Event::AttemptStarted { fence, reference }).await.unwrap();
        let (subscriber, amount) = (record.subscriber.clone(), record.price.net);
        let order = VendOrder { reference, sale: Sale { product: record.product, subscriber, amount } };
        let outcome = self.line.vend(&order, &Gate::while_true(|| true)).await;
        store.record(id, of, Event::reported(outcome, started.lifecycle.fence)).await.unwrap();
    }

    /// Declares the capabilities of the connection to the provider from now on.
    pub async fn declares(&self, declared: Capabilities) {
        put_provider(self.operator.database(), declared, act()).await;
    }

    /// A self-managed merchant with this balance in its wallet.
    pub async fn merchant_with(&self, balance: &str) -> Merchant<'_> {
        self.merchant(balance, Handling::SelfManaged).await
    }

    pub async fn managed_merchant_with(&self, balance: &str) -> Merchant<'_> {
        self.merchant(balance, Handling::Managed).await
    }

    async fn merchant(&self, balance: &str, handling: Handling) -> Merchant<'_> {
        let code = format!("SHOP{}", self.merchants.fetch_add(1, Ordering::Relaxed));
        let SignedIn { authority, secret_id } = self.signs_in(&code).await;
        let (database, balance) = (self.operator.database(), pula(balance));
        let wallet = open_wallet(database, authority.organisation, handling, balance, act()).await;
        for product in Product::ALL {
            self.offers(authority.organisation, product, terms()).await;
        }
        Merchant { env: self, authority, wallet, secret_id }
    }

    /// Offers a product to an organisation on these terms.
    pub async fn offers(&self, to: OrganisationId, product: Product, terms: Terms) {
        catalogue::put_offer(self.operator.database(), to, product, PROVIDER.into(), terms, act())
            .await
            .unwrap();
    }

    /// Pauses the sales of the provider.
    pub async fn pauses(&self, pause: NewPause) {
        catalogue::pause_provider(self.operator.database(), PROVIDER.into(), pause, false, act())
            .await
            .unwrap();
    }

    /// Declares the breaker of the provider.
    pub async fn has_a_breaker(&self, breaker: Breaker) {
        catalogue::declare_breaker(self.operator.database(), PROVIDER.into(), breaker, act()).await.unwrap();
    }

    /// Offers electricity of the other provider to an organisation. That provider gets the declaration of the
    /// first one.
    pub async fn lets_the_neighbour_sell(&self, to: OrganisationId) {
        let (declared, name) = (self.plan.declared, "Water Utilities".to_owned());
        let neighbour = NewProvider { code: NEIGHBOUR.into(), name, declared };
        catalogue::put_provider(self.operator.database(), neighbour, act()).await.unwrap();
        let offer = catalogue::put_offer(
            self.operator.database(),
            to,
            Product::Electricity,
            NEIGHBOUR.into(),
            terms(),
            act(),
        );
        offer.await.unwrap();
    }

    /// From now on this provider is used for an organisation's requests for a product that name no provider.
    pub async fn defaults_to(&self, of: OrganisationId, product: Product, provider: &str) {
        catalogue::put_default_provider(self.operator.database(), of, product, provider.into(), act())
            .await
            .unwrap();
    }

    /// Moves an organisation to staging, where it may buy for these subscribers only.
    pub async fn locks(&self, organisation: OrganisationId, to: &[&str]) {
        self.sql(&format!("UPDATE organisations SET environment = 'STAGING' WHERE id = {}", organisation.0));
        let allowed = to.iter().copied().map(meter).collect();
        catalogue::allow(self.operator.database(), organisation, allowed, act()).await.unwrap();
    }

    async fn signs_in(&self, code: &str) -> SignedIn {
        if code == first_merchant::CODE {
            return first_merchant::first();
        }
        first_merchant::sign_in(&self.onboarding, &self.identity, code).await
    }

    /// A request that arrived this long ago.
    pub fn arrival(&self, ago: Duration) -> Arrival {
        let at = self.clock.monotonic().since_origin().checked_sub(ago).unwrap();
        Arrival {
            at: Monotonic::from_origin(at),
            request_id: Some(REQUEST_ID.into()),
            connection: None,
            trace: RequestTrace::off(),
        }
    }

    /// Waits until a vend request was sent.
    pub async fn is_vending(&self) {
        let vending = || self.utility.calls().iter().any(|call| call.starts_with("vend"));
        until("a vend request leaves", vending).await;
    }

    /// Waits until the only purchase is in this state.
    pub async fn comes_to(&self, state: &str) {
        until(&format!("the purchase is {state}"), || self.states() == state).await;
    }

    /// The states of all purchases, in the order of their numbers.
    pub fn states(&self) -> String {
        self.sql("SELECT string_agg(state, ' ' ORDER BY id) FROM purchases")
    }

    /// The history of a purchase, event by event.
    pub fn history(&self, id: PurchaseId) -> String {
        let events = format!("purchase_history WHERE purchase_id = {}", id.0);
        self.sql(&format!("SELECT string_agg(fact, ' ' ORDER BY id) FROM {events}"))
    }

    pub fn count(&self, from: &str) -> u32 {
        self.sql(&format!("SELECT count(*) FROM {from}")).parse().unwrap()
    }

    /// Runs SQL as the owner of the database, past the vending service and its wire.
    pub fn sql(&self, sql: &str) -> String {
        self.database.run_sql(sql).unwrap()
    }

    /// The error that the database answers to SQL of its owner.
    pub fn refuses(&self, sql: &str) -> String {
        self.database.run_sql(sql).unwrap_err().to_string()
    }

    /// Waits for work in progress, and checks the books.
    pub async fn closes(self) {
        self.closes_with("").await;
    }

    /// As [`Self::closes`], but compares the provider's own log of vends only if `are_checked`. It cannot be
    /// compared where the provider does what it was declared not to do.
    pub async fn closes_with_vends_checked(mut self, are_checked: bool) {
        self.is_closed = true;
        assert!(self.engine.drain(Duration::from_secs(30)).await, "work in progress does not end");
        let found = if are_checked { self.contradictions() } else { self.contradictions_of_our_own() };
        assert_eq!(found, "", "the books do not add up");
    }

    /// As [`Self::closes`], where the provider's answers and its vends contradict each other in this way.
    pub async fn closes_with(mut self, contradiction: &str) {
        self.is_closed = true;
        assert!(self.engine.drain(Duration::from_secs(30)).await, "work in progress does not end");
        assert_eq!(self.contradictions(), contradiction, "the books do not add up");
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        assert!(self.is_closed || thread::panicking(), "the test did not close its environment");
    }
}

fn process(
    store: &Store,
    [line, neighbours_line]: [&Arc<Line>; 2],
    clock: &ManualClock,
    engine: &Engine,
    settings: VendingSettings,
) -> Vending {
    let connections: [Arc<dyn Provider>; 2] = [line.clone(), neighbours_line.clone()];
    let codes = [PROVIDER, NEIGHBOUR].map(str::to_owned);
    let providers: Providers = codes.into_iter().zip(connections).collect();
    let (clock, zone) = (Arc::new(clock.clone()), chrono_tz::Africa::Gaborone);
    Vending::new(store.clone(), providers, clock, engine.clone(), settings, zone, Traces::off()).unwrap()
}

/// The time at which every environment begins. It leaves a past from which a request may come.
fn started_clock() -> ManualClock {
    let clock = ManualClock::at("2026-11-20T08:00:00Z".parse().unwrap());
    clock.advance(Duration::from_hours(1));
    clock
}

fn onboarding_over(database: &Database, clock: &ManualClock) -> Onboarding {
    Onboarding::new(database.clone(), Arc::new(clock.clone()), Arc::new(SystemEntropy))
}

fn identity_over(database: Database, clock: &ManualClock) -> Identity {
    let settings = identity_settings(Environment::Production);
    Identity::try_new(settings, database, Arc::new(clock.clone()), Arc::new(SystemEntropy)).unwrap()
}

async fn connect(url: String, plan: &Plan, engine: Handle) -> Store {
    connect_store(settings_at(url), plan.settings.timing(), engine).await
}

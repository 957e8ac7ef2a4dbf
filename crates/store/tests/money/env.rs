//! The environment of one test: its own migrated database, a store on it in the servers' role, and merchants
//! with money. When the environment is dropped, its books must add up.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use back_office::NewAccount;
use catalogue::NewProvider;
use chrono::DateTime;
use clock::{Clock as _, SystemClock};
use database::{DatabaseError, DatabaseSettings, migrate};
use directory::AuditContext;
use ledger::{AccountId, Category};
use local_postgres::{LocalDatabase, LocalPostgres};
use meter_token::TokenSet;
use money::{Currency, Money};
use purchase::{
    AccessTokenId, Authority, ClientId, Event, Fence, Handling, IdempotencyKey, KeyedRequest,
    NotificationFlags, OrganisationId, Price, PurchaseId, PurchaseRequest, Reference, RequestHash,
    SourceChannel, Timing, UserId,
};
use store::{
    PendingRequest, Recorded, Reservation, ReserveError, ReserveRefusal, Reserved, SealingKey, SealingKeys,
    Store,
};
use tokio::runtime::{Builder, Handle};
use vend::{
    Breakdown, CallId, Capabilities, Product, ProviderReference, RawReply, SubscriberIdentifier, Units, Vend,
};

/// The token in every vend of these tests.
pub const TOKEN: &str = "12345678901234567890";
/// The provider of these tests.
pub const PROVIDER: &str = "BPC";

const ROLES: &str = "
    DO $$ BEGIN
        CREATE ROLE test_server LOGIN PASSWORD 'test_server' IN ROLE vendgate_api;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
    DO $$ BEGIN
        CREATE ROLE test_operator LOGIN PASSWORD 'test_operator' IN ROLE vendgate_operator;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;";

pub struct TestEnv {
    pub database: LocalDatabase,
    /// The store in the servers' role.
    pub store: Store,
    pub operator: Store,
    calls: AtomicU32,
    offered_to: Mutex<BTreeSet<i64>>,
}

/// An organisation with a client, a user, a live access token and a wallet.
#[derive(Clone, Copy, Debug)]
pub struct Merchant {
    pub authority: Authority,
    pub wallet: AccountId,
}

pub fn pula(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("BWP").unwrap())
}

pub fn act() -> AuditContext {
    AuditContext { actor: "naledi".into(), reason: "bank transfer 4711".into() }
}

/// Settings for a small pool on `database` in the servers' role.
pub fn settings(database: &LocalDatabase) -> DatabaseSettings {
    let mut settings = DatabaseSettings::for_database(database.url_as("test_server", "test_server"));
    (settings.pool_size, settings.money_pool_size, settings.lanes) = (4, 4, 2);
    settings
}

pub async fn connect(settings: DatabaseSettings) -> Store {
    connect_with(settings, &timing()).await
}

/// Timing with leases that outlive any test on a busy machine.
pub fn timing() -> Timing {
    Timing { lease: Duration::from_mins(1), ..Timing::default() }
}

pub async fn connect_with(settings: DatabaseSettings, timing: &Timing) -> Store {
    let keys = SealingKeys::try_new(SealingKey::new(1, &[7; 32]), Vec::new()).unwrap();
    Store::connect(settings, keys, *timing, Handle::current()).await.unwrap()
}

impl TestEnv {
    pub async fn open() -> Self {
        Self::on(LocalPostgres::shared().database_from_template("money", prepare).unwrap()).await
    }

    /// An environment in a database that is already migrated.
    pub async fn on(database: LocalDatabase) -> Self {
        database.run_sql(ROLES).unwrap();
        let mut as_operator = settings(&database);
        as_operator.database_url = database.url_as("test_operator", "test_operator").into();
        let (store, operator) = (connect(settings(&database)).await, connect(as_operator).await);
        let env = Self { database, store, operator, calls: AtomicU32::new(0), offered_to: Mutex::default() };
        env.declare(Capabilities::default()).await;
        let any = purchase::SubscriberFormat::new(None, None, None).unwrap();
        for product in Product::ALL {
            catalogue::put_product(env.operator.database(), product, any.clone(), None, act()).await.unwrap();
        }
        env
    }

    /// Declares the capabilities of the provider's connection.
    pub async fn declare(&self, declared: Capabilities) {
        let provider = NewProvider { code: PROVIDER.into(), name: "Botswana Power".into(), declared };
        catalogue::put_provider(self.operator.database(), provider, act()).await.unwrap();
    }

    /// A self-managed merchant with this balance in its wallet.
    pub async fn merchant_with(&self, balance: i64) -> Merchant {
        self.merchant(balance, Handling::SelfManaged).await
    }

    pub async fn merchant(&self, balance: i64, handling: Handling) -> Merchant {
        let authority = self.organisation();
        let wallet = self.wallet(authority.organisation, balance, handling).await;
        Merchant { authority, wallet }
    }

    pub async fn wallet(&self, organisation: OrganisationId, balance: i64, handling: Handling) -> AccountId {
        let account = NewAccount {
            organisation,
            name: "Till".into(),
            currency: Currency::parse("BWP").unwrap(),
            category: Category::Current,
            handling,
            rank: 1,
        };
        let wallet = back_office::open_account(self.operator.database(), account, act()).await.unwrap();
        if balance > 0 {
            back_office::top_up(self.operator.database(), wallet, pula(balance), act()).await.unwrap();
        }
        wallet
    }

    /// Another organisation with a user that is logged in.
    fn organisation(&self) -> Authority {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let ids = self.number_list(&format!(
            "WITH o AS (INSERT INTO organisations (code, name, environment) VALUES ('S{number}', 'Shop', 'PRODUCTION')
                        RETURNING id),
             c AS (INSERT INTO oauth_clients (organisation_id, client_id, name)
                   SELECT id, 'vg_test_' || lpad('{number}', 16, '0'), 'tills' FROM o RETURNING id, organisation_id),
             s AS (INSERT INTO client_secrets (oauth_client_id, secret_hash, created_at)
                   SELECT id, sha256('s{number}'), now() FROM c RETURNING id),
             u AS (INSERT INTO users (organisation_id, username, password_hash, full_name, role)
                   SELECT id, 'till', '$argon2id$', 'Till', 'INTEGRATOR' FROM o RETURNING id),
             f AS (INSERT INTO token_families (organisation_id, oauth_client_id, user_id, client_secret_id, created_at,
                                               expires_at)
                   SELECT o.id, c.id, u.id, s.id, now(), now() + interval '1 day' FROM o, c, u, s RETURNING id),
             a AS (INSERT INTO access_tokens (family_id, generation, token_hash, created_at, expires_at)
                   SELECT id, 1, sha256('a{number}'), now(), now() + interval '1 hour' FROM f RETURNING id)
             SELECT o.id, c.id, u.id, a.id FROM o, c, u, a"
        ));
        Authority {
            organisation: OrganisationId(ids[0]),
            client: ClientId(ids[1]),
            user: UserId(ids[2]),
            access_token: AccessTokenId(ids[3]),
        }
    }

    /// A reservation of `net` for this meter, with a charge of 1.50 and a commission of 1.00.
    pub async fn order(&self, merchant: &Merchant, meter: &str, net: i64) -> Reservation {
        let id = self.store.take_purchase_ids(1).await.unwrap()[0];
        self.order_with(merchant, meter, net, id.0)
    }

    /// The same under a given purchase number.
    pub fn order_with(&self, merchant: &Merchant, meter: &str, net: i64, id: i64) -> Reservation {
        self.offers_to(merchant.authority.organisation);
        let id = PurchaseId(id);
        let number = self.calls.fetch_add(1, Ordering::Relaxed).checked_add(1).unwrap();
        let call = CallId::new(number, DateTime::from_timestamp(1_795_167_000, 0).unwrap()).unwrap();
        let (net, charge) = (pula(net), pula(150));
        Reservation {
            id,
            reference: Reference::new(id, 2026, 11),
            authority: merchant.authority,
            request: PurchaseRequest {
                source_channel: SourceChannel::Pos,
                source_tag: None,
                language: "en".into(),
                product: Product::Electricity,
                provider_code: PROVIDER.into(),
                debited_account: merchant.wallet,
                beneficiary_phone_number: "26771234567".into(),
                subscriber: SubscriberIdentifier::parse(meter).unwrap(),
                amount: net,
                charges_on_top: true,
                comment: Some("till 3".into()),
                external_reference: Some(format!("ref-{meter}")),
                notifications: NotificationFlags { beneficiary_email: false, ..NotificationFlags::default() },
            },
            price: Price { entry: net, charge, net, total: net.plus(charge).unwrap(), commission: pula(100) },
            provider_reference: ProviderReference::new(call),
            subscriber_details: Some("K. MOLEFE".into()),
            keyed: None,
            request_id: None,
            pending: aged(Duration::from_millis(3)),
        }
    }

    /// Offers every product of the provider to the organisation, with any commission that a reservation may
    /// name.
    pub fn offers_to(&self, organisation: OrganisationId) {
        let mut offered_to = self.offered_to.lock().unwrap();
        if offered_to.insert(organisation.0) {
            self.sql(&format!(
                "INSERT INTO offers (organisation_id, product, provider_code, currency, commission_rate)
                 SELECT {}, product, '{PROVIDER}', 'BWP', 1 FROM products ON CONFLICT DO NOTHING",
                organisation.0
            ));
        }
    }

    /// A reservation under an idempotency key.
    pub async fn order_under(&self, key: &str, merchant: &Merchant, meter: &str, net: i64) -> Reservation {
        under(key, self.order(merchant, meter, net).await)
    }

    /// A separate connection, for another process that works in the database.
    pub async fn session(&self) -> tokio_postgres::Client {
        let url = self.database.url();
        let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Makes a reservation that must not be refused.
    pub async fn reserved(&self, merchant: &Merchant, meter: &str, net: i64) -> (Reservation, Reserved) {
        let order = self.order(merchant, meter, net).await;
        let reserved = self.store.reserve(order.clone()).await.unwrap();
        (order, reserved)
    }

    /// Records an event for the purchase of a reservation.
    pub async fn records(&self, order: &Reservation, event: Event) -> Recorded {
        self.store.record(order.id, order.authority.organisation, event).await.unwrap()
    }

    /// `posted|held` of a wallet.
    pub fn balances(&self, wallet: AccountId) -> String {
        self.sql(&format!("SELECT posted, held FROM accounts WHERE id = {}", wallet.0))
    }

    pub fn state(&self, id: PurchaseId) -> String {
        self.sql(&format!("SELECT state FROM purchases WHERE id = {}", id.0))
    }

    pub fn count(&self, from: &str) -> i64 {
        self.sql(&format!("SELECT count(*) FROM {from}")).parse().unwrap()
    }

    pub fn sql(&self, sql: &str) -> String {
        self.database.run_sql(sql).unwrap()
    }

    fn number_list(&self, sql: &str) -> Vec<i64> {
        self.sql(sql).split('|').map(|number| number.parse().unwrap()).collect()
    }

    /// The contradictions in the books. Empty if there are none.
    pub fn contradictions(&self) -> String {
        self.sql(
            "SELECT 'wallet ' || a.id || ' holds ' || a.held FROM accounts a
             WHERE a.house IS NULL AND a.held <> (SELECT coalesce(sum(total), 0) FROM purchases p
                 WHERE p.account_id = a.id AND p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW'))
             UNION ALL
             SELECT 'wallet ' || a.id || ' has ' || a.posted FROM accounts a
             WHERE a.house IS NULL AND a.posted <>
                 (SELECT coalesce(sum(amount), 0) FROM postings WHERE credit_account_id = a.id)
                 - (SELECT coalesce(sum(amount), 0) FROM postings WHERE debit_account_id = a.id)
             UNION ALL
             SELECT 'purchase ' || p.id || ' is ' || p.state FROM purchases p
             WHERE (p.state = 'SUCCESSFUL') <>
                 EXISTS (SELECT FROM journal_entries e WHERE e.purchase_id = p.id AND e.kind = 'SETTLE')
             UNION ALL
             SELECT 'purchase ' || p.id || ' paid otherwise than ' || p.total FROM purchases p
             JOIN journal_entries e ON e.purchase_id = p.id AND e.kind = 'SETTLE'
             WHERE p.total <> (SELECT sum(amount) FROM postings
                 WHERE entry_id = e.id AND debit_account_id = p.account_id)
             UNION ALL
             SELECT 'purchase ' || p.id || ' has no attempt ' || p.attempt FROM purchases p
             WHERE NOT EXISTS (SELECT FROM attempts t WHERE t.purchase_id = p.id AND t.number = p.attempt
                 AND t.provider_reference = p.provider_reference)
             UNION ALL
             SELECT 'purchase ' || p.id || ' ends its history otherwise' FROM purchases p
             WHERE p.state <> (SELECT state FROM purchase_events v WHERE v.purchase_id = p.id
                 ORDER BY v.id DESC LIMIT 1)",
        )
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.contradictions(), "", "the books do not add up");
        }
    }
}

/// The reservation under an idempotency key.
pub fn under(key: &str, mut order: Reservation) -> Reservation {
    let (key, hash) = (IdempotencyKey::parse(key).unwrap(), RequestHash::of(&order.request));
    order.keyed = Some(KeyedRequest { key, hash });
    order
}

/// The statement that locks a wallet.
pub fn lock_of(wallet: AccountId) -> String {
    format!("SELECT FROM accounts WHERE id = {} FOR UPDATE", wallet.0)
}

/// A vend of `net` under a provider transaction.
pub fn vend(transaction: &str, net: i64) -> Vend {
    Vend {
        tokens: Some(TokenSet::parse(TOKEN).unwrap()),
        units: Some(Units { quantity: "45.20".parse().unwrap(), unit: "kWh".into() }),
        provider_transaction: transaction.into(),
        breakdown: Some(Breakdown {
            cost: pula(net).minus(pula(30)).unwrap(),
            vat: pula(14),
            levy: pula(10),
            regulatory_fee: pula(5),
            charge: pula(1),
        }),
        subscriber_details: Some("K. MOLEFE".into()),
        raw_reply: RawReply(format!("<stsCipher>{TOKEN}</stsCipher>").into_bytes()),
    }
}

pub fn vended(transaction: &str, net: i64) -> Event {
    Event::Vended { vend: Box::new(vend(transaction, net)) }
}

pub const FIRST: Fence = Fence(1);

/// The refusal of a reserve, which must have been refused.
pub fn refusal(outcome: Result<Reserved, ReserveError>) -> store::ReserveRefusal {
    match outcome {
        Err(ReserveError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// Polls until the condition holds, for half a minute.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let waited = tokio::time::timeout(Duration::from_secs(30), async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    assert!(waited.await.is_ok(), "timed out waiting until {what}");
}

fn prepare(url: &str) -> Result<(), DatabaseError> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(migrate(&url.into())).map(drop)
}

/// Whether the reserve was refused because an earlier purchase for the subscriber is open.
pub const fn is_pending(refused: ReserveRefusal) -> bool {
    matches!(refused, ReserveRefusal::Pending { .. })
}

/// A request that has this age now and grows older. Its caller waits.
pub fn aged(now: Duration) -> Arc<dyn PendingRequest> {
    Arc::new(Aged { now, began: SystemClock.monotonic(), is_abandoned: false })
}

/// A request that has just arrived, and whose caller has closed the connection.
pub fn abandoned() -> Arc<dyn PendingRequest> {
    Arc::new(Aged { now: Duration::ZERO, began: SystemClock.monotonic(), is_abandoned: true })
}

#[derive(Debug)]
struct Aged {
    now: Duration,
    began: clock::Monotonic,
    is_abandoned: bool,
}

impl PendingRequest for Aged {
    fn age(&self) -> Duration {
        self.now + SystemClock.monotonic().elapsed_since(self.began)
    }

    fn is_abandoned(&self) -> bool {
        self.is_abandoned
    }
}

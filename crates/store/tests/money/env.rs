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

use clock::{Clock as _, SystemClock};
use database::DatabaseSettings;
use directory::AuditContext;
use ledger::AccountId;
use local_postgres::LocalDatabase;
use purchase::{
    AccessTokenId, Authority, ClientId, Event, Fence, Handling, IdempotencyKey, KeyedRequest, OrganisationId,
    PurchaseId, RequestHash, Timing, UserId,
};
use store::{PendingRequest, Recorded, Reservation, ReserveError, ReserveRefusal, Reserved, Store};
pub use test_kit::purchases::{PROVIDER, TOKEN, pula};
use test_kit::{
    books::WALLET_CONTRADICTIONS,
    database::{OPERATOR, SERVER, add_logins, migrated, settings_as},
    purchases::{self, connect_store, open_wallet, put_provider},
};
use tokio::runtime::Handle;
use vend::{Breakdown, Capabilities, Product, RawReply, Vend};

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

pub fn act() -> AuditContext {
    AuditContext { actor: "naledi".into(), reason: "bank transfer 4711".into() }
}

/// Settings for small pools on `database` in the servers' role.
pub fn settings(database: &LocalDatabase) -> DatabaseSettings {
    settings_as(SERVER, database)
}

pub async fn connect(settings: DatabaseSettings) -> Store {
    connect_with(settings, &timing()).await
}

/// Timing with leases that outlive any test on a busy machine.
pub fn timing() -> Timing {
    Timing { lease: Duration::from_mins(1), ..Timing::default() }
}

pub async fn connect_with(settings: DatabaseSettings, timing: &Timing) -> Store {
    connect_store(settings, *timing, Handle::current()).await
}

impl TestEnv {
    pub async fn open() -> Self {
        Self::on(migrated()).await
    }

    /// An environment in a database that is already migrated.
    pub async fn on(database: LocalDatabase) -> Self {
        add_logins(&database);
        let store = connect(settings(&database)).await;
        let operator = connect(settings_as(OPERATOR, &database)).await;
        let env = Self { database, store, operator, calls: AtomicU32::new(0), offered_to: Mutex::default() };
        env.declare(Capabilities::default()).await;
        let any = purchase::SubscriberFormat::new(None, None, None).unwrap();
        for product in Product::ALL {
            catalogue::put_product(env.operator.database(), product, any.clone(), None, act()).await.unwrap();
        }
        env
    }

    /// The store in the role of another program.
    pub async fn store_as(&self, login: &str) -> Store {
        connect(settings_as(login, &self.database)).await
    }

    /// Declares the capabilities of the provider's connection.
    pub async fn declare(&self, declared: Capabilities) {
        put_provider(self.operator.database(), declared, act()).await;
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
        open_wallet(self.operator.database(), organisation, handling, pula(balance), act()).await
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
        let number = self.calls.fetch_add(1, Ordering::Relaxed).checked_add(1).unwrap();
        let mut order = purchases::reservation(
            PurchaseId(id),
            merchant.authority,
            merchant.wallet,
            purchases::call(number),
            meter,
            pula(net),
        );
        order.request.notifications.beneficiary_email = false;
        order.pending = aged(Duration::from_millis(3));
        order
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
        self.sql(&format!(
            "{WALLET_CONTRADICTIONS}
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
             WHERE p.archive_id IS NULL AND p.state <> (SELECT state FROM purchase_history v
                 WHERE v.purchase_id = p.id ORDER BY v.id DESC LIMIT 1)"
        ))
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
        breakdown: Some(Breakdown {
            cost: pula(net).minus(pula(30)).unwrap(),
            vat: pula(14),
            levy: pula(10),
            regulatory_fee: pula(5),
            charge: pula(1),
        }),
        raw_reply: RawReply(format!("<stsCipher>{TOKEN}</stsCipher>").into_bytes()),
        ..purchases::vend(transaction)
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

//! A service with two organisations, and purchases that are written into the database as if they had been made.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use actix_web::{
    App,
    body::to_bytes,
    dev::Service,
    middleware::from_fn,
    test::{TestRequest, init_service},
    web::Data,
};
use clock::SystemClock;
use database::DatabaseSettings;
use identity::{ClientCredentials, Environment, Identity, Onboarding, Role, SystemEntropy};
use ledger::AccountId;
use local_postgres::LocalDatabase;
use money::Rate;
use purchase::{Authority, Event, FeeSchedule, Handling, SubscriberFormat, Terms, Timing};
use serde_json::Value;
use store::Store;
pub use test_kit::purchases::TOKEN;
use test_kit::{
    database::migrated,
    organisation::{act, credentials, enter, identity_settings, log_in, user},
    purchases::{self, PROVIDER, call, connect_store, open_wallet, pula, put_provider, reservation},
};
use tokio::runtime::Handle;
use vend::{Capabilities, Product, SubscriberIdentifier};
use vending::{Engine, Providers, Traces, Vending, VendingSettings};
use web::{SharedState, WebSettings, intake};

pub const METER: &str = "04257670465";

pub struct TestApi {
    database: LocalDatabase,
    store: Store,
    onboarding: Onboarding,
    shared: Data<SharedState>,
    identity: Data<Identity>,
    vending: Data<Vending>,
    calls: AtomicU32,
}

/// An organisation with a wallet, and one of its users, logged in.
pub struct Merchant {
    code: &'static str,
    client: ClientCredentials,
    pub authority: Authority,
    pub wallet: AccountId,
    bearer: String,
}

pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    /// Status, code and param of an error.
    pub fn told(&self) -> (u16, &str, Option<&str>) {
        let error = &self.body["error"];
        (self.status, error["code"].as_str().unwrap_or("none"), error["param"].as_str())
    }
}

impl TestApi {
    pub async fn open() -> Self {
        let database = migrated();
        let clock = Arc::new(SystemClock);
        let settings = DatabaseSettings::for_database(database.url());
        let store = connect_store(settings, Timing::default(), Handle::current()).await;
        let entropy = Arc::new(SystemEntropy);
        let settings = identity_settings(Environment::Staging);
        let identity =
            Identity::try_new(settings, store.database().clone(), clock.clone(), entropy.clone()).unwrap();
        let shared = SharedState::new(&WebSettings::default(), clock.clone()).unwrap();
        let (engine, settings) = (Engine::new(Handle::current()), VendingSettings::default());
        let (providers, zone, traces) = (Providers::new(), shared.zone(), Traces::off());
        let vending = Vending::new(store.clone(), providers, clock.clone(), engine, settings, zone, traces);
        Self {
            database,
            onboarding: Onboarding::new(store.database().clone(), clock, entropy),
            store,
            shared: Data::new(shared),
            identity: Data::new(identity),
            vending: Data::new(vending.unwrap()),
            calls: AtomicU32::new(1),
        }
    }

    /// Sets up two organisations.
    pub async fn merchants(&self) -> (Merchant, Merchant) {
        put_provider(self.store.database(), Capabilities::default(), act()).await;
        (self.merchant("KGALE", "Kgale Stores").await, self.merchant("PHAKA", "Phakalane Fuel").await)
    }

    async fn merchant(&self, code: &'static str, name: &str) -> Merchant {
        let (staging, till) = (Environment::Staging, user("till", Role::Integrator));
        let client = enter(&self.onboarding, code, name, staging, till).await;
        let (authority, bearer) = self.logs_in(code, &client, "till").await;
        let (database, handling) = (self.store.database(), Handling::SelfManaged);
        let wallet = open_wallet(database, authority.organisation, handling, pula(1_000_000), act()).await;
        Merchant { code, client, authority, wallet, bearer }
    }

    /// A viewer of the same organisation, logged in.
    pub async fn colleague(&self, merchant: &Merchant) -> Merchant {
        self.onboarding.create_user(merchant.code, user("auditor", Role::Viewer), act()).await.unwrap();
        let (authority, bearer) = self.logs_in(merchant.code, &merchant.client, "auditor").await;
        Merchant {
            code: merchant.code,
            client: merchant.client.clone(),
            authority,
            wallet: merchant.wallet,
            bearer,
        }
    }

    async fn logs_in(&self, code: &str, client: &ClientCredentials, username: &str) -> (Authority, String) {
        let (authority, tokens) = log_in(&self.identity, credentials(code, client, username)).await;
        (authority, format!("Bearer {}", tokens.access_token.expose()))
    }

    /// Lets the organisation buy for its only test meter.
    pub async fn offers(&self, merchant: &Merchant) {
        let format = SubscriberFormat::new(Some(11), Some(13), None).unwrap();
        catalogue::put_product(self.store.database(), Product::Electricity, format, None, act())
            .await
            .unwrap();
        let fees = FeeSchedule::free(pula(0).currency());
        let terms = Terms { fees, commission: Rate::parse("0.01").unwrap(), minimum: None, maximum: None };
        let organisation = merchant.authority.organisation;
        catalogue::put_offer(
            self.store.database(),
            organisation,
            Product::Electricity,
            PROVIDER.to_owned(),
            terms,
            act(),
        )
        .await
        .unwrap();
        catalogue::allow(self.store.database(), organisation, vec![meter(METER)], act()).await.unwrap();
    }

    /// A purchase of 100.00 with this outcome, or with none yet.
    pub async fn sells(&self, merchant: &Merchant, number: &str, outcome: Option<Event>) -> i64 {
        self.offers(merchant).await;
        catalogue::allow(self.store.database(), merchant.authority.organisation, vec![meter(number)], act())
            .await
            .unwrap();
        let id = self.store.take_purchase_ids(1).await.unwrap()[0];
        let call = call(self.calls.fetch_add(1, Ordering::Relaxed));
        let (authority, wallet) = (merchant.authority, merchant.wallet);
        let reservation = reservation(id, authority, wallet, call, number, pula(10_000));
        self.offers(merchant).await;
        self.store.reserve(reservation).await.unwrap();
        if let Some(event) = outcome {
            self.store.record(id, merchant.authority.organisation, event).await.unwrap();
        }
        id.0
    }

    /// Changes the creation time of a purchase.
    pub fn happened_at(&self, id: i64, moment: &str) {
        let moved = format!(
            "SET session_replication_role = replica; UPDATE purchases SET created_at = '{moment}' WHERE id = {id}"
        );
        self.database.run_sql(&moved).unwrap();
    }

    /// `GET /public/v1/purchases` and what follows.
    pub async fn reads(&self, merchant: &Merchant, rest: &str) -> Answer {
        self.reads_in(merchant, rest, "en").await
    }

    pub async fn reads_in(&self, merchant: &Merchant, rest: &str, language: &str) -> Answer {
        let request = TestRequest::get().uri(&format!("/public/v1/purchases{rest}"));
        self.answers(merchant, request.insert_header(("Accept-Language", language))).await
    }

    /// `POST /public/v1/purchases` and what follows.
    pub async fn posts(&self, merchant: &Merchant, rest: &str, body: &Value) -> Answer {
        let request = TestRequest::post().uri(&format!("/public/v1/purchases{rest}"));
        self.answers(merchant, request.set_json(body)).await
    }

    /// The same with a body of this media type.
    pub async fn posts_as(
        &self,
        merchant: &Merchant,
        rest: &str,
        media_types: &[&str],
        body: &Value,
    ) -> Answer {
        let request = TestRequest::post().uri(&format!("/public/v1/purchases{rest}"));
        let request = media_types
            .iter()
            .fold(request, |request, media_type| request.append_header(("Content-Type", *media_type)));
        self.answers(merchant, request.set_payload(body.to_string())).await
    }

    async fn answers(&self, merchant: &Merchant, request: TestRequest) -> Answer {
        let app = App::new()
            .app_data(self.shared.clone())
            .app_data(self.identity.clone())
            .app_data(self.vending.clone())
            .wrap(from_fn(intake))
            .configure(http_v1::routes);
        let request = request.insert_header(("Authorization", merchant.bearer.as_str())).to_request();
        let response = init_service(app).await.call(request).await.unwrap();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body()).await.map_err(|_broken| "no body").unwrap();
        Answer { status, body: serde_json::from_slice(&body).unwrap() }
    }
}

pub fn vended(transaction: &str) -> Event {
    Event::Vended { vend: Box::new(purchases::vend(transaction)) }
}

fn meter(number: &str) -> SubscriberIdentifier {
    SubscriberIdentifier::parse(number).unwrap()
}

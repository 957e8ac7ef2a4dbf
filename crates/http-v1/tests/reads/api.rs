//! A service with two organisations, and purchases that are written into the database as if they had been made.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use actix_web::{
    App,
    body::to_bytes,
    dev::Service,
    middleware::from_fn,
    test::{TestRequest, init_service},
    web::Data,
};
use back_office::NewAccount;
use catalogue::NewProvider;
use chrono::DateTime;
use clock::SystemClock;
use database::{DatabaseError, DatabaseSettings, migrate};
use identity::{
    AuditContext, Environment, Identity, IdentitySettings, LoginCredentials, Onboarding, Role, SystemEntropy,
    UserDetails,
};
use ledger::{AccountId, Category};
use local_postgres::{LocalDatabase, LocalPostgres};
use meter_token::TokenSet;
use money::{Currency, Money, Rate};
use purchase::{
    AccessTokenId, Authority, ClientId, Event, FeeSchedule, Handling, NotificationFlags, OrganisationId,
    Price, PurchaseRequest, Reference, SourceChannel, SubscriberFormat, Terms, Timing, UserId,
};
use serde_json::Value;
use store::{PendingRequest, Reservation, SealingKey, SealingKeys, Store};
use tokio::runtime::{Builder, Handle};
use vend::{CallId, Capabilities, Product, ProviderReference, RawReply, SubscriberIdentifier, Units, Vend};
use vending::{Engine, Providers, Vending, VendingSettings};
use web::{SharedState, WebSettings, intake};

pub const METER: &str = "04257670465";
pub const TOKEN: &str = "12345678901234567890";

const PASSWORD: &str = "correct horse battery";

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
    client: LoginCredentialsOf,
    pub authority: Authority,
    pub wallet: AccountId,
    bearer: String,
}

#[derive(Clone)]
struct LoginCredentialsOf {
    id: String,
    secret: String,
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
        let database = LocalPostgres::shared().database_from_template("http_v1_reads", prepare).unwrap();
        let clock = Arc::new(SystemClock);
        let keys = SealingKeys::try_new(SealingKey::new(1, &[7; 32]), Vec::new()).unwrap();
        let settings = DatabaseSettings::for_database(database.url());
        let store = Store::connect(settings, keys, Timing::default(), Handle::current()).await.unwrap();
        let entropy = Arc::new(SystemEntropy);
        let mut settings = IdentitySettings::new(Environment::Staging, "a1".repeat(32).into());
        settings.refusal_floor_ms = 0;
        let identity =
            Identity::try_new(settings, store.database().clone(), clock.clone(), entropy.clone()).unwrap();
        let shared = SharedState::new(&WebSettings::default(), clock.clone()).unwrap();
        let (engine, settings) = (Engine::new(Handle::current()), VendingSettings::default());
        let vending =
            Vending::new(store.clone(), Providers::new(), clock.clone(), engine, settings, shared.zone());
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
        let provider = NewProvider {
            code: "BPC".to_owned(),
            name: "Power".to_owned(),
            declared: Capabilities::default(),
        };
        catalogue::put_provider(self.store.database(), provider, act()).await.unwrap();
        (self.merchant("KGALE", "Kgale Stores").await, self.merchant("PHAKA", "Phakalane Fuel").await)
    }

    async fn merchant(&self, code: &'static str, name: &str) -> Merchant {
        self.onboarding.create_organisation(code, name, Environment::Staging, act()).await.unwrap();
        let issued = self.onboarding.create_client(code, "tills", act()).await.unwrap();
        let client = LoginCredentialsOf { id: issued.client_id, secret: issued.secret.expose().to_owned() };
        self.onboarding.create_user(code, user("till", Role::Integrator), act()).await.unwrap();
        let (authority, bearer) = self.logs_in(code, &client, "till").await;
        let account = NewAccount {
            organisation: authority.organisation,
            name: "Till".to_owned(),
            currency: pula(0).currency(),
            category: Category::Current,
            handling: Handling::SelfManaged,
            rank: 1,
        };
        let wallet = back_office::open_account(self.store.database(), account, act()).await.unwrap();
        back_office::top_up(self.store.database(), wallet, pula(1_000_000), act()).await.unwrap();
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

    async fn logs_in(&self, code: &str, client: &LoginCredentialsOf, username: &str) -> (Authority, String) {
        let credentials = LoginCredentials {
            client_id: client.id.clone(),
            client_secret: client.secret.clone().into(),
            organisation_code: code.to_owned(),
            username: username.to_owned(),
            password: PASSWORD.into(),
        };
        let tokens = self.identity.login(credentials).await.unwrap();
        let caller = self.identity.authenticate(tokens.access_token.expose()).await.unwrap();
        let authority = Authority {
            organisation: OrganisationId(caller.organisation.id),
            client: ClientId(caller.client_id),
            user: UserId(caller.user.id),
            access_token: AccessTokenId(caller.access_token_id),
        };
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
            "BPC".to_owned(),
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
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let call = CallId::new(call, DateTime::from_timestamp(1_795_167_000, 0).unwrap()).unwrap();
        let (net, charge) = (pula(10_000), pula(150));
        let request = PurchaseRequest {
            source_channel: SourceChannel::Pos,
            source_tag: None,
            language: "en".to_owned(),
            product: Product::Electricity,
            provider_code: "BPC".to_owned(),
            debited_account: merchant.wallet,
            beneficiary_phone_number: "26771234567".to_owned(),
            subscriber: meter(number),
            amount: net,
            charges_on_top: true,
            comment: Some("till 3".to_owned()),
            external_reference: Some(format!("ref-{number}")),
            notifications: NotificationFlags::default(),
        };
        let reservation = Reservation {
            id,
            reference: Reference::new(id, 2026, 11),
            authority: merchant.authority,
            request,
            price: Price { entry: net, charge, net, total: net.plus(charge).unwrap(), commission: pula(100) },
            provider_reference: ProviderReference::new(call),
            subscriber_details: Some("K. MOLEFE".to_owned()),
            request_id: None,
            pending: Arc::new(JustArrived),
            keyed: None,
        };
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
    let vend = Vend {
        tokens: Some(TokenSet::parse(TOKEN).unwrap()),
        units: Some(Units { quantity: "45.20".parse().unwrap(), unit: "kWh".to_owned() }),
        provider_transaction: transaction.to_owned(),
        breakdown: None,
        subscriber_details: Some("K. MOLEFE".to_owned()),
        raw_reply: RawReply::default(),
    };
    Event::Vended { vend: Box::new(vend) }
}

fn pula(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("BWP").unwrap())
}

fn meter(number: &str) -> SubscriberIdentifier {
    SubscriberIdentifier::parse(number).unwrap()
}

fn act() -> AuditContext {
    AuditContext { actor: "naledi".to_owned(), reason: "contract 17".to_owned() }
}

fn user(username: &str, role: Role) -> UserDetails {
    UserDetails {
        username: username.to_owned(),
        password: PASSWORD.into(),
        full_name: "Till One".to_owned(),
        phone_number: Some("26771000000".to_owned()),
        email: None,
        role,
    }
}

fn prepare(url: &str) -> Result<(), DatabaseError> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(migrate(&url.into())).map(drop)
}

/// A request that has just arrived and whose caller still waits.
#[derive(Debug)]
struct JustArrived;

impl PendingRequest for JustArrived {
    fn age(&self) -> Duration {
        Duration::ZERO
    }

    fn is_abandoned(&self) -> bool {
        false
    }
}

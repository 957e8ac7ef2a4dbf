//! The surface over a real database, through HTTP: which callers are admitted, which are refused, and with which
//! answers.

use std::sync::Arc;

use actix_web::{
    App, HttpResponse,
    body::{BoxBody, MessageBody, to_bytes},
    dev::{Service, ServiceResponse},
    http::{Method, header::HeaderMap},
    middleware::from_fn,
    test::{TestRequest, init_service},
    web::Data,
};
use clock::SystemClock;
use database::DatabaseSettings;
use identity::{ClientCredentials, Environment, Identity, Onboarding, Role, SystemEntropy};
use local_postgres::LocalDatabase;
use purchase::Timing;
use serde_json::{Value, json};
use test_kit::{
    database::migrated,
    organisation::{PASSWORD, act, enter, identity_settings, user},
    purchases::connect_store,
};
use tokio::runtime::Handle;
use vending::{Engine, Providers, Traces, Vending, VendingSettings};
use web::{SharedState, WebSettings, intake};

/// Every path, its method, and whether it requires an access token.
const ENDPOINTS: [(&str, &str, bool); 11] = [
    ("POST", "/public/v1/auth/login", false),
    ("POST", "/public/v1/auth/refresh", false),
    ("GET", "/public/v1/auth/me", true),
    ("GET", "/public/v1/accounts", true),
    ("GET", "/public/v1/accounts/1", true),
    ("GET", "/public/v1/vas-products", true),
    ("POST", "/public/v1/purchases/validate", true),
    ("POST", "/public/v1/purchases/confirm", true),
    ("POST", "/public/v1/purchases/retry", true),
    ("GET", "/public/v1/purchases", true),
    ("GET", "/public/v1/purchases/1", true),
];

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Status, code and param of an error.
    fn told(&self) -> (u16, &str, Option<&str>) {
        let error = &self.body["error"];
        (self.status, error["code"].as_str().unwrap(), error["param"].as_str())
    }
}

/// A service with one organisation, KGALE, its client, an integrator `till` and a viewer `auditor`.
struct TestApi {
    _database: LocalDatabase,
    shared: Data<SharedState>,
    identity: Data<Identity>,
    vending: Data<Vending>,
    client: ClientCredentials,
}

impl TestApi {
    async fn open() -> Self {
        let database = migrated();
        let clock = Arc::new(SystemClock);
        let settings = DatabaseSettings::for_database(database.url());
        let store = connect_store(settings, Timing::default(), Handle::current()).await;
        let onboarding = Onboarding::new(store.database().clone(), clock.clone(), Arc::new(SystemEntropy));
        let (staging, till) = (Environment::Staging, user("till", Role::Integrator));
        let client = enter(&onboarding, "KGALE", "Kgale Stores", staging, till).await;
        onboarding.create_user("KGALE", user("auditor", Role::Viewer), act()).await.unwrap();
        let settings = identity_settings(staging);
        let identity =
            Identity::try_new(settings, store.database().clone(), clock.clone(), Arc::new(SystemEntropy))
                .unwrap();
        let engine = Engine::new(Handle::current());
        let shared = SharedState::new(&WebSettings::default(), clock.clone()).unwrap();
        let vending = Vending::new(
            store,
            Providers::new(),
            clock.clone(),
            engine,
            VendingSettings::default(),
            shared.zone(),
            Traces::off(),
        )
        .unwrap();
        Self {
            _database: database,
            shared: Data::new(shared),
            identity: Data::new(identity),
            vending: Data::new(vending),
            client,
        }
    }

    async fn answers(&self, request: TestRequest) -> Answer {
        let app = init_service(
            App::new()
                .app_data(self.shared.clone())
                .app_data(self.identity.clone())
                .app_data(self.vending.clone())
                .wrap(from_fn(intake))
                .configure(http_v1::routes),
        );
        let request = request.insert_header(("X-Request-Id", "r1")).to_request();
        read(app.await.call(request).await.unwrap()).await
    }

    fn credentials(&self, username: &str) -> Value {
        json!({
            "client_id": self.client.client_id,
            "client_secret": self.client.secret.expose(),
            "grant_type": "password",
            "identifier": username,
            "secret_pass": PASSWORD,
            "org_code": "KGALE",
            "source_channel": "WEB",
        })
    }

    async fn logs_in(&self, username: &str) -> Value {
        let answer = self.answers(post("/public/v1/auth/login", &self.credentials(username))).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    async fn access_token_of(&self, username: &str) -> String {
        format!("Bearer {}", self.logs_in(username).await["access_token"].as_str().unwrap())
    }
}

async fn read(response: ServiceResponse<impl MessageBody + 'static>) -> Answer {
    let response: HttpResponse<BoxBody> = response.into_parts().1.map_into_boxed_body();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = to_bytes(response.into_body()).await.map_err(|_broken| "no body").unwrap();
    Answer { status, headers, body: serde_json::from_slice(&body).unwrap() }
}

fn get(path: &str) -> TestRequest {
    TestRequest::get().uri(path)
}

fn post(path: &str, body: &Value) -> TestRequest {
    TestRequest::post().uri(path).set_json(body)
}

fn purchase() -> Value {
    json!({
        "source_channel": "WEB",
        "language": "en-BW",
        "product_type": "ELECTRICITY",
        "provider_code": "BPC",
        "debited_account_id": 999,
        "beneficiary_phone_number": "26771234567",
        "subscriber_identifier": "04257670465",
        "amount": 100,
        "currency": "BWP",
        "external_reference": "INV-1",
    })
}

#[actix_web::test]
async fn no_endpoint_that_needs_a_token_admits_an_unauthenticated_caller() {
    let api = TestApi::open().await;
    let malformed = ["", "Bearer", "Bearer nonsense", "Basic dGlsbDp0aWxs", "Bearer vg_test_at_"];
    for (method, path, guarded) in ENDPOINTS {
        for header in malformed.into_iter().filter(|_| guarded) {
            let request = TestRequest::with_uri(path).method(method.parse().unwrap());
            let answer = api.answers(request.insert_header(("Authorization", header))).await;
            assert_eq!(answer.told(), (401, "invalid_credentials", None), "{method} {path} {header}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            assert_eq!(answer.header("x-request-id"), Some("r1"));
        }
    }
}

#[actix_web::test]
async fn every_endpoint_tells_the_only_method_that_it_accepts() {
    let api = TestApi::open().await;
    for (method, path, _) in ENDPOINTS {
        let answer = api.answers(TestRequest::with_uri(path).method(Method::PUT)).await;
        assert_eq!(answer.told(), (400, "method_not_allowed", None), "{path}");
        assert_eq!(answer.header("allow"), Some(method), "{path}");
    }
}

#[actix_web::test]
async fn a_login_opens_a_session_that_can_be_refreshed_and_names_the_caller() {
    let api = TestApi::open().await;
    let session = api.logs_in("till").await;
    assert_eq!((&session["access_in"], &session["token_type"]), (&json!(900), &json!("bearer")));
    assert_eq!(session["scope"], "read write");
    let refresh = json!({
        "client_id": api.client.client_id,
        "client_secret": api.client.secret.expose(),
        "grant_type": "refresh_token",
        "refresh_token": session["refresh_token"],
    });
    let refreshed = api.answers(post("/public/v1/auth/refresh", &refresh)).await;
    assert_eq!((refreshed.status, refreshed.header("cache-control")), (200, Some("no-store")));
    let bearer = format!("bearer {}", refreshed.body["access_token"].as_str().unwrap());
    let me = api.answers(get("/public/v1/auth/me").insert_header(("Authorization", bearer))).await;
    assert_eq!((me.status, &me.body["actor"]["username"]), (200, &json!("till")));
    assert_eq!(me.body["organisation"]["environment"], "STAGING");
}

#[actix_web::test]
async fn whatever_is_wrong_about_a_login_the_answer_is_the_same() {
    let api = TestApi::open().await;
    let mut answers = Vec::new();
    for field in ["client_id", "client_secret", "identifier", "secret_pass", "org_code"] {
        let mut credentials = api.credentials("till");
        credentials[field] = json!("wrong");
        let answer = api.answers(post("/public/v1/auth/login", &credentials)).await;
        assert_eq!(answer.told(), (401, "invalid_credentials", None), "{field}");
        answers.push(answer.body.to_string());
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[actix_web::test]
async fn a_viewer_is_told_which_permission_is_missing() {
    let api = TestApi::open().await;
    let bearer = api.access_token_of("auditor").await;
    for (path, permission) in [
        ("/public/v1/purchases/confirm", "purchases.confirm"),
        ("/public/v1/purchases/retry", "purchases.retry"),
    ] {
        let request = post(path, &purchase()).insert_header(("Authorization", bearer.as_str()));
        let answer = api.answers(request).await;
        assert_eq!(answer.told(), (403, "missing_permission", None));
        assert!(answer.body["error"]["message"].as_str().unwrap().contains(permission));
    }
}

#[actix_web::test]
async fn what_is_not_the_callers_is_not_found() {
    let api = TestApi::open().await;
    let bearer = api.access_token_of("till").await;
    for id in ["999", "0", "-1", "abc", "99999999999999999999", "1%2F2"] {
        let request = get(&format!("/public/v1/accounts/{id}"));
        let answer = api.answers(request.insert_header(("Authorization", bearer.as_str()))).await;
        assert_eq!(answer.told(), (404, "resource_not_found", None), "{id}");
    }
    for path in ["/public/v1/accounts", "/public/v1/vas-products"] {
        let answer = api.answers(get(path).insert_header(("Authorization", bearer.as_str()))).await;
        assert_eq!((answer.status, answer.body), (200, json!([])), "{path}");
    }
}

#[actix_web::test]
async fn what_is_not_offered_is_refused_before_anything_is_stored() {
    let api = TestApi::open().await;
    let bearer = api.access_token_of("till").await;
    for path in ["/public/v1/purchases/validate", "/public/v1/purchases/confirm"] {
        let request = post(path, &purchase()).insert_header(("Authorization", bearer.as_str()));
        let answer = api.answers(request).await;
        assert!(matches!(answer.told().0, 400 | 404), "{}", answer.body);
        assert!(answer.told().2.is_some(), "{}", answer.body);
    }
    let request = post("/public/v1/purchases/retry", &purchase());
    let answer = api.answers(request.insert_header(("Authorization", bearer.as_str()))).await;
    assert_eq!(answer.told(), (404, "transaction_not_found", None));
}

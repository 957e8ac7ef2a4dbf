//! The rate limits for callers of which only the address is known, and the limit of the size of a head.

use std::{sync::Arc, time::Duration};

use actix_web::{
    App, HttpRequest, HttpResponse,
    body::to_bytes,
    dev::Service,
    http::header::HeaderMap,
    middleware::from_fn,
    test::{TestRequest, init_service},
    web::Data,
};
use chrono::DateTime;
use futures_util::future::join_all;
use serde_json::Value;

use clock::{Clock, ManualClock, SystemClock};
use web::{
    ApiError, LimitSettings, RateSettings, SharedState, UnauthenticatedCaller, WebSettings, get, intake,
};

struct Intake {
    shared: Data<SharedState>,
    clock: ManualClock,
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    error: Value,
}

impl Intake {
    /// Three requests at once from each address, then one each two hundred milliseconds.
    fn of_three() -> Self {
        Self::with(RateSettings { per_second: 5, burst: 3 })
    }

    fn with(rate: RateSettings) -> Self {
        let clock = ManualClock::at(DateTime::UNIX_EPOCH);
        let settings = WebSettings {
            trusted_proxies: vec!["10.0.0.0/8".to_owned()],
            limits: LimitSettings { login: rate, refresh: rate, malformed: rate, ..LimitSettings::default() },
            ..WebSettings::default()
        };
        let shared = Data::new(SharedState::new(&settings, Arc::new(clock.clone())).unwrap());
        Self { shared, clock }
    }

    async fn send(&self, request: TestRequest) -> Answer {
        let app = App::new()
            .app_data(self.shared.clone())
            .wrap(from_fn(intake))
            .service(get("/login", admitted))
            .service(get("/refresh", async |request: HttpRequest| {
                UnauthenticatedCaller::at_refresh(&request).map(|_anonymous| HttpResponse::Ok().finish())
            }))
            .service(get("/open", async || HttpResponse::Ok().finish()));
        let answered = init_service(app).await.call(request.to_request()).await;
        let response = match answered {
            Ok(answer) => answer.into_parts().1.map_into_boxed_body(),
            Err(error) => error.error_response(),
        };
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = to_bytes(response.into_body()).await.map_err(|_broken| "no body").unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        Answer { status, headers, error: body["error"].clone() }
    }

    async fn send_from(&self, address: &str) -> Answer {
        self.send(from(address)).await
    }
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Limit, remaining, reset.
    fn allowance(&self) -> [Option<&str>; 3] {
        ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map(|name| self.header(name))
    }
}

async fn admitted(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    UnauthenticatedCaller::at_login(&request).map(|_anonymous| HttpResponse::Ok().finish())
}

fn from(address: &str) -> TestRequest {
    TestRequest::get().uri("/login").peer_addr(address.parse().unwrap())
}

#[actix_web::test]
async fn a_caller_over_its_limit_is_told_how_long_to_wait() {
    let intake_of = Intake::of_three();
    for remaining in ["2", "1", "0"] {
        let answer = intake_of.send_from("192.0.2.1:99").await;
        assert_eq!((answer.status, answer.header("retry-after")), (200, None));
        assert_eq!(answer.allowance(), [Some("3"), Some(remaining), Some("1")]);
    }
    let refused = intake_of.send_from("192.0.2.1:99").await;
    assert_eq!((refused.status, &refused.error["code"]), (429, &"rate_limited".into()));
    assert_eq!(
        (&refused.error["type"], &refused.error["retryable"]),
        (&"rate_limit_error".into(), &true.into())
    );
    assert_eq!(refused.header("retry-after"), Some("1"), "a fifth of a second, in whole seconds");
    assert_eq!(refused.allowance(), [Some("3"), Some("0"), Some("1")]);

    intake_of.clock.advance(Duration::from_millis(200));
    assert_eq!(intake_of.send_from("192.0.2.1:4711").await.status, 200);
    assert_eq!(intake_of.send_from("192.0.2.1:4712").await.status, 429, "another port is the same address");
}

#[actix_web::test]
async fn others_are_not_made_to_wait() {
    let intake_of = Intake::of_three();
    for _ in 0..4 {
        intake_of.send_from("192.0.2.1:99").await;
    }
    assert_eq!(intake_of.send_from("192.0.2.2:99").await.status, 200);
    let elsewhere = from("192.0.2.1:99").uri("/open");
    let answer = intake_of.send(elsewhere).await;
    assert_eq!(
        (answer.status, answer.allowance()),
        (200, [None; 3]),
        "an answer without a limit has no limit headers"
    );
}

#[actix_web::test]
async fn logins_refreshes_and_malformed_requests_are_counted_apart() {
    let intake_of = Intake::of_three();
    let send = |path: &str| intake_of.send(from("192.0.2.1:99").uri(path));
    for path in ["/login", "/refresh", "/nowhere"] {
        let expected = if path == "/nowhere" { 404 } else { 200 };
        for remaining in ["2", "1", "0"] {
            let answer = send(path).await;
            assert_eq!(answer.status, expected, "{path}");
            let shown = (path != "/nowhere").then_some(remaining);
            assert_eq!(answer.allowance()[1], shown, "{path}");
        }
    }
    let began = SystemClock.monotonic();
    let refused = join_all(["/login", "/refresh", "/nowhere"].map(send)).await;
    for answer in refused {
        assert_eq!((answer.status, &answer.error["code"]), (429, &"rate_limited".into()));
    }
    let took = SystemClock.monotonic().elapsed_since(began);
    assert!(took >= Duration::from_secs(1), "a refusal over the limit is held back: {took:?}");
    assert_eq!(
        intake_of.send(from("192.0.2.1:99").uri("/open")).await.status,
        200,
        "a correct request is not counted"
    );
    assert_eq!(
        intake_of.send(from("192.0.2.2:99").uri("/nowhere")).await.status,
        404,
        "other addresses are not affected"
    );
}

#[actix_web::test]
async fn a_wrong_method_is_a_malformed_request() {
    let intake_of = Intake::of_three();
    for status in [400, 400, 400, 429] {
        let wrong = TestRequest::post().uri("/login").peer_addr("192.0.2.1:99".parse().unwrap());
        assert_eq!(intake_of.send(wrong).await.status, status);
    }
    assert_eq!(intake_of.send_from("192.0.2.1:99").await.status, 200, "logins are counted separately");
}

#[actix_web::test]
async fn behind_a_proxy_of_ours_each_customer_has_a_limit_of_their_own() {
    let intake_of = Intake::of_three();
    let forwarded = |by: &str, origin: &'static str| from(by).insert_header(("X-Forwarded-For", origin));
    for _ in 0..4 {
        intake_of.send(forwarded("10.0.0.1:99", "198.51.100.7")).await;
    }
    assert_eq!(intake_of.send(forwarded("10.0.0.2:99", "198.51.100.7")).await.status, 429);
    assert_eq!(intake_of.send(forwarded("10.0.0.1:99", "198.51.100.8")).await.status, 200);
    for origin in ["203.0.113.1", "203.0.113.2", "203.0.113.3"] {
        assert_eq!(intake_of.send(forwarded("192.0.2.9:99", origin)).await.status, 200);
    }
    let again = intake_of.send(forwarded("192.0.2.9:99", "203.0.113.4")).await;
    assert_eq!(again.status, 429, "a forged address does not give a new limit");
}

#[actix_web::test]
async fn a_limit_that_is_switched_off_is_none() {
    let intake_of = Intake::with(RateSettings { per_second: 0, burst: 0 });
    for _ in 0..200 {
        let answer = intake_of.send_from("192.0.2.1:99").await;
        assert_eq!((answer.status, answer.allowance()), (200, [None; 3]));
    }
}

#[actix_web::test]
async fn a_head_that_is_too_large_is_refused_in_the_envelope() {
    let intake_of = Intake::of_three();
    for (request, status) in [
        (from("192.0.2.1:99").insert_header(("X-Filler", "x".repeat(15_000))), 200),
        (from("192.0.2.1:99").insert_header(("X-Filler", "x".repeat(17_000))), 400),
        (from("192.0.2.1:99").uri(&format!("/login?filler={}", "x".repeat(17_000))), 400),
    ] {
        let answer = intake_of.send(request).await;
        assert_eq!(answer.status, status);
        if status == 400 {
            assert_eq!(answer.error["code"], "invalid_argument");
            assert!(answer.error["message"].as_str().unwrap().contains("16384 bytes"), "{}", answer.error);
            assert_eq!(answer.header("x-request-id"), answer.error["request_id"].as_str());
        }
    }
}

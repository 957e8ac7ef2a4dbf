//! What every answer has, wherever it was made: a request id, and the envelope for every error.

use std::{sync::Arc, time::Duration};

use actix_web::{
    App, Error, HttpRequest, HttpResponse,
    body::{BoxBody, MessageBody, to_bytes},
    dev::{Service, ServiceResponse},
    http::{Method, header::HeaderMap},
    middleware::from_fn,
    test::{TestRequest, init_service},
    web::{self, Payload},
};
use chrono::DateTime;
use serde_json::{Value, json};

use ::web::{ApiError, RequestContext, SharedState, WebSettings, get, intake, post, read_fields};
use clock::ManualClock;
use error_codes::ErrorCode;
use web as actix;

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn error(&self) -> Value {
        serde_json::from_str::<Value>(&self.body).unwrap()["error"].clone()
    }
}

async fn answer_to(request: TestRequest) -> Answer {
    let settings = WebSettings { public_url: "https://api.example.com".to_owned(), ..WebSettings::default() };
    let clock = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
    let shared = SharedState::new(&settings, clock).unwrap();
    let app = init_service(
        App::new()
            .app_data(actix::Data::new(shared))
            .wrap(from_fn(intake))
            .service(get("/well", async || HttpResponse::Ok().body("well")))
            .service(post("/fields", fields))
            .service(get("/busy", async || {
                let error = ApiError::new(ErrorCode::TransactionPending).after(Duration::from_millis(4_200));
                Err::<HttpResponse, _>(error)
            }))
            .service(get("/unauthenticated", async || {
                Err::<HttpResponse, _>(ApiError::new(ErrorCode::InvalidCredentials))
            }))
            .service(get("/panic", panics))
            .service(get("/panic-with-money", panics_with_money)),
    )
    .await;
    read(app.call(request.to_request()).await).await
}

async fn fields(request: HttpRequest, payload: Payload) -> Result<HttpResponse, ApiError> {
    let fields = read_fields(&request, payload).await?;
    fields.required_text("name", 10)?;
    Ok(HttpResponse::Ok().finish())
}

async fn panics() -> HttpResponse {
    panic!("a secret of ours")
}

async fn panics_with_money(request: HttpRequest) -> HttpResponse {
    RequestContext::of(&request).mark_money_may_move();
    panic!("after the reserve")
}

async fn read(outcome: Result<ServiceResponse<impl MessageBody + 'static>, Error>) -> Answer {
    let response: HttpResponse<BoxBody> = match outcome {
        Ok(response) => response.into_parts().1.map_into_boxed_body(),
        Err(error) => error.error_response(),
    };
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = to_bytes(response.into_body()).await.map_err(|_broken| "no body").unwrap();
    Answer { status, headers, body: String::from_utf8(body.to_vec()).unwrap() }
}

fn reading(path: &str) -> TestRequest {
    TestRequest::get().uri(path)
}

fn posting(body: impl Into<Vec<u8>>) -> TestRequest {
    TestRequest::post().uri("/fields").set_payload(body.into())
}

#[actix_web::test]
async fn a_request_id_is_echoed_and_a_bad_one_replaced_on_every_kind_of_answer() {
    for path in ["/well", "/nowhere", "/busy", "/panic"] {
        let echoed = answer_to(reading(path).insert_header(("X-Request-Id", "order-42"))).await;
        assert_eq!(echoed.header("x-request-id"), Some("order-42"), "{path}");
        let spaced = answer_to(reading(path).insert_header(("X-Request-Id", "two words"))).await;
        assert_eq!(spaced.header("x-request-id"), Some("two words"), "{path}");
        let ours = answer_to(reading(path).insert_header(("X-Request-Id", "a\ttab"))).await;
        assert_eq!(ours.header("x-request-id").unwrap().len(), 32, "{path}");
        assert_eq!(ours.header("x-content-type-options"), Some("nosniff"));
    }
}

#[actix_web::test]
async fn an_unknown_path_is_not_found_in_the_envelope() {
    let answer = answer_to(reading("/nowhere").insert_header(("X-Request-Id", "r1"))).await;
    assert_eq!((answer.status, answer.header("content-type")), (404, Some("application/json")));
    let expected = json!({
        "error": {
            "type": "not_found_error",
            "code": "resource_not_found",
            "message": "Nothing of yours is found here. Check the address and the id.",
            "param": null,
            "retryable": false,
            "doc_url": "https://api.example.com/docs/errors/resource_not_found",
            "request_id": "r1",
        }
    });
    assert_eq!(serde_json::from_str::<Value>(&answer.body).unwrap(), expected);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[actix_web::test]
async fn a_known_path_tells_which_method_it_has() {
    let answer = answer_to(reading("/fields").method(Method::DELETE)).await;
    assert_eq!((answer.status, answer.header("allow")), (400, Some("POST")));
    assert_eq!(answer.error()["code"], "method_not_allowed");
    assert_eq!(answer.error()["message"], "This address does not accept the method DELETE. Use POST.");
}

#[actix_web::test]
async fn a_panic_is_an_internal_error_that_tells_nothing() {
    let answer = answer_to(reading("/panic")).await;
    assert_eq!((answer.status, &answer.error()["code"]), (500, &json!("internal_error")));
    assert!(!answer.body.contains("secret"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[actix_web::test]
async fn a_panic_after_money_may_have_moved_never_invites_a_second_purchase() {
    let answer = answer_to(reading("/panic-with-money")).await;
    assert_eq!((answer.status, &answer.error()["code"]), (504, &json!("provider_timeout")));
}

#[actix_web::test]
async fn an_unauthenticated_caller_is_asked_for_a_bearer_token() {
    let answer = answer_to(reading("/unauthenticated")).await;
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")));
}

#[actix_web::test]
async fn a_pause_is_rounded_up_to_whole_seconds() {
    let answer = answer_to(reading("/busy")).await;
    assert_eq!((answer.status, answer.header("retry-after")), (409, Some("5")));
    assert_eq!(answer.error()["retryable"], true);
}

#[actix_web::test]
async fn errors_speak_the_language_of_the_body_or_else_of_the_headers() {
    let french = answer_to(reading("/nowhere").insert_header(("Accept-Language", "fr-FR"))).await;
    assert!(french.error()["message"].as_str().unwrap().starts_with("Rien qui vous appartienne"));
    let portuguese =
        answer_to(posting(r#"{"language":"pt-MZ"}"#).insert_header(("Accept-Language", "fr-FR"))).await;
    assert_eq!(
        portuguese.error()["message"],
        "O campo name é obrigatório. Acrescente-o e envie o pedido de novo."
    );
}

#[actix_web::test]
async fn a_body_of_more_than_16_kib_is_refused_whether_or_not_it_says_so() {
    let body = format!(r#"{{"name":"x","filler":"{}"}}"#, "x".repeat(17 * 1024));
    for request in [posting(body.clone()), posting(body).insert_header(("Content-Length", "17500"))] {
        let answer = answer_to(request).await;
        assert_eq!((answer.status, &answer.error()["code"]), (400, &json!("invalid_argument")));
        assert_eq!(answer.error()["param"], Value::Null);
        assert!(answer.error()["message"].as_str().unwrap().contains("16384 bytes"));
    }
}

#[actix_web::test]
async fn a_body_just_within_the_limit_is_read() {
    let frame = r#"{"name":"x","filler":""}"#;
    let body = frame.replace("\"\"", &format!("\"{}\"", "x".repeat(16 * 1024 - frame.len())));
    assert_eq!((body.len(), answer_to(posting(body)).await.status), (16 * 1024, 200));
}

#[actix_web::test]
async fn the_content_type_does_not_matter() {
    let request = posting(r#"{"name":"x"}"#).insert_header(("Content-Type", "text/plain"));
    assert_eq!(answer_to(request).await.status, 200);
}

#[actix_web::test]
async fn what_is_no_json_object_is_refused() {
    let deep = format!(r#"{{"name":"x","deep":{}1{}}}"#, "[".repeat(17), "]".repeat(17));
    let abyss = "[".repeat(16_000);
    let cases: [(&[u8], &str); 8] = [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"{\"name\":\"x\"} trailing", "not valid JSON"),
        (b"{\"name\":\"\xff\"}", "not valid JSON"),
        (b"[1]", "one JSON object"),
        (b"\"text\"", "one JSON object"),
        (deep.as_bytes(), "more than 16 levels"),
        (abyss.as_bytes(), "not valid JSON"),
    ];
    for (body, reason) in cases {
        let answer = answer_to(posting(body)).await;
        assert_eq!((answer.status, &answer.error()["code"]), (400, &json!("invalid_argument")));
        assert!(answer.error()["message"].as_str().unwrap().contains(reason), "{reason}: {}", answer.body);
        assert_eq!(answer.error()["param"], Value::Null);
    }
}

#[actix_web::test]
async fn a_repeated_key_is_refused_at_any_depth_and_named() {
    for (body, param) in [
        (r#"{"name":"x","name":"y"}"#, "name"),
        (r#"{"name":"x","n\u0061me":"y"}"#, "name"),
        (r#"{"name":"x","unknown":1,"unknown":2}"#, "unknown"),
        (r#"{"name":"x","nested":{"inner":1,"inner":1}}"#, "inner"),
        (r#"{"name":"x","list":[0,{"inner":1,"inner":1}]}"#, "inner"),
    ] {
        let answer = answer_to(posting(body)).await;
        assert_eq!((&answer.error()["code"], answer.status), (&json!("invalid_argument"), 400), "{body}");
        assert_eq!(answer.error()["param"], param, "{body}");
    }
}

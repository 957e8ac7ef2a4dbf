//! A surface with its own form of errors and headers. They are on everything below its paths, and nowhere else.

use std::sync::Arc;

use actix_web::{
    App, HttpResponse,
    body::{BoxBody, to_bytes},
    dev::Service,
    http::header::{HeaderMap, HeaderName, HeaderValue},
    middleware::from_fn,
    test::{TestRequest, init_service},
    web as actix,
};
use chrono::DateTime;

use ::web::{ApiError, ErrorDetails, Sentence, SharedState, Surface, WebSettings, get, intake};
use clock::ManualClock;
use error_codes::ErrorCode;

/// Errors in one line, and one header.
#[derive(Debug)]
struct Telegraph;

impl Surface for Telegraph {
    fn roots(&self) -> &[&str] {
        &["/wire", "/cable"]
    }

    fn field<'a>(&self, field: &'a str) -> &'a str {
        if field == "subscriber_identifier" { "meter" } else { field }
    }

    fn sentence(&self, sentence: Sentence) -> Sentence {
        sentence
    }

    fn error_body(&self, error: &ErrorDetails<'_>) -> String {
        let field = error.field.unwrap_or("-");
        format!(
            "{} {field} {} {} {} {}",
            error.code,
            error.is_retryable,
            error.request_id,
            error.at.timestamp(),
            error.message
        )
    }

    fn error_headers(&self, error: &ErrorDetails<'_>) -> Vec<(HeaderName, HeaderValue)> {
        let word = if error.is_retryable { "again" } else { "stop" };
        vec![(HeaderName::from_static("x-signal"), HeaderValue::from_static(word))]
    }

    fn headers(&self, public_url: &str) -> Vec<(HeaderName, HeaderValue)> {
        let office = HeaderValue::from_str(public_url).unwrap();
        vec![(HeaderName::from_static("x-office"), office)]
    }
}

async fn panics() -> HttpResponse {
    panic!("a secret of ours")
}

/// Status, headers, body.
async fn answer_to(path: &str) -> (u16, HeaderMap, String) {
    let settings = WebSettings { public_url: "https://api.example.com".to_owned(), ..WebSettings::default() };
    let clock = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
    let shared = SharedState::new(&settings, clock).unwrap().with_surface(Telegraph);
    let meter = async || Err::<HttpResponse, _>(ApiError::new(ErrorCode::InvalidMeterNumber));
    let app = App::new()
        .app_data(actix::Data::new(shared))
        .wrap(from_fn(intake))
        .service(get("/wire/well", async || HttpResponse::Ok().body("well")))
        .service(get("/wire/meter", meter))
        .service(get("/wire/panic", panics))
        .service(get("/elsewhere/meter", meter));
    let app = init_service(app).await;
    let request = TestRequest::get().uri(path).insert_header(("X-Request-Id", "r1")).to_request();
    let response: HttpResponse<BoxBody> = match app.call(request).await {
        Ok(answer) => answer.into_parts().1.map_into_boxed_body(),
        Err(raised) => raised.error_response(),
    };
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = to_bytes(response.into_body()).await.unwrap();
    (status, headers, String::from_utf8(body.to_vec()).unwrap())
}

#[actix_web::test]
async fn whatever_goes_wrong_below_its_paths_is_told_in_its_own_words() {
    let long = format!("/wire/well?{}", "x".repeat(20_000));
    let encoded = "/%77ire/nowhere";
    for (path, status, beginning) in [
        ("/wire/meter", 400, "invalid_meter_number meter false r1 0 The value of meter is not a valid"),
        ("/wire/panic", 500, "internal_error - false r1 0 "),
        ("/wire/nowhere", 404, "resource_not_found - false r1 0 "),
        ("/cable", 404, "resource_not_found - false r1 0 "),
        (encoded, 404, "resource_not_found - false r1 0 "),
        (&long, 400, "invalid_argument - false r1 0 "),
    ] {
        let (told, headers, body) = answer_to(path).await;
        assert_eq!(told, status, "{path}: {body}");
        assert!(body.starts_with(beginning), "{path}: {body}");
        assert_eq!(headers.get("x-office").unwrap(), "https://api.example.com", "{path}");
        assert_eq!(headers.get("x-request-id").unwrap(), "r1", "{path}");
    }
}

#[actix_web::test]
async fn a_good_answer_of_its_own_carries_its_headers_and_nothing_else_does() {
    let (status, headers, body) = answer_to("/wire/well").await;
    assert_eq!((status, body.as_str()), (200, "well"));
    assert!(headers.contains_key("x-office"));
    for path in ["/wires/well", "/elsewhere/meter", "/", "//wire/well", "/elsewhere/wire/well"] {
        let (_, headers, body) = answer_to(path).await;
        assert!(!headers.contains_key("x-office"), "{path}");
        assert!(body.starts_with(r#"{"error":{"type":""#), "{path}: {body}");
        assert!(!body.contains("meter is"), "{path}: {body}");
    }
}

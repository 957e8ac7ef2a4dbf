//! Clients that exceed rate limits, guess passwords, or send requests that are too large or too slow.

use std::time::Duration;

use clock::{Clock, Monotonic, SystemClock};
use futures_util::{StreamExt, stream::FuturesUnordered};
use reqwest::Method;
use serde_json::Value;

use crate::{
    conversation::Conversation,
    env::{env, eventually},
    merchant::Merchant,
    wire::Answer,
};

/// Three requests at once and one per second for each client. The test sets the source address. Timeouts are short,
/// except for heads, because a busy machine may stall while it reads one.
const STRICT: [(&str, &str); 6] = [
    ("VENDGATE__WEB__LIMITS__CLIENT__PER_SECOND", "1"),
    ("VENDGATE__WEB__LIMITS__CLIENT__BURST", "3"),
    ("VENDGATE__WEB__TRUSTED_PROXIES", "127.0.0.0/8"),
    ("VENDGATE__WEB__BODY_WITHIN_MS", "1000"),
    ("VENDGATE__HTTP__HEAD_WITHIN_MS", "5000"),
    ("VENDGATE__HTTP__KEEP_ALIVE_S", "1"),
];

#[tokio::test]
async fn a_client_over_its_limit_must_wait_and_other_clients_need_not() {
    let server = env().another_api_server_with("server-with-limits", &STRICT);
    let (merchant, neighbour) = (env().open_merchant().await, env().open_merchant().await);
    let through_it = merchant.calling(server.url());
    for _ in 0..3 {
        let answer = through_it.get("/public/v1/accounts").await.expect(200);
        assert_eq!(answer.header("ratelimit-limit"), Some("3"));
        assert!(answer.header("ratelimit-remaining").is_some() && answer.header("ratelimit-reset").is_some());
    }
    let told = exhausted(&through_it).await;
    assert_eq!(told.refusal(), (429, "rate_limited", None));
    assert_eq!(told.str("/error/type"), "rate_limit_error");
    assert_eq!(told.body["error"]["retryable"], true);
    assert_eq!((told.header("retry-after"), told.header("ratelimit-remaining")), (Some("1"), Some("0")));
    neighbour.calling(server.url()).get("/public/v1/accounts").await.expect(200);
    eventually("the client is let in again", async || {
        through_it.get("/public/v1/accounts").await.status == 200
    })
    .await;
}

#[tokio::test]
async fn each_server_counts_a_client_by_itself_so_two_admit_twice_as_much() {
    let servers = ["server-that-counts", "server-that-counts-too"]
        .map(|name| env().another_api_server_with(name, &STRICT));
    let merchant = env().open_merchant().await;
    let began = SystemClock.monotonic();
    let mut admitted = 0;
    for _ in 0..6 {
        for server in &servers {
            let status = merchant.calling(server.url()).get("/public/v1/accounts").await.status;
            assert!([200, 429].contains(&status), "{status}");
            admitted += u64::from(status == 200);
        }
    }
    assert!(admitted >= 2 * 3, "{admitted}: not the burst of each server");
    let most = 2 * (3 + since(began).as_secs() + 1);
    assert!(admitted <= most, "{admitted}: more than {most}");
}

#[tokio::test]
async fn a_client_that_is_told_to_wait_has_bought_nothing() {
    let server = env().another_api_server_with("server-with-limits-and-money", &STRICT);
    let merchant = env().open_merchant().await;
    let through_it = merchant.calling(server.url());
    let order = merchant.order(&env().meter());
    eventually("a confirm is told to wait", async || {
        exhausted(&through_it).await;
        let before = merchant.rows();
        let told = through_it.confirm(&order).await.status == 429;
        assert!(!told || merchant.rows() == before, "{} after {before}", merchant.rows());
        told
    })
    .await;
}

#[tokio::test]
async fn a_guesser_is_slowed_down_and_the_user_elsewhere_is_not() {
    let server = env().another_api_server_with("server-that-is-guessed-at", &STRICT);
    let merchant = env().open_merchant().await.calling(server.url());
    let began = SystemClock.monotonic();
    for _ in 0..4 {
        assert_eq!(guess(&merchant, "203.0.113.1").await.refusal(), (401, "invalid_credentials", None));
    }
    // Four minimum durations, with 250 + 500 + 1000 ms between them.
    let took = since(began);
    assert!(took >= Duration::from_millis(4 * 250 + 1_750), "{took:?}");

    let began = SystemClock.monotonic();
    log_in(&merchant, "203.0.113.2").await.expect(200);
    let elsewhere = since(began);
    log_in(&merchant, "203.0.113.1").await.expect(200);
    let here = since(began);
    assert!(here >= Duration::from_millis(1_900), "the delay applies to the right password too: {here:?}");
    assert!(elsewhere < here / 2, "{elsewhere:?} elsewhere, {here:?} here");

    let began = SystemClock.monotonic();
    log_in(&merchant, "203.0.113.1").await.expect(200);
    assert!(since(began) < Duration::from_millis(1_500), "a correct password ends the delay");
}

#[tokio::test]
async fn concurrent_guesses_are_processed_one_after_another() {
    let server = env().another_api_server_with("server-that-is-stormed", &STRICT);
    let merchant = env().open_merchant().await.calling(server.url());
    let began = SystemClock.monotonic();
    let from = "203.0.113.9";
    let (one, two, three, four) = tokio::join!(
        guess(&merchant, from),
        guess(&merchant, from),
        guess(&merchant, from),
        guess(&merchant, from)
    );
    for answer in [one, two, three, four] {
        assert_eq!(answer.refusal(), (401, "invalid_credentials", None));
    }
    let took = since(began);
    assert!(took >= Duration::from_millis(4 * 250 + 1_750), "{took:?}");
}

#[tokio::test]
async fn a_caller_without_the_client_secret_delays_no_login_from_the_same_address() {
    let server = env().another_api_server_with("server-with-the-unknown", &STRICT);
    let merchant = env().open_merchant().await.calling(server.url());
    let from = "203.0.113.20";
    let wrong_logins = ["client_id", "client_secret"].map(|unknown| {
        let mut login: Value = serde_json::from_str(&merchant.login_body()).unwrap();
        login[unknown] = "vg_test_0123456789abcdef".into();
        login["secret_pass"] = "0123456789abcdef".into();
        login.to_string()
    });
    let mut failed_logins: FuturesUnordered<_> =
        wrong_logins.iter().cycle().take(40).map(|login| send_login(&merchant, login, from)).collect();
    let first = failed_logins.next().await.unwrap();
    assert_eq!(first.refusal(), (401, "invalid_credentials", None));

    let began = SystemClock.monotonic();
    log_in(&merchant, from).await.expect(200);
    assert!(since(began) < Duration::from_secs(2), "during the failed logins: {:?}", since(began));
}

#[tokio::test]
async fn an_address_that_logs_in_too_often_is_told_to_wait_before_its_body_is_read() {
    let one_a_second =
        [("VENDGATE__WEB__LIMITS__LOGIN__PER_SECOND", "1"), ("VENDGATE__WEB__LIMITS__LOGIN__BURST", "1")];
    let server = env().another_api_server_with("server-that-takes-one-a-second", &one_a_second);
    // Each announces a body that never comes, so an admitted request gets no answer for ten seconds.
    let head = "POST /public/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n";
    let crowd: Vec<Conversation> = (0..20).map(|_| Conversation::beginning_with(&server, head)).collect();
    let answers = crowd.into_iter().map(|conversation| conversation.reads_until("\"request_id\""));
    let refused: Vec<String> = answers.filter(|answer| answer.starts_with("HTTP/1.1 429")).collect();
    assert!(refused.len() >= 10, "{} of 20 were told to wait", refused.len());
    for answer in refused {
        assert!(answer.contains("\"rate_limited\"") && answer.contains("\r\nretry-after: "), "{answer}");
        for field in ["ratelimit-limit: 1\r\n", "ratelimit-remaining: 0\r\n", "ratelimit-reset: "] {
            assert!(answer.contains(&format!("\r\n{field}")), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_head_a_body_or_a_silence_has_its_time_and_no_longer() {
    let server = env().another_api_server_with("server-in-a-hurry", &STRICT);
    let slow_head = Conversation::beginning_with(&server, "GET / HTTP/1.1\r\nHost:").reads_to_its_end();
    assert!(slow_head.starts_with("HTTP/1.1 400") && slow_head.contains("did not arrive"), "{slow_head}");

    let body = "POST /public/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"client_id\":";
    let slow_body = Conversation::beginning_with(&server, body).reads_to_its_end();
    assert!(slow_body.starts_with("HTTP/1.1 400") && slow_body.contains("did not arrive"), "{slow_body}");

    let quick = "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n";
    let silent = Conversation::beginning_with(&server, quick).reads_to_its_end();
    assert!(silent.contains("resource_not_found"), "{silent}");
    let half_of_a_second = format!("{quick}GET /nowhere HTTP/1.1\r\nHost:");
    let trickling = Conversation::beginning_with(&server, &half_of_a_second).reads_to_its_end();
    assert_eq!(trickling.matches("HTTP/1.1 404").count(), 1, "{trickling}");

    let mute = Conversation::beginning_with(&server, "").reads_to_its_end();
    assert_eq!(mute, "", "a connection without a request gets no answer");
}

#[tokio::test]
async fn the_second_head_of_a_connection_has_its_time_too() {
    let settings =
        [("VENDGATE__HTTP__HEAD_WITHIN_MS", "1000"), ("VENDGATE__WEB__LIMITS__MALFORMED__PER_SECOND", "0")];
    let server = env().another_api_server_with("server-in-a-hurry-again", &settings);
    let two = "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\nGET /nowhere HTTP/1.1\r\nHost:";
    let answers = Conversation::beginning_with(&server, two).reads_to_its_end();
    assert_eq!(answers.matches("HTTP/1.1 404").count(), 1, "{answers}");
    let (_, second) = answers.split_once("HTTP/1.1 400").unwrap();
    assert!(second.contains("did not arrive") && second.contains("x-request-id: "), "{answers}");
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = env().another_api_server_with("server-with-narrow-heads", &STRICT);
    let head =
        |fields: &str| format!("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{fields}\r\n");
    let filler = |bytes: usize| format!("X-Filler: {}\r\n", "x".repeat(bytes));
    let many = |fields: usize| "X-Field: x\r\n".repeat(fields);

    for (fits, fields) in [("a large head", filler(15_000)), ("many fields", many(90))] {
        let answer = Conversation::beginning_with(&server, head(&fields)).reads_to_its_end();
        assert!(answer.starts_with("HTTP/1.1 404"), "{fits}: {answer}");
    }
    let large = Conversation::beginning_with(&server, head(&filler(20_000))).reads_to_its_end();
    assert!(large.starts_with("HTTP/1.1 400") && large.contains("\"invalid_argument\""), "{large}");
    assert!(large.contains("16384 bytes") && large.contains("\r\nx-request-id: "), "{large}");
    for (beyond_reading, fields) in [("a huge head", filler(200_000)), ("too many fields", many(100))] {
        let answer = Conversation::beginning_with(&server, head(&fields)).reads_to_its_end();
        assert!(
            answer.starts_with("HTTP/1.1 400") && answer.contains("16384 bytes"),
            "{beyond_reading}: {answer}"
        );
    }
}

/// Sends requests until the limit is exceeded, and returns that answer.
async fn exhausted(merchant: &Merchant) -> Answer {
    let mut last = merchant.get("/public/v1/accounts").await;
    eventually("the client is told to wait", async || {
        last = merchant.get("/public/v1/accounts").await;
        last.status == 429
    })
    .await;
    last
}

async fn guess(merchant: &Merchant, from: &str) -> Answer {
    let mut login: Value = serde_json::from_str(&merchant.login_body()).unwrap();
    login["secret_pass"] = "0123456789abcdef".into();
    send_login(merchant, &login.to_string(), from).await
}

async fn log_in(merchant: &Merchant, from: &str) -> Answer {
    send_login(merchant, &merchant.login_body(), from).await
}

async fn send_login(merchant: &Merchant, login: &str, from: &str) -> Answer {
    let forwarded = [("X-Forwarded-For", from)];
    merchant.send(Method::POST, "/public/v1/auth/login", Some(login), &forwarded).await
}

fn since(moment: Monotonic) -> Duration {
    SystemClock.monotonic().elapsed_since(moment)
}

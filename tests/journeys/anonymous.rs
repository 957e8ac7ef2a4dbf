//! Unauthenticated callers cannot affect other clients.

use reqwest::Method;

use crate::{env::env, merchant::Merchant, wire::Answer};

/// Three unknown access tokens at once from each address, and one per second. The test sets the source address.
const STRICT: [(&str, &str); 3] = [
    ("VENDGATE__WEB__LIMITS__UNKNOWN_TOKEN__PER_SECOND", "1"),
    ("VENDGATE__WEB__LIMITS__UNKNOWN_TOKEN__BURST", "3"),
    ("VENDGATE__WEB__TRUSTED_PROXIES", "127.0.0.0/8"),
];

#[tokio::test]
async fn unknown_access_tokens_are_counted_by_address_and_good_ones_are_not() {
    let server = env().another_api_server_with("server-with-unknown-tokens", &STRICT);
    let mut merchants = Vec::new();
    for _ in 0..6 {
        merchants.push(env().open_merchant().await.calling(server.url()));
    }
    let (flooded, quiet) = ("203.0.113.1", "203.0.113.2");
    let looks = async |merchant: &Merchant, from: &str| {
        merchant.send(Method::GET, "/public/v1/accounts", None, &[("X-Forwarded-For", from)]).await
    };
    for merchant in &merchants[..5] {
        looks(merchant, flooded).await.expect(200);
    }

    // Three at first. On a slow machine one more is admitted each second.
    let mut told = presents(&merchants[0], &unknown_token(0), flooded).await;
    for number in 1..20 {
        assert_eq!(told.refusal(), (401, "invalid_credentials", None), "{number}");
        told = presents(&merchants[0], &unknown_token(number), flooded).await;
        if number >= 3 && told.status == 429 {
            break;
        }
    }
    assert_eq!(told.refusal(), (429, "rate_limited", None));
    assert!(told.header("retry-after").is_some() && told.header("ratelimit-remaining") == Some("0"));

    for merchant in &merchants[..5] {
        looks(merchant, flooded).await.expect(200);
    }
    looks(&merchants[5], quiet).await.expect(200);
}

#[tokio::test]
async fn requests_without_a_token_are_counted_like_those_with_an_unknown_one() {
    let server = env().another_api_server_with("server-without-tokens", &STRICT);
    let merchant = env().open_merchant().await.calling(server.url());
    for (token, status) in [("", 401), ("nonsense", 401), (&*unknown_token(0), 401), ("", 429)] {
        assert_eq!(presents(&merchant, token, "203.0.113.1").await.status, status, "{token}");
    }
}

/// A well-formed token that was never issued.
fn unknown_token(number: usize) -> String {
    format!("vg_test_at_{number:A<43}")
}

async fn presents(merchant: &Merchant, token: &str, from: &str) -> Answer {
    let mut unauthenticated = merchant.calling(merchant.base_url());
    unauthenticated.access_token = token.to_owned();
    unauthenticated.send(Method::GET, "/public/v1/accounts", None, &[("X-Forwarded-For", from)]).await
}

//! What a caller of whom nothing is known can take from the others: nothing.

use reqwest::Method;

use crate::{shop::Shop, town::town, wire::Answer};

/// Three unknown access tokens at once from each address, and one a second. The test says where it comes from.
const STRICT: [(&str, &str); 3] = [
    ("VENDGATE__WEB__LIMITS__UNKNOWN_TOKEN__PER_SECOND", "1"),
    ("VENDGATE__WEB__LIMITS__UNKNOWN_TOKEN__BURST", "3"),
    ("VENDGATE__WEB__TRUSTED_PROXIES", "127.0.0.0/8"),
];

#[tokio::test]
async fn unknown_access_tokens_are_counted_by_address_and_good_ones_are_not() {
    let server = town().another_api_server_with("server-with-unknown-tokens", &STRICT);
    let mut shops = Vec::new();
    for _ in 0..6 {
        shops.push(town().open_shop().await.calling(server.url()));
    }
    let (flooded, quiet) = ("203.0.113.1", "203.0.113.2");
    let looks = async |shop: &Shop, from: &str| {
        shop.send(Method::GET, "/public/v1/accounts", None, &[("X-Forwarded-For", from)]).await
    };
    for shop in &shops[..5] {
        looks(shop, flooded).await.expect(200);
    }

    // At first three; and on a slow machine one more in each second.
    let mut told = presents(&shops[0], &unknown_token(0), flooded).await;
    for number in 1..20 {
        assert_eq!(told.refusal(), (401, "invalid_credentials", None), "{number}");
        told = presents(&shops[0], &unknown_token(number), flooded).await;
        if number >= 3 && told.status == 429 {
            break;
        }
    }
    assert_eq!(told.refusal(), (429, "rate_limited", None));
    assert!(told.header("retry-after").is_some() && told.header("ratelimit-remaining") == Some("0"));

    for shop in &shops[..5] {
        looks(shop, flooded).await.expect(200);
    }
    looks(&shops[5], quiet).await.expect(200);
}

#[tokio::test]
async fn requests_without_a_token_are_counted_like_those_with_an_unknown_one() {
    let server = town().another_api_server_with("server-without-tokens", &STRICT);
    let shop = town().open_shop().await.calling(server.url());
    for (token, status) in [("", 401), ("nonsense", 401), (&*unknown_token(0), 401), ("", 429)] {
        assert_eq!(presents(&shop, token, "203.0.113.1").await.status, status, "{token}");
    }
}

/// A token that looks like any other.
fn unknown_token(number: usize) -> String {
    format!("vg_test_at_{number:A<43}")
}

async fn presents(shop: &Shop, token: &str, from: &str) -> Answer {
    let mut stranger = shop.calling(shop.base_url());
    stranger.access_token = token.to_owned();
    stranger.send(Method::GET, "/public/v1/accounts", None, &[("X-Forwarded-For", from)]).await
}

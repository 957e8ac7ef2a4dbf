//! What anybody may meet before the request itself is looked at.

use std::thread;

use error_codes::ErrorCode;
use http_v1::Endpoint;
use reqwest::Method;

use super::seen::{Seen, knock, path};
use crate::{
    shop::Shop,
    town::{another_town, eventually, town},
    wire::method,
};

/// As little as a server can be set to let in.
const ONE_A_SECOND: [(&str, &str); 6] = [
    ("VENDGATE__WEB__LIMITS__CLIENT__PER_SECOND", "1"),
    ("VENDGATE__WEB__LIMITS__CLIENT__BURST", "1"),
    ("VENDGATE__WEB__LIMITS__LOGIN__PER_SECOND", "1"),
    ("VENDGATE__WEB__LIMITS__LOGIN__BURST", "1"),
    ("VENDGATE__WEB__LIMITS__REFRESH__PER_SECOND", "1"),
    ("VENDGATE__WEB__LIMITS__REFRESH__BURST", "1"),
];

/// The method, the token, the permission, the organisation, the pace.
pub async fn closed_to_some(seen: &Seen) {
    let shop = town().open_shop().await;
    let mut stranger = shop.calling(&town().facts().base_url);
    stranger.access_token.clear();
    for endpoint in Endpoint::ALL {
        let deleted = shop.send(Method::DELETE, &path(&shop, endpoint), None, &[]).await;
        seen.expect(ErrorCode::MethodNotAllowed, endpoint, &deleted);
        let long = "x".repeat(20 * 1024);
        let headed = shop.send(method(endpoint), &path(&shop, endpoint), None, &[("X-Note", &long)]).await;
        seen.expect(ErrorCode::InvalidArgument, endpoint, &headed);
        "vg_test_cs_wrong".clone_into(&mut stranger.credentials.client_secret);
        "vg_test_rt_wrong".clone_into(&mut stranger.refresh_token);
        seen.expect(ErrorCode::InvalidCredentials, endpoint, &knock(&stranger, endpoint).await);
    }
    let viewer = town().open_shop_of_a_viewer().await;
    for endpoint in [Endpoint::Confirm, Endpoint::Retry] {
        seen.expect(ErrorCode::MissingPermission, endpoint, &knock(&viewer, endpoint).await);
    }
    suspended(seen).await;
    too_fast(seen).await;
}

async fn suspended(seen: &Seen) {
    let shop = town().open_shop().await;
    let organisation = shop.organisation;
    town().asks_the_database(&format!(
        "UPDATE organisations SET status = 'SUSPENDED' WHERE id = {organisation}"
    ));
    eventually("servers notice that an organisation is suspended", async || {
        shop.get("/public/v1/auth/me").await.status == 403
    })
    .await;
    for endpoint in Endpoint::ALL {
        seen.expect(ErrorCode::Forbidden, endpoint, &knock(&shop, endpoint).await);
    }
}

async fn too_fast(seen: &Seen) {
    let strict = town().another_api_server_with("server-that-is-strict", &ONE_A_SECOND);
    let shop = town().open_shop().await.calling(strict.url());
    for endpoint in Endpoint::ALL {
        let mut answer = knock(&shop, endpoint).await;
        if answer.status != 429 {
            answer = knock(&shop, endpoint).await;
        }
        seen.expect(ErrorCode::RateLimited, endpoint, &answer);
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
    }
}

/// A server whose tables have gone: nothing that it could say about the request would be true.
pub async fn of_a_broken_house(seen: &Seen) {
    let (sandbox, opened) = thread::spawn(|| another_town("broken")).join().unwrap();
    let shop = Shop::log_in(opened, &sandbox.facts().base_url).await;
    sandbox.database().run_sql("ALTER TABLE organisations RENAME TO gone").unwrap();
    for endpoint in Endpoint::ALL {
        seen.expect(ErrorCode::InternalError, endpoint, &knock(&shop, endpoint).await);
    }
    drop(shop);
    thread::spawn(move || sandbox.stop(|| true)).join().unwrap();
}

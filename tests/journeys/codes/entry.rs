//! Errors that every endpoint may answer before it reads the request itself.

use std::thread;

use error_codes::ErrorCode;
use http_v1::{BatchCall, Endpoint, WebhookCall};
use reqwest::Method;
use sandbox::Sandbox;

use super::seen::{Seen, call_endpoint, path};
use crate::{
    certificates::certificate,
    env::{another_env_without_certificates, env, eventually},
    merchant::Merchant,
    wire::method,
};

/// The lowest limits that a server can be set to.
const ONE_A_SECOND: [(&str, &str); 6] = [
    ("VENDGATE__WEB__LIMITS__CLIENT__PER_SECOND", "1"),
    ("VENDGATE__WEB__LIMITS__CLIENT__BURST", "1"),
    ("VENDGATE__WEB__LIMITS__LOGIN__PER_SECOND", "1"),
    ("VENDGATE__WEB__LIMITS__LOGIN__BURST", "1"),
    ("VENDGATE__WEB__LIMITS__REFRESH__PER_SECOND", "1"),
    ("VENDGATE__WEB__LIMITS__REFRESH__BURST", "1"),
];

/// Provokes refusals by method, token, permission, organisation and rate.
pub async fn closed_to_some(seen: &Seen) {
    let merchant = env().open_merchant().await;
    let mut unauthenticated = merchant.calling(&env().info().base_url);
    unauthenticated.access_token.clear();
    for endpoint in Endpoint::ALL {
        let deleted = merchant.send(Method::DELETE, &path(&merchant, endpoint), None, &[]).await;
        seen.expect(ErrorCode::MethodNotAllowed, endpoint, &deleted);
        let long = "x".repeat(20 * 1024);
        let headed =
            merchant.send(method(endpoint), &path(&merchant, endpoint), None, &[("X-Note", &long)]).await;
        seen.expect(ErrorCode::InvalidArgument, endpoint, &headed);
        "vg_test_cs_wrong".clone_into(&mut unauthenticated.credentials.client_secret);
        "vg_test_rt_wrong".clone_into(&mut unauthenticated.refresh_token);
        seen.expect(
            ErrorCode::InvalidCredentials,
            endpoint,
            &call_endpoint(&unauthenticated, endpoint).await,
        );
    }
    let viewer = env().open_merchant_of_a_viewer().await;
    let manages = [
        WebhookCall::Create,
        WebhookCall::Update,
        WebhookCall::RotateSecret,
        WebhookCall::Delete,
        WebhookCall::Test,
        WebhookCall::Redeliver,
    ];
    let others = [Endpoint::Confirm, Endpoint::Retry, Endpoint::LookUp, Endpoint::Message];
    let batches = [BatchCall::Create, BatchCall::Pause, BatchCall::Resume, BatchCall::Cancel];
    let manages = manages.map(Endpoint::Webhooks).into_iter().chain(batches.map(Endpoint::Batches));
    for endpoint in others.into_iter().chain(manages) {
        seen.expect(ErrorCode::MissingPermission, endpoint, &call_endpoint(&viewer, endpoint).await);
    }
    suspended(seen).await;
    too_fast(seen).await;
}

async fn suspended(seen: &Seen) {
    let merchant = env().open_merchant().await;
    let organisation = merchant.organisation;
    env().asks_the_database(&format!(
        "UPDATE organisations SET status = 'SUSPENDED' WHERE id = {organisation}"
    ));
    eventually("servers notice that an organisation is suspended", async || {
        merchant.get("/public/v1/auth/me").await.status == 403
    })
    .await;
    for endpoint in Endpoint::ALL {
        seen.expect(ErrorCode::Forbidden, endpoint, &call_endpoint(&merchant, endpoint).await);
    }
}

async fn too_fast(seen: &Seen) {
    let strict = env().another_api_server_with("server-that-is-strict", &ONE_A_SECOND);
    let merchant = env().open_merchant().await.calling(strict.url());
    for endpoint in Endpoint::ALL {
        let mut answer = call_endpoint(&merchant, endpoint).await;
        if answer.status != 429 {
            answer = call_endpoint(&merchant, endpoint).await;
        }
        seen.expect(ErrorCode::RateLimited, endpoint, &answer);
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
    }
}

/// A server without a key for certificates, whose tables are then missing. It cannot say anything true about a request.
pub async fn with_a_broken_database(seen: &Seen) {
    let (sandbox, opened) = thread::spawn(|| another_env_without_certificates("broken")).join().unwrap();
    without_certificates(seen, &sandbox, opened.clone()).await;
    // Another session, of which the server remembers nothing yet.
    let merchant = Merchant::log_in(opened, &sandbox.info().base_url).await;
    sandbox.database().run_sql("ALTER TABLE organisations RENAME TO gone").unwrap();
    for endpoint in Endpoint::ALL {
        seen.expect(ErrorCode::InternalError, endpoint, &call_endpoint(&merchant, endpoint).await);
    }
    drop(merchant);
    thread::spawn(move || sandbox.stop(|| true)).join().unwrap();
}

async fn without_certificates(seen: &Seen, sandbox: &Sandbox, opened: sandbox::Merchant) {
    let merchant = Merchant::log_in(opened, &sandbox.info().base_url).await;
    let order = merchant.order(sandbox.info().subscribers.electricity["active_13_digit"]);
    let bought = merchant.post(Endpoint::Confirm.path(), &order.body()).await.expect(200);
    let unsigned = certificate(&merchant, bought.id()).await;
    seen.expect(ErrorCode::CertificatesDisabled, Endpoint::Certificate, &unsigned);
    assert_eq!(merchant.get("/.well-known/jwks.json").await.expect(200).text, r#"{"keys":[]}"#);
}

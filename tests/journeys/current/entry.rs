//! How all paths below `/auth` and `/api` refuse a request, and that no other path answers in this form.

use acceptance::surface::Surface;
use http_legacy::Endpoint;
use reqwest::Method;
use sandbox::MerchantPlan;

use super::page::{Page, Question};
use crate::{
    env::{env, eventually},
    merchant::Merchant,
    request_body::RequestBody,
    wire::Answer,
};

/// The method of the endpoint, as the client's type.
fn method(endpoint: Endpoint) -> Method {
    Method::from_bytes(endpoint.method().as_str().as_bytes()).unwrap()
}

pub async fn page() -> Page {
    let mut page = Page::new("doors");
    let merchant =
        env().open_as(Surface::Current, MerchantPlan::staging("FROZEN-DOORS", "A frozen shop")).await;
    for path in
        ["/auth", "/auth/", "/auth/nowhere", "/%61uth/nowhere", "/api", "/api/", "/api/topup/confirm/"]
    {
        page.keep(&format!("no such path: {path}"), Question::get(&merchant, path)).await.expect(404);
    }
    for endpoint in Endpoint::ALL {
        let deleted = Question::get(&merchant, endpoint.path()).by(Method::DELETE);
        page.keep(&format!("another method at {}", endpoint.path()), deleted).await.expect(400);
    }
    let long = "x".repeat(20 * 1024);
    let headed = Question::get(&merchant, "/auth/me").with("X-Note", &long);
    page.keep("a head that is too large", headed).await.expect(400);
    bodies(&mut page, &merchant).await;
    not_let_in(&mut page, &merchant).await;
    page
}

async fn bodies(page: &mut Page, merchant: &Merchant) {
    let confirm = Surface::Current.confirm();
    let large = merchant.order("07000010012").with("comment", &format!("\"{}\"", "x".repeat(17 * 1024)));
    for (title, body) in [
        ("a body that is no JSON", "{\"amount\": 1,}".to_owned()),
        ("a body that ends too early", "{".to_owned()),
        ("a body that is no object", "[]".to_owned()),
        ("no body", String::new()),
        ("a body that is too large", large.body()),
        ("a body that is too deep", "[".repeat(200)),
    ] {
        page.keep(title, Question::post(merchant, confirm, body)).await.expect(400);
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

async fn not_let_in(page: &mut Page, merchant: &Merchant) {
    let order = merchant.order(env().scenario("active_11_digit"));
    let mut unauthenticated = merchant.on(Surface::Current);
    unauthenticated.access_token.clear();
    page.keep("nobody", Question::confirm(&unauthenticated, &order)).await.expect(401);
    "vg_test_at_nobodys".clone_into(&mut unauthenticated.access_token);
    page.keep("a token that nobody has", Question::confirm(&unauthenticated, &order)).await.expect(401);
    let plan =
        MerchantPlan { role: identity::Role::Viewer, ..MerchantPlan::staging("FROZEN-GLANCE", "A shop") };
    let viewer = env().open_as(Surface::Current, plan).await;
    page.keep("a viewer who buys", Question::confirm(&viewer, &order)).await.expect(403);
    let question = RequestBody::retry_on(Surface::Current, "07000010012", "nobody-1");
    page.keep("a viewer who asks", Question::retry(&viewer, &question)).await.expect(403);
    let plan = MerchantPlan::staging("FROZEN-OUT", "A shop that is suspended");
    let suspended = env().open_as(Surface::Current, plan).await;
    let organisation = suspended.organisation;
    env().asks_the_database(&format!(
        "UPDATE organisations SET status = 'SUSPENDED' WHERE id = {organisation}"
    ));
    eventually("servers notice that an organisation is suspended", async || {
        suspended.get("/auth/me").await.status == 403
    })
    .await;
    let order = suspended.order(env().scenario("active_11_digit"));
    page.keep("a suspended organisation", Question::confirm(&suspended, &order)).await.expect(403);
}

#[tokio::test]
async fn only_what_lies_below_its_paths_is_told_in_the_frozen_form() {
    let merchant = env().open_merchant().await;
    for path in ["/auth", "/auth/", "/auth/x/y", "/%61uth/nowhere", "/api", "/api/", "/api/topup", "/api/x"] {
        frozen(&merchant.get(path).await.expect(404));
    }
    let neighbours =
        ["//", "/authors", "/auth.json", "/apiary", "/AUTH/login", "/public/v1/nowhere", "/public/v1/auth/x"];
    for path in neighbours {
        let answer = merchant.get(path).await.expect(404);
        assert_eq!(answer.surface, Surface::V1, "{path}");
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{path}");
    }
    merchant.get("/public/v1/auth/me").await.expect(200);
}

#[track_caller]
fn frozen(answer: &Answer) {
    assert_eq!(answer.surface, Surface::Current);
    assert_eq!(answer.header("deprecation").unwrap(), format!("@{}", http_legacy::DEPRECATED_AT));
    let guide = format!("<{}/docs/migrating>;", env().info().base_url);
    assert!(answer.header("link").unwrap().starts_with(&guide), "{answer:?}");
    answer.refusal();
}

#[tokio::test]
async fn a_request_keeps_its_id_at_every_endpoint_of_the_frozen_surface() {
    let merchant = env().open_merchant_on(Surface::Current).await;
    for path in Endpoint::ALL.map(Endpoint::path).into_iter().chain(["/auth/nowhere", "/api"]) {
        let named = merchant.send(Method::PATCH, path, None, &[("X-Request-Id", "till-7/42")]).await;
        assert_eq!(named.header("x-request-id"), Some("till-7/42"), "{path}");
        frozen(&named);
        let spaced = merchant.send(Method::PATCH, path, None, &[("X-Request-Id", "till 7, sale 42")]).await;
        assert_eq!(spaced.header("x-request-id"), Some("till 7, sale 42"), "{path}");
        for unusable in ["x".repeat(129), "with\ttab".to_owned(), String::new()] {
            let renamed = merchant.send(Method::PATCH, path, None, &[("X-Request-Id", &unusable)]).await;
            let name = renamed.header("x-request-id").unwrap();
            assert!(name != unusable && !name.is_empty(), "{path}");
            frozen(&renamed);
        }
    }
}

#[tokio::test]
async fn a_method_that_a_frozen_path_does_not_have_is_told_which_one_it_has() {
    let merchant = env().open_merchant_on(Surface::Current).await;
    for endpoint in Endpoint::ALL {
        for other in [Method::DELETE, Method::PUT, Method::PATCH, Method::OPTIONS] {
            let path = endpoint.path();
            let answer = merchant.send(other.clone(), path, None, &[]).await;
            assert_eq!(answer.refusal(), (400, "method_not_allowed", None), "{other} {path}");
            let allowed = answer.header("allow").unwrap();
            assert!(allowed.contains(endpoint.method().as_str()), "{other} {path}: {allowed}");
        }
    }
}

#[tokio::test]
async fn the_frozen_surface_requires_a_token_and_a_permission() {
    let merchant = env().open_merchant_on(Surface::Current).await;
    let viewer = env().open_merchant_of_a_viewer().await.on(Surface::Current);
    let mut unauthenticated = merchant.on(Surface::Current);
    unauthenticated.access_token.clear();
    for endpoint in Endpoint::ALL {
        if endpoint.permission().is_none() {
            continue;
        }
        let ask = async |caller: &Merchant| caller.send(method(endpoint), endpoint.path(), None, &[]).await;
        let answer = ask(&unauthenticated).await;
        assert_eq!(answer.refusal(), (401, "invalid_credentials", None), "{}", endpoint.path());
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        let bearing = [("Authorization", "Bearer vg_test_at_oobJzlkEjTa9fv8XeWdkd2Guy4U2Mowf6zAZA8VH_-U")];
        let answer = unauthenticated.send(method(endpoint), endpoint.path(), None, &bearing).await;
        assert_eq!(answer.refusal(), (401, "invalid_credentials", None), "{}", endpoint.path());

        let answer = ask(&viewer).await;
        if matches!(endpoint, Endpoint::Confirm | Endpoint::Retry) {
            assert_eq!(answer.refusal(), (403, "missing_permission", None), "{}", endpoint.path());
        } else {
            assert_ne!(answer.status, 403, "{}: {}", endpoint.path(), answer.text);
        }
    }
}

//! What everything below `/auth` and `/api` says to whoever does not come in, and that nothing else says it.

use acceptance::surface::Surface;
use http_current::Endpoint;
use reqwest::Method;
use sandbox::ShopPlan;

use super::page::{Page, Question};
use crate::{
    order::Order,
    shop::Shop,
    town::{eventually, town},
    wire::Answer,
};

/// Its method, as the client knows methods.
fn method(endpoint: Endpoint) -> Method {
    Method::from_bytes(endpoint.method().as_str().as_bytes()).unwrap()
}

pub async fn page() -> Page {
    let mut page = Page::new("doors");
    let shop = town().open_as(Surface::Current, ShopPlan::staging("FROZEN-DOORS", "A frozen shop")).await;
    for path in
        ["/auth", "/auth/", "/auth/nowhere", "/%61uth/nowhere", "/api", "/api/", "/api/topup/confirm/"]
    {
        page.keep(&format!("no such path: {path}"), Question::get(&shop, path)).await.expect(404);
    }
    for endpoint in Endpoint::ALL {
        let deleted = Question::get(&shop, endpoint.path()).by(Method::DELETE);
        page.keep(&format!("another method at {}", endpoint.path()), deleted).await.expect(400);
    }
    let long = "x".repeat(20 * 1024);
    let headed = Question::get(&shop, "/auth/me").with("X-Note", &long);
    page.keep("a head that is too large", headed).await.expect(400);
    bodies(&mut page, &shop).await;
    not_let_in(&mut page, &shop).await;
    page
}

async fn bodies(page: &mut Page, shop: &Shop) {
    let confirm = Surface::Current.confirm();
    let large = shop.order("07000010012").with("comment", &format!("\"{}\"", "x".repeat(17 * 1024)));
    for (title, body) in [
        ("a body that is no JSON", "{\"amount\": 1,}".to_owned()),
        ("a body that ends too early", "{".to_owned()),
        ("a body that is no object", "[]".to_owned()),
        ("no body", String::new()),
        ("a body that is too large", large.body()),
        ("a body that is too deep", "[".repeat(200)),
    ] {
        page.keep(title, Question::post(shop, confirm, body)).await.expect(400);
    }
    assert_eq!(shop.rows(), "0|0|0|0|0");
}

async fn not_let_in(page: &mut Page, shop: &Shop) {
    let order = shop.order(town().scenario("active_11_digit"));
    let mut stranger = shop.on(Surface::Current);
    stranger.access_token.clear();
    page.keep("nobody", Question::confirm(&stranger, &order)).await.expect(401);
    "vg_test_at_nobodys".clone_into(&mut stranger.access_token);
    page.keep("a token that nobody has", Question::confirm(&stranger, &order)).await.expect(401);
    let plan = ShopPlan { role: identity::Role::Viewer, ..ShopPlan::staging("FROZEN-GLANCE", "A shop") };
    let viewer = town().open_as(Surface::Current, plan).await;
    page.keep("a viewer who buys", Question::confirm(&viewer, &order)).await.expect(403);
    let question = Order::retry_on(Surface::Current, "07000010012", "nobody-1");
    page.keep("a viewer who asks", Question::retry(&viewer, &question)).await.expect(403);
    let plan = ShopPlan::staging("FROZEN-OUT", "A shop that is suspended");
    let suspended = town().open_as(Surface::Current, plan).await;
    let organisation = suspended.organisation;
    town().asks_the_database(&format!(
        "UPDATE organisations SET status = 'SUSPENDED' WHERE id = {organisation}"
    ));
    eventually("servers notice that an organisation is suspended", async || {
        suspended.get("/auth/me").await.status == 403
    })
    .await;
    let order = suspended.order(town().scenario("active_11_digit"));
    page.keep("a suspended organisation", Question::confirm(&suspended, &order)).await.expect(403);
}

#[tokio::test]
async fn only_what_lies_below_its_paths_is_told_in_the_frozen_form() {
    let shop = town().open_shop().await;
    for path in ["/auth", "/auth/", "/auth/x/y", "/%61uth/nowhere", "/api", "/api/", "/api/topup", "/api/x"] {
        frozen(&shop.get(path).await.expect(404));
    }
    let neighbours =
        ["/", "/authors", "/auth.json", "/apiary", "/AUTH/login", "/public/v1/nowhere", "/public/v1/auth/x"];
    for path in neighbours {
        let answer = shop.get(path).await.expect(404);
        assert_eq!(answer.surface, Surface::V1, "{path}");
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{path}");
    }
    shop.get("/public/v1/auth/me").await.expect(200);
}

#[track_caller]
fn frozen(answer: &Answer) {
    assert_eq!(answer.surface, Surface::Current);
    assert_eq!(answer.header("deprecation").unwrap(), format!("@{}", http_current::DEPRECATED_AT));
    let guide = format!("<{}/docs/migrating>;", town().facts().base_url);
    assert!(answer.header("link").unwrap().starts_with(&guide), "{answer:?}");
    answer.refusal();
}

#[tokio::test]
async fn a_request_keeps_its_name_at_every_door_of_the_frozen_surface() {
    let shop = town().open_shop_on(Surface::Current).await;
    for path in Endpoint::ALL.map(Endpoint::path).into_iter().chain(["/auth/nowhere", "/api"]) {
        let named = shop.send(Method::PATCH, path, None, &[("X-Request-Id", "till-7/42")]).await;
        assert_eq!(named.header("x-request-id"), Some("till-7/42"), "{path}");
        frozen(&named);
        let spaced = shop.send(Method::PATCH, path, None, &[("X-Request-Id", "till 7, sale 42")]).await;
        assert_eq!(spaced.header("x-request-id"), Some("till 7, sale 42"), "{path}");
        for unusable in ["x".repeat(129), "with\ttab".to_owned(), String::new()] {
            let renamed = shop.send(Method::PATCH, path, None, &[("X-Request-Id", &unusable)]).await;
            let name = renamed.header("x-request-id").unwrap();
            assert!(name != unusable && !name.is_empty(), "{path}");
            frozen(&renamed);
        }
    }
}

#[tokio::test]
async fn a_method_that_a_frozen_path_does_not_have_is_told_which_one_it_has() {
    let shop = town().open_shop_on(Surface::Current).await;
    for endpoint in Endpoint::ALL {
        for other in [Method::DELETE, Method::PUT, Method::PATCH, Method::OPTIONS] {
            let path = endpoint.path();
            let answer = shop.send(other.clone(), path, None, &[]).await;
            assert_eq!(answer.refusal(), (400, "method_not_allowed", None), "{other} {path}");
            let allowed = answer.header("allow").unwrap();
            assert!(allowed.contains(endpoint.method().as_str()), "{other} {path}: {allowed}");
        }
    }
}

#[tokio::test]
async fn nobody_comes_in_to_the_frozen_surface_without_a_token_and_a_permission() {
    let shop = town().open_shop_on(Surface::Current).await;
    let viewer = town().open_shop_of_a_viewer().await.on(Surface::Current);
    let mut stranger = shop.on(Surface::Current);
    stranger.access_token.clear();
    for endpoint in Endpoint::ALL {
        if endpoint.permission().is_none() {
            continue;
        }
        let ask = async |who: &Shop| who.send(method(endpoint), endpoint.path(), None, &[]).await;
        let answer = ask(&stranger).await;
        assert_eq!(answer.refusal(), (401, "invalid_credentials", None), "{}", endpoint.path());
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        let bearing = [("Authorization", "Bearer vg_test_at_oobJzlkEjTa9fv8XeWdkd2Guy4U2Mowf6zAZA8VH_-U")];
        let answer = stranger.send(method(endpoint), endpoint.path(), None, &bearing).await;
        assert_eq!(answer.refusal(), (401, "invalid_credentials", None), "{}", endpoint.path());

        let answer = ask(&viewer).await;
        if matches!(endpoint, Endpoint::Confirm | Endpoint::Retry) {
            assert_eq!(answer.refusal(), (403, "missing_permission", None), "{}", endpoint.path());
        } else {
            assert_ne!(answer.status, 403, "{}: {}", endpoint.path(), answer.text);
        }
    }
}

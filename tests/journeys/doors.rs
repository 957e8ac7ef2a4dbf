//! What holds at every door: names for requests, paths and methods, who may come in, and the pages about errors.

use http_v1::{Access, Endpoint};
use reqwest::Method;

use crate::{town::town, wire::method};

#[tokio::test]
async fn a_request_keeps_the_name_that_it_came_with_and_gets_one_if_it_has_none() {
    let shop = town().open_shop().await;
    for path in ["/public/v1/accounts", "/public/v1/accounts/0", "/nowhere", "/public/v1/purchases/confirm"] {
        let named = shop.send(Method::GET, path, None, &[("X-Request-Id", "till-7/42")]).await;
        assert_eq!(named.header("x-request-id"), Some("till-7/42"), "{path}");
        let spaced = shop.send(Method::GET, path, None, &[("X-Request-Id", "till 7, sale 42")]).await;
        assert_eq!(spaced.header("x-request-id"), Some("till 7, sale 42"), "{path}");
        for unusable in ["x".repeat(129), "with\ttab".to_owned(), String::new()] {
            let renamed = shop.send(Method::GET, path, None, &[("X-Request-Id", &unusable)]).await;
            let name = renamed.header("x-request-id").unwrap();
            assert!(name != unusable && !name.is_empty(), "{path}");
        }
        let longest = "x".repeat(128);
        let named = shop.send(Method::GET, path, None, &[("X-Request-Id", &longest)]).await;
        assert_eq!(named.header("x-request-id"), Some(longest.as_str()), "{path}");
    }
}

#[tokio::test]
async fn an_unknown_path_and_a_method_that_a_path_does_not_have_are_told_in_the_envelope() {
    let shop = town().open_shop().await;
    for path in ["/", "/nowhere", "/public/v1", "/public/v1/", "/public/v1/purchases/", "/public/v2/accounts"]
    {
        let answer = shop.get(path).await;
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{path}");
    }
    for endpoint in Endpoint::ALL {
        let (method, path) = (endpoint.method(), endpoint.path());
        for other in [Method::DELETE, Method::PUT, Method::PATCH, Method::OPTIONS] {
            let answer = shop.send(other.clone(), path, None, &[]).await;
            assert_eq!(answer.refusal(), (400, "method_not_allowed", None), "{other} {path}");
            assert!(
                answer.header("allow").is_some_and(|allowed| allowed.contains(method.as_str())),
                "{other} {path}"
            );
        }
    }
}

#[tokio::test]
async fn nobody_comes_in_without_a_token_that_was_given_out_here() {
    let shop = town().open_shop().await;
    let mut stranger = shop.calling(&town().facts().base_url);
    stranger.access_token.clear();
    let strangers = ["", "x", "vg_test_at_oobJzlkEjTa9fv8XeWdkd2Guy4U2Mowf6zAZA8VH_-U"];
    for endpoint in Endpoint::ALL.into_iter().filter(|endpoint| endpoint.access() != Access::WithCredentials)
    {
        let path = endpoint.path();
        for token in strangers {
            let headers = [("Authorization", format!("Bearer {token}"))];
            let answer = stranger
                .send(
                    method(endpoint),
                    path,
                    None,
                    &headers.each_ref().map(|(name, value)| (*name, value.as_str())),
                )
                .await;
            assert_eq!(answer.refusal(), (401, "invalid_credentials", None), "{path} with {token:?}");
        }
    }
}

#[tokio::test]
async fn another_organisations_account_is_as_absent_as_one_that_never_was() {
    let (shop, neighbour) = (town().open_shop().await, town().open_shop().await);
    for id in [
        neighbour.account.to_string(),
        "999999999".to_owned(),
        "0".to_owned(),
        "-1".to_owned(),
        "x".to_owned(),
        // An id has one spelling.
        format!("+{}", shop.account),
        format!("%2B{}", shop.account),
        format!("0{}", shop.account),
        format!("{}.0", shop.account),
        format!("{}%20", shop.account),
    ] {
        let answer = shop.get(&format!("/public/v1/accounts/{id}")).await;
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{id}");
    }
    let own = shop.get(&format!("/public/v1/accounts/{}", shop.account)).await.expect(200);
    assert_eq!(own.id(), shop.account);
    let listed = shop.get("/public/v1/accounts").await.expect(200);
    let ids: Vec<i64> =
        listed.body.as_array().unwrap().iter().map(|account| account["id"].as_i64().unwrap()).collect();
    assert!(ids.contains(&shop.account) && !ids.contains(&neighbour.account), "{ids:?}");
}

#[tokio::test]
async fn a_purchase_has_one_address() {
    let shop = town().open_shop().await;
    let id = shop.confirm(&shop.order(&town().meter())).await.expect(200).id();
    for other in
        [format!("+{id}"), format!("0{id}"), format!("00{id}"), format!("{id}.0"), format!("{id}%20")]
    {
        let answer = shop.get(&format!("/public/v1/purchases/{other}")).await;
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{other}");
    }
    assert_eq!(shop.get(&format!("/public/v1/purchases/{id}")).await.expect(200).id(), id);
}

#[tokio::test]
async fn the_second_organisation_of_the_sandbox_comes_in_by_its_own_credentials_alone() {
    let shop = town().open_shop().await;
    let second = &town().facts().second_organisation;
    let mut login = serde_json::to_value(second).unwrap();
    login["grant_type"] = "password".into();
    shop.post("/public/v1/auth/login", &login.to_string()).await.expect(200);
    login["org_code"] = town().facts().credentials.org_code.as_str().into();
    let refused = shop.post("/public/v1/auth/login", &login.to_string()).await;
    assert_eq!(refused.refusal(), (401, "invalid_credentials", None));
}

#[tokio::test]
async fn the_page_that_an_error_links_to_opens() {
    let shop = town().open_shop().await;
    let answer = shop.retry(&town().meter(), "none").await;
    let page = answer.str("/error/doc_url").strip_prefix(&town().facts().base_url).unwrap().to_owned();
    assert_eq!(page, "/docs/errors/transaction_not_found");
    let page = shop.get(&page).await.expect(200);
    assert!(page.text.contains("transaction_not_found"), "{}", page.text);
}

//! Rules of every endpoint: request ids, paths and methods, access, and the pages about errors.

use http_v1::{Access, Endpoint};
use reqwest::Method;

use crate::{env::env, wire::method};

#[tokio::test]
async fn a_request_keeps_the_name_that_it_came_with_and_gets_one_if_it_has_none() {
    let merchant = env().open_merchant().await;
    for path in ["/public/v1/accounts", "/public/v1/accounts/0", "/nowhere", "/public/v1/purchases/confirm"] {
        let named = merchant.send(Method::GET, path, None, &[("X-Request-Id", "till-7/42")]).await;
        assert_eq!(named.header("x-request-id"), Some("till-7/42"), "{path}");
        let spaced = merchant.send(Method::GET, path, None, &[("X-Request-Id", "till 7, sale 42")]).await;
        assert_eq!(spaced.header("x-request-id"), Some("till 7, sale 42"), "{path}");
        for unusable in ["x".repeat(129), "with\ttab".to_owned(), String::new()] {
            let renamed = merchant.send(Method::GET, path, None, &[("X-Request-Id", &unusable)]).await;
            let name = renamed.header("x-request-id").unwrap();
            assert!(name != unusable && !name.is_empty(), "{path}");
        }
        let longest = "x".repeat(128);
        let named = merchant.send(Method::GET, path, None, &[("X-Request-Id", &longest)]).await;
        assert_eq!(named.header("x-request-id"), Some(longest.as_str()), "{path}");
    }
}

#[tokio::test]
async fn an_unknown_path_and_a_method_that_a_path_does_not_have_are_told_in_the_envelope() {
    let merchant = env().open_merchant().await;
    for path in ["/nowhere", "/public/v1", "/public/v1/", "/public/v1/purchases/", "/public/v2/accounts"] {
        let answer = merchant.get(path).await;
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{path}");
    }
    for endpoint in Endpoint::ALL {
        let (method, path) = (endpoint.method(), endpoint.path());
        for other in [Method::DELETE, Method::PUT, Method::PATCH, Method::OPTIONS] {
            let answer = merchant.send(other.clone(), path, None, &[]).await;
            assert_eq!(answer.refusal(), (400, "method_not_allowed", None), "{other} {path}");
            assert!(
                answer.header("allow").is_some_and(|allowed| allowed.contains(method.as_str())),
                "{other} {path}"
            );
        }
    }
}

#[tokio::test]
async fn every_protected_endpoint_requires_an_issued_access_token() {
    let merchant = env().open_merchant().await;
    let mut unauthenticated = merchant.calling(&env().info().base_url);
    unauthenticated.access_token.clear();
    let invalid_tokens = ["", "x", "vg_test_at_oobJzlkEjTa9fv8XeWdkd2Guy4U2Mowf6zAZA8VH_-U"];
    for endpoint in Endpoint::ALL.into_iter().filter(|endpoint| endpoint.access() != Access::WithCredentials)
    {
        let path = endpoint.path();
        for token in invalid_tokens {
            let headers = [("Authorization", format!("Bearer {token}"))];
            let answer = unauthenticated
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
    let (merchant, neighbour) = (env().open_merchant().await, env().open_merchant().await);
    for id in [
        neighbour.account.to_string(),
        "999999999".to_owned(),
        "0".to_owned(),
        "-1".to_owned(),
        "x".to_owned(),
        // An id has one spelling.
        format!("+{}", merchant.account),
        format!("%2B{}", merchant.account),
        format!("0{}", merchant.account),
        format!("{}.0", merchant.account),
        format!("{}%20", merchant.account),
    ] {
        let answer = merchant.get(&format!("/public/v1/accounts/{id}")).await;
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{id}");
    }
    let own = merchant.get(&format!("/public/v1/accounts/{}", merchant.account)).await.expect(200);
    assert_eq!(own.id(), merchant.account);
    let listed = merchant.get("/public/v1/accounts").await.expect(200);
    let ids: Vec<i64> =
        listed.body.as_array().unwrap().iter().map(|account| account["id"].as_i64().unwrap()).collect();
    assert!(ids.contains(&merchant.account) && !ids.contains(&neighbour.account), "{ids:?}");
}

#[tokio::test]
async fn a_purchase_has_one_address() {
    let merchant = env().open_merchant().await;
    let id = merchant.confirm(&merchant.order(&env().meter())).await.expect(200).id();
    for other in
        [format!("+{id}"), format!("0{id}"), format!("00{id}"), format!("{id}.0"), format!("{id}%20")]
    {
        let answer = merchant.get(&format!("/public/v1/purchases/{other}")).await;
        assert_eq!(answer.refusal(), (404, "resource_not_found", None), "{other}");
    }
    assert_eq!(merchant.get(&format!("/public/v1/purchases/{id}")).await.expect(200).id(), id);
}

#[tokio::test]
async fn the_second_organisation_of_the_sandbox_comes_in_by_its_own_credentials_alone() {
    let merchant = env().open_merchant().await;
    let second = &env().info().second_organisation;
    let mut login = second.login_body();
    merchant.post("/public/v1/auth/login", &login.to_string()).await.expect(200);
    login["org_code"] = env().info().credentials.org_code.as_str().into();
    let refused = merchant.post("/public/v1/auth/login", &login.to_string()).await;
    assert_eq!(refused.refusal(), (401, "invalid_credentials", None));
}

#[tokio::test]
async fn the_page_that_an_error_links_to_opens() {
    let merchant = env().open_merchant().await;
    let answer = merchant.retry(&env().meter(), "none").await;
    let page = answer.str("/error/doc_url").strip_prefix(&env().info().base_url).unwrap().to_owned();
    assert_eq!(page, "/docs/errors/transaction_not_found");
    let page = merchant.get(&page).await.expect(200);
    assert!(page.text.contains("transaction_not_found"), "{}", page.text);
}

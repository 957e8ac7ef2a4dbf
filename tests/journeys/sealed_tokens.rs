//! A token that was sealed under a key which this deployment does not have: one error, whoever asks, until the key is back.

use acceptance::surface::Surface;
use reqwest::Method;

use crate::{shop::Shop, street::Street, town::town, wire::Answer};

/// The shop's purchases say that another key sealed their tokens. No trigger lets anybody else say so.
pub fn seal_under(shop: &Shop, key: i32) {
    town().asks_the_database(&format!(
        "SET session_replication_role = replica;
         UPDATE purchases SET token_key_id = {key} WHERE organisation_id = {}",
        shop.organisation
    ));
}

/// What a caller acts on: the code, the sentence, and what to do next.
fn told(answer: &Answer) -> (u16, &str, &str, bool, &str, bool) {
    let error = &answer.body["error"];
    assert!(answer.header("retry-after").is_some(), "{}", answer.text);
    (
        answer.status,
        error["code"].as_str().unwrap(),
        error["message"].as_str().unwrap(),
        error["retryable"].as_bool().unwrap(),
        error["recovery"]["call"].as_str().unwrap(),
        error["recovery"]["resolved_by"].is_null(),
    )
}

#[tokio::test]
async fn a_token_that_cannot_be_opened_is_one_error_on_every_call() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    let order = shop.order(&meter).reference("sealed-1");
    let keyed = async || {
        let headers = [("Idempotency-Key", "sealed-1")];
        shop.send(Method::POST, "/public/v1/purchases/confirm", Some(&order.body()), &headers).await
    };
    let bought = keyed().await.expect(200);
    seal_under(&shop, 9);

    let confirmed = keyed().await;
    let retried = shop.retry(&meter, "sealed-1").await;
    let read = shop.get(&format!("/public/v1/purchases/{}", bought.id())).await;
    let (status, code, sentence, retryable, call, ends_by_a_person) = told(&confirmed);
    assert_eq!(
        (status, code, retryable, call, ends_by_a_person),
        (504, "provider_timeout", true, "retry", true)
    );
    assert!(sentence.contains("succeeded") && sentence.contains("Do not buy again"), "{sentence}");
    assert_eq!(told(&retried), told(&confirmed));
    assert_eq!(told(&read), told(&confirmed));

    let current = shop.on(Surface::Current).retry(&meter, "sealed-1").await;
    assert_eq!(current.refusal().1, "provider_timeout");
    assert_eq!(current.body["response_message"], sentence);

    seal_under(&shop, 1);
    for answer in [keyed().await, shop.retry(&meter, "sealed-1").await] {
        assert_eq!(answer.expect(200).str("/product/token"), bought.str("/product/token"));
    }
    assert_eq!(street.vended(&meter).await, 1);
    shop.has_spent(&[bought.str("/total")]).await;
}

#[tokio::test]
async fn a_list_tells_of_a_purchase_whose_token_cannot_be_opened() {
    let (shop, meter) = (town().open_shop().await, town().meter());
    let bought = shop.confirm(&shop.order(&meter)).await.expect(200);
    seal_under(&shop, 9);
    let page = shop.get("/public/v1/purchases").await.expect(200);
    seal_under(&shop, 1);
    let listed = &page.body["data"][0];
    assert_eq!(
        (&listed["id"], &listed["status"]),
        (&bought.id().into(), &"SUCCESSFUL".into()),
        "{}",
        page.text
    );
    assert!(listed["product"]["token"].is_null(), "{}", page.text);
}

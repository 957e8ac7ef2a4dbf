//! Purchases that begin on one surface and end on the other.

use acceptance::surface::{SHOWN_BY_BOTH, Surface};
use purchase::Handling;
use reqwest::Method;
use sandbox::WalletPlan;
use serde_json::json;

use super::{entered, told::sentence_of_both, value};
use crate::{
    env::env, merchant::Merchant, request_body::RequestBody, simulator::SimulatorClient, wire::Answer,
};

#[track_caller]
fn assert_one(one: &Answer, other: &Answer) {
    assert_ne!(one.surface, other.surface);
    for place in SHOWN_BY_BOTH {
        assert_eq!(value(one, place), value(other, place), "{place}: {}\n{}", one.text, other.text);
    }
}

/// The same integrator on both surfaces, the first of them first.
async fn integrator(begins: Surface, handling: Handling) -> (Merchant, Merchant) {
    let plan =
        sandbox::MerchantPlan { wallets: vec![WalletPlan::loaded("Wallet", handling)], ..env().plan() };
    let merchant = env().open_as(begins, plan).await;
    let other = merchant.on(begins.other());
    (merchant, other)
}

#[tokio::test]
async fn a_purchase_that_succeeded_is_told_again_by_the_other_surface() {
    for begins in Surface::ALL {
        let ((merchant, other), meter) = (integrator(begins, Handling::SelfManaged).await, env().meter());
        let bought = merchant.confirm(&merchant.order(&meter).reference("across-1")).await.expect(200);
        let told = other.retry(&meter, "across-1").await.expect(200);
        assert_one(&bought, &told);
        assert_eq!(merchant.retry(&meter, "across-1").await.expect(200).text, bought.text);
        assert_eq!(SimulatorClient::new().vended(&meter).await, 1);
        merchant.has_spent(&[bought.str("/total")]).await;
        other.has_spent(&[bought.str("/total")]).await;
    }
}

#[tokio::test]
async fn doubt_that_began_on_one_surface_is_settled_by_the_other() {
    for begins in Surface::ALL {
        for handling in [Handling::SelfManaged, Handling::Managed] {
            let ((merchant, other), simulator, meter) =
                (integrator(begins, handling).await, SimulatorClient::new(), env().meter());
            simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
            let doubtful = merchant.confirm(&merchant.order(&meter).reference("across-1")).await;
            assert_eq!(doubtful.status, if handling == Handling::Managed { 200 } else { 504 });
            let second = other.confirm(&other.order(&meter).reference("across-2")).await;
            assert_eq!(
                second.refusal(),
                (409, "transaction_pending", None),
                "one open purchase over both surfaces"
            );

            let found = other.retry_until_settled(&meter, "across-1").await.expect(200);
            let told = merchant.retry(&meter, "across-1").await.expect(200);
            assert_one(&found, &told);
            if handling == Handling::Managed {
                assert_eq!((doubtful.str("/status"), doubtful.id()), ("PENDING", found.id()));
                assert_eq!(doubtful.str("/reference"), found.str("/reference"));
            }
            entered(&meter, &found).await;
            assert_eq!(simulator.vended(&meter).await, 1);
            other.has_spent(&[found.str("/total")]).await;
        }
    }
}

#[tokio::test]
async fn a_purchase_that_failed_or_waits_is_told_of_alike_by_both_surfaces() {
    for begins in Surface::ALL {
        for (scenario, handling, status, code) in [
            ("busy", Handling::SelfManaged, 422, "provider_busy"),
            ("account_blocked", Handling::SelfManaged, 422, "meter_blocked"),
            ("credit_exhausted", Handling::SelfManaged, 422, "merchant_credit_exhausted"),
            ("busy", Handling::Managed, 409, "transaction_pending"),
        ] {
            let (merchant, other) = integrator(begins, handling).await;
            let meter = env().scenario(scenario);
            merchant.confirm(&merchant.order(meter).reference("across-1")).await;
            let (told, again) =
                (other.retry(meter, "across-1").await, merchant.retry(meter, "across-1").await);
            assert_eq!(told.refusal(), (status, code, None), "{scenario}");
            assert_eq!(again.refusal(), told.refusal(), "{scenario}");
            assert_eq!(sentence_of_both(&told), sentence_of_both(&again), "{scenario}");
            let waits = |answer: &Answer| answer.header("retry-after").is_some();
            assert_eq!(waits(&told), waits(&again), "{scenario}");
        }
    }
}

#[tokio::test]
async fn a_purchase_under_a_key_is_found_by_the_frozen_surface_too() {
    let ((merchant, frozen), simulator, meter) =
        (integrator(Surface::V1, Handling::SelfManaged).await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    let order = merchant.order(&meter).reference("keyed-1").body();
    let confirm = async || {
        let key = [("Idempotency-Key", "keyed-1")];
        merchant.send(Method::POST, merchant.surface.confirm(), Some(&order), &key).await
    };
    confirm().await.expect(504);
    let found = frozen.retry(&meter, "keyed-1").await.expect(200);
    let replayed = confirm().await.expect(200);
    assert_one(&found, &replayed);
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn the_frozen_surface_finds_electricity_only() {
    let (merchant, frozen) = integrator(Surface::V1, Handling::SelfManaged).await;
    let meter = env().info().subscribers.water["active"];
    let water = merchant.order(meter).with("product_type", "\"WATER\"").with("provider_code", "\"WUC\"");
    let bought = merchant.confirm(&water.reference("across-1")).await.expect(200);
    let unseen = frozen.retry(meter, "across-1").await;
    assert_eq!(unseen.refusal(), (404, "transaction_not_found", None));
    assert!(unseen.sentence().contains("no electricity was charged"), "{}", unseen.text);
    assert_eq!(merchant.retry(meter, "across-1").await.expect(200).text, bought.text);

    let refused = frozen.validate(&frozen.order(meter)).await;
    assert!(refused.status >= 400, "water is not sold here: {}", refused.text);
    merchant.has_spent(&[bought.str("/total")]).await;
}

#[tokio::test]
async fn a_session_of_one_surface_is_one_of_the_other() {
    for begins in Surface::ALL {
        let (merchant, mut other) = integrator(begins, Handling::SelfManaged).await;
        other.get(other.surface.me()).await.expect(200);
        let renewed = other.post(other.surface.refresh(), &merchant.refresh_body()).await.expect(200);
        renewed.str("/access_token").clone_into(&mut other.access_token);
        for surface in Surface::ALL {
            other.on(surface).get(surface.me()).await.expect(200);
        }
        let mut again = merchant.on(begins);
        renewed.str("/refresh_token").clone_into(&mut again.refresh_token);
        again.post(begins.refresh(), &again.refresh_body()).await.expect(200);
    }
}

#[tokio::test]
async fn what_the_frozen_surface_sold_is_listed_by_the_versioned_one() {
    let (frozen, merchant) = integrator(Surface::Current, Handling::SelfManaged).await;
    let meter = env().meter();
    let order = frozen.order(&meter).reference("across-1").with("source_tag", "\"gateway 7\"");
    let bought = frozen.confirm(&order).await.expect(200);
    let read = merchant.get(&format!("/public/v1/purchases/{}", bought.id())).await.expect(200);
    assert_one(&bought, &read);
    assert_eq!(read.str("/channel"), Surface::Current.channel());
    let told = merchant.get("/public/v1/purchases?external_reference=across-1").await.expect(200);
    assert!(told.text.contains(bought.str("/reference")), "{}", told.text);
    let question = RequestBody::retry_on(Surface::V1, &meter, "across-1");
    assert_eq!(merchant.post(merchant.surface.retry(), &question.body()).await.expect(200).id(), bought.id());
}

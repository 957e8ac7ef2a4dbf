//! Bodies that are wrong, field by field, through both surfaces.

use purchase::Handling;
use sandbox::WalletPlan;

use super::{Pair, order};
use crate::{order::Order, shop::Shop, town::town, wire::Answer};

/// Every field of validate and confirm that both surfaces have.
fn fields(shop: &Shop) -> [&'static str; 16] {
    [
        "source_channel",
        "language",
        "debited_account_id",
        "beneficiary_phone_number",
        shop.surface.subscriber_field(),
        "amount",
        "currency",
        "charges_on_top_flag",
        "comment",
        "external_reference",
        "send_requester_sms",
        "send_beneficiary_sms",
        "send_requester_email",
        "send_beneficiary_email",
        "an_unknown_field",
        "date_of_birth",
    ]
}

const VALUES: [&str; 14] = [
    "null",
    "{}",
    "[]",
    "true",
    "0",
    "-1",
    "1.5",
    "1e400",
    "12345678901234567890",
    "\"\"",
    "\"!\"",
    "\"a\\u0007b\"",
    "\"2677\"",
    "\"0700001001X\"",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_is_missing_or_wrong_is_told_alike_and_nothing_is_stored() {
    let (pair, meter) =
        (Pair::open(WalletPlan::loaded("Wallet", Handling::SelfManaged)).await, town().meter());
    let told = pair.both_do("wrong bodies", async |shop| wrong_orders(shop, &meter).await).await;
    assert!(told.len() > 250, "{}", told.len());
    let told = pair.both_do("wrong questions", async |shop| wrong_questions(shop, &meter).await).await;
    assert!(told.len() >= 60, "{}", told.len());
    for shop in pair.both() {
        assert!(shop.rows().starts_with("0|0|0|0|"), "{}", shop.rows());
        assert_eq!(shop.balance().await, "BWP 1000000.00");
    }
}

async fn wrong_orders(shop: &Shop, meter: &str) -> Vec<Answer> {
    let right = order(shop, meter);
    let long = format!("\"{}\"", "x".repeat(501));
    let mut told = Vec::new();
    for field in fields(shop) {
        told.push(shop.validate(&right.clone().without(field)).await);
        told.push(shop.validate(&right.clone().with(field, "1").with_another(field, "1")).await);
        for value in VALUES.into_iter().chain([long.as_str()]) {
            told.push(shop.validate(&right.clone().with(field, value)).await);
        }
    }
    for wrong in [
        right.clone().without("amount"),
        right.clone().without(shop.surface.subscriber_field()),
        right.clone().with(shop.surface.subscriber_field(), "\"07000010013\""),
        right.clone().amount("1.00").with("charges_on_top_flag", "false"),
        right.with("currency", "\"USD\""),
    ] {
        let refused = shop.confirm(&wrong).await;
        assert!(refused.status >= 400, "{}", refused.text);
        told.push(refused);
    }
    for body in ["", "{", "[]", "\"text\"", "{\"a\": 1,}", "{\"a\": 1} x"] {
        told.push(shop.post(shop.surface.confirm(), body).await);
        told.push(shop.post(shop.surface.retry(), body).await);
    }
    told
}

async fn wrong_questions(shop: &Shop, meter: &str) -> Vec<Answer> {
    let right = Order::retry_on(shop.surface, meter, "both-1").with("source_channel", "\"WEB\"");
    let mut told = Vec::new();
    for field in ["source_channel", "language", shop.surface.subscriber_field(), "external_reference"] {
        let mut wrong = vec![right.clone().without(field)];
        wrong.extend(VALUES.map(|value| right.clone().with(field, value)));
        for question in wrong {
            told.push(shop.post(shop.surface.retry(), &question.body()).await);
        }
    }
    told
}

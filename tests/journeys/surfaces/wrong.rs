//! Invalid bodies, field by field, over both surfaces.

use purchase::Handling;
use sandbox::WalletPlan;

use super::{Pair, order};
use crate::{env::env, merchant::Merchant, request_body::RequestBody, wire::Answer};

/// Every field of validate and confirm that both surfaces have.
fn fields(merchant: &Merchant) -> [&'static str; 16] {
    [
        "source_channel",
        "language",
        "debited_account_id",
        "beneficiary_phone_number",
        merchant.surface.subscriber_field(),
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
        (Pair::open(WalletPlan::loaded("Wallet", Handling::SelfManaged)).await, env().meter());
    let told = pair.both_do("wrong bodies", async |merchant| wrong_orders(merchant, &meter).await).await;
    assert!(told.len() > 250, "{}", told.len());
    let told =
        pair.both_do("wrong questions", async |merchant| wrong_questions(merchant, &meter).await).await;
    assert!(told.len() >= 60, "{}", told.len());
    for merchant in pair.both() {
        assert!(merchant.rows().starts_with("0|0|0|0|"), "{}", merchant.rows());
        assert_eq!(merchant.balance().await, "BWP 1000000.00");
    }
}

async fn wrong_orders(merchant: &Merchant, meter: &str) -> Vec<Answer> {
    let right = order(merchant, meter);
    let long = format!("\"{}\"", "x".repeat(501));
    let mut told = Vec::new();
    for field in fields(merchant) {
        told.push(merchant.validate(&right.clone().without(field)).await);
        told.push(merchant.validate(&right.clone().with(field, "1").with_another(field, "1")).await);
        for value in VALUES.into_iter().chain([long.as_str()]) {
            told.push(merchant.validate(&right.clone().with(field, value)).await);
        }
    }
    for wrong in [
        right.clone().without("amount"),
        right.clone().without(merchant.surface.subscriber_field()),
        right.clone().with(merchant.surface.subscriber_field(), "\"07000010013\""),
        right.clone().amount("1.00").with("charges_on_top_flag", "false"),
        right.with("currency", "\"USD\""),
    ] {
        let refused = merchant.confirm(&wrong).await;
        assert!(refused.status >= 400, "{}", refused.text);
        told.push(refused);
    }
    for body in ["", "{", "[]", "\"text\"", "{\"a\": 1,}", "{\"a\": 1} x"] {
        told.push(merchant.post(merchant.surface.confirm(), body).await);
        told.push(merchant.post(merchant.surface.retry(), body).await);
    }
    told
}

async fn wrong_questions(merchant: &Merchant, meter: &str) -> Vec<Answer> {
    let right = RequestBody::retry_on(merchant.surface, meter, "both-1").with("source_channel", "\"WEB\"");
    let mut told = Vec::new();
    for field in ["source_channel", "language", merchant.surface.subscriber_field(), "external_reference"] {
        let mut wrong = vec![right.clone().without(field)];
        wrong.extend(VALUES.map(|value| right.clone().with(field, value)));
        for question in wrong {
            told.push(merchant.post(merchant.surface.retry(), &question.body()).await);
        }
    }
    told
}

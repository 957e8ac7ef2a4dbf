//! Invalid requests, and requests that cannot be served at this time.

use error_codes::ErrorCode::{
    AmountBelowCharges, Forbidden, InsufficientBalance, InvalidAmount, InvalidArgument, InvalidMsisdn,
    MeterNotAllowed, MissingField, ProviderTimeout, ResourceNotFound, RetriesDisabled, TransactionNotFound,
    TransactionPending,
};
use http_v1::{BatchCall, Endpoint, WebhookCall};
use purchase::Handling;
use sandbox::WalletPlan;
use serde_json::json;

use super::seen::{Seen, call_endpoint};
use crate::{
    batches,
    certificates::certificate,
    env::env,
    merchant::Merchant,
    messages_again::{erase_number, send_again},
    receipts::receipt,
    request_body::RequestBody,
    sealed_tokens::Unreadable,
    simulator::SimulatorClient,
};

const PRICED: [Endpoint; 2] = [Endpoint::Validate, Endpoint::Confirm];

pub async fn that_are_wrong(seen: &Seen) {
    let (merchant, neighbour) = (env().open_merchant().await, env().open_merchant().await);
    for endpoint in
        [Endpoint::Login, Endpoint::Refresh, Endpoint::Validate, Endpoint::Confirm, Endpoint::Retry]
    {
        seen.expect(MissingField, endpoint, &merchant.post(endpoint.path(), "{}").await);
        seen.expect(InvalidArgument, endpoint, &merchant.post(endpoint.path(), "[").await);
    }
    let create = Endpoint::Webhooks(WebhookCall::Create);
    seen.expect(MissingField, create, &merchant.post(create.path(), "{}").await);
    let redeliver = Endpoint::Webhooks(WebhookCall::Redeliver);
    let path = redeliver.path().replace("{id}", "1");
    seen.expect(MissingField, redeliver, &merchant.post(&path, "{}").await);
    let create = Endpoint::Batches(BatchCall::Create);
    seen.expect(MissingField, create, &merchant.post(create.path(), "{}").await);
    let mut theirs = batches::batch(&merchant, "theirs", &[env().meter()]);
    theirs["debited_account_id"] = json!(neighbour.account);
    seen.expect(ResourceNotFound, create, &batches::create(&merchant, &theirs).await);
    let right = merchant.order(&env().meter());
    let wrong = [
        (InvalidMsisdn, right.clone().with("beneficiary_phone_number", "\"2677\"")),
        (InvalidAmount, right.clone().amount("0")),
        (AmountBelowCharges, right.clone().amount("1.00").with("charges_on_top_flag", "false")),
        (ResourceNotFound, right.clone().with("debited_account_id", &neighbour.account.to_string())),
        (MeterNotAllowed, right.with("subscriber_identifier", "\"09990000008\"")),
    ];
    for (code, order) in wrong {
        for endpoint in PRICED {
            seen.expect(code, endpoint, &merchant.post(endpoint.path(), &order.body()).await);
        }
    }
    seen.expect(InvalidArgument, Endpoint::Purchases, &merchant.get("/public/v1/purchases?limit=0").await);
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

pub async fn that_the_wallet_cannot_pay(seen: &Seen) {
    let wallet = WalletPlan { minor: 5_000, ..WalletPlan::loaded("Wallet", Handling::SelfManaged) };
    let merchant = env().open_merchant_with(wallet).await;
    let poor = merchant.confirm(&merchant.order(&env().meter())).await;
    seen.expect(InsufficientBalance, Endpoint::Confirm, &poor);
    assert!(poor.str("/error/message").contains("BWP 51.50"), "{}", poor.text);
}

pub async fn about_purchases(seen: &Seen) {
    let merchant = env().open_merchant().await;
    for (endpoint, path) in [
        (Endpoint::Account, "/public/v1/accounts/999999999"),
        (Endpoint::Purchase, "/public/v1/purchases/999999999"),
        (Endpoint::Statement, "/public/v1/accounts/999999999/statement"),
        (Endpoint::Receipt, "/public/v1/purchases/999999999/receipt"),
        (Endpoint::Certificate, "/public/v1/purchases/999999999/certificate"),
    ] {
        seen.expect(ResourceNotFound, endpoint, &merchant.get(path).await);
    }
    sent_again(seen, &merchant).await;
    for call in [
        WebhookCall::One,
        WebhookCall::Update,
        WebhookCall::RotateSecret,
        WebhookCall::Delete,
        WebhookCall::Test,
        WebhookCall::Redeliver,
        WebhookCall::Attempts,
    ] {
        let endpoint = Endpoint::Webhooks(call);
        seen.expect(ResourceNotFound, endpoint, &call_endpoint(&merchant, endpoint).await);
    }
    for call in [BatchCall::One, BatchCall::Lines, BatchCall::Pause, BatchCall::Resume, BatchCall::Cancel] {
        let endpoint = Endpoint::Batches(call);
        seen.expect(ResourceNotFound, endpoint, &call_endpoint(&merchant, endpoint).await);
    }
    let unknown = merchant.retry(&env().meter(), "nobody-1").await;
    seen.expect(TransactionNotFound, Endpoint::Retry, &unknown);
    retries_switched_off(seen, &merchant).await;
    commission_account(seen, &merchant).await;
    unreadable_token(seen, &merchant).await;
}

async fn sent_again(seen: &Seen, merchant: &Merchant) {
    let bought = merchant.confirm(&merchant.order(&env().meter())).await.expect(200);
    seen.expect(ResourceNotFound, Endpoint::Message, &send_again(merchant, 999_999_999, "{}").await);
    for (code, body) in [(InvalidMsisdn, r#"{"phone_number":"2677"}"#), (InvalidArgument, "[")] {
        seen.expect(code, Endpoint::Message, &send_again(merchant, bought.id(), body).await);
    }
    erase_number(&bought);
    seen.expect(MissingField, Endpoint::Message, &send_again(merchant, bought.id(), "{}").await);
}

async fn unreadable_token(seen: &Seen, merchant: &Merchant) {
    let bought = merchant.confirm(&merchant.order(&env().meter())).await.expect(200);
    let unreadable = Unreadable::tokens_of(merchant).await;
    let read = merchant.get(&format!("/public/v1/purchases/{}", bought.id())).await;
    let printed = receipt(merchant, bought.id(), "").await;
    let sent = send_again(merchant, bought.id(), "{}").await;
    let proof = certificate(merchant, bought.id()).await;
    unreadable.end();
    seen.expect(ProviderTimeout, Endpoint::Purchase, &read);
    seen.expect(ProviderTimeout, Endpoint::Receipt, &printed);
    seen.expect(ProviderTimeout, Endpoint::Message, &sent);
    seen.expect(ProviderTimeout, Endpoint::Certificate, &proof);
}

async fn retries_switched_off(seen: &Seen, merchant: &Merchant) {
    let (simulator, meter) = (SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    merchant.confirm(&merchant.order(&meter).reference("off-1")).await.expect(504);
    let switched =
        |on: bool| format!("UPDATE accounts SET retries_enabled = {on} WHERE id = {}", merchant.account);
    env().asks_the_database(&switched(false));
    seen.expect(RetriesDisabled, Endpoint::Retry, &merchant.retry(&meter, "off-1").await);
    env().asks_the_database(&switched(true));
    let open = merchant.get("/public/v1/purchases?external_reference=off-1").await.expect(200);
    let printed = receipt(merchant, open.body["data"][0]["id"].as_i64().unwrap(), "").await;
    seen.expect(TransactionPending, Endpoint::Receipt, &printed);
    let sent = send_again(merchant, open.body["data"][0]["id"].as_i64().unwrap(), "{}").await;
    seen.expect(TransactionPending, Endpoint::Message, &sent);
    let proof = certificate(merchant, open.body["data"][0]["id"].as_i64().unwrap()).await;
    seen.expect(TransactionPending, Endpoint::Certificate, &proof);
    merchant.retry_until_settled(&meter, "off-1").await.expect(200);
}

/// Commission cannot be spent through the API.
async fn commission_account(seen: &Seen, merchant: &Merchant) {
    let accounts = merchant.get("/public/v1/accounts").await.expect(200);
    let earned = accounts.body.as_array().unwrap().iter().find(|account| account["category"] == "COMMISSION");
    let earned = earned.unwrap()["id"].as_i64().unwrap();
    let order = RequestBody::new(earned, &env().meter());
    for endpoint in PRICED {
        seen.expect(Forbidden, endpoint, &merchant.post(endpoint.path(), &order.body()).await);
    }
}

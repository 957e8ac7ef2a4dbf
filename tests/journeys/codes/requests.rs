//! What is wrong with a request, or with asking just now.

use error_codes::ErrorCode::{
    AmountBelowCharges, Forbidden, InsufficientBalance, InvalidAmount, InvalidArgument, InvalidMsisdn,
    MeterNotAllowed, MissingField, ProviderTimeout, ResourceNotFound, RetriesDisabled, TransactionNotFound,
};
use http_v1::Endpoint;
use purchase::Handling;
use sandbox::WalletPlan;
use serde_json::json;

use super::seen::Seen;
use crate::{order::Order, sealed_tokens::seal_under, shop::Shop, street::Street, town::town};

const PRICED: [Endpoint; 2] = [Endpoint::Validate, Endpoint::Confirm];

pub async fn that_are_wrong(seen: &Seen) {
    let (shop, neighbour) = (town().open_shop().await, town().open_shop().await);
    for endpoint in
        [Endpoint::Login, Endpoint::Refresh, Endpoint::Validate, Endpoint::Confirm, Endpoint::Retry]
    {
        seen.expect(MissingField, endpoint, &shop.post(endpoint.path(), "{}").await);
        seen.expect(InvalidArgument, endpoint, &shop.post(endpoint.path(), "[").await);
    }
    let right = shop.order(&town().meter());
    let wrong = [
        (InvalidMsisdn, right.clone().with("beneficiary_phone_number", "\"2677\"")),
        (InvalidAmount, right.clone().amount("0")),
        (AmountBelowCharges, right.clone().amount("1.00").with("charges_on_top_flag", "false")),
        (ResourceNotFound, right.clone().with("debited_account_id", &neighbour.account.to_string())),
        (MeterNotAllowed, right.with("subscriber_identifier", "\"09990000008\"")),
    ];
    for (code, order) in wrong {
        for endpoint in PRICED {
            seen.expect(code, endpoint, &shop.post(endpoint.path(), &order.body()).await);
        }
    }
    seen.expect(InvalidArgument, Endpoint::Purchases, &shop.get("/public/v1/purchases?limit=0").await);
    assert_eq!(shop.rows(), "0|0|0|0|0");
}

pub async fn that_the_wallet_cannot_pay(seen: &Seen) {
    let wallet = WalletPlan { minor: 5_000, ..WalletPlan::loaded("Wallet", Handling::SelfManaged) };
    let shop = town().open_shop_with(wallet).await;
    let poor = shop.confirm(&shop.order(&town().meter())).await;
    seen.expect(InsufficientBalance, Endpoint::Confirm, &poor);
    assert!(poor.str("/error/message").contains("BWP 51.50"), "{}", poor.text);
}

pub async fn about_purchases(seen: &Seen) {
    let shop = town().open_shop().await;
    for (endpoint, path) in [
        (Endpoint::Account, "/public/v1/accounts/999999999"),
        (Endpoint::Purchase, "/public/v1/purchases/999999999"),
    ] {
        seen.expect(ResourceNotFound, endpoint, &shop.get(path).await);
    }
    let nobody = shop.retry(&town().meter(), "nobody-1").await;
    seen.expect(TransactionNotFound, Endpoint::Retry, &nobody);
    retries_switched_off(seen, &shop).await;
    commission_account(seen, &shop).await;
    unreadable_token(seen, &shop).await;
}

async fn unreadable_token(seen: &Seen, shop: &Shop) {
    let bought = shop.confirm(&shop.order(&town().meter())).await.expect(200);
    seal_under(shop, 9);
    let read = shop.get(&format!("/public/v1/purchases/{}", bought.id())).await;
    seal_under(shop, 1);
    seen.expect(ProviderTimeout, Endpoint::Purchase, &read);
}

async fn retries_switched_off(seen: &Seen, shop: &Shop) {
    let (street, meter) = (Street::new(), town().meter());
    street.will(&meter, &json!({ "fault": "drop_after" })).await;
    shop.confirm(&shop.order(&meter).reference("off-1")).await.expect(504);
    let switched =
        |on: bool| format!("UPDATE accounts SET retries_enabled = {on} WHERE id = {}", shop.account);
    town().asks_the_database(&switched(false));
    seen.expect(RetriesDisabled, Endpoint::Retry, &shop.retry(&meter, "off-1").await);
    town().asks_the_database(&switched(true));
    shop.retry_until_settled(&meter, "off-1").await.expect(200);
}

/// Money that was earned cannot be spent here.
async fn commission_account(seen: &Seen, shop: &Shop) {
    let accounts = shop.get("/public/v1/accounts").await.expect(200);
    let earned = accounts.body.as_array().unwrap().iter().find(|account| account["category"] == "COMMISSION");
    let earned = earned.unwrap()["id"].as_i64().unwrap();
    let order = Order::new(earned, &town().meter());
    for endpoint in PRICED {
        seen.expect(Forbidden, endpoint, &shop.post(endpoint.path(), &order.body()).await);
    }
}

//! Water and airtime: the same requests as for electricity, with the differences of each product.

use crate::{
    env::{env, eventually},
    merchant::Merchant,
    request_body::RequestBody,
    simulator::SimulatorClient,
};

#[tokio::test]
async fn a_token_for_water_is_quoted_in_litres_bought_and_taken_by_the_meter() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let meter = env().info().subscribers.water["active"];
    let order = water(&merchant, meter);
    let quote = merchant.validate(&order).await.expect(200);
    assert_eq!(quote.str("/product/type"), "WATER");
    assert_eq!(quote.str("/product/provider"), "WUC");
    assert!(quote.str("/product/units").ends_with(" L"), "{}", quote.text);
    assert!(quote.body.pointer("/product/token").is_none(), "{}", quote.text);
    assert!(quote.str("/metadata/cost").starts_with("BWP "), "{}", quote.text);

    let bought = merchant.confirm(&order).await.expect(200);
    assert_eq!(bought.str("/product/units"), quote.str("/product/units"));
    assert_eq!(simulator.enters(meter, bought.str("/product/token")).await, Ok("credit".to_owned()));
    merchant.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test]
async fn a_water_meter_that_is_credited_over_the_network_is_bought_for_without_a_token() {
    let merchant = env().open_merchant().await;
    let meter = env().info().subscribers.water["no_token"];
    let bought = merchant.confirm(&water(&merchant, meter).reference("tokenless-1")).await.expect(200);
    assert_eq!(bought.str("/status"), "SUCCESSFUL");
    assert!(bought.body.pointer("/product/token").is_none(), "{}", bought.text);
    assert!(bought.str("/product/units").ends_with(" L"), "{}", bought.text);
    assert_eq!(merchant.retry(meter, "tokenless-1").await.expect(200).text, bought.text);
    merchant.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test]
async fn a_blocked_water_meter_is_refused_before_any_money_moves() {
    let merchant = env().open_merchant().await;
    let order = water(&merchant, env().info().subscribers.water["blocked"]);
    for answer in [merchant.validate(&order).await, merchant.confirm(&order).await] {
        assert_eq!(answer.refusal(), (422, "meter_blocked", None));
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn airtime_lands_on_the_phone_with_neither_token_nor_units() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let phone = env().info().subscribers.airtime["active"];
    let before = simulator.vended(phone).await;
    let order = airtime(&merchant, phone);
    let quote = merchant.validate(&order).await.expect(200);
    assert_eq!(quote.body["metadata"], serde_json::json!({}), "{}", quote.text);
    let bought = merchant.confirm(&order).await.expect(200);
    for answer in [&quote, &bought] {
        assert_eq!(answer.body["product"], serde_json::json!({ "type": "AIRTIME", "provider": "RELOADLY" }));
    }
    let metadata = bought.body["metadata"].as_object().unwrap();
    assert_eq!(metadata.keys().collect::<Vec<_>>(), ["provider_transaction_identifier"]);
    assert_eq!(simulator.vended(phone).await, before + 1);
    merchant.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test]
async fn a_phone_that_no_network_knows_gets_no_airtime() {
    let merchant = env().open_merchant().await;
    let order = airtime(&merchant, env().info().subscribers.airtime["invalid"]);
    for answer in [merchant.validate(&order).await, merchant.confirm(&order).await] {
        assert_eq!(answer.refusal(), (404, "meter_not_found", None));
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn a_phone_has_one_spelling_and_no_other_one_buys() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let phone = env().info().subscribers.airtime["active"];
    let national = phone.strip_prefix("267").unwrap();
    let before = simulator.vended(phone).await;
    for other in [national.to_owned(), format!("+{phone}"), format!("00{phone}"), format!("0{national}")] {
        merchant.may_buy_for(&other).await;
        let order = airtime(&merchant, &other);
        for answer in [merchant.validate(&order).await, merchant.confirm(&order).await] {
            assert_eq!(answer.refusal(), (400, "invalid_argument", Some("subscriber_identifier")), "{other}");
        }
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
    assert_eq!(simulator.vended(phone).await, before);
}

#[tokio::test]
async fn airtime_that_is_being_processed_is_in_doubt_until_the_network_is_done() {
    settles_by_retry("processing").await;
}

#[tokio::test]
async fn a_lost_reply_about_airtime_is_settled_by_retry_although_the_report_lags_behind() {
    settles_by_retry("lost_reply").await;
}

async fn settles_by_retry(scenario: &str) {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let phone = env().info().subscribers.airtime[scenario];
    let before = simulator.vended(phone).await;
    let doubtful = merchant.confirm(&airtime(&merchant, phone).reference("airtime-1")).await;
    assert_eq!(doubtful.refusal(), (504, "provider_timeout", None));
    let mut last = merchant.retry(phone, "airtime-1").await;
    eventually("the network is done", async || {
        if last.status == 409 || last.status == 504 {
            last = merchant.retry(phone, "airtime-1").await;
        }
        last.status == 200
    })
    .await;
    assert_eq!(last.str("/status"), "SUCCESSFUL");
    assert_eq!(simulator.vended(phone).await, before + 1);
    merchant.has_spent(&["BWP 101.50"]).await;
}

fn water(merchant: &Merchant, meter: &str) -> RequestBody {
    merchant.order(meter).with("product_type", "\"WATER\"").with("provider_code", "\"WUC\"")
}

fn airtime(merchant: &Merchant, phone: &str) -> RequestBody {
    merchant.order(phone).with("product_type", "\"AIRTIME\"").with("provider_code", "\"RELOADLY\"")
}

//! Water: the same protocol, with other meters and other units.

use serde_json::json;
use utility_sim::{Product, ordinary, subscriber};

use crate::counter::{Counter, meter, of_water, sale_request};

fn water_meter(name: &str) -> &'static str {
    subscriber(Product::Water, name).unwrap()
}

#[tokio::test]
async fn a_water_token_credits_a_water_meter_in_litres() {
    let counter = Counter::open();
    let number = water_meter("active");
    assert!(counter.check(number).await.says("<r:canVend>true</r:canVend>"));
    let sale = counter.vend_water(number, "110.00").await;
    let receipt = r#"<b:units value="4.4" siUnit="kl"/><b:resource xsi:type="b:Water"/>"#;
    assert!(sale.says(receipt), "{}", sale.text);
    let [token] = sale.ciphers()[..] else { panic!("{}", sale.text) };
    let verdict = counter.enter(number, token).await;
    assert_eq!(verdict, json!({ "accepted": true, "kind": "credit", "reason": null, "units_total": "4400" }));
    let again = counter.enter(number, token).await;
    assert_eq!((&again["reason"], &again["units_total"]), (&json!("already_used"), &json!("4400")));
}

#[tokio::test]
async fn a_token_for_water_is_worth_nothing_on_another_meter() {
    let counter = Counter::open();
    let sale = counter.vend_water(water_meter("active"), "50.00").await;
    for number in [meter("active_11_digit"), water_meter("no_token")] {
        assert_eq!(counter.enter(number, sale.ciphers()[0]).await["reason"], "wrong_key");
    }
}

#[tokio::test]
async fn a_meter_without_tokens_is_credited_all_the_same_and_once() {
    let counter = Counter::open();
    let number = water_meter("no_token");
    let trial = of_water(&sale_request("trialCreditVendReq", counter.fresh(), number, "50.00"));
    let trial = counter.ask(&trial).await;
    assert!(trial.ciphers().is_empty() && trial.says(r#"<b:units value="2.0" siUnit="kl"/>"#));

    let reference = counter.fresh();
    let order = of_water(&sale_request("creditVendReq", reference, number, "50.00"));
    let sale = counter.ask(&order).await;
    assert_eq!(sale.status, 200);
    assert!(sale.says("<r:creditVendResp ") && sale.says(r#"<b:units value="2.0" siUnit="kl"/>"#));
    assert!(!sale.says("<b:token") && !sale.says("stsCipher"), "{}", sale.text);
    assert!(counter.enquire(reference).await.says(r#"<b:lastResponse xsi:type="r:CreditVendResp">"#));

    let display = counter.enter(number, "00000000000000000000").await;
    assert_eq!((&display["accepted"], &display["units_total"]), (&json!(false), &json!("2000")));
    let [vend] = &counter.vends(number).await[..] else { panic!("one vend") };
    assert_eq!((&vend["outcome"], &vend["tokens"]), (&json!("vended"), &json!([])));
}

#[tokio::test]
async fn a_blocked_water_meter_is_refused_from_the_first_question_on() {
    let counter = Counter::open();
    let number = water_meter("blocked");
    assert_eq!(counter.check(number).await.fault().unwrap().0, "BlockedMeterEx");
    assert_eq!(counter.vend_water(number, "50.00").await.fault().unwrap().0, "BlockedMeterEx");
    let vends = counter.vends(number).await;
    assert_eq!((&vends[0]["outcome"], &vends[0]["product_type"]), (&json!("refused"), &json!("WATER")));
}

#[tokio::test]
async fn a_meter_gives_out_what_it_gives_out_and_nothing_else() {
    let counter = Counter::open();
    let not_here = Some(("UnknownMeterEx", "Meter not found"));
    assert_eq!(counter.vend(water_meter("active"), "50.00").await.fault(), not_here);
    assert_eq!(counter.quote(water_meter("active"), "50.00").await.fault(), not_here);
    assert_eq!(counter.vend_water(meter("active_11_digit"), "50.00").await.fault(), not_here);
    let gas = sale_request("creditVendReq", 99, water_meter("active"), "50.00");
    let gas = counter.ask(&gas.replace("b:Electricity", "b:Gas")).await;
    assert_eq!(gas.fault().unwrap().0, "XMLVendSchemaEx");
}

#[tokio::test]
async fn a_sale_of_water_is_logged_as_one_and_paid_from_the_same_float() {
    let counter = Counter::open_with(|settings| settings.vendor_credit = "120.00".to_owned());
    let sale = counter.vend_water(water_meter("active"), "100.00").await;
    assert!(sale.says(r#"<b:availCredit value="20.00" symbol="BWP"/>"#));
    let vends = counter.vends(water_meter("active")).await;
    assert_eq!(vends[0]["product_type"], "WATER");
    assert_eq!(vends[0]["tokens"], json!([sale.ciphers()[0]]));
    assert_eq!(counter.vend(meter("active_11_digit"), "20.01").await.fault().unwrap().0, "VendorCreditEx");
}

#[tokio::test]
async fn a_script_spoils_water_like_anything_else() {
    let counter = Counter::open();
    let number = water_meter("active");
    assert_eq!(counter.script(json!({ "fault": "no_token", "subscriber": number })).await, 204);
    assert!(counter.vend_water(number, "50.00").await.ciphers().is_empty());
    assert_eq!(counter.enquire(1).await.ciphers().len(), 1);
}

#[tokio::test]
async fn a_population_of_ordinary_water_meters_can_be_sold_to() {
    let counter = Counter::open_with(|settings| settings.water_population = 2);
    for number in ordinary(Product::Water, 2) {
        assert_eq!(counter.vend_water(&number, "50.00").await.status, 200);
    }
}

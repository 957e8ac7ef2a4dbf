//! Water: in litres, with or without a token.

use provider::Provider;
use provider_xmlvend::SoapVersion;
use serde_json::json;
use test_kit::simulator::{open, sale};
use utility_sim::{SimulatorSettings, scenario, water_scenarios};
use vend::{Doubt, Enquiry, Product, RefusalReason, Sale, Unanswered, Vend, VendOrder, VendOutcome};

use super::env::{TestEnv, start_env};

fn open_env(soap: SoapVersion) -> TestEnv {
    start_env(&SimulatorSettings::default(), soap)
}

fn water(name: &str) -> Sale {
    let meter = water_scenarios().iter().find(|meter| meter.name == name).unwrap();
    sale(Product::Water, meter.number, "BWP 100.00")
}

async fn vended(env: &TestEnv, order: &VendOrder) -> Vend {
    match env.provider.vend(order, &open()).await {
        VendOutcome::Vended(vend) => *vend,
        other @ (VendOutcome::Refused(_) | VendOutcome::Unknown(_)) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn water_is_quoted_and_vended_in_litres_and_found_again() {
    for soap in [SoapVersion::V1_1, SoapVersion::V1_2] {
        let env = open_env(soap);
        let sale = water("active");
        let customer = env.provider.check(env.call(), sale.product, &sale.subscriber).await.unwrap();
        assert_eq!((customer.barred, customer.name.is_some()), (None, true));
        let quotation = env.provider.quote(env.call(), &sale).await.unwrap();
        let order = env.order(sale);
        let vend = vended(&env, &order).await;
        // The price is 25.00 per cubic metre with tax, so 100.00 buys four cubic metres.
        assert_eq!(vend.units.as_ref().unwrap().to_string(), "4000 L");
        assert_eq!((&quotation.units, quotation.breakdown), (&vend.units, vend.breakdown));
        let log = env.vends().await;
        assert_eq!((log.len(), &log[0]["product_type"]), (1, &json!("WATER")));
        assert_eq!(log[0]["tokens"], json!([vend.tokens.as_ref().unwrap().wire_form()]));
        let Enquiry::Vended(found) = env.provider.enquire(env.call(), &order).await else {
            panic!("not found")
        };
        assert_eq!((found.tokens, found.units, found.breakdown), (vend.tokens, vend.units, vend.breakdown));
    }
}

#[tokio::test]
async fn water_without_a_token_is_a_clean_success() {
    let env = open_env(SoapVersion::V1_1);
    let order = env.order(water("no_token"));
    let vend = vended(&env, &order).await;
    assert_eq!(vend.tokens, None);
    assert!(vend.units.is_some() && vend.breakdown.is_some());
    assert!(matches!(env.provider.enquire(env.call(), &order).await, Enquiry::Vended(_)));
    assert_eq!(env.vends().await.len(), 1);
}

#[tokio::test]
async fn a_blocked_water_customer_is_refused_at_the_check() {
    let env = open_env(SoapVersion::V1_1);
    let sale = water("blocked");
    let checked = env.provider.check(env.call(), sale.product, &sale.subscriber).await;
    let Err(Unanswered::Refused(refusal)) = checked else { panic!("{checked:?}") };
    assert_eq!(refusal.reason, RefusalReason::Blocked);
}

#[tokio::test]
async fn a_water_vend_whose_answer_is_wrong_or_lost_is_doubt_until_it_is_found() {
    let env = open_env(SoapVersion::V1_1);
    for (fault, doubt) in [
        ("drop_after", Doubt::ConnectionLost),
        ("wrong_meter", Doubt::Mismatched),
        ("wrong_amount", Doubt::Mismatched),
        ("wrong_reference", Doubt::Mismatched),
        ("system_ex_after", Doubt::UnlistedFault),
    ] {
        env.script(json!({"fault": fault})).await;
        let order = env.order(water("active"));
        assert_eq!(env.provider.vend(&order, &open()).await.doubt(), Some(doubt), "{fault}");
        let found = env.provider.enquire(env.call(), &order).await;
        assert!(matches!(found, Enquiry::Vended(_)), "{fault}: {found:?}");
    }
    assert_eq!(env.vends().await.len(), 5);
}

#[tokio::test]
async fn a_meter_of_one_product_sells_nothing_of_the_other() {
    let env = open_env(SoapVersion::V1_1);
    let electricity = scenario("active_11_digit").unwrap().number;
    for sale in [
        sale(Product::Water, electricity, "BWP 100.00"),
        Sale { product: Product::Electricity, ..water("active") },
    ] {
        let quoted = env.provider.quote(env.call(), &sale).await;
        assert!(matches!(quoted, Err(Unanswered::Refused(_))), "{quoted:?}");
        let order = env.order(sale);
        let outcome = env.provider.vend(&order, &open()).await;
        assert!(matches!(outcome, VendOutcome::Refused(_)), "{outcome:?}");
    }
    assert_eq!(env.vends().await.len(), 0);
}

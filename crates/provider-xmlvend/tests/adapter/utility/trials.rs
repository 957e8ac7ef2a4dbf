//! Trials: what they prove for each meter, and that they vend nothing.

use provider::Provider;
use provider_xmlvend::SoapVersion;
use serde_json::json;
use test_kit::simulator::sale;
use utility_sim::{SimulatorSettings, scenario, water_scenarios};
use vend::{Doubt, Product, Quotation, RefusalReason, Sale, Unanswered};

use super::env::{TestEnv, start_env};

fn open_env() -> TestEnv {
    start_env(&SimulatorSettings::default(), SoapVersion::V1_1)
}

fn electricity(name: &str, amount: &str) -> Sale {
    sale(Product::Electricity, scenario(name).unwrap().number, amount)
}

fn water(name: &str) -> Sale {
    let meter = water_scenarios().iter().find(|meter| meter.name == name).unwrap();
    sale(Product::Water, meter.number, "BWP 100.00")
}

async fn tries(env: &TestEnv, sale: &Sale) -> Result<Quotation, Unanswered> {
    env.provider.trial(env.call(), sale).await
}

#[tokio::test]
async fn a_trial_yields_what_a_quote_does_and_vends_nothing() {
    let env = open_env();
    for sale in [
        electricity("active_11_digit", "BWP 100.00"),
        electricity("tariff_charge_sub_account", "BWP 100.00"),
        electricity("key_change", "BWP 1000.01"),
        electricity("maximum_vend", "BWP 100000.00"),
        water("active"),
        water("no_token"),
    ] {
        let tried = tries(&env, &sale).await.unwrap();
        assert!(tried.units.is_some() && tried.breakdown.is_some(), "{sale:?}");
        assert_eq!(env.provider.quote(env.call(), &sale).await, Ok(tried), "{sale:?}");
    }
    assert!(env.vends().await.is_empty());
}

#[tokio::test]
async fn a_trial_is_refused_as_the_sale_would_be() {
    let env = open_env();
    for (name, amount, reason) in [
        ("blocked_customer", "BWP 100.00", RefusalReason::Blocked),
        ("purchases_blocked", "BWP 100.00", RefusalReason::Blocked),
        ("not_found", "BWP 100.00", RefusalReason::UnknownSubscriber),
        ("unsupported_meter", "BWP 100.00", RefusalReason::Unsupported),
        ("key_change", "BWP 1000.00", RefusalReason::BelowMinimum),
        ("fixed_charge", "BWP 1000.00", RefusalReason::BelowMinimum),
        ("maximum_vend", "BWP 100000.01", RefusalReason::AboveMaximum),
    ] {
        let Err(Unanswered::Refused(refusal)) = tries(&env, &electricity(name, amount)).await else {
            panic!("{name} was not refused")
        };
        assert_eq!(refusal.reason, reason, "{name}");
    }
    assert!(env.vends().await.is_empty());
}

#[tokio::test]
async fn a_trial_whose_answer_is_wrong_or_lost_proves_nothing() {
    let env = open_env();
    let sale = electricity("active_11_digit", "BWP 100.00");
    for (fault, doubt) in [
        ("wrong_meter", Doubt::Mismatched),
        ("wrong_amount", Doubt::Mismatched),
        ("wrong_currency", Doubt::Mismatched),
        ("wrong_reference", Doubt::Mismatched),
        ("no_token", Doubt::Mismatched),
        ("garbage", Doubt::Unreadable),
        ("drop_after", Doubt::ConnectionLost),
        ("system_ex_after", Doubt::UnlistedFault),
    ] {
        env.script(json!({"fault": fault, "operation": "quote"})).await;
        assert_eq!(tries(&env, &sale).await, Err(Unanswered::NoAnswer(doubt)), "{fault}");
    }
    env.script(json!({"fault": "no_token", "operation": "quote"})).await;
    assert!(env.provider.quote(env.call(), &sale).await.is_ok(), "a quote needs no token");
    assert!(env.vends().await.is_empty());
}

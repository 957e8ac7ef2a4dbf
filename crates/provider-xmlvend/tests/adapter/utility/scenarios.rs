//! The adapter in every staging scenario of the specification, section 8.

use money::Money;
use provider::Provider;
use provider_xmlvend::SoapVersion;
use serde_json::json;
use test_kit::simulator::{MISHAPS_AFTER_VENDING, open, sale};
use utility_sim::{SimulatorSettings, scenario};
use vend::{Doubt, Enquiry, Product, RefusalReason, Unanswered, Vend, VendOutcome};

use super::env::{TestEnv, start_env};

fn open_env() -> TestEnv {
    let settings = SimulatorSettings { delayed_ms: 50, ..SimulatorSettings::default() };
    start_env(&settings, SoapVersion::V1_1)
}

fn number(name: &str) -> &'static str {
    scenario(name).unwrap().number
}

/// The step at which a purchase for this meter ends, and its result.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    RefusedAtCheck(RefusalReason),
    Barred(RefusalReason),
    RefusedAtQuote(RefusalReason),
    RefusedAtVend(RefusalReason),
    InDoubt(Doubt),
    Vended,
}

async fn fate_of(env: &TestEnv, meter: &str, amount: &str) -> Fate {
    let sale = sale(Product::Electricity, meter, amount);
    match env.provider.check(env.call(), sale.product, &sale.subscriber).await {
        Ok(customer) => {
            if let Some(refusal) = customer.barred {
                return Fate::Barred(refusal.reason);
            }
        }
        Err(Unanswered::Refused(refusal)) => return Fate::RefusedAtCheck(refusal.reason),
        Err(other) => panic!("{other:?}"),
    }
    match env.provider.quote(env.call(), &sale).await {
        Ok(quotation) => assert!(quotation.units.is_some() && quotation.breakdown.is_some()),
        Err(Unanswered::Refused(refusal)) => return Fate::RefusedAtQuote(refusal.reason),
        Err(other) => panic!("{other:?}"),
    }
    match env.provider.vend(&env.order_for(meter, amount), &open()).await {
        VendOutcome::Vended(_) => Fate::Vended,
        VendOutcome::Refused(refusal) => Fate::RefusedAtVend(refusal.reason),
        VendOutcome::Unknown(unclear) => Fate::InDoubt(unclear.doubt),
    }
}

#[tokio::test]
async fn the_float_is_mentioned_once_by_each_vend_and_by_no_enquiry() {
    let settings = SimulatorSettings { vendor_credit: "1000.00".to_owned(), ..SimulatorSettings::default() };
    let env = start_env(&settings, SoapVersion::V1_1);
    let mentioned = || env.provider.mentioned_float().map(|left| left.to_string());
    assert_eq!(fate_of(&env, number("active_11_digit"), "BWP 100.00").await, Fate::Vended);
    let order = env.order_for(number("active_13_digit"), "BWP 50.00");
    env.provider.vend(&order, &open()).await;
    assert_eq!((mentioned().as_deref(), mentioned()), (Some("BWP 850.00"), None));
    assert!(matches!(env.provider.enquire(env.call(), &order).await, Enquiry::Vended(_)));
    assert_eq!(mentioned(), None, "the repeated answer has the credit of then");
    assert_eq!(env.provider.float(env.call()).await, Ok(None), "the protocol has no question for it");
}

#[tokio::test]
async fn every_scenario_ends_as_the_specification_says() {
    let env = open_env();
    for (name, amount, fate) in [
        ("active_11_digit", "BWP 100.00", Fate::Vended),
        ("active_13_digit", "BWP 100.00", Fate::Vended),
        ("tariff_charge", "BWP 100.00", Fate::Vended),
        ("tariff_charge_sub_account", "BWP 100.00", Fate::Vended),
        ("blocked_customer", "BWP 100.00", Fate::RefusedAtCheck(RefusalReason::Blocked)),
        ("purchases_blocked", "BWP 100.00", Fate::Barred(RefusalReason::Blocked)),
        ("debt_unpaid", "BWP 100.00", Fate::RefusedAtQuote(RefusalReason::Blocked)),
        ("account_blocked", "BWP 100.00", Fate::RefusedAtVend(RefusalReason::Blocked)),
        ("not_found", "BWP 100.00", Fate::RefusedAtCheck(RefusalReason::UnknownSubscriber)),
        ("disconnected", "BWP 100.00", Fate::RefusedAtCheck(RefusalReason::Disconnected)),
        ("key_change", "BWP 1000.00", Fate::RefusedAtQuote(RefusalReason::BelowMinimum)),
        ("key_change", "BWP 1000.01", Fate::Vended),
        ("fixed_charge", "BWP 1000.00", Fate::RefusedAtQuote(RefusalReason::BelowMinimum)),
        ("fixed_charge", "BWP 1000.01", Fate::Vended),
        ("delayed", "BWP 100.00", Fate::Vended),
        ("maximum_vend", "BWP 100000.01", Fate::RefusedAtQuote(RefusalReason::AboveMaximum)),
        ("maximum_vend", "BWP 100000.00", Fate::Vended),
        ("lost_reply", "BWP 100.00", Fate::InDoubt(Doubt::ConnectionLost)),
        ("lost_request", "BWP 100.00", Fate::InDoubt(Doubt::ConnectionLost)),
        ("unanswered", "BWP 100.00", Fate::InDoubt(Doubt::ConnectionLost)),
        ("busy", "BWP 100.00", Fate::RefusedAtVend(RefusalReason::Busy)),
        ("busy_then_ok", "BWP 100.00", Fate::RefusedAtVend(RefusalReason::Busy)),
        ("busy_then_ok", "BWP 100.00", Fate::Vended),
        ("unsupported_meter", "BWP 100.00", Fate::RefusedAtQuote(RefusalReason::Unsupported)),
        ("credit_exhausted", "BWP 100.00", Fate::RefusedAtVend(RefusalReason::FloatExhausted)),
        ("duplicate", "BWP 100.00", Fate::RefusedAtVend(RefusalReason::DuplicateSale)),
    ] {
        assert_eq!(fate_of(&env, number(name), amount).await, fate, "{name} {amount}");
    }
    let wrong_check_digit = fate_of(&env, "07000010013", "BWP 100.00").await;
    assert_eq!(wrong_check_digit, Fate::RefusedAtCheck(RefusalReason::WrongCheckDigit));
}

#[tokio::test]
async fn limits_come_with_the_customer() {
    let env = open_env();
    let limits = async |name| {
        let sale = sale(Product::Electricity, number(name), "BWP 1.00");
        let customer = env.provider.check(env.call(), sale.product, &sale.subscriber).await.unwrap();
        assert!(customer.name.is_some());
        (customer.minimum.map(Money::minor), customer.maximum.map(Money::minor))
    };
    assert_eq!(limits("active_11_digit").await, (None, None));
    assert_eq!(limits("fixed_charge").await, (Some(100_001), None));
    assert_eq!(limits("maximum_vend").await, (None, Some(10_000_000)));
}

async fn vend(env: &TestEnv, name: &str, amount: &str) -> Vend {
    match env.provider.vend(&env.order_for(number(name), amount), &open()).await {
        VendOutcome::Vended(vend) => *vend,
        other @ (VendOutcome::Refused(_) | VendOutcome::Unknown(_)) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_key_change_meter_gets_three_tokens_in_the_order_of_the_log() {
    let env = open_env();
    let wire = vend(&env, "key_change", "BWP 1500.00").await.tokens.unwrap().wire_form();
    let log = env.vends().await;
    let tokens: Vec<&str> = log[0]["tokens"].as_array().unwrap().iter().filter_map(|t| t.as_str()).collect();
    let [first, second, credit] = tokens[..] else { panic!("{} tokens", tokens.len()) };
    assert_eq!(wire, format!("Key Change: {first}|Key Change: {second}|Normal Sale: {credit}"));
}

#[tokio::test]
async fn a_description_with_separators_in_it_costs_no_token() {
    let env = open_env();
    env.script(json!({"fault": "odd_descriptions"})).await;
    let wire = vend(&env, "key_change", "BWP 1500.00").await.tokens.unwrap().wire_form();
    let log = env.vends().await;
    let tokens: Vec<&str> = log[0]["tokens"].as_array().unwrap().iter().filter_map(|t| t.as_str()).collect();
    let [first, second, credit] = tokens[..] else { panic!("{} tokens", tokens.len()) };
    let key = "Key change; 1/2";
    assert_eq!(wire, format!("{key}: {first}|{key}: {second}|Sale; normal/prepaid: {credit}"));
}

#[tokio::test]
async fn the_split_of_a_sub_account_meter_is_exact() {
    let env = open_env();
    let vend = vend(&env, "tariff_charge_sub_account", "BWP 100.00").await;
    let parts = vend.breakdown.unwrap();
    // 5.00 is the fixed charge, and a tenth of the other 95.00 goes to the debt. Of 85.50, 2% is the levy and 1% the
    // regulator's fee. Of the other 82.94, 14/114 is tax.
    assert_eq!(parts.charge.minor(), 1_450);
    assert_eq!((parts.levy.minor(), parts.regulatory_fee.minor()), (171, 85));
    assert_eq!((parts.vat.minor(), parts.cost.minor()), (1_019, 7_275));
}

#[tokio::test]
async fn every_scripted_mishap_after_vending_is_doubt_and_the_enquiry_finds_the_vend() {
    let env = open_env();
    let tokenless = ("no_token", Doubt::Mismatched);
    for (fault, doubt) in MISHAPS_AFTER_VENDING.into_iter().chain([tokenless]) {
        env.script(json!({"fault": fault})).await;
        let order = env.order_for(number("active_11_digit"), "BWP 100.00");
        assert_eq!(env.provider.vend(&order, &open()).await.doubt(), Some(doubt), "{fault}");
        let found = env.provider.enquire(env.call(), &order).await;
        assert!(matches!(found, Enquiry::Vended(_)), "{fault}: {found:?}");
    }
    assert_eq!(env.vends().await.len(), MISHAPS_AFTER_VENDING.len() + 1);
}

#[tokio::test]
async fn an_enquiry_may_miss_what_a_later_one_finds() {
    let env = open_env();
    let order = env.order_for(number("lost_reply"), "BWP 100.00");
    let lost = VendOutcome::Unknown(Doubt::ConnectionLost.into());
    assert_eq!(env.provider.vend(&order, &open()).await, lost);
    env.script(json!({"fault": "missing_then_present"})).await;
    assert_eq!(env.provider.enquire(env.call(), &order).await, Enquiry::NoRecord);
    assert!(matches!(env.provider.enquire(env.call(), &order).await, Enquiry::Vended(_)));
}

#[tokio::test]
async fn swapped_replies_are_doubt_for_both() {
    let env = open_env();
    env.script(json!({"fault": "swapped", "times": 2, "delay_ms": 5_000})).await;
    let (one, other) = (
        env.order_for(number("active_11_digit"), "BWP 100.00"),
        env.order_for(number("active_13_digit"), "BWP 100.00"),
    );
    let gate = open();
    let outcomes = tokio::join!(env.provider.vend(&one, &gate), env.provider.vend(&other, &gate));
    let mismatched = Some(Doubt::Mismatched);
    assert_eq!((outcomes.0.doubt(), outcomes.1.doubt()), (mismatched, mismatched));
}

#[tokio::test]
async fn replies_that_drift_are_read_and_faults_without_detail_prove_nothing() {
    for soap in [SoapVersion::V1_1, SoapVersion::V1_2] {
        let env = start_env(&SimulatorSettings::default(), soap);
        let vend = async |name, fault: &str| {
            env.script(json!({"fault": fault})).await;
            let outcome = env.provider.vend(&env.order_for(number(name), "BWP 100.00"), &open()).await;
            match outcome {
                VendOutcome::Vended(_) => Fate::Vended,
                VendOutcome::Refused(refusal) => Fate::RefusedAtVend(refusal.reason),
                VendOutcome::Unknown(unclear) => Fate::InDoubt(unclear.doubt),
            }
        };
        let blocked = Fate::RefusedAtVend(RefusalReason::Blocked);
        assert_eq!(vend("active_11_digit", "out_of_order").await, Fate::Vended, "{soap:?}");
        assert_eq!(vend("account_blocked", "unprefixed_fault").await, blocked, "{soap:?}");
        let wordless = vend("account_blocked", "fault_without_detail").await;
        assert_eq!(wordless, Fate::InDoubt(Doubt::UnlistedFault), "{soap:?}");
    }
}

//! The adapter against the sandbox's meters and the scripted faults of the aggregator.

use money::Money;
use provider::Provider;
use provider_vtpass::VtpassSettings;
use serde_json::json;
use test_kit::simulator::{AdapterEnv, MISHAPS_AFTER_VENDING, open, sale};
use utility_sim::{SimulatorSettings, TlsSettings, scenario};
use vend::{Doubt, Enquiry, Product, Refusal, RefusalReason, Unanswered, VendOrder, VendOutcome};

use super::env::{TestEnv, connection_to, simulator, start_env};
use crate::connection::adapter;

const ACTIVE: &str = "active_11_digit";

fn open_env() -> TestEnv {
    let mut settings = SimulatorSettings { delayed_ms: 50, ..simulator() };
    settings.vtpass.processing_ms = 300;
    start_env(&settings)
}

/// An adapter whose operator knows that these codes refuse an order.
fn env_that_knows(codes: &[&str]) -> TestEnv {
    let settings = simulator();
    let refusals_without_request_id = codes.iter().map(|code| (*code).to_owned()).collect();
    AdapterEnv::start(&settings, Product::Electricity, |simulator| {
        let connection = connection_to(&simulator.vtpass_url(), &settings);
        adapter(&VtpassSettings { refusals_without_request_id, ..connection })
    })
}

fn number(name: &str) -> &'static str {
    scenario(name).unwrap().number
}

async fn sell(env: &TestEnv, name: &str, amount: &str) -> (VendOrder, VendOutcome) {
    let order = env.order_for(number(name), amount);
    let outcome = env.provider.vend(&order, &open()).await;
    (order, outcome)
}

#[tokio::test]
async fn a_meter_gets_the_token_of_the_log_and_the_request_id_has_the_time_of_nigeria() {
    let env = open_env();
    let (order, outcome) = sell(&env, ACTIVE, "NGN 2000.50").await;
    let VendOutcome::Vended(vend) = outcome else { panic!("{outcome:?}") };
    let log = env.vends().await;
    assert_eq!(log[0]["tokens"], json!([vend.tokens.as_ref().unwrap().wire_form()]));
    assert_eq!(log[0]["reference"], "20261120103000000001ikejaelectric");
    assert_eq!((&log[0]["amount"], &log[0]["currency"]), (&json!("2000.50"), &json!("NGN")));
    assert_eq!(vend.units.as_ref().unwrap().unit, "kWh");
    let Enquiry::Vended(found) = env.provider.enquire(env.call(), &order).await else { panic!("not found") };
    assert_eq!(found.tokens, vend.tokens);
}

#[tokio::test]
async fn a_key_change_meter_gets_three_tokens_in_the_order_of_the_log() {
    let env = open_env();
    let (_order, outcome) = sell(&env, "key_change", "NGN 1500.00").await;
    let VendOutcome::Vended(vend) = outcome else { panic!("{outcome:?}") };
    let log = env.vends().await;
    let tokens: Vec<&str> = log[0]["tokens"].as_array().unwrap().iter().filter_map(|t| t.as_str()).collect();
    let [first, second, credit] = tokens[..] else { panic!("{} tokens", tokens.len()) };
    let told = format!("KeyChange Token1: {first}|KeyChange Token2: {second}|Credit Token: {credit}");
    assert_eq!(vend.tokens.unwrap().wire_form(), told);
}

#[tokio::test]
async fn a_check_tells_the_customer_the_limits_and_who_may_not_buy() {
    let env = open_env();
    let check = async |name| {
        let sale = sale(Product::Electricity, number(name), "NGN 1.00");
        env.provider.check(env.call(), sale.product, &sale.subscriber).await
    };
    let limits =
        |customer: vend::Customer| (customer.minimum.map(Money::minor), customer.maximum.map(Money::minor));
    let active = check(ACTIVE).await.unwrap();
    assert!(active.name.is_some() && active.barred.is_none());
    assert_eq!(limits(active), (None, None));
    assert_eq!(limits(check("fixed_charge").await.unwrap()), (Some(100_001), None));
    assert_eq!(limits(check("maximum_vend").await.unwrap()), (None, Some(10_000_000)));
    let barred = check("purchases_blocked").await.unwrap().barred;
    assert_eq!(barred, Some(Refusal::because(RefusalReason::Blocked)));
    for (name, reason) in
        [("not_found", RefusalReason::UnknownSubscriber), ("disconnected", RefusalReason::Disconnected)]
    {
        let Err(Unanswered::Refused(refusal)) = check(name).await else { panic!("{name} was found") };
        assert_eq!(refusal.reason, reason, "{name}");
    }
}

#[tokio::test]
async fn a_quote_refuses_what_the_customer_may_not_buy_and_sells_nothing() {
    let env = open_env();
    for (name, amount, reason) in [
        ("fixed_charge", "NGN 1000.00", RefusalReason::BelowMinimum),
        ("maximum_vend", "NGN 100000.01", RefusalReason::AboveMaximum),
        ("purchases_blocked", "NGN 100.00", RefusalReason::Blocked),
    ] {
        let sale = sale(Product::Electricity, number(name), amount);
        let quoted = env.provider.quote(env.call(), &sale).await;
        assert_eq!(quoted, Err(Unanswered::Refused(Refusal::because(reason))), "{name}");
    }
    let sale = sale(Product::Electricity, number(ACTIVE), "NGN 100.00");
    assert!(env.provider.quote(env.call(), &sale).await.unwrap().subscriber_details.is_some());
    assert!(env.provider.trial(env.call(), &sale).await.is_err());
    assert_eq!(env.vends().await.len(), 0);
}

#[tokio::test]
async fn a_failed_order_is_refused_and_an_enquiry_finds_the_refusal() {
    let env = open_env();
    let (order, outcome) = sell(&env, "account_blocked", "NGN 100.00").await;
    let VendOutcome::Refused(refusal) = outcome else { panic!("{outcome:?}") };
    assert_eq!(refusal.reason, RefusalReason::Other);
    assert_eq!(env.provider.enquire(env.call(), &order).await, Enquiry::Refused(refusal));
    assert_eq!(env.vends().await.len(), 0);
}

#[tokio::test]
async fn an_answer_that_names_no_order_is_doubt_until_the_operator_knows_better() {
    for (name, code, reason) in [
        ("credit_exhausted", "018", RefusalReason::FloatExhausted),
        ("duplicate", "019", RefusalReason::DuplicateSale),
        ("busy", "030", RefusalReason::Busy),
    ] {
        let cautious = open_env();
        let (order, outcome) = sell(&cautious, name, "NGN 100.00").await;
        assert_eq!(outcome.doubt(), Some(Doubt::UnlistedFault), "{name}");
        assert_eq!(cautious.provider.enquire(cautious.call(), &order).await, Enquiry::NoRecord, "{name}");
        let (_order, outcome) = sell(&env_that_knows(&[code]), name, "NGN 100.00").await;
        let VendOutcome::Refused(refusal) = outcome else { panic!("{name}: {outcome:?}") };
        assert_eq!(refusal.reason, reason, "{name}");
    }
}

#[tokio::test]
async fn what_is_under_way_is_open_until_it_has_ended_and_a_reversal_proves_nothing() {
    let env = open_env();
    for (fault, end) in [
        ("processing", "vended"),
        ("processing_then_failed", "refused"),
        ("processing_then_refunded", "unanswered"),
    ] {
        env.script(json!({"fault": fault})).await;
        let (order, outcome) = sell(&env, ACTIVE, "NGN 100.00").await;
        assert_eq!(outcome.doubt(), Some(Doubt::StillOpen), "{fault}");
        assert_eq!(env.settled(&order).await.in_words().0, end, "{fault}");
    }
    assert_eq!(env.vends().await.len(), 1);
}

#[tokio::test]
async fn a_lost_reply_is_doubt_and_the_enquiry_finds_the_vend() {
    let env = open_env();
    let (order, outcome) = sell(&env, "lost_reply", "NGN 100.00").await;
    assert_eq!(outcome.doubt(), Some(Doubt::ConnectionLost));
    assert!(matches!(env.provider.enquire(env.call(), &order).await, Enquiry::Vended(_)));
    let again = env.provider.vend(&order, &open()).await;
    assert_eq!(again.doubt(), Some(Doubt::RepeatedReference));
    assert_eq!(env.vends().await.len(), 1);
}

#[tokio::test]
async fn every_scripted_mishap_after_vending_is_doubt_and_the_enquiry_finds_the_vend() {
    let env = open_env();
    // No answer states a currency.
    let faults = MISHAPS_AFTER_VENDING.into_iter().filter(|(fault, _doubt)| *fault != "wrong_currency");
    let faults: Vec<_> = faults.chain([("no_token", Doubt::Mismatched)]).collect();
    for (fault, doubt) in &faults {
        env.script(json!({"fault": fault})).await;
        let (order, outcome) = sell(&env, ACTIVE, "NGN 100.00").await;
        assert_eq!(outcome.doubt(), Some(*doubt), "{fault}");
        let found = env.provider.enquire(env.call(), &order).await;
        assert!(matches!(found, Enquiry::Vended(_)), "{fault}: {found:?}");
    }
    assert_eq!(env.vends().await.len(), faults.len());
}

#[tokio::test]
async fn a_vendor_with_a_certificate_of_an_authority_of_the_settings_is_trusted_and_no_other() {
    let issued = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = issued.cert.pem();
    let tls = TlsSettings::new(certificate.clone(), &issued.signing_key.serialize_pem());
    let settings = SimulatorSettings { tls: Some(tls), ..simulator() };
    for (trusted, expected) in [(Some(certificate), "vended"), (None, "refused")] {
        let env = AdapterEnv::start(&settings, Product::Electricity, |simulator| {
            let base_url = format!("{}/vtpass/api", simulator.https_url().unwrap());
            let connection = connection_to(&base_url, &settings);
            adapter(&VtpassSettings { extra_root_certificate_pem: trusted.clone(), ..connection })
        });
        let (_order, outcome) = sell(&env, ACTIVE, "NGN 100.00").await;
        assert_eq!(outcome.in_words().0, expected, "{outcome:?}");
    }
}

#[tokio::test]
async fn wrong_keys_are_refused_at_the_check_and_leave_an_order_in_doubt() {
    let settings = simulator();
    let env = AdapterEnv::start(&settings, Product::Electricity, |simulator| {
        adapter(&crate::connection::settings(&simulator.vtpass_url()))
    });
    let sale = sale(Product::Electricity, number(ACTIVE), "NGN 100.00");
    let checked = env.provider.check(env.call(), sale.product, &sale.subscriber).await;
    let Err(Unanswered::Refused(refusal)) = checked else { panic!("{checked:?}") };
    assert_eq!(refusal.reason, RefusalReason::Misconfigured);
    let (_order, outcome) = sell(&env, ACTIVE, "NGN 100.00").await;
    assert_eq!(outcome.doubt(), Some(Doubt::UnlistedFault));
}

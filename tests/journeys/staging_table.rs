//! The table of staging scenarios (specification, section 8), row by row: the answers of each meter.

use std::collections::BTreeMap;

use acceptance::surface::Surface;

use crate::{
    env::{env, eventually},
    merchant::Merchant,
};

const OK: (u16, &str, Option<&str>) = (200, "", None);
const BLOCKED: (u16, &str, Option<&str>) = (422, "meter_blocked", None);
const UNKNOWN: (u16, &str, Option<&str>) = (404, "meter_not_found", None);
const TOO_LITTLE: (u16, &str, Option<&str>) = (400, "amount_below_minimum", Some("amount"));
const TOO_MUCH: (u16, &str, Option<&str>) = (400, "amount_above_maximum", Some("amount"));
const IN_DOUBT: (u16, &str, Option<&str>) = (504, "provider_timeout", None);
const BUSY: (u16, &str, Option<&str>) = (422, "provider_busy", None);

/// Status, code and field.
type Expected = (u16, &'static str, Option<&'static str>);

/// Scenario, amount, answer of validate, answer of confirm, and the final state of the purchase, if there is one.
const TABLE: &[(&str, &str, Expected, Expected, &str)] = &[
    ("active_11_digit", "100.00", OK, OK, "SUCCESSFUL"),
    ("active_13_digit", "100.00", OK, OK, "SUCCESSFUL"),
    ("tariff_charge", "100.00", OK, OK, "SUCCESSFUL"),
    ("tariff_charge_sub_account", "100.00", OK, OK, "SUCCESSFUL"),
    ("blocked_customer", "100.00", BLOCKED, BLOCKED, ""),
    ("purchases_blocked", "100.00", BLOCKED, BLOCKED, ""),
    ("debt_unpaid", "100.00", BLOCKED, BLOCKED, "FAILED"),
    ("account_blocked", "100.00", OK, BLOCKED, "FAILED"),
    ("not_found", "100.00", UNKNOWN, UNKNOWN, ""),
    ("disconnected", "100.00", UNKNOWN, UNKNOWN, ""),
    ("key_change", "1000.00", TOO_LITTLE, TOO_LITTLE, ""),
    ("fixed_charge", "999.99", TOO_LITTLE, TOO_LITTLE, ""),
    ("fixed_charge", "1000.00", TOO_LITTLE, TOO_LITTLE, ""),
    ("fixed_charge", "1000.01", OK, OK, "SUCCESSFUL"),
    ("maximum_vend", "100000.01", TOO_MUCH, TOO_MUCH, ""),
    ("maximum_vend", "100000.00", OK, OK, "SUCCESSFUL"),
    ("lost_reply", "100.00", OK, IN_DOUBT, "IN_DOUBT"),
    ("lost_request", "100.00", OK, IN_DOUBT, "IN_DOUBT"),
    ("unanswered", "100.00", OK, IN_DOUBT, "IN_DOUBT"),
    ("busy", "100.00", OK, BUSY, "FAILED"),
    ("busy_then_ok", "100.00", OK, BUSY, "FAILED"),
    ("busy_then_ok", "100.00", OK, OK, "SUCCESSFUL"),
    (
        "unsupported_meter",
        "100.00",
        (400, "meter_unsupported", None),
        (400, "meter_unsupported", None),
        "FAILED",
    ),
    ("credit_exhausted", "100.00", OK, (502, "merchant_credit_exhausted", None), "FAILED"),
    ("duplicate", "100.00", OK, (409, "duplicate_request", None), "FAILED"),
];

/// The amounts of each meter's rows, in order. A meter that alternates between two answers has both rows.
pub fn amounts_by_scenario() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut amounts = BTreeMap::<_, Vec<_>>::new();
    for (scenario, amount, ..) in TABLE {
        amounts.entry(*scenario).or_default().push(*amount);
    }
    amounts
}

#[tokio::test]
async fn every_electricity_scenario_answers_as_the_staging_table_says() {
    let mut wrong = Vec::new();
    for surface in Surface::ALL {
        let merchant = env().open_merchant_on(surface).await;
        for row in TABLE {
            let (scenario, amount, ..) = row;
            wrong.extend(
                walk(&merchant, row).await.map(|why| format!("{surface:?} {scenario} for {amount}: {why}")),
            );
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_scenario_of_the_simulator_is_in_the_table_or_has_a_journey_of_its_own() {
    let merchant = env().open_merchant().await;
    for scenario in env().info().subscribers.electricity.keys() {
        let in_table = TABLE.iter().any(|(name, ..)| name == scenario);
        assert!(in_table || *scenario == "delayed", "{scenario}");
    }
    let quote = merchant.validate(&merchant.order(env().scenario("delayed"))).await.expect(200);
    assert_eq!(quote.str("/status"), "ON_GOING");
}

#[tokio::test]
async fn a_maximum_vend_meter_says_which_amount_cannot_be_exceeded() {
    let merchant = env().open_merchant().await;
    let order = merchant.order(env().scenario("maximum_vend")).amount("100000.01");
    for answer in [merchant.validate(&order).await, merchant.confirm(&order).await] {
        let message = answer.str("/error/message");
        assert!(message.contains("cannot exceed") && message.contains("100000"), "{message}");
    }
}

#[tokio::test]
async fn the_receipt_of_a_meter_with_a_charge_and_a_debt_adds_up_to_what_was_vended() {
    let merchant = env().open_merchant().await;
    for (scenario, charge) in [("tariff_charge", "BWP 5.00"), ("tariff_charge_sub_account", "BWP 14.50")] {
        let order = merchant.order(env().scenario(scenario));
        eventually("the meter is free", async || {
            let quote = merchant.validate(&order).await.expect(200);
            assert_eq!(quote.str("/metadata/charge"), charge);
            let bought = merchant.confirm(&order).await;
            if bought.status == 409 {
                return false;
            }
            let part = |name: &str| bought.str(&format!("/metadata/{name}")).to_owned();
            assert_eq!(part("charge"), charge);
            let parts = ["vat", "levy", "regulatory_fee", "charge", "cost"].map(part);
            assert!(parts.iter().all(|part| part != "BWP 0.00"), "{parts:?}");
            assert_eq!(sum(&parts), bought.str("/net"));
            let quoted = ["vat", "levy", "regulatory_fee", "charge", "cost"]
                .map(|name| quote.str(&format!("/metadata/{name}")).to_owned());
            assert_eq!(quoted, parts);
            true
        })
        .await;
    }
}

/// The difference from the row, if any.
async fn walk(merchant: &Merchant, row: &(&str, &str, Expected, Expected, &str)) -> Option<String> {
    let (scenario, amount, on_validate, on_confirm, state) = *row;
    let order = merchant.order(env().scenario(scenario)).amount(amount);
    let before = merchant.rows();
    for (endpoint, expected) in [("validate", on_validate), ("confirm", on_confirm)] {
        let answer = if endpoint == "validate" {
            merchant.validate(&order).await
        } else {
            merchant.confirm(&order).await
        };
        let found = if answer.status == 200 { OK } else { to_owned(answer.refusal()) };
        if found != expected {
            return Some(format!("{endpoint} should answer {expected:?}: {}", answer.text));
        }
        if answer.status == 200 && endpoint == "confirm" {
            assert_eq!(answer.str("/status"), "SUCCESSFUL");
            assert!(answer.tokens().iter().all(|(_, digits)| digits.len() == 20), "{}", answer.text);
        }
    }
    let found = if merchant.rows() == before { String::new() } else { merchant.newest_state() };
    (found != state).then(|| format!("the purchase should be {state:?}, but is {found:?}"))
}

fn to_owned(refusal: (u16, &str, Option<&str>)) -> Expected {
    let known = TABLE.iter().flat_map(|(_, _, validate, confirm, _)| [validate, confirm]);
    let same = |(status, code, param): &&Expected| (*status, *code, *param) == refusal;
    known.copied().find(|expected| same(&expected)).unwrap_or((refusal.0, "another code or field", None))
}

fn sum(parts: &[String]) -> String {
    let parts: Vec<money::Money> = parts.iter().map(|part| money::Money::parse_wire(part).unwrap()).collect();
    money::Money::sum(parts[0].currency(), parts).unwrap().to_string()
}

//! `hard_validate`: a quote that runs the whole sale with the provider but yields no usable token.

use acceptance::surface::Surface;
use serde_json::{Value, json};

use crate::{env::env, simulator::SimulatorClient, wire::Answer};

#[tokio::test]
async fn a_trial_leaves_nothing_behind_at_the_utility_in_the_wallet_or_in_a_table() {
    let (merchant, simulator, meter) =
        (env().open_merchant_on(Surface::Current).await, SimulatorClient::new(), env().meter());
    let order = merchant.order(&meter);
    let quote = merchant.validate(&order).await.expect(200);
    let trial = merchant.validate(&order.clone().with("hard_validate", "true")).await.expect(200);
    assert_eq!(simulator.vends(&meter).await, Vec::<Value>::new());
    assert_eq!(merchant.balance().await, "BWP 1000000.00");
    assert_eq!(merchant.rows(), "0|0|0|0|0");
    assert!(trial.id() != quote.id() && !trial.text.contains("token"), "{}", trial.text);
    assert_eq!(without_number(&trial), without_number(&quote));

    let bought = merchant.confirm(&order.with("hard_validate", "true")).await.expect(200);
    let [(_, token)] = bought.tokens()[..] else { panic!("{}", bought.text) };
    assert_ne!(token, "0".repeat(20));
    assert_eq!(simulator.enters(&meter, token).await, Ok("credit".to_owned()));
    merchant.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test]
async fn a_trial_gets_the_answers_of_a_quote_and_never_those_of_a_confirm() {
    let merchant = env().open_merchant_on(Surface::Current).await;
    for (scenario, amount, is_quoted) in [
        ("active_13_digit", "100.00", true),
        ("tariff_charge_sub_account", "100.00", true),
        ("key_change", "1150.00", true),
        ("account_blocked", "100.00", true),
        ("busy", "100.00", true),
        ("credit_exhausted", "100.00", true),
        ("duplicate", "100.00", true),
        ("lost_reply", "100.00", true),
        ("blocked_customer", "100.00", false),
        ("debt_unpaid", "100.00", false),
        ("unsupported_meter", "100.00", false),
        ("fixed_charge", "1000.00", false),
        ("maximum_vend", "100000.01", false),
        ("not_found", "100.00", false),
    ] {
        let order = merchant.order(env().scenario(scenario)).amount(amount);
        let quote = merchant.validate(&order).await;
        let trial = merchant.validate(&order.with("hard_validate", "true")).await;
        assert_eq!(quote.status == 200, is_quoted, "{scenario}: {}", quote.text);
        assert_eq!(trial.status, quote.status, "{scenario}: {}", trial.text);
        if is_quoted {
            assert_eq!(without_number(&trial), without_number(&quote), "{scenario}");
        } else {
            assert_eq!(
                (trial.refusal(), trial.sentence()),
                (quote.refusal(), quote.sentence()),
                "{scenario}"
            );
        }
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn a_provider_that_would_make_no_token_is_found_out_by_a_trial_and_not_by_a_quote() {
    let (merchant, simulator, meter) =
        (env().open_merchant_on(Surface::Current).await, SimulatorClient::new(), env().meter());
    let order = merchant.order(&meter);
    let tokenless = json!({ "fault": "no_token", "operation": "quote" });
    simulator.will(&meter, &tokenless).await;
    merchant.validate(&order).await.expect(200);
    simulator.will(&meter, &tokenless).await;
    let tried = merchant.validate(&order.clone().with("hard_validate", "true")).await;
    assert_eq!(tried.refusal(), (422, "upstream_error", None));
    simulator.will(&meter, &json!({ "fault": "drop_before", "operation": "quote" })).await;
    let away = merchant.validate(&order.with("hard_validate", "true")).await;
    assert_eq!(away.refusal(), (502, "provider_unavailable", None));
    assert_eq!(simulator.vends(&meter).await, Vec::<Value>::new());
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

/// The text without the id, which is different for every quote.
fn without_number(quote: &Answer) -> String {
    quote.text.replacen(&format!("\"id\":{},", quote.id()), "", 1)
}

//! `hard_validate`: a quote that goes through the whole sale, down to a token that is none.

use acceptance::surface::Surface;
use serde_json::{Value, json};

use crate::{street::Street, town::town, wire::Answer};

#[tokio::test]
async fn a_trial_leaves_nothing_behind_at_the_utility_in_the_wallet_or_in_a_table() {
    let (shop, street, meter) = (town().open_shop_on(Surface::Current).await, Street::new(), town().meter());
    let order = shop.order(&meter);
    let quote = shop.validate(&order).await.expect(200);
    let trial = shop.validate(&order.clone().with("hard_validate", "true")).await.expect(200);
    assert_eq!(street.vends(&meter).await, Vec::<Value>::new());
    assert_eq!(shop.balance().await, "BWP 1000000.00");
    assert_eq!(shop.rows(), "0|0|0|0|0");
    assert!(trial.id() != quote.id() && !trial.text.contains("token"), "{}", trial.text);
    assert_eq!(without_number(&trial), without_number(&quote));

    let bought = shop.confirm(&order.with("hard_validate", "true")).await.expect(200);
    let [(_, token)] = bought.tokens()[..] else { panic!("{}", bought.text) };
    assert_ne!(token, "0".repeat(20));
    assert_eq!(street.enters(&meter, token).await, Ok("credit".to_owned()));
    shop.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test]
async fn a_trial_hears_what_a_quote_hears_and_nothing_that_is_said_only_when_money_is_on_the_table() {
    let shop = town().open_shop_on(Surface::Current).await;
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
        let order = shop.order(town().scenario(scenario)).amount(amount);
        let quote = shop.validate(&order).await;
        let trial = shop.validate(&order.with("hard_validate", "true")).await;
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
    assert_eq!(shop.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn a_provider_that_would_make_no_token_is_found_out_by_a_trial_and_not_by_a_quote() {
    let (shop, street, meter) = (town().open_shop_on(Surface::Current).await, Street::new(), town().meter());
    let order = shop.order(&meter);
    let tokenless = json!({ "fault": "no_token", "operation": "quote" });
    street.will(&meter, &tokenless).await;
    shop.validate(&order).await.expect(200);
    street.will(&meter, &tokenless).await;
    let tried = shop.validate(&order.clone().with("hard_validate", "true")).await;
    assert_eq!(tried.refusal(), (422, "upstream_error", None));
    street.will(&meter, &json!({ "fault": "drop_before", "operation": "quote" })).await;
    let away = shop.validate(&order.with("hard_validate", "true")).await;
    assert_eq!(away.refusal(), (502, "provider_unavailable", None));
    assert_eq!(street.vends(&meter).await, Vec::<Value>::new());
    assert_eq!(shop.rows(), "0|0|0|0|0");
}

/// The text, but for the number, which every quote has of its own.
fn without_number(quote: &Answer) -> String {
    quote.text.replacen(&format!("\"id\":{},", quote.id()), "", 1)
}

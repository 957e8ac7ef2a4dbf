//! Invalid requests: each gets its code, names its field, and stores nothing.

use acceptance::surface::Surface;
use test_kit::fields::REQUIRED_FOR_A_PURCHASE;

use crate::{env::env, merchant::Merchant, request_body::RequestBody};

/// Only the provider knows that no meter has this number.
const WRONG_CHECK_DIGIT: &str = "07000010013";

type Wrong = (&'static str, RequestBody, u16, &'static str, Option<&'static str>);

#[tokio::test]
async fn a_wrong_request_has_its_code_names_its_field_and_stores_nothing() {
    let (merchant, neighbour) = (env().open_merchant().await, env().open_merchant().await);
    merchant.may_buy_for(WRONG_CHECK_DIGIT).await;
    let mut broken = Vec::new();
    for (what, order, status, code, param) in wrong_orders(&merchant, &neighbour) {
        for endpoint in ["validate", "confirm"] {
            let answer = merchant.post(&format!("/public/v1/purchases/{endpoint}"), &order.body()).await;
            if answer.refusal() != (status, code, param) {
                broken.push(format!("{what} on {endpoint}: {}", answer.text));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    for merchant in [&merchant, &neighbour] {
        assert_eq!(merchant.rows(), "0|0|0|0|0");
        assert_eq!(merchant.balance().await, "BWP 1000000.00");
    }
}

#[tokio::test]
async fn a_wrong_question_about_a_purchase_has_its_code_and_names_its_field() {
    let merchant = env().open_merchant().await;
    let right = RequestBody::retry(&env().meter(), "none-1");
    let mut broken = Vec::new();
    for field in ["source_channel", "language", "subscriber_identifier", "external_reference"] {
        for (order, code) in [
            (right.clone().without(field), "missing_field"),
            (right.clone().with(field, "[]"), "invalid_argument"),
        ] {
            let answer = merchant.post("/public/v1/purchases/retry", &order.body()).await;
            if answer.refusal() != (400, code, Some(field)) {
                broken.push(format!("{field}: {}", answer.text));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn a_body_of_seventeen_kibibytes_is_refused_and_so_is_one_that_is_no_object() {
    let merchant = env().open_merchant().await;
    let large = merchant.order(&env().meter()).with("comment", &format!("\"{}\"", "x".repeat(17 * 1024)));
    for body in [large.body(), "[]".to_owned(), "\"text\"".to_owned(), String::new(), "{".to_owned()] {
        for endpoint in ["validate", "confirm", "retry"] {
            let answer = merchant.post(&format!("/public/v1/purchases/{endpoint}"), &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_argument", None), "{endpoint}");
        }
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn a_wallet_that_is_too_small_is_told_by_how_much() {
    let wallet = sandbox::WalletPlan {
        minor: 5_000,
        ..sandbox::WalletPlan::loaded("Small wallet", purchase::Handling::SelfManaged)
    };
    let merchant = env().open_merchant_with(wallet).await;
    let refused = merchant.confirm(&merchant.order(&env().meter())).await;
    assert_eq!(refused.refusal(), (402, "insufficient_balance", None));
    assert!(refused.str("/error/message").contains("BWP 51.50"), "{}", refused.text);
    assert_eq!(merchant.balance().await, "BWP 50.00");
    assert_eq!(merchant.rows(), "0|0|0|0|0");
    let quote = merchant.validate(&merchant.order(&env().meter())).await.expect(200);
    assert_eq!(quote.str("/total"), "BWP 101.50");

    let bought = merchant.confirm(&merchant.order(&env().meter()).amount("48.50")).await.expect(200);
    assert_eq!(bought.str("/total"), "BWP 50.00");
    assert_eq!(merchant.balance().await, "BWP 0.00");
}

#[tokio::test]
async fn an_amount_may_be_spelled_with_an_exponent_and_is_read_exactly_on_both_surfaces() {
    for surface in Surface::ALL {
        let merchant = env().open_merchant_on(surface).await;
        for amount in ["1E2", "1.0e+2", "100.000", "10000e-2"] {
            let bought = merchant.confirm(&merchant.order(&env().meter()).amount(amount)).await.expect(200);
            assert_eq!(bought.str("/entry"), "BWP 100.00", "{amount}");
        }
        for amount in ["1e12", "1e999999999999", "1e-3", "1e-999999999999", "-0", "\"1e2\""] {
            let refused = merchant.confirm(&merchant.order(&env().meter()).amount(amount)).await;
            assert_eq!(refused.refusal(), (400, "invalid_amount", Some("amount")), "{amount}");
        }
        merchant.has_spent(&["BWP 101.50"; 4]).await;
    }
}

#[tokio::test]
async fn charges_are_paid_on_top_or_out_of_the_amount() {
    let merchant = env().open_merchant().await;
    let order = merchant.order(&env().meter());
    let amounts = |answer: &crate::wire::Answer| {
        ["entry", "net", "charge", "total"].map(|name| answer.str(&format!("/{name}")).to_owned())
    };
    let on_top = merchant.confirm(&order).await.expect(200);
    assert_eq!(amounts(&on_top), ["BWP 100.00", "BWP 100.00", "BWP 1.50", "BWP 101.50"]);
    let deducted = merchant.confirm(&order.clone().with("charges_on_top_flag", "false")).await.expect(200);
    assert_eq!(amounts(&deducted), ["BWP 100.00", "BWP 98.50", "BWP 1.50", "BWP 100.00"]);
    let eaten_up = merchant.confirm(&order.with("charges_on_top_flag", "false").amount("1.50")).await;
    assert_eq!(eaten_up.refusal(), (400, "amount_below_charges", Some("amount")));
    merchant.has_spent(&["BWP 101.50", "BWP 100.00"]).await;
}

fn wrong_orders(merchant: &Merchant, neighbour: &Merchant) -> Vec<Wrong> {
    let right = merchant.order(&env().meter());
    let mut wrong = wrong_shapes(&right);
    wrong.extend(wrong_amounts(&right));
    wrong.extend(wrong_values(&right));
    wrong.extend(wrong_identifiers(&right));
    let water = right.clone().with("product_type", r#""WATER""#);
    wrong.push(refused("a provider of another product", water, "invalid_argument", "provider_code"));
    let foreign = neighbour.account.to_string();
    for (what, account) in [("a foreign account", foreign.as_str()), ("no account", "999999999")] {
        let order = right.clone().with("debited_account_id", account);
        wrong.push((what, order, 404, "resource_not_found", Some("debited_account_id")));
    }
    wrong
}

fn wrong_shapes(right: &RequestBody) -> Vec<Wrong> {
    let mut wrong = vec![
        refused("a field twice", right.clone().with_another("amount", "1.00"), "invalid_argument", "amount"),
        refused(
            "an unknown field twice",
            right.clone().with("x", "1").with_another("x", "2"),
            "invalid_argument",
            "x",
        ),
    ];
    for field in REQUIRED_FOR_A_PURCHASE {
        let code = if field == "amount" { "invalid_amount" } else { "invalid_argument" };
        wrong.extend([
            refused("a missing field", right.clone().without(field), "missing_field", field),
            refused("null", right.clone().with(field, "null"), "missing_field", field),
            refused("the wrong type", right.clone().with(field, "{}"), code, field),
        ]);
    }
    wrong
}

fn wrong_amounts(right: &RequestBody) -> Vec<Wrong> {
    let amounts = ["\"100.00\"", "1e400", "1e-3", "-0", "-1", "0", "0.00", "0.001", "1234567890123", "true"];
    amounts.map(|amount| refused(amount, right.clone().amount(amount), "invalid_amount", "amount")).to_vec()
}

fn wrong_values(right: &RequestBody) -> Vec<Wrong> {
    let long = format!("\"{}\"", "x".repeat(501));
    let values = [
        ("an unknown channel", "source_channel", r#""FAX""#),
        ("an unknown product", "product_type", r#""GAS""#),
        ("an unknown provider", "provider_code", r#""XYZ""#),
        ("no language tag", "language", r#""!""#),
        ("no currency", "currency", r#""pula""#),
        ("another currency", "currency", r#""USD""#),
        ("a fraction of an account", "debited_account_id", "1.5"),
        ("a flag as text", "charges_on_top_flag", r#""no""#),
        ("a control character", "comment", r#""a\u0007b""#),
        ("a line end", "external_reference", r#""a\nb""#),
        ("a text too long", "comment", &long),
    ];
    values
        .map(|(what, name, value)| refused(what, right.clone().with(name, value), "invalid_argument", name))
        .to_vec()
}

fn wrong_identifiers(right: &RequestBody) -> Vec<Wrong> {
    let meters = [
        ("a meter number too short", r#""0700001001""#),
        ("a meter number too long", r#""07000010012345""#),
        ("a meter number with a letter", r#""0700001001X""#),
        ("a meter number with a wrong check digit", &format!("\"{WRONG_CHECK_DIGIT}\"")),
    ];
    let phones = [("a phone number too short", r#""2677""#), ("a phone number with letters", r#""call me""#)];
    let order = |name, value| right.clone().with(name, value);
    let meters = meters.map(|(what, value)| {
        let name = "subscriber_identifier";
        refused(what, order(name, value), "invalid_meter_number", name)
    });
    let phones = phones.map(|(what, value)| {
        let name = "beneficiary_phone_number";
        refused(what, order(name, value), "invalid_msisdn", name)
    });
    meters.into_iter().chain(phones).collect()
}

fn refused(what: &'static str, order: RequestBody, code: &'static str, param: &'static str) -> Wrong {
    (what, order, 400, code, Some(param))
}

//! Validate and confirm, where both succeed.

use acceptance::surface::Surface;
use purchase::Handling;
use sandbox::{MerchantPlan, WalletPlan};
use serde_json::json;

use super::page::{Page, Question};
use crate::{
    env::{env, known_meter},
    key_change::the_meter_that_changes_its_key,
    merchant::Merchant,
    request_body::RequestBody,
    simulator::SimulatorClient,
};

/// The order with every optional field.
pub fn with_every_field(order: RequestBody) -> RequestBody {
    let fields = [
        ("source_channel", "\"USSD\""),
        ("source_tag", "\"gateway 7\""),
        ("charges_on_top_flag", "true"),
        ("comment", "\"for the workshop\""),
        ("external_reference", "\"frozen-1\""),
        ("hard_validate", "false"),
        ("date", "\"2026-11-20 13:00:00\""),
        ("send_requester_sms", "false"),
        ("send_beneficiary_sms", "false"),
        ("send_requester_email", "false"),
        ("send_beneficiary_email", "false"),
    ];
    fields.into_iter().fold(order, |order, (name, value)| order.with(name, value))
}

pub async fn quotes() -> Page {
    let mut page = Page::new("validate");
    let merchant =
        env().open_as(Surface::Current, MerchantPlan::staging("FROZEN-QUOTES", "A frozen shop")).await;
    let order = |scenario| merchant.order(env().scenario(scenario));
    for (title, order) in [
        ("an ordinary meter", order("active_11_digit")),
        ("a meter number of thirteen digits", order("active_13_digit")),
        ("a meter with a charge of its own", order("tariff_charge")),
        ("charges out of the amount", order("active_11_digit").with("charges_on_top_flag", "false")),
        ("an amount without decimals", order("active_11_digit").amount("7")),
        ("every field", with_every_field(order("active_11_digit"))),
        ("a trial of the whole sale", order("active_11_digit").with("hard_validate", "true")),
    ] {
        page.keep(title, Question::validate(&merchant, &order)).await.expect(200);
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
    page
}

pub async fn purchases() -> Page {
    let mut page = Page::new("confirm");
    let merchant =
        env().open_as(Surface::Current, MerchantPlan::staging("FROZEN-TOPUPS", "A frozen shop")).await;
    let order = |scenario| merchant.order(env().scenario(scenario));
    for (title, order) in [
        ("one token", order("active_11_digit")),
        ("a meter number of thirteen digits", order("active_13_digit")),
        ("a meter with a charge of its own", order("tariff_charge")),
        ("a meter with a charge and a debt", order("tariff_charge_sub_account")),
        ("charges out of the amount", order("active_11_digit").with("charges_on_top_flag", "false")),
        ("every field", with_every_field(order("active_11_digit"))),
        (
            "hard_validate, which a confirm does anyhow",
            order("active_11_digit").with("hard_validate", "true"),
        ),
    ] {
        page.keep(title, Question::confirm(&merchant, &order)).await.expect(200);
    }
    keys_are_not_read(&mut page, &merchant).await;
    key_change(&mut page, &merchant).await;
    for channel in ["WEB", "SMART_APP", "USSD", "SMS_MO", "BATCH"] {
        let order = order("active_11_digit").with("source_channel", &format!("\"{channel}\""));
        let bought = Question::confirm(&merchant, &order).ask().await.expect(200);
        assert_eq!(bought.str("/channel"), channel);
    }
    let of_the_other = order("active_11_digit").with("source_channel", "\"POS\"");
    page.keep("a channel of the other surface", Question::confirm(&merchant, &of_the_other))
        .await
        .expect(400);
    pending(&mut page).await;
    page
}

async fn keys_are_not_read(page: &mut Page, merchant: &Merchant) {
    let order = merchant.order(env().scenario("active_11_digit"));
    let question = || Question::confirm(merchant, &order).with("Idempotency-Key", "till-7/31");
    let first = page.keep("an Idempotency-Key, which is not read", question()).await.expect(200);
    let second = question().ask().await.expect(200);
    assert_ne!(first.id(), second.id());
    let no_key = "k".repeat(200);
    Question::confirm(merchant, &order).with("Idempotency-Key", &no_key).ask().await.expect(200);
}

async fn key_change(page: &mut Page, merchant: &Merchant) {
    let meter = the_meter_that_changes_its_key().await;
    let order = merchant.order(*meter).amount("1150.00");
    let bought =
        page.keep("a change of key: three tokens", Question::confirm(merchant, &order)).await.expect(200);
    for (_, token) in bought.tokens() {
        SimulatorClient::new().enters(*meter, token).await.unwrap();
    }
}

async fn pending(page: &mut Page) {
    let plan = MerchantPlan {
        wallets: vec![WalletPlan::loaded("Wallet", Handling::Managed)],
        ..MerchantPlan::staging("FROZEN-MANAGED", "A shop that lets us settle")
    };
    let merchant = env().open_as(Surface::Current, plan).await;
    let meter = known_meter(0);
    SimulatorClient::new().will(&meter, &json!({ "fault": "drop_after" })).await;
    let order = merchant.order(&meter).reference("frozen-1");
    let pending =
        page.keep("a managed account, in doubt", Question::confirm(&merchant, &order)).await.expect(200);
    let busy = merchant.order(env().scenario("busy")).reference("frozen-2");
    page.keep("a managed account, to be tried again", Question::confirm(&merchant, &busy)).await.expect(200);
    let found = merchant.retry_until_settled(&meter, "frozen-1").await.expect(200);
    assert_eq!(found.id(), pending.id());
}

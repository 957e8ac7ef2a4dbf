//! Refusals of a provider: what they are about, which provider they come from, and whether the same request may
//! succeed later.

use acceptance::surface::Surface;
use purchase::Handling;
use reqwest::Method;
use sandbox::WalletPlan;
use serde_json::{Value, json};

use crate::{
    env::env, merchant::Merchant, request_body::RequestBody, simulator::SimulatorClient, wire::Answer,
};

/// A generic refusal of XMLVend that its gateway marks as temporary.
fn temporary() -> Value {
    json!({ "fault": "refuse", "exception": "BusinessRuleEx", "text": "Vending is temporarily suspended" })
}

fn airtime(merchant: &Merchant, phone: &str) -> RequestBody {
    merchant.order(phone).with("product_type", "\"AIRTIME\"").with("provider_code", "\"RELOADLY\"")
}

#[tokio::test]
async fn a_generic_refusal_is_retryable_where_the_provider_hinted_so_and_nowhere_else() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    for (text, retryable) in [("Vending is temporarily suspended", true), ("No sale to this tariff", false)] {
        let meter = env().meter();
        let line = json!({ "fault": "refuse", "exception": "BusinessRuleEx", "text": text });
        simulator.will(&meter, &line).await;
        let refused = merchant.confirm(&merchant.order(&meter)).await;
        assert_eq!(refused.refusal(), (422, "provider_error", None));
        assert_eq!(refused.body["error"]["retryable"], retryable, "{}", refused.text);
        assert!(refused.sentence().ends_with(text), "{}", refused.text);
        merchant.confirm_afresh(&merchant.order(&meter)).await.expect(200);
    }
    merchant.has_spent(&["BWP 101.50"; 2]).await;
}

#[tokio::test]
async fn a_generic_refusal_of_airtime_is_retryable_where_the_provider_hinted_so() {
    let (merchant, simulator, phone) = (env().open_merchant().await, SimulatorClient::new(), "26771000091");
    merchant.may_buy_for(phone).await;
    for (text, retryable) in [("Amounts are temporarily restricted", true), ("Not this amount", false)] {
        let line = json!({ "fault": "refuse", "exception": "INVALID_AMOUNT", "text": text });
        simulator.will(phone, &line).await;
        let refused = merchant.confirm(&airtime(&merchant, phone)).await;
        assert_eq!(refused.refusal(), (422, "provider_error", None));
        assert_eq!(refused.body["error"]["retryable"], retryable, "{}", refused.text);
    }
}

#[tokio::test]
async fn a_generic_refusal_that_is_temporary_frees_its_idempotency_key() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &temporary()).await;
    let order = merchant.order(&meter).body();
    let confirm = async || {
        let headers = [("Idempotency-Key", "temporary-1")];
        merchant.send(Method::POST, "/public/v1/purchases/confirm", Some(&order), &headers).await
    };
    let refused = confirm().await;
    assert_eq!(refused.refusal(), (422, "provider_error", None));
    let mut again = confirm().await;
    crate::env::eventually("the key is free again", async || {
        if again.status == 409 {
            again = confirm().await;
        }
        again.status != 409
    })
    .await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (200, None), "{}", again.text);
    merchant.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test]
async fn a_managed_purchase_that_is_refused_temporarily_waits_for_another_attempt() {
    let merchant = env().open_merchant_with(WalletPlan::loaded("Wallet", Handling::Managed)).await;
    let (simulator, meter) = (SimulatorClient::new(), env().meter());
    simulator.will(&meter, &temporary()).await;
    let pending = merchant.confirm(&merchant.order(&meter)).await.expect(200);
    assert_eq!(pending.str("/status"), "PENDING");
    assert_eq!(merchant.newest_state(), "RETRY_DUE");
}

#[tokio::test]
async fn a_disconnected_meter_is_not_called_unknown_in_any_language_on_any_surface() {
    for surface in Surface::ALL {
        let merchant = env().open_merchant_on(surface).await;
        for (language, disconnected, unknown) in [
            ("en-BW", "The provider has disconnected this meter", "The provider does not know this meter"),
            ("fr-FR", "Le fournisseur a déconnecté ce compteur", "Le fournisseur ne connaît pas ce compteur"),
            ("pt-MZ", "O fornecedor desligou este contador", "O fornecedor não conhece este contador"),
        ] {
            for (scenario, expected) in [("disconnected", disconnected), ("not_found", unknown)] {
                let order =
                    merchant.order(env().scenario(scenario)).with("language", &format!("\"{language}\""));
                for refused in [merchant.validate(&order).await, merchant.confirm(&order).await] {
                    assert_eq!(refused.refusal(), (404, "meter_not_found", None));
                    assert!(refused.sentence().starts_with(expected), "{}", refused.text);
                }
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_about_a_phone_speaks_of_a_phone() {
    let merchant = env().open_merchant().await;
    let speaks_of_a_phone = |refused: &Answer, code: (u16, &str, Option<&str>)| {
        assert_eq!(refused.refusal(), code);
        let sentence = refused.sentence().to_lowercase();
        assert!(sentence.contains("phone number") && !sentence.contains("meter"), "{}", refused.text);
    };
    let unknown = airtime(&merchant, env().info().subscribers.airtime["invalid"]);
    speaks_of_a_phone(&merchant.validate(&unknown).await, (404, "meter_not_found", None));
    speaks_of_a_phone(&merchant.confirm(&unknown).await, (404, "meter_not_found", None));
    let not_allowed = airtime(&merchant, "26771000092");
    let code = (403, "meter_not_allowed", Some("subscriber_identifier"));
    speaks_of_a_phone(&merchant.validate(&not_allowed).await, code);
    speaks_of_a_phone(&merchant.confirm(&not_allowed).await, code);
}

#[tokio::test]
async fn a_refusal_without_the_providers_wording_names_the_provider() {
    for surface in Surface::ALL {
        let merchant = env().open_merchant_on(surface).await;
        // The gateway answers that this customer may not buy, without a reason.
        let order = merchant.order(env().scenario("purchases_blocked"));
        for refused in [merchant.validate(&order).await, merchant.confirm(&order).await] {
            assert_eq!(refused.refusal(), (422, "meter_blocked", None));
            let ending = "This is a refusal of BPC, which gave no reason.";
            assert!(refused.sentence().ends_with(ending), "{}", refused.text);
        }
    }
}

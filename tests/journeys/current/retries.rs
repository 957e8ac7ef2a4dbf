//! The answers of retry about a purchase.

use std::sync::Arc;

use acceptance::surface::Surface;
use clock::SystemClock;
use identity::{AuditContext, Onboarding, Role, SystemEntropy, UserDetails};
use purchase::Handling;
use sandbox::{MerchantPlan, WalletPlan};
use serde_json::json;

use super::page::{Page, Question};
use crate::{
    env::{env, known_meter},
    merchant::Merchant,
    request_body::RequestBody,
    simulator::SimulatorClient,
};

fn asked<'a>(merchant: &'a Merchant, meter: &str, reference: &str) -> Question<'a> {
    Question::retry(merchant, &RequestBody::retry_on(Surface::Current, meter, reference))
}

pub async fn page() -> Page {
    let mut page = Page::new("retry");
    let merchant =
        env().open_as(Surface::Current, MerchantPlan::staging("FROZEN-RETRIES", "A frozen shop")).await;
    bought(&mut page, &merchant).await;
    failed(&mut page, &merchant).await;
    doubtful(&mut page, &merchant).await;
    let unknown = asked(&merchant, env().scenario("active_11_digit"), "nobody-1");
    page.keep("a reference that nobody used", unknown).await.expect(404);
    managed(&mut page).await;
    page
}

async fn bought(page: &mut Page, merchant: &Merchant) {
    let meter = env().scenario("active_11_digit");
    let order = merchant.order(meter).reference("bought-1");
    let bought = merchant.confirm(&order).await.expect(200);
    let told = page.keep("a purchase that succeeded", asked(merchant, meter, "bought-1")).await.expect(200);
    assert_eq!(told.text, bought.text);
    let every_field = RequestBody::retry_on(Surface::Current, meter, "bought-1")
        .with("date", "\"2026-11-20 13:00:00\"")
        .with("source_tag", "\"gateway 7\"");
    let told = page.keep("every field", Question::retry(merchant, &every_field)).await.expect(200);
    assert_eq!(told.text, bought.text);
    let colleague = hired(merchant).await;
    page.keep("a colleague's purchase", asked(&colleague, meter, "bought-1")).await.expect(200);
}

/// Another user of the same organisation.
async fn hired(merchant: &Merchant) -> Merchant {
    let office = env().sandbox.office();
    let onboarding =
        Onboarding::new(office.store().database().clone(), Arc::new(SystemClock), Arc::new(SystemEntropy));
    let details = UserDetails {
        username: "second-till".to_owned(),
        password: merchant.credentials.secret_pass.as_str().into(),
        full_name: "The second till".to_owned(),
        phone_number: None,
        email: None,
        role: Role::Integrator,
    };
    let act = AuditContext { actor: "a test".to_owned(), reason: "it sells a lot".to_owned() };
    onboarding.create_user(&merchant.code, details, act).await.unwrap();
    let mut colleague = merchant.on(Surface::Current);
    "second-till".clone_into(&mut colleague.credentials.identifier);
    let session = colleague.post("/auth/login", &colleague.login_body()).await.expect(200);
    session.str("/access_token").clone_into(&mut colleague.access_token);
    colleague
}

async fn failed(page: &mut Page, merchant: &Merchant) {
    for (title, scenario, at_first) in [
        ("a purchase that met a busy provider", "busy", 422),
        ("a purchase that was refused", "account_blocked", 422),
        ("a purchase that our credit did not cover", "credit_exhausted", 502),
        ("a purchase that was taken for a repetition", "duplicate", 409),
    ] {
        let meter = env().scenario(scenario);
        merchant.confirm(&merchant.order(meter).reference("failed-1")).await.expect(at_first);
        assert!(page.keep(title, asked(merchant, meter, "failed-1")).await.status < 500);
    }
}

async fn doubtful(page: &mut Page, merchant: &Merchant) {
    let (simulator, meter) = (SimulatorClient::new(), known_meter(1));
    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    simulator.will(&meter, &json!({ "fault": "drop_before", "operation": "enquiry" })).await;
    let order = merchant.order(&meter).reference("lost-1");
    page.keep("a confirm whose outcome is not known", Question::confirm(merchant, &order)).await.expect(504);
    page.keep("a provider that cannot be asked", asked(merchant, &meter, "lost-1")).await.expect(504);
    page.keep("a confirm meanwhile", Question::confirm(merchant, &order)).await.expect(409);
    merchant.retry_until_settled(&meter, "lost-1").await.expect(200);
    page.keep("a purchase that was found", asked(merchant, &meter, "lost-1")).await.expect(200);
}

async fn managed(page: &mut Page) {
    let plan = MerchantPlan {
        wallets: vec![WalletPlan::loaded("Wallet", Handling::Managed)],
        ..MerchantPlan::staging("FROZEN-MANAGED-RETRIES", "A shop that lets us settle")
    };
    let merchant = env().open_as(Surface::Current, plan).await;
    let meter = env().scenario("busy");
    merchant.confirm(&merchant.order(meter).reference("managed-1")).await.expect(200);
    page.keep("a purchase that is to be tried again", asked(&merchant, meter, "managed-1")).await.expect(409);
    let switched = format!("UPDATE accounts SET retries_enabled = false WHERE id = {}", merchant.account);
    env().asks_the_database(&switched);
    page.keep("retries are switched off", asked(&merchant, meter, "managed-1")).await.expect(403);
}

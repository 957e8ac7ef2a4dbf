//! What retry says of a purchase.

use std::sync::Arc;

use acceptance::surface::Surface;
use clock::SystemClock;
use identity::{Act, Onboarding, Role, SystemEntropy, UserDetails};
use purchase::Handling;
use sandbox::{ShopPlan, WalletPlan};
use serde_json::json;

use super::page::{Page, Question};
use crate::{
    order::Order,
    shop::Shop,
    street::Street,
    town::{known_meter, town},
};

fn asked<'a>(shop: &'a Shop, meter: &str, reference: &str) -> Question<'a> {
    Question::retry(shop, &Order::retry_on(Surface::Current, meter, reference))
}

pub async fn page() -> Page {
    let mut page = Page::new("retry");
    let shop = town().open_as(Surface::Current, ShopPlan::staging("FROZEN-RETRIES", "A frozen shop")).await;
    bought(&mut page, &shop).await;
    failed(&mut page, &shop).await;
    doubtful(&mut page, &shop).await;
    let nobody = asked(&shop, town().scenario("active_11_digit"), "nobody-1");
    page.keep("a reference that nobody used", nobody).await.expect(404);
    managed(&mut page).await;
    page
}

async fn bought(page: &mut Page, shop: &Shop) {
    let meter = town().scenario("active_11_digit");
    let order = shop.order(meter).reference("bought-1");
    let bought = shop.confirm(&order).await.expect(200);
    let told = page.keep("a purchase that succeeded", asked(shop, meter, "bought-1")).await.expect(200);
    assert_eq!(told.text, bought.text);
    let every_field = Order::retry_on(Surface::Current, meter, "bought-1")
        .with("date", "\"2026-11-20 13:00:00\"")
        .with("source_tag", "\"gateway 7\"");
    let told = page.keep("every field", Question::retry(shop, &every_field)).await.expect(200);
    assert_eq!(told.text, bought.text);
    let colleague = hired(shop).await;
    page.keep("a colleague's purchase", asked(&colleague, meter, "bought-1")).await.expect(200);
}

/// Another till of the same organisation.
async fn hired(shop: &Shop) -> Shop {
    let office = town().sandbox.office();
    let onboarding = Onboarding::new(office.store().clone(), Arc::new(SystemClock), Arc::new(SystemEntropy));
    let details = UserDetails {
        username: "second-till".to_owned(),
        password: shop.credentials.secret_pass.as_str().into(),
        full_name: "The second till".to_owned(),
        phone_number: None,
        email: None,
        role: Role::Integrator,
    };
    let act = Act { actor: "a test".to_owned(), reason: "it sells a lot".to_owned() };
    onboarding.create_user(&shop.code, details, act).await.unwrap();
    let mut colleague = shop.on(Surface::Current);
    "second-till".clone_into(&mut colleague.credentials.identifier);
    let session = colleague.post("/auth/login", &colleague.login_body()).await.expect(200);
    session.str("/access_token").clone_into(&mut colleague.access_token);
    colleague
}

async fn failed(page: &mut Page, shop: &Shop) {
    for (title, scenario, at_first) in [
        ("a purchase that met a busy provider", "busy", 422),
        ("a purchase that was refused", "account_blocked", 422),
        ("a purchase that our credit did not cover", "credit_exhausted", 502),
        ("a purchase that was taken for a repetition", "duplicate", 409),
    ] {
        let meter = town().scenario(scenario);
        shop.confirm(&shop.order(meter).reference("failed-1")).await.expect(at_first);
        assert!(page.keep(title, asked(shop, meter, "failed-1")).await.status < 500);
    }
}

async fn doubtful(page: &mut Page, shop: &Shop) {
    let (street, meter) = (Street::new(), known_meter(1));
    street.will(&meter, &json!({ "fault": "drop_after" })).await;
    street.will(&meter, &json!({ "fault": "drop_before", "operation": "enquiry" })).await;
    let order = shop.order(&meter).reference("lost-1");
    page.keep("a confirm whose outcome is not known", Question::confirm(shop, &order)).await.expect(504);
    page.keep("a provider that cannot be asked", asked(shop, &meter, "lost-1")).await.expect(504);
    page.keep("a confirm meanwhile", Question::confirm(shop, &order)).await.expect(409);
    shop.retry_until_settled(&meter, "lost-1").await.expect(200);
    page.keep("a purchase that was found", asked(shop, &meter, "lost-1")).await.expect(200);
}

async fn managed(page: &mut Page) {
    let plan = ShopPlan {
        wallets: vec![WalletPlan::loaded("Wallet", Handling::Managed)],
        ..ShopPlan::staging("FROZEN-MANAGED-RETRIES", "A shop that lets us settle")
    };
    let shop = town().open_as(Surface::Current, plan).await;
    let meter = town().scenario("busy");
    shop.confirm(&shop.order(meter).reference("managed-1")).await.expect(200);
    page.keep("a purchase that is to be tried again", asked(&shop, meter, "managed-1")).await.expect(409);
    let switched = format!("UPDATE accounts SET retries_enabled = false WHERE id = {}", shop.account);
    town().asks_the_database(&switched);
    page.keep("retries are switched off", asked(&shop, meter, "managed-1")).await.expect(403);
}

//! Every code of the table in every language.

use std::thread;

use acceptance::surface::Surface;
use purchase::Handling;
use reqwest::Method;
use sandbox::{MerchantPlan, WalletPlan};
use serde_json::json;

use super::page::{Page, Question};
use crate::{
    env::{another_env, env, eventually, known_meter},
    merchant::Merchant,
    request_body::RequestBody,
    simulator::SimulatorClient,
};

/// The utility's answers to a check, and our codes for them.
const FAULTS: [(&str, &str, &str); 10] = [
    ("UnknownMeterEx", "Meter not found", "meter_not_found"),
    ("BlockedMeterEx", "Meter is blocked", "meter_blocked"),
    ("STSDataEx", "No token for this meter type", "meter_unsupported"),
    ("BusinessRuleEx", "Amount below minimum vend", "amount_below_minimum"),
    ("BusinessRuleEx", "The amount cannot exceed 5", "amount_above_maximum"),
    ("BusinessRuleEx", "Duplicate sale", "duplicate_request"),
    ("BusinessRuleEx", "Busy, please try again", "provider_busy"),
    ("BusinessRuleEx", "Not on a Sunday", "provider_error"),
    ("RequestAuthorisationEx", "Who are you", "upstream_error"),
    ("VendorCreditEx", "Vendor credit is exhausted", "merchant_credit_exhausted"),
];

/// Longer than a provider's check may take.
const TOO_LONG_MS: u64 = 12_000;

async fn merchant(code: &str) -> Merchant {
    env().open_as(Surface::Current, MerchantPlan::staging(code, "A frozen shop")).await
}

pub async fn of_requests() -> Page {
    let mut page = Page::new("refused-requests");
    let merchant = merchant("FROZEN-REQUESTS").await;
    let right = merchant.order(env().scenario("active_11_digit"));
    let with = |name, value| right.clone().with(name, value);
    for (code, order) in [
        ("missing_field", right.clone().without("meter_number")),
        ("invalid_argument", with("currency", "\"pula\"")),
        ("invalid_msisdn", with("beneficiary_phone_number", "\"2677\"")),
        ("invalid_meter_number", with("meter_number", "\"0700001001X\"")),
        ("invalid_amount", with("amount", "0")),
        ("amount_below_charges", with("amount", "1.00").with("charges_on_top_flag", "false")),
        ("meter_not_allowed", with("meter_number", "\"09990000008\"")),
        ("resource_not_found", with("debited_account_id", "999999999")),
    ] {
        let ask = async |language| Question::validate(&merchant, &order).speaking(language).ask().await;
        page.keep_in_each_language(code, ask).await;
    }
    details(&mut page, &merchant, &right).await;
    let dear = right.clone().amount("2000000");
    let poor = async |language| Question::confirm(&merchant, &dear).speaking(language).ask().await;
    page.keep_in_each_language("insufficient_balance", poor).await;
    let question = RequestBody::retry_on(Surface::Current, env().scenario("active_11_digit"), "nobody-1");
    let unknown = async |language| Question::retry(&merchant, &question).speaking(language).ask().await;
    page.keep_in_each_language("transaction_not_found", unknown).await;
    page
}

/// Special cases of an invalid field.
async fn details(page: &mut Page, merchant: &Merchant, right: &RequestBody) {
    let long = format!("\"{}\"", "x".repeat(101));
    for (title, name, value) in [
        ("a text that is none", "meter_number", "7000010012"),
        ("an account that is none", "debited_account_id", "\"1\""),
        ("a flag that is none", "hard_validate", "\"yes\""),
        ("a date of another form", "date", "\"2026-11-20T13:00:00Z\""),
        ("a tag that is too long", "source_tag", long.as_str()),
        ("a language that is none", "language", "\"!\""),
        ("another currency than the account's", "currency", "\"USD\""),
        ("an amount in quotes", "amount", "\"100.00\""),
        ("an amount that is too fine", "amount", "0.001"),
        ("an amount that is too large", "amount", "1234567890123"),
        ("a meter number with a control character", "meter_number", "\"07000010012\\u0007\""),
        ("a meter number that is no identifier", "meter_number", "\"07#0000#10012\""),
    ] {
        let order = right.clone().with(name, value);
        let refused = page.keep(title, Question::validate(merchant, &order)).await;
        assert_eq!(refused.status, 400, "{title}: {}", refused.text);
    }
    let twice = right.clone().with_another("amount", "1.00");
    page.keep("a field twice", Question::validate(merchant, &twice)).await.expect(400);
    let question = RequestBody::retry_on(Surface::Current, "07000010012", "nobody-1");
    for (title, name, value) in [
        ("a question with no text for a meter number", "meter_number", "[]"),
        ("a question about a meter number that is no identifier", "meter_number", "\"07#0000#10012\""),
        ("a question without a reference", "external_reference", "null"),
        ("a question with a date of another form", "date", "\"yesterday\""),
    ] {
        let question = question.clone().with(name, value);
        page.keep(title, Question::retry(merchant, &question)).await.expect(400);
    }
}

pub async fn of_providers() -> Page {
    let mut page = Page::new("refused-by-providers");
    let (merchant, simulator) = (merchant("FROZEN-PROVIDERS").await, SimulatorClient::new());
    let mut meters = (10..).map(known_meter);
    for (exception, text, code) in FAULTS {
        let fault = json!({ "fault": "refuse", "operation": "check", "exception": exception, "text": text });
        let ask = async |language| {
            let meter = meters.next().unwrap();
            simulator.will(&meter, &fault).await;
            Question::validate(&merchant, &merchant.order(&meter)).speaking(language).ask().await
        };
        page.keep_in_each_language(code, ask).await;
    }
    let away = json!({ "fault": "drop_before", "operation": "check" });
    let ask = async |language| {
        let meter = meters.next().unwrap();
        simulator.will(&meter, &away).await;
        Question::validate(&merchant, &merchant.order(&meter)).speaking(language).ask().await
    };
    page.keep_in_each_language("provider_unavailable", ask).await;
    scenarios(&mut page, &merchant).await;
    let unknown = async |language| {
        let meter = meters.next().unwrap();
        simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
        let order = merchant.order(&meter).reference("lost-1");
        let lost = Question::confirm(&merchant, &order).speaking(language).ask().await;
        merchant.retry_until_settled(&meter, "lost-1").await.expect(200);
        lost
    };
    page.keep_in_each_language("provider_timeout", unknown).await;
    let slow = known_meter(2);
    let late = json!({ "fault": "delay_before", "operation": "check", "delay_ms": TOO_LONG_MS });
    simulator.will(&slow, &late).await;
    let order = merchant.order(&slow);
    page.keep("a quote that did not come in time", Question::validate(&merchant, &order)).await.expect(504);
    page
}

/// The provider's refusals of the sandbox meters, and an exhausted provider credit.
async fn scenarios(page: &mut Page, merchant: &Merchant) {
    for (scenario, amount) in [
        ("blocked_customer", "100.00"),
        ("not_found", "100.00"),
        ("debt_unpaid", "100.00"),
        ("account_blocked", "100.00"),
        ("fixed_charge", "1000.00"),
        ("maximum_vend", "100000.01"),
        ("busy", "100.00"),
        ("unsupported_meter", "100.00"),
        ("credit_exhausted", "100.00"),
        ("duplicate", "100.00"),
    ] {
        let order = merchant.order(env().scenario(scenario)).amount(amount);
        let refused = page.keep(&format!("the meter {scenario}"), Question::confirm(merchant, &order)).await;
        assert!(refused.status >= 400, "{}", refused.text);
    }
}

pub async fn by_the_service() -> Page {
    let mut page = Page::new("refused-by-the-house");
    let merchant = merchant("FROZEN-HOUSE").await;
    let mut unauthenticated = merchant.on(Surface::Current);
    unauthenticated.access_token.clear();
    without_access(&mut page, &merchant, &unauthenticated).await;
    without_a_provider(&mut page).await;
    managed(&mut page).await;
    too_fast(&mut page, &merchant).await;
    broken(&mut page).await;
    page
}

async fn without_access(page: &mut Page, merchant: &Merchant, unauthenticated: &Merchant) {
    let order = merchant.order(env().scenario("active_11_digit"));
    let unauthenticated =
        async |language| Question::validate(unauthenticated, &order).speaking(language).ask().await;
    page.keep_in_each_language("invalid_credentials", unauthenticated).await;
    let plan =
        MerchantPlan { role: identity::Role::Viewer, ..MerchantPlan::staging("FROZEN-LOOKER", "A shop") };
    let viewer = env().open_as(Surface::Current, plan).await;
    let viewer = async |language| Question::confirm(&viewer, &order).speaking(language).ask().await;
    page.keep_in_each_language("missing_permission", viewer).await;
    let deletes = async |language| {
        Question::get(merchant, "/auth/me").by(Method::DELETE).speaking(language).ask().await
    };
    page.keep_in_each_language("method_not_allowed", deletes).await;
}

async fn without_a_provider(page: &mut Page) {
    let merchant = merchant("FROZEN-WITHOUT").await;
    let organisation = merchant.organisation;
    env().asks_the_database(&format!("DELETE FROM default_providers WHERE organisation_id = {organisation}"));
    let order = merchant.order(env().scenario("active_11_digit"));
    let ask = async |language| Question::validate(&merchant, &order).speaking(language).ask().await;
    page.keep_in_each_language("forbidden", ask).await;
    let confirm = Question::confirm(&merchant, &order);
    page.keep("an organisation without a default provider", confirm).await.expect(403);
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

async fn managed(page: &mut Page) {
    let plan = MerchantPlan {
        wallets: vec![WalletPlan::loaded("Wallet", Handling::Managed)],
        ..MerchantPlan::staging("FROZEN-PENDING", "A shop that lets us settle")
    };
    let merchant = env().open_as(Surface::Current, plan).await;
    let meter = env().scenario("busy");
    merchant.confirm(&merchant.order(meter).reference("managed-1")).await.expect(200);
    let question = RequestBody::retry_on(Surface::Current, meter, "managed-1");
    let ask = async |language| Question::retry(&merchant, &question).speaking(language).ask().await;
    page.keep_in_each_language("transaction_pending", ask).await;
    let switched = format!("UPDATE accounts SET retries_enabled = false WHERE id = {}", merchant.account);
    env().asks_the_database(&switched);
    page.keep_in_each_language("retries_disabled", ask).await;
}

async fn too_fast(page: &mut Page, merchant: &Merchant) {
    let one_a_second =
        [("VENDGATE__WEB__LIMITS__CLIENT__PER_SECOND", "1"), ("VENDGATE__WEB__LIMITS__CLIENT__BURST", "1")];
    let strict = env().another_api_server_with("server-that-is-frozen", &one_a_second);
    let merchant = merchant.calling(strict.url());
    let me = |language| Question::get(&merchant, "/auth/me").speaking(language);
    let ask = async |language| {
        let mut last = me(language).ask().await;
        eventually("the client is told to wait", async || {
            if last.status != 429 {
                last = me(language).ask().await;
            }
            last.status == 429
        })
        .await;
        last
    };
    page.keep_in_each_language("rate_limited", ask).await;
    page.keep_answer("a client that comes too often", &me("en"), &ask("en").await);
}

/// A server whose tables are missing.
async fn broken(page: &mut Page) {
    let (sandbox, opened) = thread::spawn(|| another_env("frozen-and-broken")).join().unwrap();
    let merchant = Merchant::log_in_on(Surface::Current, opened, &sandbox.info().base_url).await;
    sandbox.database().run_sql("ALTER TABLE organisations RENAME TO gone").unwrap();
    let me = |language| Question::get(&merchant, "/auth/me").speaking(language);
    page.keep_in_each_language("internal_error", async |language| me(language).ask().await).await;
    drop(merchant);
    thread::spawn(move || sandbox.stop(|| true)).join().unwrap();
}

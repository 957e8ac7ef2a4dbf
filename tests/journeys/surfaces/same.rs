//! The same purchases over both surfaces.

use acceptance::surface::Surface;
use futures_util::future::join_all;
use purchase::Handling;
use reqwest::Method;
use sandbox::WalletPlan;
use serde_json::{Value, json};

use super::{Pair, entered, order};
use crate::{
    env::{env, eventually},
    key_change::the_meter_that_changes_its_key,
    merchant::Merchant,
    simulator::SimulatorClient,
    staging_table::amounts_by_scenario,
    wire::Answer,
};

const HANDLINGS: [Handling; 2] = [Handling::SelfManaged, Handling::Managed];

fn wallet(handling: Handling) -> WalletPlan {
    WalletPlan::loaded("Wallet", handling)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_ends_on_both_surfaces_with_the_same_answers_money_and_records() {
    let scenarios: Vec<_> = amounts_by_scenario()
        .into_iter()
        // Its answers alternate, and another test uses them.
        .filter(|(scenario, _amounts)| *scenario != "busy_then_ok")
        .collect();
    let in_every_third = async |handling, first| {
        let pair = Pair::open(wallet(handling)).await;
        for (scenario, amounts) in scenarios.iter().skip(first).step_by(3) {
            let what = format!("{scenario}, {handling:?}");
            let meter = env().scenario(scenario);
            pair.both_do(&what, async |merchant| bought(merchant, meter, amounts).await).await;
        }
    };
    // Some scenarios wait for a timeout. Meanwhile other merchants buy in other scenarios.
    let thirds = HANDLINGS.into_iter().flat_map(|handling| [0, 1, 2].map(|first| (handling, first)));
    join_all(thirds.map(|(handling, first)| in_every_third(handling, first))).await;
}

/// Validate, confirm and retry for each amount.
async fn bought(merchant: &Merchant, meter: &str, amounts: &[&str]) -> Vec<Answer> {
    let mut told = Vec::new();
    for amount in amounts {
        let order = order(merchant, meter).amount(amount);
        told.push(merchant.validate(&order).await);
        let confirmed = merchant.confirm_afresh(&order).await;
        if confirmed.status == 200 && confirmed.str("/status") == "SUCCESSFUL" {
            entered(meter, &confirmed).await;
        }
        told.push(confirmed);
        told.push(merchant.retry(meter, "both-1").await);
    }
    told
}

#[tokio::test]
async fn a_change_of_key_has_the_same_three_tokens_in_the_same_order() {
    let meter = the_meter_that_changes_its_key().await;
    let pair = Pair::open(wallet(Handling::SelfManaged)).await;
    let told =
        pair.both_do("key change", async |merchant| bought(merchant, *meter, &["1150.00"]).await).await;
    assert_eq!(told[1].tokens().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_went_wrong_on_the_way_is_settled_alike_by_retry() {
    let faults = [
        ("drop_after", None),
        ("drop_before", None),
        ("wrong_amount", None),
        ("no_token", None),
        ("garbage", None),
        ("http_500_after", None),
        ("drop_after", Some("drop_before")),
    ];
    let with_each_fault = async |handling| {
        let pair = Pair::open(wallet(handling)).await;
        for (fault, unasked) in faults {
            let (what, meter) = (format!("{fault}, {unasked:?}, {handling:?}"), env().meter());
            pair.both_do(&what, async |merchant| lost_and_found(merchant, &meter, fault, unasked).await)
                .await;
        }
    };
    join_all(HANDLINGS.map(with_each_fault)).await;
}

async fn lost_and_found(merchant: &Merchant, meter: &str, fault: &str, unasked: Option<&str>) -> Vec<Answer> {
    let simulator = SimulatorClient::new();
    let before = simulator.vended(meter).await;
    simulator.will(meter, &json!({ "fault": fault })).await;
    let mut told = vec![merchant.confirm(&order(merchant, meter)).await];
    if let Some(fault) = unasked {
        simulator.will(meter, &json!({ "fault": fault, "operation": "enquiry" })).await;
        told.push(merchant.retry(meter, "both-1").await);
    }
    told.push(merchant.confirm(&order(merchant, meter)).await);
    let found = merchant.retry_until_settled(meter, "both-1").await.expect(200);
    entered(meter, &found).await;
    told.extend([found, merchant.retry(meter, "both-1").await]);
    for (meter, reference) in [(meter, "both-2"), ("07000010012", "both-1")] {
        told.push(merchant.retry(meter, reference).await);
    }
    assert_eq!(simulator.vended(meter).await, before + 1);
    told
}

#[tokio::test]
async fn a_provider_that_is_busy_at_first_is_bought_from_later_alike() {
    for handling in HANDLINGS {
        let (pair, meter) = (Pair::open(wallet(handling)).await, env().meter());
        let journey = async |merchant: &Merchant| {
            SimulatorClient::new().will(&meter, &json!({ "fault": "busy" })).await;
            let order = order(merchant, &meter);
            let mut told = vec![merchant.confirm(&order).await, merchant.retry(&meter, "both-1").await];
            if handling == Handling::SelfManaged {
                told.extend([merchant.confirm_afresh(&order).await, merchant.retry(&meter, "both-1").await]);
            }
            told
        };
        pair.both_do("busy at first", journey).await;
    }
}

#[tokio::test]
async fn where_retries_are_switched_off_both_surfaces_say_so() {
    for handling in HANDLINGS {
        let (pair, meter) = (Pair::open(wallet(handling)).await, env().meter());
        let journey = async |merchant: &Merchant| {
            let switch = |on: bool| {
                let switched =
                    format!("UPDATE accounts SET retries_enabled = {on} WHERE id = {}", merchant.account);
                env().asks_the_database(&switched);
            };
            SimulatorClient::new().will(&meter, &json!({ "fault": "drop_after" })).await;
            let confirmed = merchant.confirm(&order(merchant, &meter)).await;
            switch(false);
            let refused = merchant.retry(&meter, "both-1").await;
            assert_eq!(refused.refusal(), (403, "retries_disabled", None));
            switch(true);
            vec![confirmed, refused, merchant.retry_until_settled(&meter, "both-1").await]
        };
        pair.both_do("retries switched off", journey).await;
    }
}

#[tokio::test]
async fn charges_flags_comments_and_languages_are_stored_alike() {
    let (pair, meter) = (Pair::open(wallet(Handling::SelfManaged)).await, env().meter());
    let journey = async |merchant: &Merchant| {
        let order = order(merchant, &meter);
        let mut told = Vec::new();
        for (name, value) in [
            ("charges_on_top_flag", "false"),
            ("comment", "\"for the workshop\""),
            ("language", "\"fr-BW\""),
            ("beneficiary_phone_number", "\"+26771234567\""),
            ("send_requester_sms", "false"),
            ("send_beneficiary_sms", "false"),
            ("send_requester_email", "false"),
            ("send_beneficiary_email", "false"),
            ("source_channel", "\"BATCH\""),
            ("source_channel", "\"USSD\""),
            ("source_channel", "\"SMART_APP\""),
        ] {
            let order = order.clone().with(name, value);
            told.extend([
                merchant.validate(&order).await.expect(200),
                merchant.confirm(&order).await.expect(200),
            ]);
        }
        told
    };
    pair.both_do("fields that may be left out", journey).await;
    let flags = format!(
        "SELECT count(DISTINCT (requester_sms, beneficiary_sms, requester_email, beneficiary_email))
         FROM purchases WHERE organisation_id = {}",
        pair.both()[1].organisation
    );
    assert_eq!(env().asks_the_database(&flags), "5");
}

#[tokio::test]
async fn a_wallet_that_is_too_small_is_told_so_alike() {
    let small = WalletPlan { minor: 5_000, ..wallet(Handling::SelfManaged) };
    let (pair, meter) = (Pair::open(small).await, env().meter());
    let journey = async |merchant: &Merchant| {
        let order = order(merchant, &meter);
        vec![
            merchant.confirm(&order).await.expect(402),
            merchant.validate(&order).await.expect(200),
            merchant.confirm(&order.clone().amount("48.50")).await.expect(200),
            merchant.confirm(&order.amount("1.00")).await.expect(402),
        ]
    };
    pair.both_do("too small", journey).await;
    for merchant in pair.both() {
        assert_eq!(merchant.balance().await, "BWP 0.00");
    }
}

#[tokio::test]
async fn refusals_of_access_are_the_same_on_both_surfaces() {
    let (pair, meter) = (Pair::open(wallet(Handling::SelfManaged)).await, env().meter());
    let foreign = env().open_merchant().await.account.to_string();
    pair.both_do("a foreign account", async |merchant| {
        let order = order(merchant, &meter).with("debited_account_id", &foreign);
        vec![merchant.validate(&order).await.expect(404), merchant.confirm(&order).await.expect(404)]
    })
    .await;
    pair.both_do("an account that takes no debits", async |merchant| {
        let order = order(merchant, &meter).with("debited_account_id", &earned_by(merchant));
        vec![merchant.validate(&order).await.expect(403), merchant.confirm(&order).await.expect(403)]
    })
    .await;
    pair.both_do("a meter that is not allowed", async |merchant| {
        let order = order(merchant, "09990000008");
        vec![merchant.validate(&order).await.expect(403), merchant.confirm(&order).await.expect(403)]
    })
    .await;
    pair.both_do("an unauthenticated caller", async |merchant| {
        let mut unauthenticated = merchant.on(merchant.surface);
        unauthenticated.access_token.clear();
        everywhere(&unauthenticated, &meter).await
    })
    .await;
    pair.both_do("a suspended organisation", async |merchant| {
        let organisation = merchant.organisation;
        env().asks_the_database(&format!(
            "UPDATE organisations SET status = 'SUSPENDED' WHERE id = {organisation}"
        ));
        eventually("servers notice that an organisation is suspended", async || {
            merchant.get(merchant.surface.me()).await.status == 403
        })
        .await;
        everywhere(merchant, &meter).await
    })
    .await;
    let viewer = env().open_merchant_of_a_viewer().await;
    let (versioned, current) =
        (everywhere(&viewer, &meter).await, everywhere(&viewer.on(Surface::Current), &meter).await);
    for (one, other) in versioned.iter().zip(&current).skip(1) {
        super::told::assert_same("a viewer", one, other);
    }
}

fn earned_by(merchant: &Merchant) -> String {
    env().asks_the_database(&format!(
        "SELECT id FROM accounts WHERE category = 'COMMISSION' AND organisation_id = {}",
        merchant.organisation
    ))
}

/// Requests to every endpoint that both surfaces have, and one with an unsupported method.
async fn everywhere(merchant: &Merchant, meter: &str) -> Vec<Answer> {
    let order = order(merchant, meter);
    vec![
        merchant.send(Method::DELETE, merchant.surface.confirm(), None, &[]).await,
        merchant.validate(&order).await,
        merchant.confirm(&order).await,
        merchant.retry(meter, "both-1").await,
    ]
}

#[tokio::test]
async fn an_account_is_shown_alike() {
    let pair = Pair::open(wallet(Handling::SelfManaged)).await;
    let [versioned, current] = pair.both();
    let shown = |accounts: &Value| {
        let mut accounts = accounts.as_array().unwrap().clone();
        for account in &mut accounts {
            account["id"] = "a number".into();
        }
        accounts
    };
    let listed = versioned.get("/public/v1/accounts").await.expect(200);
    let me = current.get("/auth/me").await.expect(200);
    assert_eq!(shown(&listed.body), shown(&me.body["accounts"]));
    for same in ["actor", "role", "organisation"] {
        let of_versioned = versioned.get("/public/v1/auth/me").await.expect(200);
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&of_versioned.body[same]), names(&me.body[same]), "{same}");
    }
}

//! The whole sale without money: the provider makes a dummy sale, and nothing else changes.

use purchase::PurchaseRequest;
use vend::{Customer, Doubt, Refusal, RefusalReason, Unanswered};
use vending::{Quote, Rejection};

use crate::env::{METER, TestEnv, meter, pula, unchecked};

#[tokio::test]
async fn a_trial_asks_for_a_trial_alone_and_moves_and_stores_nothing() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let written = || ["purchases", "attempts", "journal_entries", "outbox"].map(|table| env.count(table));
    let before = written();

    let tried = merchant.tries("100.00").await.unwrap();

    assert_eq!((tried.price.net, tried.price.total), (pula("100.00"), pula("101.50")));
    assert_eq!(tried.units.map(|units| units.to_string()).as_deref(), Some("100.00 kWh"));
    env.utility.saw(["check", "trial"]);
    assert!(env.utility.vends().is_empty());
    assert_eq!(written(), before);
    merchant.has("200.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_trial_is_answered_as_a_quote_and_shares_its_check() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let named = Customer { name: Some("K. MOLEFE".into()), barred: None, minimum: None, maximum: None };
    env.utility.knows(meter(METER), named);
    let tried = merchant.tries("100.00").await.unwrap();
    let quoted = merchant.quotes("100.00").await.unwrap();
    assert_ne!((tried.id, &tried.reference), (quoted.id, &quoted.reference));
    assert_eq!(Quote { id: quoted.id, reference: quoted.reference.clone(), ..tried }, quoted);
    merchant.buys("100.00").await.unwrap();
    env.utility.saw(["check", "trial", "quote", "vend #1"]);
    env.closes().await;
}

#[tokio::test]
async fn a_trial_that_the_provider_does_not_pass_is_rejected() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    merchant.quotes("100.00").await.unwrap();
    for unanswered in [
        Unanswered::Refused(Refusal::because(RefusalReason::Blocked)),
        Unanswered::Unreachable,
        Unanswered::NoAnswer(Doubt::Mismatched),
    ] {
        env.utility.will_leave_unanswered([unanswered.clone()]);
        assert_eq!(merchant.tries("100.00").await, Err(unchecked(unanswered)));
    }
    env.utility.saw(["check", "quote", "trial", "trial", "trial"]);
    assert_eq!(env.count("purchases"), 0);
    merchant.has("200.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn what_cannot_be_bought_is_not_tried() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let elsewhere = PurchaseRequest { provider_code: "NOBODY".into(), ..merchant.request("100.00") };
    let tried = env.vending.trial(&merchant.authority, &elsewhere).await;
    assert_eq!(tried, Err(Rejection::UnknownProvider));
    let limited = Customer { name: None, barred: None, minimum: None, maximum: Some(pula("99.99")) };
    env.utility.knows(meter(METER), limited);
    let limit = Rejection::Limit { reason: RefusalReason::AboveMaximum, limit: pula("99.99") };
    assert_eq!(merchant.tries("100.00").await, Err(limit));
    env.utility.saw(["check"]);
    env.closes().await;
}

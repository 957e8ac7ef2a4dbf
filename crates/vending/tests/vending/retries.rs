//! Retry where there is nothing to ask the provider about: no purchase, no permission, no turn.

use std::time::Duration;

use futures_util::future::join_all;
use provider::scripted::NextEnquiry::Answers;
use provider::scripted::NextVend::{
    NeverArrives, Refuses, RefusesButReplyIsLost, VendsAndAnswersOnceOpened, VendsButReplyIsLost,
};
use provider::scripted::{Conduct, Latch};
use purchase::{PurchaseRequest, StateName};
use vend::{Enquiry, Product, Refusal, RefusalReason};
use vending::{ConfirmError, Rejection, RetryError, RetryScope};

use crate::env::{METER, Plan, REFERENCE, TestEnv, assert_rests, meter, until};

#[tokio::test]
async fn after_a_retry_of_nothing_the_reference_rests_for_a_minute_and_no_other_does() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    assert_eq!(merchant.retries().await, Err(RetryError::NotFound));

    let began_earlier = merchant.confirms_from(Duration::from_secs(10), merchant.request("100.00")).await;
    assert_rests(&began_earlier);
    assert_eq!(env.count("purchases"), 0);
    assert_eq!(merchant.retries().await, Err(RetryError::NotFound), "it stays true");

    assert_rests(&merchant.buys("100.00").await);

    let other =
        PurchaseRequest { external_reference: Some("till-3/0002".into()), ..merchant.request("100.00") };
    merchant.confirms_from(Duration::from_secs(10), other).await.unwrap();
    let nameless = PurchaseRequest { external_reference: None, ..merchant.request("100.00") };
    merchant.confirms_from(Duration::from_secs(10), nameless).await.unwrap();

    let later = merchant.buys_afresh("100.00").await.unwrap();
    assert_eq!(merchant.retries().await, Ok(later));
    merchant.has("195.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_final_answer_closes_the_reference_for_what_began_before_it() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    let bought = merchant.buys("100.00").await.unwrap();
    assert_eq!(merchant.retries().await, Ok(bought.clone()));
    let began_earlier = merchant.confirms_from(Duration::from_secs(10), merchant.request("100.00")).await;
    assert_rests(&began_earlier);
    assert_eq!(merchant.retries().await, Ok(bought), "it is still the newest");
    merchant.has("398.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_confirm_that_is_overtaken_by_a_retry_of_nothing_is_rejected() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let other = env.other_process().await;
    merchant.quotes("100.00").await.unwrap();
    env.wire.holds_back();
    let overtaken = async {
        until("it is about to reserve", || env.wire.held_back() == 1).await;
        assert_eq!(merchant.retries_at(&other.vending).await, Err(RetryError::NotFound));
        // However long its process is stopped before its transaction begins.
        env.clock.advance(Duration::from_secs(4));
        env.wire.lets_continue();
    };
    let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), overtaken);
    assert_rests(&confirmed);
    merchant.has("200.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_retry_does_not_find_a_purchase_of_another_organisation() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with("200.00").await, env.merchant_with("200.00").await);
    merchant.buys("100.00").await.unwrap();
    assert_eq!(other.retries().await, Err(RetryError::NotFound));
    env.closes().await;
}

#[tokio::test]
async fn on_the_current_surface_only_electricity_is_found() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    let electricity = merchant.buys("100.00").await.unwrap();
    let water = PurchaseRequest { product: Product::Water, ..merchant.request("50.00") };
    let water = merchant.confirms(water).await.unwrap();
    assert_eq!(merchant.retries_in(RetryScope::AnyProduct).await, Ok(water));
    assert_eq!(merchant.retries_in(RetryScope::ElectricityOnly).await, Ok(electricity));
    env.closes().await;
}

#[tokio::test]
async fn a_rejected_confirm_leaves_nothing_to_retry() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("50.00").await;
    assert!(matches!(
        merchant.buys("100.00").await,
        Err(ConfirmError::Rejected(Rejection::Insufficient { .. }))
    ));
    assert_eq!(merchant.retries().await, Err(RetryError::NotFound));
    env.closes().await;
}

#[tokio::test]
async fn retries_switched_off_for_account_or_provider_are_refused_while_it_is_open() {
    for table in ["accounts", "providers"] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with("200.00").await;
        env.utility.will([VendsButReplyIsLost]);
        merchant.is_left_in_doubt("100.00").await;
        env.sql(&format!("UPDATE {table} SET retries_enabled = false"));
        assert_eq!(merchant.retries().await, Err(RetryError::Disabled));
        env.utility.saw(["check", "vend #1"]);
        merchant.has("200.00", "101.50");

        env.sql(&format!("UPDATE {table} SET retries_enabled = true"));
        let settled = merchant.retries().await.unwrap();
        env.sql(&format!("UPDATE {table} SET retries_enabled = false"));
        assert_eq!(merchant.retries().await, Ok(settled), "a final outcome is answered anyway");
        env.closes().await;
    }
}

#[tokio::test]
async fn a_token_that_a_retry_finds_while_the_confirm_still_waits_for_it_is_told_at_once() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let retried_meanwhile = async {
        env.is_vending().await;
        let told = merchant.retries().await;
        answer.open();
        told
    };
    let (confirmed, told) = tokio::join!(merchant.buys("100.00"), retried_meanwhile);
    assert_eq!(confirmed.ok(), told.ok());
    env.utility.saw(["check", "vend #1", "enquire #1"]);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn whatever_else_a_retry_hears_while_the_confirm_still_waits_changes_nothing() {
    let env = TestEnv::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let refusal = Refusal::because(RefusalReason::Blocked);
    let heard = [Enquiry::NoRecord, Enquiry::Refused(refusal), Enquiry::StillOpen];
    env.utility.will_tell(heard.map(|heard| Answers(Box::new(heard))));
    let retried_meanwhile = async {
        env.is_vending().await;
        for _ in 0..3 {
            // Otherwise a quick retry comes before its turn to ask.
            env.time_passes(Duration::from_secs(1));
            assert!(matches!(merchant.retries().await, Err(RetryError::Pending(_))));
            assert_eq!(env.sql("SELECT state, fence FROM purchases"), "IN_FLIGHT|1");
        }
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), retried_meanwhile);
    assert_eq!(merchant.retries().await.ok(), confirmed.ok());
    env.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "enquire #1"]);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn however_many_ask_the_provider_is_asked_once_in_a_second() {
    let env = TestEnv::of(Plan::with_turns()).await;
    let merchant = env.merchant_with("200.00").await;
    let other = env.other_process().await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    for asked in 1..4 {
        let here = (0..20).map(|_| merchant.retries_at(&env.vending));
        let there = (0..20).map(|_| merchant.retries_at(&other.vending));
        for told in join_all(here.chain(there)).await {
            let Err(RetryError::Pending(recovery)) = told else { panic!("{told:?}") };
            assert!(recovery.wait() <= Duration::from_secs(2) * asked, "{recovery:?}");
        }
        let enquiries = vec!["enquire #1"; usize::try_from(asked).unwrap()];
        env.utility.saw(["check", "vend #1"].into_iter().chain(enquiries));
        env.time_passes(Duration::from_secs(2));
    }
    env.closes().await;
}

#[tokio::test]
async fn retries_at_once_ask_once_send_once_and_settle_once() {
    let turns = Plan::with_turns().settings;
    let env = TestEnv::of(Plan { settings: turns, ..Plan::declared_truly(Conduct::REJECTS_REPEATS) }).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    // By this time the plan's first repeat is due.
    env.time_passes(Duration::from_secs(5));
    let outcomes = tokio::join!(merchant.retries(), merchant.retries(), merchant.retries());
    for outcome in [outcomes.0, outcomes.1, outcomes.2] {
        assert!(matches!(outcome, Ok(_) | Err(RetryError::Pending(_))), "{outcome:?}");
    }
    assert_eq!(env.states(), "SUCCESSFUL");
    env.utility.saw(["check", "vend #1", "enquire #1", "vend #1"]);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_retry_that_claims_after_others_asks_about_the_attempt_that_is_current_then() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    // The refusal of the first attempt is lost, and so is the token of the second.
    env.utility.will([RefusesButReplyIsLost(RefusalReason::Busy), VendsButReplyIsLost]);
    let record = merchant.buys("100.00").await.unwrap();
    assert_eq!(record.lifecycle.state.name(), StateName::InDoubt);
    let (slow, slower) = (env.other_process().await, env.other_process().await);
    for process in [&slow, &slower] {
        process.wire.holds_back();
    }
    let in_turn = async {
        let both = || [&slow, &slower].iter().all(|process| process.wire.held_back() == 1);
        until("both have found the first attempt", both).await;
        assert!(matches!(merchant.retries().await, Err(RetryError::Pending(_))));
        assert_eq!(env.states(), "RETRY_DUE");
        slow.wire.lets_continue();
        until("the slow one has claimed in vain", || env.history(record.id).ends_with("CLAIMED LET_GO"))
            .await;
        assert_eq!(env.states(), "RETRY_DUE");
        env.time_passes(Duration::from_mins(1));
        env.attempts_again(&record).await;
        assert_eq!(env.sql("SELECT state, attempt FROM purchases"), "IN_DOUBT|2");
        slower.wire.lets_continue();
    };
    // Two that ask within a millisecond have one turn here.
    let afterwards = async {
        until("the slow one has found the first attempt", || slow.wire.held_back() == 1).await;
        merchant.retries_at(&slower.vending).await
    };
    let (in_vain, settled, ()) = tokio::join!(merchant.retries_at(&slow.vending), afterwards, in_turn);
    assert!(matches!(in_vain, Err(RetryError::Pending(_))));
    assert!(settled.is_ok(), "{settled:?}");
    env.utility.saw(["check", "vend #1", "enquire #1", "vend #2", "enquire #2"]);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_failed_purchase_may_be_bought_afresh_under_its_reference() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Blocked)]);
    merchant.buys("100.00").await.unwrap_err();
    let afresh = merchant.buys("100.00").await.unwrap();
    let own = format!("subscriber_identifier = '{METER}' AND external_reference = '{REFERENCE}'");
    assert_eq!(env.count(&format!("purchases WHERE {own}")), 2);
    assert_eq!(merchant.retries().await, Ok(afresh.clone()));
    assert_eq!(afresh.subscriber, meter(METER));
    env.closes().await;
}

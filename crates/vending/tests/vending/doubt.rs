//! Purchases of which nobody knows: asked about before anything else is done, and paid for once at most.

use std::time::Duration;

use meter_token::TokenSet;
use provider::scripted::NextEnquiry::{Answers, AnswersTruly};
use provider::scripted::NextVend::{
    AnswersUnclearly, AnswersWithDoubt, NeverArrives, RefusesButReplyIsLost, VendsAndAnswersOnceOpened,
    VendsButReplyIsLost,
};
use provider::scripted::{Conduct, Latch};
use purchase::{Failure, PurchaseRequest, StateName};
use vend::{Doubt, Enquiry, RawReply, RefusalReason, Unclear, Vend};
use vending::{ConfirmError, RetryError};

use crate::town::{LEASE_AND_MORE, Plan, Town, assert_pending, assert_unknown, assert_unreachable, meter};

#[tokio::test]
async fn a_lost_reply_is_enquired_about_before_anything_is_repeated() {
    let town = Town::of(Plan::declared_truly(Conduct::ANSWERS_REPEATS)).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);

    assert_unknown(&shop.buys("100.00").await);
    shop.has("200.00", "101.50");

    let record = shop.retries().await.unwrap();
    assert_eq!(record.life.state.name(), StateName::Successful);
    town.utility.saw(["check", "vend #1", "enquire #1"]);
    assert_eq!(town.history(record.id), "RESERVED LOST CLAIMED VENDED");
    shop.has("98.50", "0");
    shop.has_earned("1.00");

    assert_eq!(shop.retries().await, Ok(record), "and so for ever");
    town.utility.saw(["check", "vend #1", "enquire #1"]);
    town.closes().await;
}

#[tokio::test]
async fn a_lost_reply_on_a_managed_account_answers_pending_and_retry_may_settle_it() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    let pending = shop.buys("100.00").await.unwrap();
    assert_eq!(pending.life.state.name(), StateName::InDoubt);
    let settled = shop.retries().await.unwrap();
    assert_eq!((settled.id, settled.life.state.name()), (pending.id, StateName::Successful));
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_lost_refusal_that_the_provider_remembers_gives_the_hold_back() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([RefusesButReplyIsLost(RefusalReason::Blocked)]);
    shop.is_left_in_doubt("100.00").await;
    let Err(RetryError::Failed(record)) = shop.retries().await else { panic!("it was refused") };
    assert!(matches!(record.failure, Some(Failure::Refused(_))));
    shop.has("200.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn an_answer_that_proves_nothing_leaves_the_money_held() {
    let town = Town::open().await;
    let shop = town.shop_with("900.00").await;
    town.utility.will(Doubt::ALL.map(AnswersWithDoubt));
    for number in 0..Doubt::ALL.len() {
        let request =
            PurchaseRequest { subscriber: meter(&format!("0400000000{number}")), ..shop.request("10.00") };
        assert_unknown(&shop.confirms(request).await);
    }
    assert_eq!(town.states(), ["IN_DOUBT"; Doubt::ALL.len()].join(" "));
    shop.has("900.00", "92.00");
    town.closes().await;
}

#[tokio::test]
async fn what_a_provider_said_in_doubt_is_kept_with_the_purchase() {
    let town = Town::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([AnswersUnclearly(Unclear::said(Doubt::Mismatched, b"<token of=\"another\"/>"))]);
    let asked = Enquiry::Unanswered(Unclear::said(Doubt::Unreadable, b"<html/>"));
    town.utility.will_tell([Answers(Box::new(asked))]);
    shop.is_left_in_doubt("100.00").await;
    assert_unreachable(&shop.retries().await);
    let kept = "SELECT p.id = r.purchase_id, r.attempt, octet_length(r.sealed_reply)
                FROM provider_replies r, purchases p ORDER BY r.at";
    // Nonce and tag take 28 bytes.
    assert_eq!(town.sql(kept), "t|1|49\nt|1|35");
    town.closes().await;
}

#[tokio::test]
async fn a_provider_that_cannot_be_asked_changes_nothing() {
    let town = Town::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    town.utility.will_tell([Doubt::TimedOut, Doubt::ConnectionLost].map(unanswered));
    shop.is_left_in_doubt("100.00").await;
    for _ in 0..2 {
        assert_unreachable(&shop.retries().await);
        assert_eq!(town.sql("SELECT state, copies, lease_until IS NULL FROM purchases"), "IN_DOUBT|1|t");
        shop.has("200.00", "101.50");
    }
    assert!(shop.retries().await.is_ok(), "it can be asked again");
    town.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "enquire #1"]);
    town.closes().await;
}

#[tokio::test]
async fn what_the_provider_has_not_finished_stays_open() {
    let town = Town::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    town.utility.will_tell([Answers(Box::new(Enquiry::StillOpen)), AnswersTruly]);
    shop.is_left_in_doubt("100.00").await;
    assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))));
    shop.has("200.00", "101.50");
    assert!(shop.retries().await.is_ok());
    town.utility.saw(["check", "vend #1", "enquire #1", "enquire #1"]);
    town.closes().await;
}

#[tokio::test]
async fn while_in_doubt_the_same_subscriber_cannot_be_bought_for() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    town.utility.will([VendsButReplyIsLost]);
    shop.is_left_in_doubt("100.00").await;
    let again = shop.buys("50.00").await;
    assert_pending(&again);
    shop.has("500.00", "101.50");
    shop.retries().await.unwrap();
    shop.buys_afresh("50.00").await.unwrap();
    shop.has("347.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_sender_that_outlives_its_lease_still_settles_what_was_vended() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    town.utility.will_tell([Answers(Box::new(Enquiry::NoRecord))]);
    let asked_meanwhile = async {
        town.is_vending().await;
        town.time_passes(LEASE_AND_MORE);
        assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))));
        assert_eq!(town.sql("SELECT state, fence FROM purchases"), "IN_DOUBT|2");
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(shop.buys("100.00"), asked_meanwhile);
    let record = confirmed.unwrap();
    assert_eq!(town.history(record.id), "RESERVED CLAIMED NO_RECORD VENDED");
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_sender_that_is_overtaken_by_a_retry_answers_what_the_retry_found() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let asked_meanwhile = async {
        town.is_vending().await;
        town.time_passes(LEASE_AND_MORE);
        let retried = shop.retries().await;
        answer.open();
        retried
    };
    let (confirmed, retried) = tokio::join!(shop.buys("100.00"), asked_meanwhile);
    assert!(confirmed.is_ok());
    assert_eq!(confirmed.ok(), retried.ok());
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_success_after_the_release_is_an_incident_and_changes_nothing() {
    // Declared to be found when it has vended, and it is not.
    let mut plan = Plan { conduct: Conduct::FORGETS, ..Plan::default() };
    plan.declared.not_found_counts = true;
    let town = Town::of(plan).await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let given_up_meanwhile = async {
        town.is_vending().await;
        for minutes in [11, 2] {
            town.time_passes(Duration::from_mins(minutes));
            shop.retries().await.unwrap_err();
        }
        assert_eq!(town.states(), "FAILED");
        shop.has("200.00", "0");
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(shop.buys("100.00"), given_up_meanwhile);

    let Err(ConfirmError::Failed(record)) = confirmed else { panic!("it had failed") };
    assert_eq!(record.failure, Some(Failure::NoRecord));
    assert_eq!(shop.retries().await, Err(RetryError::Failed(record)));
    shop.has("200.00", "0");
    assert_eq!(town.sql("SELECT kind FROM incidents"), "LATE_VEND");
    town.closes().await;
}

#[tokio::test]
async fn a_second_vend_is_an_incident_and_both_callers_are_told_of_the_first() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    town.utility.will_tell([Answers(Box::new(Enquiry::Vended(Box::new(another_vend()))))]);
    let settled_meanwhile = async {
        town.is_vending().await;
        town.time_passes(LEASE_AND_MORE);
        let retried = shop.retries().await;
        answer.open();
        retried
    };
    let (confirmed, retried) = tokio::join!(shop.buys("100.00"), settled_meanwhile);
    let told = confirmed.unwrap();
    assert_eq!(told.success.as_ref().map(|success| success.provider_transaction.as_str()), Some("another"));
    let number = told.id.0;
    assert_eq!(retried, Ok(told));
    assert_eq!(town.sql("SELECT kind FROM incidents"), "SECOND_VEND");
    shop.has("98.50", "0");
    town.closes_with(&format!("purchase {number} was paid for and not vended")).await;
}

#[tokio::test]
async fn a_purchase_whose_sender_vanished_is_settled_by_a_retry_once_its_lease_has_run_out() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let caller = tokio::time::timeout(Duration::from_millis(300), shop.buys("100.00"));
    assert!(caller.await.is_err(), "nobody answers it");
    town.is_vending().await;
    town.time_passes(LEASE_AND_MORE);
    let record = shop.retries().await.unwrap();
    assert_eq!(town.history(record.id), "RESERVED CLAIMED VENDED");
    shop.has("98.50", "0");
    answer.open();
    town.closes().await;
}

#[tokio::test]
async fn what_never_arrived_stays_open_though_no_record_is_found_again_and_again() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    for _ in 0..3 {
        assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))));
        town.time_passes(Duration::from_mins(30));
    }
    town.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "enquire #1"]);
    shop.has("200.00", "101.50");
    town.closes().await;
}

/// What the provider tells of and did not do.
fn another_vend() -> Vend {
    Vend {
        tokens: Some(TokenSet::parse("11112222333344445555").unwrap()),
        units: None,
        provider_transaction: "another".into(),
        breakdown: None,
        subscriber_details: None,
        raw_reply: RawReply::default(),
    }
}

fn unanswered(doubt: Doubt) -> provider::scripted::NextEnquiry {
    Answers(Box::new(Enquiry::Unanswered(doubt.into())))
}

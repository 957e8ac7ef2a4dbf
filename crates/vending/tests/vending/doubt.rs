//! Purchases with an unknown outcome: an enquiry comes before anything else, and they are charged at most
//! once.

use std::time::Duration;

use meter_token::TokenSet;
use provider::scripted::NextEnquiry::{Answers, AnswersTruly};
use provider::scripted::NextVend::{
    AnswersUnclearly, AnswersWithDoubt, NeverArrives, RefusesButReplyIsLost, VendsAndAnswersOnceOpened,
    VendsButReplyIsLost,
};
use provider::scripted::{Conduct, Latch};
use purchase::{Failure, PurchaseRequest, StateName};
use store::Sealed;
use test_kit::purchases::sealing_keys;
use vend::{Doubt, Enquiry, RawReply, RefusalReason, Unclear, Vend};
use vending::{ConfirmError, RetryError};

use crate::env::{LEASE_AND_MORE, Plan, TestEnv, assert_pending, assert_unknown, assert_unreachable, meter};

#[tokio::test]
async fn a_lost_reply_is_enquired_about_before_anything_is_repeated() {
    let env = TestEnv::of(Plan::declared_truly(Conduct::ANSWERS_REPEATS)).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);

    assert_unknown(&merchant.buys("100.00").await);
    merchant.has("200.00", "101.50");

    let record = merchant.retries().await.unwrap();
    assert_eq!(record.lifecycle.state.name(), StateName::Successful);
    env.utility.saw(["check", "vend #1", "enquire #1"]);
    assert_eq!(env.history(record.id), "RESERVED LOST CLAIMED VENDED");
    merchant.has("98.50", "0");
    merchant.has_earned("1.00");

    assert_eq!(merchant.retries().await, Ok(record), "and every time after");
    env.utility.saw(["check", "vend #1", "enquire #1"]);
    env.closes().await;
}

#[tokio::test]
async fn a_lost_reply_on_a_managed_account_answers_pending_and_retry_may_settle_it() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    let pending = merchant.buys("100.00").await.unwrap();
    assert_eq!(pending.lifecycle.state.name(), StateName::InDoubt);
    let settled = merchant.retries().await.unwrap();
    assert_eq!((settled.id, settled.lifecycle.state.name()), (pending.id, StateName::Successful));
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_lost_refusal_that_the_provider_remembers_gives_the_hold_back() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([RefusesButReplyIsLost(RefusalReason::Blocked)]);
    merchant.is_left_in_doubt("100.00").await;
    let Err(RetryError::Failed(record)) = merchant.retries().await else { panic!("it was refused") };
    assert!(matches!(record.failure, Some(Failure::Refused(_))));
    merchant.has("200.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn an_answer_that_proves_nothing_leaves_the_money_held() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("900.00").await;
    env.utility.will(Doubt::ALL.map(AnswersWithDoubt));
    for number in 0..Doubt::ALL.len() {
        let request = PurchaseRequest {
            subscriber: meter(&format!("0400000000{number}")),
            ..merchant.request("10.00")
        };
        assert_unknown(&merchant.confirms(request).await);
    }
    assert_eq!(env.states(), ["IN_DOUBT"; Doubt::ALL.len()].join(" "));
    merchant.has("900.00", "92.00");
    env.closes().await;
}

/// The attempt and the reply of a row.
fn opened(row: &str) -> String {
    let mut columns = row.split('|');
    let (attempt, purchase, sealed) =
        (columns.next().unwrap(), columns.next().unwrap(), columns.next().unwrap());
    let sealed = Sealed { key_id: 1, bytes: hex::decode(sealed).unwrap() };
    let reply = sealing_keys().open_reply(&sealed, purchase.parse().unwrap()).unwrap();
    format!("{attempt}: {}", String::from_utf8_lossy(&reply))
}

#[tokio::test]
async fn what_a_provider_said_in_doubt_is_kept_with_the_purchase() {
    let env = TestEnv::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([AnswersUnclearly(Unclear::said(Doubt::Mismatched, b"<token of=\"another\"/>"))]);
    let asked = Enquiry::Unanswered(Unclear::said(Doubt::Unreadable, b"<html/>"));
    env.utility.will_tell([Answers(Box::new(asked))]);
    merchant.is_left_in_doubt("100.00").await;
    assert_unreachable(&merchant.retries().await);
    let kept = env.sql(
        "SELECT r.attempt, p.id, encode(r.sealed_reply, 'hex')
         FROM provider_replies r JOIN purchases p ON p.id = r.purchase_id ORDER BY r.at",
    );
    let opened: Vec<String> = kept.lines().map(opened).collect();
    assert_eq!(opened, ["1: <token of=\"another\"/>", "1: <html/>"]);
    env.closes().await;
}

#[tokio::test]
async fn a_provider_that_cannot_be_asked_changes_nothing() {
    let env = TestEnv::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    env.utility.will_tell([Doubt::TimedOut, Doubt::ConnectionLost].map(unanswered));
    merchant.is_left_in_doubt("100.00").await;
    for _ in 0..2 {
        assert_unreachable(&merchant.retries().await);
        assert_eq!(env.sql("SELECT state, copies, lease_until IS NULL FROM purchases"), "IN_DOUBT|1|t");
        merchant.has("200.00", "101.50");
    }
    assert!(merchant.retries().await.is_ok(), "it can be asked again");
    env.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "enquire #1"]);
    env.closes().await;
}

#[tokio::test]
async fn what_the_provider_has_not_finished_stays_open() {
    let env = TestEnv::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    env.utility.will_tell([Answers(Box::new(Enquiry::StillOpen)), AnswersTruly]);
    merchant.is_left_in_doubt("100.00").await;
    assert!(matches!(merchant.retries().await, Err(RetryError::Pending(_))));
    merchant.has("200.00", "101.50");
    assert!(merchant.retries().await.is_ok());
    env.utility.saw(["check", "vend #1", "enquire #1", "enquire #1"]);
    env.closes().await;
}

#[tokio::test]
async fn while_in_doubt_the_same_subscriber_cannot_be_bought_for() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    env.utility.will([VendsButReplyIsLost]);
    merchant.is_left_in_doubt("100.00").await;
    let again = merchant.buys("50.00").await;
    assert_pending(&again);
    merchant.has("500.00", "101.50");
    merchant.retries().await.unwrap();
    merchant.buys_afresh("50.00").await.unwrap();
    merchant.has("347.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_sender_that_outlives_its_lease_still_settles_what_was_vended() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    env.utility.will_tell([Answers(Box::new(Enquiry::NoRecord))]);
    let asked_meanwhile = async {
        env.is_vending().await;
        env.time_passes(LEASE_AND_MORE);
        assert!(matches!(merchant.retries().await, Err(RetryError::Pending(_))));
        assert_eq!(env.sql("SELECT state, fence FROM purchases"), "IN_DOUBT|2");
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), asked_meanwhile);
    let record = confirmed.unwrap();
    assert_eq!(env.history(record.id), "RESERVED CLAIMED NO_RECORD VENDED");
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_sender_that_is_overtaken_by_a_retry_answers_what_the_retry_found() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let asked_meanwhile = async {
        env.is_vending().await;
        env.time_passes(LEASE_AND_MORE);
        let retried = merchant.retries().await;
        answer.open();
        retried
    };
    let (confirmed, retried) = tokio::join!(merchant.buys("100.00"), asked_meanwhile);
    assert!(confirmed.is_ok());
    assert_eq!(confirmed.ok(), retried.ok());
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_success_after_the_release_is_an_incident_and_changes_nothing() {
    // The declaration says that a vend is found. This provider forgets it.
    let mut plan = Plan { conduct: Conduct::FORGETS, ..Plan::default() };
    plan.declared.not_found_counts = true;
    let env = TestEnv::of(plan).await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let given_up_meanwhile = async {
        env.is_vending().await;
        for minutes in [11, 2] {
            env.time_passes(Duration::from_mins(minutes));
            merchant.retries().await.unwrap_err();
        }
        assert_eq!(env.states(), "FAILED");
        merchant.has("200.00", "0");
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), given_up_meanwhile);

    let Err(ConfirmError::Failed(record)) = confirmed else { panic!("it had failed") };
    assert_eq!(record.failure, Some(Failure::NoRecord));
    assert_eq!(merchant.retries().await, Err(RetryError::Failed(record)));
    merchant.has("200.00", "0");
    assert_eq!(env.sql("SELECT kind FROM incidents"), "LATE_VEND");
    env.closes().await;
}

#[tokio::test]
async fn a_second_vend_is_an_incident_and_both_callers_are_told_of_the_first() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    env.utility.will_tell([Answers(Box::new(Enquiry::Vended(Box::new(another_vend()))))]);
    let settled_meanwhile = async {
        env.is_vending().await;
        env.time_passes(LEASE_AND_MORE);
        let retried = merchant.retries().await;
        answer.open();
        retried
    };
    let (confirmed, retried) = tokio::join!(merchant.buys("100.00"), settled_meanwhile);
    let told = confirmed.unwrap();
    assert_eq!(told.success.as_ref().map(|success| success.provider_transaction.as_str()), Some("another"));
    let number = told.id.0;
    assert_eq!(retried, Ok(told));
    assert_eq!(env.sql("SELECT kind FROM incidents"), "SECOND_VEND");
    merchant.has("98.50", "0");
    env.closes_with(&format!("purchase {number} was paid for and not vended")).await;
}

#[tokio::test]
async fn a_purchase_whose_sender_vanished_is_settled_by_a_retry_after_its_lease() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let caller = tokio::time::timeout(Duration::from_millis(300), merchant.buys("100.00"));
    assert!(caller.await.is_err(), "it is not answered");
    env.is_vending().await;
    env.time_passes(LEASE_AND_MORE);
    let record = merchant.retries().await.unwrap();
    assert_eq!(env.history(record.id), "RESERVED CLAIMED VENDED");
    merchant.has("98.50", "0");
    answer.open();
    env.closes().await;
}

#[tokio::test]
async fn what_never_arrived_stays_open_though_no_record_is_found_again_and_again() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    for _ in 0..3 {
        assert!(matches!(merchant.retries().await, Err(RetryError::Pending(_))));
        env.time_passes(Duration::from_mins(30));
    }
    env.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "enquire #1"]);
    merchant.has("200.00", "101.50");
    env.closes().await;
}

/// A vend that the provider reports and did not make.
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

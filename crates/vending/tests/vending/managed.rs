//! Managed accounts: a transient failure is attempted again in the background, five times within half an
//! hour. Doubt is resolved first.

use std::time::Duration;

use provider::scripted::Conduct;
use provider::scripted::NextEnquiry::Answers;
use provider::scripted::NextVend::{
    AnswersWithDoubt, CannotBeReached, NeverArrives, Refuses, RefusesButReplyIsLost, Vends,
    VendsButReplyIsLost,
};
use purchase::{Failure, StateName};
use vend::{Capabilities, Doubt, Enquiry, RefusalReason};
use vending::{ConfirmError, RetryError};

use crate::env::{Plan, TestEnv};

const MINUTE: Duration = Duration::from_mins(1);
const WINDOW: Duration = Duration::from_mins(30);
const PLAN_IN_MINUTES: [u64; 5] = [1, 3, 7, 14, 25];

/// In whole minutes, like the retry plan.
fn in_minutes(steps: &[Duration]) -> Vec<u64> {
    steps.iter().map(|step| (step.as_secs() + 30) / 60).collect()
}

fn orders(env: &TestEnv) -> Vec<String> {
    env.utility.calls().into_iter().filter(|call| call.starts_with("vend")).collect()
}

#[tokio::test]
async fn a_passing_failure_is_answered_pending_and_attempted_again_under_a_new_reference() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Busy)]);
    let pending = merchant.buys("100.00").await.unwrap();
    assert_eq!((pending.lifecycle.state.name(), &pending.success), (StateName::RetryDue, &None));
    merchant.has("200.00", "101.50");
    assert!(
        matches!(merchant.retries().await, Err(RetryError::Pending(_))),
        "the next attempt is the worker's"
    );

    assert_eq!(in_minutes(&env.works_for(MINUTE * 2).await), [1]);
    env.utility.saw(["check", "vend #1", "vend #2"]);
    let record = merchant.retries().await.unwrap();
    assert_eq!(record.id, pending.id);
    assert_eq!(env.history(record.id), "RESERVED REFUSED CLAIMED ATTEMPT_STARTED VENDED");
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn when_all_attempts_have_failed_the_money_is_given_back() {
    for passing in [Refuses(RefusalReason::Busy), CannotBeReached] {
        let env = TestEnv::open().await;
        let merchant = env.managed_merchant_with("200.00").await;
        env.utility.will(vec![passing.clone(); 20]);
        let pending = merchant.buys("100.00").await.unwrap();
        assert_eq!(in_minutes(&env.works_for(WINDOW * 2).await), PLAN_IN_MINUTES);
        assert_eq!(env.sql("SELECT state, attempt, requests FROM purchases"), "FAILED|6|5");
        if matches!(passing, Refuses(_)) {
            env.utility.saw(["check", "vend #1", "vend #2", "vend #3", "vend #4", "vend #5", "vend #6"]);
        }
        let Err(RetryError::Failed(record)) = merchant.retries().await else { panic!("it has failed") };
        assert_eq!(record.id, pending.id);
        assert!(matches!(record.failure, Some(Failure::Refused(_))));
        merchant.has("200.00", "0");
        env.closes().await;
    }
}

#[tokio::test]
async fn the_last_attempt_may_be_the_one_that_vends() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will(vec![Refuses(RefusalReason::Busy); 5]);
    merchant.buys("100.00").await.unwrap();
    env.works_for(WINDOW).await;
    assert_eq!(env.sql("SELECT state, attempt, requests FROM purchases"), "SUCCESSFUL|6|5");
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_definite_refusal_ends_it_at_once_first_or_later() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Blocked)]);
    assert!(matches!(merchant.buys("100.00").await, Err(ConfirmError::Failed(_))));
    assert_eq!(env.time_passes_until_work_is_due(WINDOW), None, "nothing is left to do");
    env.utility.will([Refuses(RefusalReason::Busy), Refuses(RefusalReason::Blocked)]);
    merchant.buys("100.00").await.unwrap();
    assert_eq!(in_minutes(&env.works_for(WINDOW).await), [1]);
    assert_eq!(env.states(), "FAILED FAILED");
    merchant.has("200.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn doubt_is_only_asked_about_where_a_repeat_is_not_declared_safe() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    let pending = merchant.buys("100.00").await.unwrap();
    assert_eq!(pending.lifecycle.state.name(), StateName::InDoubt);
    env.works_for(WINDOW + MINUTE).await;
    assert_eq!(orders(&env), ["vend #1"]);
    assert_eq!(env.sql("SELECT state, copies, requests FROM purchases"), "REVIEW|1|0");
    merchant.has("200.00", "101.50");
    env.closes().await;
}

#[tokio::test]
async fn doubt_is_sent_again_under_the_same_reference_where_declared_and_when_planned() {
    let env = TestEnv::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will([NeverArrives, NeverArrives]);
    merchant.buys("100.00").await.unwrap();
    env.works_for(Duration::from_secs(1)).await;
    assert_eq!(orders(&env), ["vend #1"], "until then it is only asked about");
    env.works_for(Duration::from_secs(2)).await;
    assert_eq!(orders(&env), ["vend #1", "vend #1"]);
    env.works_for(Duration::from_secs(13)).await;
    assert_eq!(orders(&env).len(), 2);
    env.works_for(Duration::from_secs(5)).await;
    assert_eq!(orders(&env), ["vend #1"; 3]);
    assert_eq!(env.sql("SELECT state, attempt, requests FROM purchases"), "SUCCESSFUL|1|2");
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_new_reference_is_made_only_after_proof_that_the_old_one_did_not_vend() {
    let env = TestEnv::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let merchant = env.managed_merchant_with("200.00").await;
    // The refusal is lost. An enquiry finds it, and only then another attempt is made.
    env.utility.will([RefusesButReplyIsLost(RefusalReason::Busy), NeverArrives, Vends]);
    let record = merchant.buys("100.00").await.unwrap();
    env.works_for(WINDOW).await;
    assert_eq!(orders(&env), ["vend #1", "vend #2", "vend #3"]);
    let first_steps = "RESERVED LOST CLAIMED REFUSED CLAIMED ATTEMPT_STARTED LOST CLAIMED";
    let history = env.history(record.id);
    assert!(history.starts_with(first_steps), "{history}");
    assert_eq!(env.sql("SELECT state, attempt, requests FROM purchases"), "SUCCESSFUL|3|2");
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn no_more_than_five_requests_follow_the_first_over_all_attempts_and_repeats() {
    let declared = Capabilities { repeat_is_safe: true, ..Capabilities::default() };
    let env = TestEnv::of(Plan { declared, ..Plan::default() }).await;
    let merchant = env.managed_merchant_with("200.00").await;
    let doubt = AnswersWithDoubt(Doubt::TimedOut);
    env.utility.will(vec![doubt; 20]);
    merchant.buys("100.00").await.unwrap();
    env.works_for(WINDOW * 2).await;
    assert_eq!(orders(&env), ["vend #1"; 6]);
    assert_eq!(env.sql("SELECT state, copies, requests FROM purchases"), "REVIEW|6|5");
    merchant.has("200.00", "101.50");
    env.closes().await;
}

#[tokio::test]
async fn after_the_window_nothing_is_attempted_though_attempts_are_left() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Busy)]);
    merchant.buys("100.00").await.unwrap();
    // No worker was running.
    env.time_passes(WINDOW);
    assert_eq!(env.works_once().await, 1);
    assert_eq!(env.states(), "FAILED");
    env.utility.saw(["check", "vend #1"]);
    merchant.has("200.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_worker_that_was_away_for_a_while_makes_one_attempt_and_not_all_that_it_missed() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will(vec![Refuses(RefusalReason::Busy); 20]);
    merchant.buys("100.00").await.unwrap();
    env.time_passes(MINUTE * 10);
    assert_eq!(env.works_once().await, 1);
    assert_eq!(orders(&env).len(), 2);
    env.closes().await;
}

#[tokio::test]
async fn a_late_success_of_an_attempt_that_was_refused_when_asked_about_is_an_incident() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    // The provider contradicts itself: it vended the first attempt, and answers an enquiry that it refused
    // it.
    env.utility.will([VendsButReplyIsLost]);
    let refusal = vend::Refusal::because(RefusalReason::Busy);
    env.utility.will_tell([Answers(Box::new(Enquiry::Refused(refusal)))]);
    let record = merchant.buys("100.00").await.unwrap();
    env.works_for(MINUTE * 2).await;
    assert_eq!(orders(&env), ["vend #1", "vend #2"]);
    assert_eq!(env.states(), "SUCCESSFUL");
    merchant.has("98.50", "0");
    let first = env.sql(&format!(
        "SELECT provider_reference FROM attempts WHERE purchase_id = {} AND number = 1",
        record.id.0
    ));
    let lie = format!("vend {first} of purchase {}, which is SUCCESSFUL, was not paid for", record.id.0);
    env.closes_with(&lie).await;
}

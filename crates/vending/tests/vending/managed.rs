//! Managed accounts: what failed in passing is attempted again in the background, five times within half an hour, and what is
//! in doubt is cleared up first.

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

use crate::town::{Plan, Town};

const MINUTE: Duration = Duration::from_mins(1);
const WINDOW: Duration = Duration::from_mins(30);
const PLAN_IN_MINUTES: [u64; 5] = [1, 3, 7, 14, 25];

/// In whole minutes, as a schedule is read.
fn in_minutes(steps: &[Duration]) -> Vec<u64> {
    steps.iter().map(|step| (step.as_secs() + 30) / 60).collect()
}

fn orders(town: &Town) -> Vec<String> {
    town.utility.calls().into_iter().filter(|call| call.starts_with("vend")).collect()
}

#[tokio::test]
async fn a_passing_failure_is_answered_pending_and_attempted_again_under_a_new_reference() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Busy)]);
    let pending = shop.buys("100.00").await.unwrap();
    assert_eq!((pending.life.state.name(), &pending.success), (StateName::RetryDue, &None));
    shop.has("200.00", "101.50");
    assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))), "the next attempt is the worker's");

    assert_eq!(in_minutes(&town.works_for(MINUTE * 2).await), [1]);
    town.utility.saw(["check", "vend #1", "vend #2"]);
    let record = shop.retries().await.unwrap();
    assert_eq!(record.id, pending.id);
    assert_eq!(town.history(record.id), "RESERVED REFUSED CLAIMED ATTEMPT_STARTED VENDED");
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn when_all_attempts_have_failed_the_money_is_given_back() {
    for passing in [Refuses(RefusalReason::Busy), CannotBeReached] {
        let town = Town::open().await;
        let shop = town.managed_shop_with("200.00").await;
        town.utility.will(vec![passing.clone(); 20]);
        let pending = shop.buys("100.00").await.unwrap();
        assert_eq!(in_minutes(&town.works_for(WINDOW * 2).await), PLAN_IN_MINUTES);
        assert_eq!(town.sql("SELECT state, attempt, requests FROM purchases"), "FAILED|6|5");
        if matches!(passing, Refuses(_)) {
            town.utility.saw(["check", "vend #1", "vend #2", "vend #3", "vend #4", "vend #5", "vend #6"]);
        }
        let Err(RetryError::Failed(record)) = shop.retries().await else { panic!("it has failed") };
        assert_eq!(record.id, pending.id);
        assert!(matches!(record.failure, Some(Failure::Refused(_))));
        shop.has("200.00", "0");
        town.closes().await;
    }
}

#[tokio::test]
async fn the_last_attempt_may_be_the_one_that_vends() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will(vec![Refuses(RefusalReason::Busy); 5]);
    shop.buys("100.00").await.unwrap();
    town.works_for(WINDOW).await;
    assert_eq!(town.sql("SELECT state, attempt, requests FROM purchases"), "SUCCESSFUL|6|5");
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_definite_refusal_ends_it_at_once_first_or_later() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Blocked)]);
    assert!(matches!(shop.buys("100.00").await, Err(ConfirmError::Failed(_))));
    assert_eq!(town.time_passes_until_work_is_due(WINDOW), None, "nothing is left to do");
    town.utility.will([Refuses(RefusalReason::Busy), Refuses(RefusalReason::Blocked)]);
    shop.buys("100.00").await.unwrap();
    assert_eq!(in_minutes(&town.works_for(WINDOW).await), [1]);
    assert_eq!(town.states(), "FAILED FAILED");
    shop.has("200.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn doubt_is_only_asked_about_where_a_repeat_is_not_declared_safe() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    let pending = shop.buys("100.00").await.unwrap();
    assert_eq!(pending.life.state.name(), StateName::InDoubt);
    town.works_for(WINDOW + MINUTE).await;
    assert_eq!(orders(&town), ["vend #1"]);
    assert_eq!(town.sql("SELECT state, copies, requests FROM purchases"), "REVIEW|1|0");
    shop.has("200.00", "101.50");
    town.closes().await;
}

#[tokio::test]
async fn doubt_is_sent_again_under_the_same_reference_where_that_is_declared_and_when_the_plan_says_so() {
    let town = Town::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will([NeverArrives, NeverArrives]);
    shop.buys("100.00").await.unwrap();
    town.works_for(Duration::from_secs(1)).await;
    assert_eq!(orders(&town), ["vend #1"], "until then it is only asked about");
    town.works_for(Duration::from_secs(2)).await;
    assert_eq!(orders(&town), ["vend #1", "vend #1"]);
    town.works_for(Duration::from_secs(13)).await;
    assert_eq!(orders(&town).len(), 2);
    town.works_for(Duration::from_secs(5)).await;
    assert_eq!(orders(&town), ["vend #1"; 3]);
    assert_eq!(town.sql("SELECT state, attempt, requests FROM purchases"), "SUCCESSFUL|1|2");
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_new_reference_is_made_only_after_proof_that_the_old_one_did_not_vend() {
    let town = Town::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let shop = town.managed_shop_with("200.00").await;
    // The refusal is lost; asked about, it is remembered, and only then there is another attempt.
    town.utility.will([RefusesButReplyIsLost(RefusalReason::Busy), NeverArrives, Vends]);
    let record = shop.buys("100.00").await.unwrap();
    town.works_for(WINDOW).await;
    assert_eq!(orders(&town), ["vend #1", "vend #2", "vend #3"]);
    let first_steps = "RESERVED LOST CLAIMED REFUSED CLAIMED ATTEMPT_STARTED LOST CLAIMED";
    let history = town.history(record.id);
    assert!(history.starts_with(first_steps), "{history}");
    assert_eq!(town.sql("SELECT state, attempt, requests FROM purchases"), "SUCCESSFUL|3|2");
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn no_more_than_five_requests_follow_the_first_over_all_attempts_and_repeats() {
    let declared = Capabilities { repeat_is_safe: true, ..Capabilities::default() };
    let town = Town::of(Plan { declared, ..Plan::default() }).await;
    let shop = town.managed_shop_with("200.00").await;
    let doubt = AnswersWithDoubt(Doubt::TimedOut);
    town.utility.will(vec![doubt; 20]);
    shop.buys("100.00").await.unwrap();
    town.works_for(WINDOW * 2).await;
    assert_eq!(orders(&town), ["vend #1"; 6]);
    assert_eq!(town.sql("SELECT state, copies, requests FROM purchases"), "REVIEW|6|5");
    shop.has("200.00", "101.50");
    town.closes().await;
}

#[tokio::test]
async fn after_the_window_nothing_is_attempted_though_attempts_are_left() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Busy)]);
    shop.buys("100.00").await.unwrap();
    // All workers were away.
    town.time_passes(WINDOW);
    assert_eq!(town.works_once().await, 1);
    assert_eq!(town.states(), "FAILED");
    town.utility.saw(["check", "vend #1"]);
    shop.has("200.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_worker_that_was_away_for_a_while_makes_one_attempt_and_not_all_that_it_missed() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will(vec![Refuses(RefusalReason::Busy); 20]);
    shop.buys("100.00").await.unwrap();
    town.time_passes(MINUTE * 10);
    assert_eq!(town.works_once().await, 1);
    assert_eq!(orders(&town).len(), 2);
    town.closes().await;
}

#[tokio::test]
async fn a_late_success_of_an_attempt_that_was_refused_when_asked_about_is_an_incident() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    // The provider contradicts itself: it vended the first, and says when asked that it refused it.
    town.utility.will([VendsButReplyIsLost]);
    let refusal = vend::Refusal::because(RefusalReason::Busy);
    town.utility.will_tell([Answers(Box::new(Enquiry::Refused(refusal)))]);
    let record = shop.buys("100.00").await.unwrap();
    town.works_for(MINUTE * 2).await;
    assert_eq!(orders(&town), ["vend #1", "vend #2"]);
    assert_eq!(town.states(), "SUCCESSFUL");
    shop.has("98.50", "0");
    let first = town.sql(&format!(
        "SELECT provider_reference FROM attempts WHERE purchase_id = {} AND number = 1",
        record.id.0
    ));
    let lie = format!("vend {first} of purchase {}, which is SUCCESSFUL, was not paid for", record.id.0);
    town.closes_with(&lie).await;
}

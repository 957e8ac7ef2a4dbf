//! The circuit breaker of a provider that answers nothing: what it stops, what it never stops, and what lets the sales go on.

use std::time::Duration;

use catalogue::Breaker;
use provider::scripted::NextVend::{NeverArrives, VendsButReplyIsLost};
use purchase::PurchaseRequest;
use vend::{Doubt, Product, Unanswered};
use vending::{ConfirmError, Rejection, Vending, WorkDone};

use crate::env::{METER, Merchant, PROVIDER, TestEnv, assert_unknown, meter};

const CATALOGUE_REUSE_AND_MORE: Duration = Duration::from_secs(6);
const FIRST_LOOK: Duration = Duration::from_secs(5);

/// Opens after four silent calls, two of which another process may have made. It is tried with a meter that no customer has.
fn breaker() -> Breaker {
    Breaker {
        silent_percent: 50,
        calls_min: 4,
        within: Duration::from_mins(1),
        pause: Duration::from_mins(1),
        notice: None,
        trial: Some((Product::Electricity, meter("04040404040"))),
    }
}

/// Everybody shares what was counted, and a worker looks.
async fn a_worker_looks(processes: [&Vending; 2]) {
    for process in processes {
        process.share_answers().await.unwrap();
    }
    processes[0].open_breakers().await.unwrap();
}

async fn confirms(merchant: &Merchant<'_>, subscriber: &str) -> Result<(), ConfirmError> {
    let request = PurchaseRequest { subscriber: meter(subscriber), ..merchant.request("10.00") };
    merchant.confirms(request).await.map(drop)
}

fn is_paused(answer: &Result<(), ConfirmError>) -> bool {
    matches!(answer, Err(ConfirmError::Rejected(Rejection::Paused { until: Some(_), .. })))
}

impl TestEnv {
    fn breaker_pauses(&self) -> u32 {
        self.count("provider_pauses WHERE by_breaker")
    }

    /// The next trial is due.
    fn trial_is_due(&self) {
        self.sql("UPDATE provider_pauses SET ends_at = clock_timestamp() + interval '20 s' WHERE by_breaker");
    }
}

#[tokio::test]
async fn a_silent_provider_is_paused_and_tried_and_its_open_purchases_are_settled() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with("200.00").await, env.other_process().await);
    env.has_a_breaker(breaker()).await;
    a_worker_looks([&env.vending, &other.vending]).await;
    env.utility.will([VendsButReplyIsLost]);
    assert_unknown(&merchant.confirms(merchant.request("50.00")).await);

    env.utility.will_leave_unanswered([Unanswered::NoAnswer(Doubt::TimedOut), Unanswered::Unreachable]);
    for subscriber in ["04257670461", "04257670462"] {
        assert!(!is_paused(&confirms(&merchant, subscriber).await));
    }
    a_worker_looks([&env.vending, &other.vending]).await;
    assert_eq!(env.breaker_pauses(), 0, "two silences of three questions");
    env.utility.will_leave_unanswered([Unanswered::NoAnswer(Doubt::ConnectionLost)]);
    other.vending.quote(&merchant.authority, &merchant.request("10.00")).await.unwrap_err();
    a_worker_looks([&env.vending, &other.vending]).await;
    assert_eq!(env.breaker_pauses(), 1, "three of four, counted by two processes");

    env.clock.advance(CATALOGUE_REUSE_AND_MORE);
    let asked = env.utility.calls().len();
    assert!(is_paused(&confirms(&merchant, "04257670463").await));
    assert_eq!(env.utility.calls().len(), asked);
    env.time_passes(FIRST_LOOK);
    assert_eq!(env.vending.work_once().await, WorkDone { claimed: 1, ended: 1 }, "the asking goes on");

    env.trial_is_due();
    env.utility.will_leave_unanswered([Unanswered::NoAnswer(Doubt::TimedOut)]);
    env.vending.try_paused_providers().await.unwrap();
    assert_eq!(env.breaker_pauses(), 1, "it is still silent");
    env.vending.try_paused_providers().await.unwrap();
    assert_eq!(env.breaker_pauses(), 1, "the next trial is not due yet");
    env.trial_is_due();
    env.vending.try_paused_providers().await.unwrap();
    assert_eq!(env.breaker_pauses(), 0, "it has answered");
    env.clock.advance(CATALOGUE_REUSE_AND_MORE);
    confirms(&merchant, METER).await.unwrap();
    env.closes().await;
}

#[tokio::test]
async fn vends_that_end_in_silence_open_the_breaker_although_questions_are_answered() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with("200.00").await, env.other_process().await);
    env.has_a_breaker(breaker()).await;
    a_worker_looks([&env.vending, &other.vending]).await;
    for subscriber in ["04257670461", "04257670462", "04257670463", "04257670464"] {
        env.utility.will([NeverArrives]);
        assert!(matches!(confirms(&merchant, subscriber).await, Err(ConfirmError::Unknown(_))));
    }
    a_worker_looks([&env.vending, &other.vending]).await;
    assert_eq!(env.sql("SELECT provider_code, by_breaker FROM provider_pauses"), format!("{PROVIDER}|t"));
    assert!(is_paused(&confirms(&merchant, "04257670466").await));
    env.closes().await;
}

#[tokio::test]
async fn a_provider_that_refuses_and_one_slow_meter_open_no_breaker() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with("200.00").await, env.other_process().await);
    env.has_a_breaker(breaker()).await;
    a_worker_looks([&env.vending, &other.vending]).await;
    let busy = || Unanswered::Refused(vend::Refusal::because(vend::RefusalReason::Busy));
    for _ in 0..10 {
        env.utility.will_leave_unanswered([busy()]);
        merchant.quotes("10.00").await.unwrap_err();
    }
    for _ in 0..10 {
        env.utility.will_leave_unanswered([Unanswered::NoAnswer(Doubt::TimedOut)]);
        merchant.quotes("10.00").await.unwrap_err();
    }
    a_worker_looks([&env.vending, &other.vending]).await;
    assert_eq!(env.breaker_pauses(), 0);
    assert_eq!(env.sql("SELECT sum(answered), sum(silent) FROM provider_answers"), "10|1");
    env.closes().await;
}

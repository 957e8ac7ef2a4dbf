//! The names of a purchase's states and events in the database, in headers and in its history, and what a sender
//! reports.

use std::time::Duration;

use purchase::{
    Event, EventKind, Fence, Handling, IdempotencyKey, RefusalSource, RetryPlan, StateName, Timing,
};
use vend::{Doubt, Refusal, RefusalReason, VendOutcome};

#[test]
fn states_and_modes_are_called_what_they_were_called_last_year() {
    assert_eq!(Handling::ALL.map(Handling::as_str), ["SELF_MANAGED", "MANAGED"]);
    let states = StateName::ALL.map(StateName::as_str);
    assert_eq!(states, ["IN_FLIGHT", "IN_DOUBT", "RETRY_DUE", "REVIEW", "SUCCESSFUL", "FAILED"]);
    let events = EventKind::ALL.map(EventKind::as_str);
    let expected = [
        "VENDED",
        "REFUSED",
        "NEVER_SENT",
        "LOST",
        "CLAIMED",
        "NO_RECORD",
        "LET_GO",
        "SENT_AGAIN",
        "ATTEMPT_STARTED",
        "WINDOW_CLOSED",
        "OPERATOR_VENDED",
        "OPERATOR_NOT_VENDED",
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_handling_is_read_back_from_its_name_and_from_no_other_text() {
    for handling in Handling::ALL {
        assert_eq!(Handling::parse(handling.as_str()), Some(handling));
    }
    assert_eq!(Handling::parse("managed"), None);
}

#[test]
fn an_idempotency_key_is_written_as_it_was_read() {
    let key = IdempotencyKey::parse("till-3/0001").unwrap();
    assert_eq!(key.to_string(), "till-3/0001");
}

#[test]
fn what_never_left_is_not_the_providers_word() {
    let fence = Fence(3);
    let reported = |outcome| Event::reported(outcome, fence);
    let never_sent = Refusal::because(RefusalReason::NeverSent);
    assert_eq!(reported(VendOutcome::Refused(never_sent)), Event::NeverSent { fence });
    for reason in RefusalReason::ALL.into_iter().filter(|reason| *reason != RefusalReason::NeverSent) {
        let refusal = Refusal::because(reason);
        let refused = Event::Refused { fence, refusal: refusal.clone(), source: RefusalSource::Answer };
        assert_eq!(reported(VendOutcome::Refused(refusal)), refused);
    }
    for doubt in Doubt::ALL {
        let lost = Event::Lost { fence, why: doubt.into() };
        assert_eq!(reported(VendOutcome::Unknown(doubt.into())), lost);
    }
}

#[test]
fn a_plan_may_look_at_an_even_pace() {
    let pace = Duration::from_secs(60);
    let plan = RetryPlan { first_look: pace, longest_pause: pace, ..RetryPlan::default() };
    let timing = Timing { plan, ..Timing::default() };
    assert_eq!(timing.checked(), Ok(timing));
}

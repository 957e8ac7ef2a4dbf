//! Tests of the retry plan: what is due, and when.

use vend::Capabilities;

use super::*;
use crate::Fence;

const FIRST_SENT: i64 = 1_000_000;

fn second(since_first_sent: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(FIRST_SENT + since_first_sent, 0).unwrap()
}

fn seconds(at: DateTime<Utc>) -> i64 {
    at.timestamp() - FIRST_SENT
}

fn lifecycle(handling: Handling, state: State, requests: u8) -> Lifecycle {
    Lifecycle {
        handling,
        state,
        fence: Fence(3),
        lease_until: None,
        claimed_at: None,
        asked_at: None,
        attempt: 1,
        requests,
        window_closes_at: second(1_800),
    }
}

fn declared(repeat_is_safe: bool, not_found_counts: bool) -> Rules {
    let declared = Capabilities { repeat_is_safe, not_found_counts, ..Capabilities::default() };
    Rules { declared, timing: Timing::default() }
}

/// When the worker looks next at a purchase that it has just looked at, in seconds since its first send.
fn next(lifecycle: &Lifecycle, at: i64) -> Option<i64> {
    let rules = declared(false, true);
    let looked_at = Lifecycle { claimed_at: Some(second(at)), ..lifecycle.clone() };
    rules.timing.plan.due_at(&looked_at, second(at), &rules).map(seconds)
}

/// When an integrator may ask again if an enquiry was just made for it.
fn ask_again(lifecycle: &Lifecycle, at: i64, rules: &Rules) -> Option<i64> {
    let asked = Lifecycle { asked_at: Some(second(at)), ..lifecycle.clone() };
    rules.timing.plan.ask_again_at(&asked, second(at), rules).map(seconds)
}

/// From when on the next order may be sent.
fn next_send(lifecycle: &Lifecycle, at: i64, rules: &Rules) -> Option<i64> {
    rules.timing.plan.next_send_at(lifecycle, second(at), rules).map(seconds)
}

fn doubt(last_sent: i64) -> Sending {
    Sending { ended_at: Some(second(last_sent)), ..Sending::first(second(last_sent)) }
}

fn self_managed(state: State) -> Lifecycle {
    lifecycle(Handling::SelfManaged, state, 0)
}

#[test]
fn what_has_ended_is_never_looked_at_again() {
    let successful = State::Successful { provider_transaction: "1".to_owned() };
    for state in [successful, State::Failed] {
        assert_eq!(next(&self_managed(state.clone()), 10), None);
        assert_eq!(ask_again(&self_managed(state), 10, &declared(true, true)), None);
    }
}

#[test]
fn a_holder_is_left_alone_until_its_lease_ends() {
    let states =
        [State::InFlight(doubt(0)), State::InDoubt(doubt(0)), State::RetryDue, State::Review(doubt(0))];
    for state in states {
        let held = Lifecycle { lease_until: Some(second(6)), ..lifecycle(Handling::Managed, state, 0) };
        assert_eq!((next(&held, 0), next(&held, 600)), (Some(6), Some(6)));
    }
}

#[test]
fn doubt_is_looked_at_again_after_half_as_long_as_it_has_lasted() {
    let in_doubt = self_managed(State::InDoubt(doubt(0)));
    for (at, then) in [(0, 5), (4, 9), (10, 15), (20, 30), (200, 300), (390, 585), (700, 1_050)] {
        assert_eq!(next(&in_doubt, at), Some(then), "{at}");
    }
}

#[test]
fn the_pause_is_never_longer_than_the_longest() {
    let in_review = self_managed(State::Review(doubt(0)));
    assert_eq!(next(&in_review, 1_800), Some(2_700));
    assert_eq!(next(&in_review, 86_400), Some(86_400 + 900));
}

#[test]
fn no_moment_that_changes_what_an_answer_proves_is_slept_through() {
    let in_doubt = self_managed(State::InDoubt(doubt(0)));
    assert_eq!(next(&in_doubt, 590), Some(601), "the quarantine ends");
    assert_eq!(next(&in_doubt, 602), Some(903));
    assert_eq!(next(&in_doubt, 1_700), Some(1_800), "the window closes");
    assert_eq!(next(&in_doubt, 2_000), Some(2_000), "and the worker has not closed it yet");
    let once = Sending { no_record_since: Some(second(606)), ..doubt(0) };
    assert_eq!(next(&self_managed(State::InDoubt(once)), 606), Some(666), "a second answer counts");
    assert_eq!(next(&self_managed(State::Review(once)), 606), Some(666));
    assert_eq!(next(&self_managed(State::InDoubt(doubt(60))), 640), Some(661), "since the last send");
}

#[test]
fn a_moment_that_passed_during_an_enquiry_is_looked_at_at_once() {
    let rules = declared(false, true);
    let looked = |began: i64, at: i64| {
        let lifecycle =
            Lifecycle { claimed_at: Some(second(began)), ..self_managed(State::InDoubt(doubt(0))) };
        rules.timing.plan.due_at(&lifecycle, second(at), &rules).map(seconds)
    };
    assert_eq!(looked(601, 608), Some(608), "asked before the end of the quarantine, answered after it");
    assert_eq!(looked(602, 608), Some(912));
}

#[test]
fn a_sender_that_never_reported_is_waited_for_until_its_deadline() {
    let unreported = Sending { ended_at: None, ..doubt(0) };
    let mut rules = declared(false, true);
    rules.declared.settles_within = Duration::from_secs(10);
    let until = |sending: Sending| seconds(sending.quarantined_until(&rules.declared, &rules.timing));
    assert_eq!((until(doubt(0)), until(unreported)), (11, 121));
    let reported = |sending: Sending| sending.ended(second(21));
    let again = |sending: Sending| reported(sending.repeated(second(20), &rules.timing));
    assert_eq!((until(again(doubt(0))), until(again(unreported))), (31, 121), "of every copy");
}

#[test]
fn an_attempt_is_due_at_its_moment_after_the_first_send() {
    let due = |requests| next(&lifecycle(Handling::Managed, State::RetryDue, requests), 30);
    assert_eq!([0, 1, 2, 3, 4].map(due), [60, 180, 420, 840, 1_500].map(Some));
    assert_eq!(due(5), Some(1_800), "only the close of the window is left");
    let late = |at| next(&lifecycle(Handling::Managed, State::RetryDue, 0), at);
    assert_eq!([59, 60, 300, 1_800].map(late), [60, 65, 305, 1_805].map(Some));
    assert_eq!(Timing::default().plan.attempts.len(), usize::from(Timing::MANAGED_REQUESTS_MAX));
}

#[test]
fn an_order_is_repeated_once_after_each_moment_of_the_plan() {
    let rules = declared(true, false);
    let sent =
        |last_sent: i64, at: i64| next_send(&self_managed(State::InDoubt(doubt(last_sent))), at, &rules);
    assert_eq!(
        [0, 2, 20, 60, 300, 900].map(|last| sent(last, last)),
        [Some(2), Some(20), Some(60), Some(300), Some(900), None]
    );
    assert_eq!(sent(0, 1_200), Some(2), "a late question causes one send");
    assert_eq!(sent(1_200, 1_201), None, "but no second one");
    assert_eq!(sent(0, 1_800), None, "the window has closed");
}

#[test]
fn where_no_record_counts_an_order_is_repeated_early_or_never() {
    let rules = declared(true, true);
    let sent =
        |last_sent: i64, at: i64| next_send(&self_managed(State::InDoubt(doubt(last_sent))), at, &rules);
    assert_eq!([0, 2, 20, 60].map(|last| sent(last, last)), [Some(2), Some(20), Some(60), None]);
    assert_eq!((sent(0, 89), sent(0, 90)), (Some(2), None));
}

#[test]
fn nothing_is_repeated_undeclared_in_flight_or_in_review() {
    let in_doubt = self_managed(State::InDoubt(doubt(0)));
    assert_eq!(next_send(&in_doubt, 10, &declared(false, false)), None);
    let rules = declared(true, false);
    assert_eq!(next_send(&in_doubt, 10, &rules), Some(2));
    for state in [State::InFlight(doubt(0)), State::Review(doubt(0)), State::RetryDue] {
        assert_eq!(next_send(&self_managed(state), 10, &rules).filter(|due| *due < 10), None);
    }
    let spent = lifecycle(Handling::Managed, State::InDoubt(doubt(0)), Timing::MANAGED_REQUESTS_MAX);
    assert_eq!(next_send(&spent, 10, &rules), None, "its requests are spent");
}

#[test]
fn the_worker_looks_when_a_managed_purchase_may_be_sent_again() {
    let rules = declared(true, false);
    let look =
        |lifecycle: &Lifecycle, at| rules.timing.plan.due_at(lifecycle, second(at), &rules).map(seconds);
    let managed = |state| lifecycle(Handling::Managed, state, 0);
    assert_eq!(look(&managed(State::InDoubt(doubt(20))), 55), Some(60));
    assert_eq!(look(&managed(State::Review(doubt(20))), 55), Some(72));
    assert_eq!(look(&self_managed(State::InDoubt(doubt(20))), 55), Some(72));
}

#[test]
fn an_integrator_is_told_when_asking_again_may_bring_something_new() {
    let rules = declared(true, true);
    let in_flight = |at| ask_again(&self_managed(State::InFlight(doubt(0))), at, &rules);
    assert_eq!([0, 1, 8, 100].map(in_flight), [1, 2, 12, 105].map(Some));
    let held = Lifecycle { lease_until: Some(second(9)), ..self_managed(State::InFlight(doubt(0))) };
    assert_eq!(ask_again(&held, 8, &rules), Some(9), "the holder may be dead: its lease ends");
    let in_doubt = |last, at| ask_again(&self_managed(State::InDoubt(doubt(last))), at, &rules);
    assert_eq!(in_doubt(0, 1), Some(2), "no sooner than the next enquiry");
    let looked_at =
        |until| Lifecycle { lease_until: Some(second(until)), ..self_managed(State::InDoubt(doubt(60))) };
    assert_eq!(ask_again(&looked_at(403), 400, &rules), Some(403), "the worker is asking");
    assert_eq!(ask_again(&looked_at(400), 400, &rules), Some(570), "the worker is dead");
    let due = Lifecycle { asked_at: Some(second(30)), ..self_managed(State::InDoubt(doubt(5))) };
    let ask_again_at = rules.timing.plan.ask_again_at(&due, second(31), &rules).map(seconds);
    assert_eq!(ask_again_at, Some(31), "a send is due, although a look has sent nothing");
    assert_eq!((in_doubt(5, 17), in_doubt(5, 19)), (Some(20), Some(20)), "the next send");
    assert_eq!(in_doubt(60, 400), Some(570));
    assert_eq!(in_doubt(60, 600), Some(661), "the quarantine ends");
    assert_eq!(ask_again(&lifecycle(Handling::Managed, State::RetryDue, 1), 70, &rules), Some(181));
    assert_eq!(ask_again(&self_managed(State::Review(doubt(0))), 9_000, &rules), Some(9_900));
}

#[test]
fn a_plan_out_of_order_is_refused() {
    let plan = RetryPlan::default();
    let window = Timing::default().window;
    assert_eq!(plan.check(window), Ok(()));
    let [one, two, three, four, five] = plan.attempts;
    for wrong in [
        RetryPlan { first_look: Duration::ZERO, ..plan },
        RetryPlan { first_look: Duration::from_secs(16 * 60), ..plan },
        RetryPlan { repeats_end: window, ..plan },
        RetryPlan { attempts: [two, one, three, four, five], ..plan },
        RetryPlan { attempts: [one, one, three, four, five], ..plan },
        RetryPlan { attempts: [one, two, three, four, window], ..plan },
        RetryPlan { repeats: [two, one, three, four, five], ..plan },
        RetryPlan { repeats: [one, two, three, four, window], ..plan },
    ] {
        assert!(wrong.check(window).is_err(), "{wrong:?}");
        assert!(Timing { plan: wrong, ..Timing::default() }.checked().is_err());
    }
}

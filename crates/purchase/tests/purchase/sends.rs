//! Every further send: it is recorded before it leaves, it passes its own gate, and an enquiry follows if it is
//! turned down. What was learnt before a send proves nothing after it.

use std::sync::Arc;
use std::time::Duration;

use purchase::{
    Asker, Event, Fence, Handling, RefusalSource, ResolveCommand, Sending, State, StateName, Why,
};
use vend::{Doubt, Refusal, RefusalReason};

use crate::world::World;
use crate::world::driver::Luck;
use crate::world::memory::Repeats;
use crate::world::provider::Verdict;
use crate::world::resolve_driver::ResolveDriver;
use crate::world::values::declared;
use crate::world::walk::{comes_to_an_end, confirms, every_copy_meets, resolves};

const BUSY: Verdict = Verdict::Refuses(RefusalReason::Busy);
const BLOCKED: Verdict = Verdict::Refuses(RefusalReason::Blocked);

/// In doubt under fence 1. The only copy never arrived. A repeat is due.
fn in_doubt(handling: Handling, letters: &str, repeats: Repeats) -> World {
    let mut world = World::open(handling, declared(letters), repeats);
    confirms(&mut world, None);
    world.passes(1);
    world
}

/// In doubt under fence 1. The only copy was vended.
fn in_doubt_though_vended(letters: &str, repeats: Repeats) -> World {
    let mut world = World::open(Handling::SelfManaged, declared(letters), repeats);
    world.begin();
    every_copy_meets(&mut world, Some(Verdict::Vends));
    world.gives_up();
    world.passes(1);
    world
}

/// Another attempt is due, under fence 1. The first was refused.
fn due() -> World {
    let mut world = World::open(Handling::Managed, declared(""), Repeats::FromMemory);
    confirms(&mut world, Some(BUSY));
    assert_eq!(world.state(), StateName::RetryDue);
    world
}

/// A resolve that is about to record the next send, under fence 2.
fn about_to_send(world: &mut World, asker: Asker) -> ResolveDriver {
    let mut driver = ResolveDriver::open(asker, world);
    while !matches!(driver.command(), ResolveCommand::RecordRepeat(_) | ResolveCommand::RecordAttempt(_)) {
        assert_eq!(driver.answer(), None, "{}", driver.history());
        driver.turn(world, Luck::Reticent);
    }
    driver
}

fn works_on(driver: &mut ResolveDriver, world: &mut World) {
    for _turn in 0..20 {
        driver.turn(world, Luck::Well);
    }
    assert!(driver.answer().is_some(), "no end after {}", driver.history());
}

fn sending(world: &World) -> Sending {
    let sending = match world.lifecycle().state {
        State::InFlight(sending) | State::InDoubt(sending) | State::Review(sending) => Some(sending),
        State::RetryDue | State::Successful { .. } | State::Failed => None,
    };
    sending.expect("a purchase of this test has an attempt whose outcome is open")
}

mod behind_its_gate {
    use super::*;

    #[test]
    fn a_repeat_leaves_within_the_gate_and_not_after_it() {
        for (pause, copies) in [(0, 2), (1, 2), (2, 1), (3_600, 1)] {
            let mut world = in_doubt(Handling::SelfManaged, "rmn", Repeats::FromMemory);
            let mut driver = about_to_send(&mut world, Asker::Integrator);
            driver.turn(&mut world, Luck::Well);
            world.passes(pause);
            works_on(&mut driver, &mut world);
            assert_eq!(world.provider.copies(), copies, "after {pause} s");
            let left = if copies == 2 { "send, record the doubt" } else { "record that nothing left" };
            assert_eq!(
                driver.history(),
                format!("take a turn, claim, enquire, record the repeat, {left}, answer pending")
            );
            assert_eq!((world.state(), world.lifecycle().lease_until), (StateName::InDoubt, None));
            assert_eq!(usize::from(sending(&world).copies), copies);
            comes_to_an_end(&mut world, None);
        }
    }

    #[test]
    fn an_attempt_that_slept_is_due_again_or_given_back_when_its_window_closed() {
        for (pause, answer, state) in
            [(6, "pending", StateName::RetryDue), (3_600, "final", StateName::Failed)]
        {
            let mut world = due();
            let mut driver = about_to_send(&mut world, Asker::Worker);
            driver.turn(&mut world, Luck::Well);
            world.passes(pause);
            works_on(&mut driver, &mut world);
            let history = "claim, record a new attempt, record that nothing left, answer";
            assert_eq!(driver.history(), format!("{history} {answer}"));
            assert_eq!((world.state(), world.lifecycle().lease_until), (state, None));
            assert_eq!((world.provider.copies(), world.lifecycle().requests), (1, 1));
        }
    }

    #[test]
    fn the_gate_is_that_of_the_rules() {
        for (pause, copies) in [(2, 2), (3, 1)] {
            let mut world = in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory);
            Arc::make_mut(&mut world.setup).rules.timing.gate = Duration::from_secs(2);
            let mut driver = about_to_send(&mut world, Asker::Integrator);
            driver.turn(&mut world, Luck::Well);
            world.passes(pause);
            works_on(&mut driver, &mut world);
            assert_eq!(world.provider.copies(), copies, "after {pause} s");
            assert_eq!(driver.history().contains(" send,"), copies == 2, "after {pause} s");
        }
    }

    #[test]
    fn a_process_that_slept_until_an_operator_had_decided_sends_nothing() {
        let mut world = in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory);
        let mut sleeper = about_to_send(&mut world, Asker::Integrator);
        sleeper.turn(&mut world, Luck::Well);
        world.passes(3_600);
        resolves(&mut world, Asker::Worker, Luck::Well, None);
        assert_eq!(world.state(), StateName::Review);
        world.operator_decides();
        world.ended_in_truth();
        works_on(&mut sleeper, &mut world);
        assert_eq!(world.provider.copies(), 1);
        world.ended_in_truth();
    }
}

mod unacknowledged {
    use super::*;

    #[test]
    fn a_repeat_does_not_leave_and_is_not_counted_whether_it_was_kept_or_not() {
        let kept = "take a turn, claim, enquire, record the repeat, record that nothing left, answer pending";
        let not_kept = "take a turn, claim, enquire, record the repeat, record that nothing left, release, answer pending";
        for (loss, fence, history) in
            [(Luck::CommittedUnheard, Fence(3), kept), (Luck::NotCommitted, Fence(2), not_kept)]
        {
            let mut world = in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory);
            let mut driver = about_to_send(&mut world, Asker::Integrator);
            driver.turn(&mut world, loss);
            works_on(&mut driver, &mut world);
            assert_eq!(driver.history(), history);
            assert_eq!((world.state(), world.lifecycle().fence), (StateName::InDoubt, fence));
            assert_eq!(world.lifecycle().lease_until, None);
            assert_eq!((sending(&world).copies, world.provider.copies()), (1, 1));
        }
    }

    #[test]
    fn an_attempt_does_not_leave_and_is_due_again_whether_it_was_kept_or_not() {
        let kept = "claim, record a new attempt, record that nothing left, answer pending";
        let not_kept = "claim, record a new attempt, record that nothing left, release, answer pending";
        for (loss, attempt, history) in [(Luck::CommittedUnheard, 2, kept), (Luck::NotCommitted, 1, not_kept)]
        {
            let mut world = due();
            let mut driver = about_to_send(&mut world, Asker::Worker);
            driver.turn(&mut world, loss);
            works_on(&mut driver, &mut world);
            assert_eq!(driver.history(), history);
            assert_eq!((world.state(), world.lifecycle().attempt), (StateName::RetryDue, attempt));
            assert_eq!(world.lifecycle().lease_until, None);
            assert_eq!(world.provider.copies(), 1);
        }
    }

    #[test]
    fn a_committed_send_that_is_given_back_leaves_no_lease() {
        let mut world = in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory);
        let mut driver = about_to_send(&mut world, Asker::Integrator);
        driver.turn(&mut world, Luck::CommittedUnheard);
        works_on(&mut driver, &mut world);
        assert_eq!(world.lifecycle().lease_until, None);
    }

    #[test]
    fn a_send_of_another_process_meanwhile_is_not_taken_for_ours() {
        for loss in [Luck::CommittedUnheard, Luck::NotCommitted] {
            let mut world = in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory);
            let mut slow = about_to_send(&mut world, Asker::Integrator);
            slow.turn(&mut world, loss);
            world.passes(201);
            let mut other = ResolveDriver::open(Asker::Integrator, &world);
            while world.provider.copies() == 1 {
                assert_eq!(other.answer(), None, "{}", other.history());
                other.turn(&mut world, Luck::Well);
            }
            let before = world.lifecycle().clone();
            works_on(&mut slow, &mut world);
            assert_eq!((world.lifecycle(), world.state()), (&before, StateName::InFlight));
            every_copy_meets(&mut world, Some(Verdict::Vends));
            works_on(&mut other, &mut world);
            world.ended_in_truth();
        }
    }
}

mod refused {
    use super::*;

    #[test]
    fn a_repeat_that_comes_after_the_window_leaves_what_was_found_on_record() {
        let found = "claim, enquire, record the repeat, record that there is no record";
        for (handling, asker, history, state) in [
            (
                Handling::SelfManaged,
                Asker::Integrator,
                format!("take a turn, {found}, answer pending"),
                StateName::InDoubt,
            ),
            (
                Handling::Managed,
                Asker::Worker,
                format!("{found}, close the window, answer pending"),
                StateName::Review,
            ),
        ] {
            let mut world = in_doubt(handling, "rn", Repeats::FromMemory);
            world.passes(1_798);
            let mut driver = about_to_send(&mut world, asker);
            world.passes(1);
            works_on(&mut driver, &mut world);
            assert_eq!((driver.history(), world.state()), (history, state));
            assert_eq!((world.lifecycle().lease_until, world.provider.copies()), (None, 1));
            let counted = sending(&world).no_record_since.map(|since| since.timestamp());
            assert_eq!(counted, Some(1_800));
        }
    }

    #[test]
    fn an_attempt_after_the_window_is_not_sent_and_the_next_resolve_closes_it() {
        let mut world = due();
        world.passes(1_799);
        let mut driver = about_to_send(&mut world, Asker::Worker);
        world.passes(1);
        works_on(&mut driver, &mut world);
        assert_eq!(driver.history(), "claim, record a new attempt, release, answer pending");
        assert_eq!((world.state(), world.lifecycle().lease_until), (StateName::RetryDue, None));
        let next = resolves(&mut world, Asker::Worker, Luck::Well, None);
        assert_eq!(next.history(), "claim, close the window, answer final");
        world.ended_in_truth();
    }

    #[test]
    fn a_send_of_a_replaced_holder_changes_nothing() {
        let repeat = (in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory), Asker::Integrator);
        for (mut world, asker) in [repeat, (due(), Asker::Worker)] {
            let mut driver = about_to_send(&mut world, asker);
            world.passes(185);
            world.knows(Event::Claimed);
            let before = world.lifecycle().clone();
            works_on(&mut driver, &mut world);
            assert_eq!((world.lifecycle(), world.provider.copies()), (&before, 1));
        }
    }
}

mod turned_down {
    use super::*;

    /// The ways in which the provider turns the second copy down.
    const WAYS: [(Repeats, Verdict); 2] =
        [(Repeats::Rejected, Verdict::Vends), (Repeats::FromMemory, Verdict::IsTurnedAway)];
    const UNTIL_THEN: &str = "take a turn, claim, enquire, record the repeat, send, enquire";

    /// Runs up to the enquiry that follows.
    fn turned_down(world: &mut World, way: Verdict) -> ResolveDriver {
        let mut driver = about_to_send(world, Asker::Integrator);
        while driver.history() != UNTIL_THEN {
            assert_eq!(driver.answer(), None, "{}", driver.history());
            driver.turn(world, Luck::Well);
            every_copy_meets(world, Some(way));
        }
        driver
    }

    #[test]
    fn a_vend_of_the_first_copy_comes_to_light() {
        for (repeats, way) in WAYS {
            for letters in ["r", "rm"] {
                let mut world = in_doubt_though_vended(letters, repeats);
                let mut driver = turned_down(&mut world, way);
                works_on(&mut driver, &mut world);
                assert_eq!(driver.history(), format!("{UNTIL_THEN}, record the vend, answer final"));
                world.ended_in_truth();
            }
        }
    }

    #[test]
    fn when_nothing_is_found_either_it_stays_in_doubt_with_both_copies_counted() {
        for (repeats, way) in WAYS {
            let mut world = in_doubt_though_vended("rm", repeats);
            let mut driver = turned_down(&mut world, way);
            driver.turn(&mut world, Luck::Reticent);
            works_on(&mut driver, &mut world);
            assert_eq!(driver.history(), format!("{UNTIL_THEN}, record the doubt, answer pending"));
            assert_eq!((world.state(), sending(&world).copies), (StateName::InDoubt, 2));
            assert_eq!(world.lifecycle().lease_until, None);
        }
    }

    #[test]
    fn without_an_answer_the_provider_is_called_unreachable() {
        for (repeats, way) in WAYS {
            let mut world = in_doubt_though_vended("rm", repeats);
            let mut driver = turned_down(&mut world, way);
            driver.turn(&mut world, Luck::Offline);
            works_on(&mut driver, &mut world);
            assert_eq!(driver.history(), format!("{UNTIL_THEN}, record the doubt, answer unreachable"));
            assert_eq!((world.state(), sending(&world).copies), (StateName::InDoubt, 2));
        }
    }

    #[test]
    fn a_refusal_that_is_then_told_ends_it_only_where_refusals_are_remembered() {
        for (letters, answer, released) in [("rm", "final", 1), ("r", "pending", 0)] {
            let mut world = in_doubt(Handling::SelfManaged, letters, Repeats::FromMemory);
            let mut driver = turned_down(&mut world, BLOCKED);
            works_on(&mut driver, &mut world);
            assert_eq!(driver.history(), format!("{UNTIL_THEN}, record the refusal, answer {answer}"));
            assert_eq!(world.released, released);
        }
    }

    #[test]
    fn a_first_copy_that_was_only_slow_is_vended_after_the_second_was_turned_away() {
        let mut world = World::in_doubt(Handling::SelfManaged, declared("rm"));
        let mut driver = about_to_send(&mut world, Asker::Integrator);
        while world.provider.copies() == 1 {
            assert_eq!(driver.answer(), None, "{}", driver.history());
            driver.turn(&mut world, Luck::Well);
        }
        world.provider.receive(1, world.now, Verdict::IsTurnedAway);
        works_on(&mut driver, &mut world);
        assert_eq!((world.state(), world.released), (StateName::InDoubt, 0));
        world.provider.receive(0, world.now, Verdict::Vends);
        comes_to_an_end(&mut world, None);
        assert_eq!(world.captured, 1);
    }
}

mod what_was_learnt_before {
    use super::*;

    fn refused(fence: Fence, source: RefusalSource) -> Event {
        Event::Refused { fence, refusal: Refusal::because(RefusalReason::Blocked), source }
    }

    fn sent_again(letters: &str) -> World {
        let mut world = in_doubt(Handling::SelfManaged, letters, Repeats::FromMemory);
        world.knows(Event::Claimed);
        world.knows(Event::SentAgain { fence: Fence(2) });
        world
    }

    #[test]
    fn a_send_says_nothing_after_it() {
        let mut attempted = due();
        attempted.knows(Event::Claimed);
        let reference = attempted.fresh_reference();
        attempted.knows(Event::AttemptStarted { fence: Fence(2), reference });
        for mut world in [sent_again("rm"), attempted] {
            let before = world.lifecycle().clone();
            for event in [
                refused(Fence(2), RefusalSource::Enquiry),
                refused(Fence(2), RefusalSource::Answer),
                Event::NeverSent { fence: Fence(2) },
                Event::Lost { fence: Fence(2), why: Doubt::TimedOut.into() },
            ] {
                let why = world.record(event).unwrap_err().why;
                assert_eq!((why, world.lifecycle()), (Why::StaleFence, &before));
            }
            assert_eq!(before.fence, Fence(3));
        }
    }

    #[test]
    fn of_several_copies_only_a_remembered_refusal_from_an_enquiry_is_proof() {
        use StateName::{Failed, InDoubt};
        for (letters, source, state) in [
            ("r", RefusalSource::Answer, InDoubt),
            ("r", RefusalSource::Enquiry, InDoubt),
            ("rm", RefusalSource::Answer, InDoubt),
            ("rm", RefusalSource::Enquiry, Failed),
        ] {
            let mut world = sent_again(letters);
            world.knows(refused(Fence(3), source));
            assert_eq!(world.state(), state, "{letters} {source:?}");
        }
    }

    /// Late enough for "no record" to count. It has counted once.
    fn not_found_once() -> World {
        let mut world = sent_again("rn");
        world.knows(Event::Lost { fence: Fence(3), why: Doubt::TimedOut.into() });
        world.passes(605);
        world.knows(Event::NoRecord { fence: Fence(3), asked_at: world.now });
        assert_eq!(sending(&world).no_record_since, Some(world.now));
        world
    }

    #[test]
    fn a_not_found_counts_no_more_when_the_provider_shows_that_it_knows_the_order() {
        let fence = Fence(4);
        let still_open = Event::LeaseReleased { fence, why: Doubt::StillOpen.into() };
        for known in [still_open, refused(fence, RefusalSource::Enquiry)] {
            for in_review in [false, true] {
                let mut world = not_found_once();
                if in_review {
                    world.passes(1_200);
                    world.knows(Event::WindowClosed { fence: Fence(3) });
                }
                world.passes(60);
                world.knows(Event::Claimed);
                world.knows(known.clone());
                assert_eq!(sending(&world).no_record_since, None);
                world.knows(Event::NoRecord { fence, asked_at: world.now });
                assert_eq!((sending(&world).no_record_since, world.released), (Some(world.now), 0));
            }
        }
    }

    #[test]
    fn what_shows_nothing_leaves_the_count_as_it_is() {
        let mut world = not_found_once();
        let counted = sending(&world).no_record_since;
        world.knows(Event::Claimed);
        world.knows(Event::LeaseReleased { fence: Fence(4), why: Doubt::TimedOut.into() });
        assert_eq!(sending(&world).no_record_since, counted);
        world.passes(60);
        world.knows(Event::NoRecord { fence: Fence(4), asked_at: world.now });
        world.ended_in_truth();
    }

    #[test]
    fn a_report_after_the_lease_was_released_still_undoes_a_not_found() {
        let mut world = not_found_once();
        assert_eq!(world.lifecycle().lease_until, None);
        world.knows(Event::LeaseReleased { fence: Fence(3), why: Doubt::StillOpen.into() });
        assert_eq!(sending(&world).no_record_since, None);
    }
}

mod due_meanwhile {
    use purchase::{Event, Resolve, ResolveInput};
    use vend::Doubt;

    use super::*;

    #[test]
    fn an_integrator_that_claims_a_due_purchase_leaves_the_attempt_to_the_worker() {
        let in_doubt = in_doubt(Handling::Managed, "r", Repeats::FromMemory);
        let due = due();
        for (asker, next) in [
            (
                Asker::Integrator,
                ResolveCommand::Record(Event::LeaseReleased {
                    fence: Fence(3),
                    why: Doubt::NeverReported.into(),
                }),
            ),
            (Asker::Worker, ResolveCommand::RecordAttempt(Fence(3))),
        ] {
            let (mut resolve, first) =
                Resolve::begin(asker, in_doubt.lifecycle(), in_doubt.now, &in_doubt.setup.rules);
            let claim = match asker {
                Asker::Integrator => resolve.on(ResolveInput::MayAsk),
                Asker::Worker => Ok(first),
            };
            assert_eq!(claim, Ok(ResolveCommand::Claim));
            let lifecycle = purchase::Lifecycle { fence: Fence(3), ..due.lifecycle().clone() };
            assert_eq!(resolve.on(ResolveInput::Claimed { lifecycle, at: due.now }), Ok(next));
        }
    }
}

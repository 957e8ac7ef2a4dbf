//! Every further send: on record before it leaves, behind a gate of its own, asked about when it is
//! turned down; and what was learnt before it, which says nothing after it.
#![expect(dead_code, reason = "the world is shared with the protocols' and the laws' tests")]

use std::time::Duration;

use purchase::{Asker, Fact, Fence, Handling, ResolveCommand, Sending, State, StateName, Told, Why};
use vend::{Doubt, Refusal, RefusalReason};

use world::World;
use world::desk::{Luck, ResolveDesk};
use world::provider::{Repeats, Verdict};
use world::values::declared;
use world::walk::{comes_to_an_end, confirms, every_copy_meets, resolves};

#[path = "world/world.rs"]
mod world;

const BUSY: Verdict = Verdict::Refuses(RefusalReason::Busy);
const BLOCKED: Verdict = Verdict::Refuses(RefusalReason::Blocked);

/// In doubt under fence 1; the one copy never arrived. A repeat is due.
fn in_doubt(handling: Handling, letters: &str, repeats: Repeats) -> World {
    let mut world = World::open(handling, declared(letters), repeats);
    confirms(&mut world, None);
    world.passes(1);
    world
}

/// In doubt under fence 1; the one copy was vended.
fn in_doubt_though_vended(letters: &str, repeats: Repeats) -> World {
    let mut world = World::open(Handling::SelfManaged, declared(letters), repeats);
    let fence = world.reserve();
    world.provider.takes_off(1, world.now);
    every_copy_meets(&mut world, Some(Verdict::Vends));
    world.knows(Fact::Lost { fence, why: Doubt::TimedOut.into() });
    world.passes(1);
    world
}

/// Another attempt is due, under fence 1; the first was refused.
fn due() -> World {
    let mut world = World::open(Handling::Managed, declared(""), Repeats::FromMemory);
    confirms(&mut world, Some(BUSY));
    assert_eq!(world.state(), StateName::RetryDue);
    world
}

/// A desk that is about to put the next send on record, under fence 2.
fn about_to_send(world: &mut World, asker: Asker) -> ResolveDesk {
    let mut desk = ResolveDesk::open(asker, world);
    while !matches!(desk.command(), ResolveCommand::RecordRepeat(_) | ResolveCommand::RecordAttempt(_)) {
        assert_eq!(desk.answer(), None, "{}", desk.story());
        desk.turn(world, Luck::Reticent);
    }
    desk
}

fn works_on(desk: &mut ResolveDesk, world: &mut World) {
    for _turn in 0..20 {
        desk.turn(world, Luck::Well);
    }
    assert!(desk.answer().is_some(), "no end after {}", desk.story());
}

fn sending(world: &World) -> Sending {
    let sending = match world.life().state {
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
            let mut desk = about_to_send(&mut world, Asker::Integrator);
            desk.turn(&mut world, Luck::Well);
            world.passes(pause);
            works_on(&mut desk, &mut world);
            assert_eq!(world.provider.copies(), copies, "after {pause} s");
            let left = if copies == 2 { "send, record the doubt" } else { "record that nothing left" };
            assert_eq!(
                desk.story(),
                format!("take a turn, claim, enquire, record the repeat, {left}, answer pending")
            );
            assert_eq!((world.state(), world.life().lease_until), (StateName::InDoubt, None));
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
            let mut desk = about_to_send(&mut world, Asker::Worker);
            desk.turn(&mut world, Luck::Well);
            world.passes(pause);
            works_on(&mut desk, &mut world);
            let story = "claim, record a new attempt, record that nothing left, answer";
            assert_eq!(desk.story(), format!("{story} {answer}"));
            assert_eq!((world.state(), world.life().lease_until), (state, None));
            assert_eq!((world.provider.copies(), world.life().requests), (1, 1));
        }
    }

    #[test]
    fn the_gate_is_that_of_the_rules() {
        for (pause, copies) in [(2, 2), (3, 1)] {
            let mut world = in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory);
            world.rules.timing.gate = Duration::from_secs(2);
            let mut desk = about_to_send(&mut world, Asker::Integrator);
            desk.turn(&mut world, Luck::Well);
            world.passes(pause);
            works_on(&mut desk, &mut world);
            assert_eq!(world.provider.copies(), copies, "after {pause} s");
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
        let not_kept = "take a turn, claim, enquire, record the repeat, record that nothing left, let go, answer pending";
        for (loss, fence, story) in
            [(Luck::CommittedUnheard, Fence(3), kept), (Luck::NotCommitted, Fence(2), not_kept)]
        {
            let mut world = in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory);
            let mut desk = about_to_send(&mut world, Asker::Integrator);
            desk.turn(&mut world, loss);
            works_on(&mut desk, &mut world);
            assert_eq!(desk.story(), story);
            assert_eq!((world.state(), world.life().fence), (StateName::InDoubt, fence));
            assert_eq!(world.life().lease_until, None);
            assert_eq!((sending(&world).copies, world.provider.copies()), (1, 1));
        }
    }

    #[test]
    fn an_attempt_does_not_leave_and_is_due_again_whether_it_was_kept_or_not() {
        let kept = "claim, record a new attempt, record that nothing left, answer pending";
        let not_kept = "claim, record a new attempt, record that nothing left, let go, answer pending";
        for (loss, attempt, story) in [(Luck::CommittedUnheard, 2, kept), (Luck::NotCommitted, 1, not_kept)] {
            let mut world = due();
            let mut desk = about_to_send(&mut world, Asker::Worker);
            desk.turn(&mut world, loss);
            works_on(&mut desk, &mut world);
            assert_eq!(desk.story(), story);
            assert_eq!((world.state(), world.life().attempt), (StateName::RetryDue, attempt));
            assert_eq!(world.life().lease_until, None);
            assert_eq!(world.provider.copies(), 1);
        }
    }

    #[test]
    fn a_send_that_was_kept_and_is_given_back_is_held_by_nobody() {
        let mut world = in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory);
        let mut desk = about_to_send(&mut world, Asker::Integrator);
        desk.turn(&mut world, Luck::CommittedUnheard);
        works_on(&mut desk, &mut world);
        assert_eq!(world.life().lease_until, None);
    }

    #[test]
    fn a_send_of_somebody_else_meanwhile_is_not_taken_for_ours() {
        for loss in [Luck::CommittedUnheard, Luck::NotCommitted] {
            let mut world = in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory);
            let mut slow = about_to_send(&mut world, Asker::Integrator);
            slow.turn(&mut world, loss);
            world.passes(201);
            let mut other = ResolveDesk::open(Asker::Integrator, &world);
            while *other.command() != ResolveCommand::Send {
                assert_eq!(other.answer(), None, "{}", other.story());
                other.turn(&mut world, Luck::Well);
            }
            let before = world.life().clone();
            works_on(&mut slow, &mut world);
            assert_eq!((world.life(), world.state()), (&before, StateName::InFlight));
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
        for (handling, asker, story, state) in [
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
            let mut desk = about_to_send(&mut world, asker);
            world.passes(1);
            works_on(&mut desk, &mut world);
            assert_eq!((desk.story(), world.state()), (story, state));
            assert_eq!((world.life().lease_until, world.provider.copies()), (None, 1));
            let counted = sending(&world).no_record_since.map(|since| since.timestamp());
            assert_eq!(counted, Some(1_800));
        }
    }

    #[test]
    fn an_attempt_that_comes_after_the_window_is_let_go_and_given_back_by_the_next() {
        let mut world = due();
        world.passes(1_799);
        let mut desk = about_to_send(&mut world, Asker::Worker);
        world.passes(1);
        works_on(&mut desk, &mut world);
        assert_eq!(desk.story(), "claim, record a new attempt, let go, answer pending");
        assert_eq!((world.state(), world.life().lease_until), (StateName::RetryDue, None));
        let next = resolves(&mut world, Asker::Worker, Luck::Well, None);
        assert_eq!(next.story(), "claim, close the window, answer final");
        world.ended_in_truth();
    }

    #[test]
    fn a_send_of_one_who_has_been_replaced_changes_nothing() {
        let repeat = (in_doubt(Handling::SelfManaged, "r", Repeats::FromMemory), Asker::Integrator);
        for (mut world, asker) in [repeat, (due(), Asker::Worker)] {
            let mut desk = about_to_send(&mut world, asker);
            world.passes(185);
            world.knows(Fact::Claimed);
            let before = world.life().clone();
            works_on(&mut desk, &mut world);
            assert_eq!((world.life(), world.provider.copies()), (&before, 1));
        }
    }
}

mod turned_down {
    use super::*;

    /// How the provider turns the second copy down.
    const WAYS: [(Repeats, Verdict); 2] =
        [(Repeats::Rejected, Verdict::Vends), (Repeats::FromMemory, Verdict::IsTurnedAway)];
    const UNTIL_THEN: &str = "take a turn, claim, enquire, record the repeat, send, enquire";

    /// Up to the question that follows.
    fn turned_down(world: &mut World, way: Verdict) -> ResolveDesk {
        let mut desk = about_to_send(world, Asker::Integrator);
        while desk.story() != UNTIL_THEN {
            assert_eq!(desk.answer(), None, "{}", desk.story());
            desk.turn(world, Luck::Well);
            every_copy_meets(world, Some(way));
        }
        desk
    }

    #[test]
    fn a_vend_of_the_first_copy_comes_to_light() {
        for (repeats, way) in WAYS {
            for letters in ["r", "rm"] {
                let mut world = in_doubt_though_vended(letters, repeats);
                let mut desk = turned_down(&mut world, way);
                works_on(&mut desk, &mut world);
                assert_eq!(desk.story(), format!("{UNTIL_THEN}, record the vend, answer final"));
                world.ended_in_truth();
            }
        }
    }

    #[test]
    fn when_nothing_is_found_either_it_stays_in_doubt_with_both_copies_counted() {
        for (repeats, way) in WAYS {
            let mut world = in_doubt_though_vended("rm", repeats);
            let mut desk = turned_down(&mut world, way);
            desk.turn(&mut world, Luck::Reticent);
            works_on(&mut desk, &mut world);
            assert_eq!(desk.story(), format!("{UNTIL_THEN}, record the doubt, answer pending"));
            assert_eq!((world.state(), sending(&world).copies), (StateName::InDoubt, 2));
            assert_eq!(world.life().lease_until, None);
        }
    }

    #[test]
    fn when_nobody_answers_the_provider_is_called_unreachable() {
        for (repeats, way) in WAYS {
            let mut world = in_doubt_though_vended("rm", repeats);
            let mut desk = turned_down(&mut world, way);
            desk.turn(&mut world, Luck::Offline);
            works_on(&mut desk, &mut world);
            assert_eq!(desk.story(), format!("{UNTIL_THEN}, record the doubt, answer unreachable"));
            assert_eq!((world.state(), sending(&world).copies), (StateName::InDoubt, 2));
        }
    }

    #[test]
    fn a_refusal_that_is_then_told_ends_it_only_where_refusals_are_remembered() {
        for (letters, answer, released) in [("rm", "final", 1), ("r", "pending", 0)] {
            let mut world = in_doubt(Handling::SelfManaged, letters, Repeats::FromMemory);
            let mut desk = turned_down(&mut world, BLOCKED);
            works_on(&mut desk, &mut world);
            assert_eq!(desk.story(), format!("{UNTIL_THEN}, record the refusal, answer {answer}"));
            assert_eq!(world.released, released);
        }
    }

    #[test]
    fn a_first_copy_that_was_only_slow_is_vended_after_the_second_was_turned_away() {
        let mut world = World::in_doubt(Handling::SelfManaged, declared("rm"));
        let mut desk = about_to_send(&mut world, Asker::Integrator);
        while *desk.command() != ResolveCommand::Send {
            assert_eq!(desk.answer(), None, "{}", desk.story());
            desk.turn(&mut world, Luck::Well);
        }
        world.provider.receives(1, world.now, Verdict::IsTurnedAway);
        works_on(&mut desk, &mut world);
        assert_eq!((world.state(), world.released), (StateName::InDoubt, 0));
        world.provider.receives(0, world.now, Verdict::Vends);
        comes_to_an_end(&mut world, None);
        assert_eq!(world.captured, 1);
    }
}

mod what_was_learnt_before {
    use super::*;

    fn refused(fence: Fence, told: Told) -> Fact {
        Fact::Refused { fence, refusal: Refusal::because(RefusalReason::Blocked), told }
    }

    fn sent_again(letters: &str) -> World {
        let mut world = in_doubt(Handling::SelfManaged, letters, Repeats::FromMemory);
        world.knows(Fact::Claimed);
        world.knows(Fact::SentAgain { fence: Fence(2) });
        world
    }

    #[test]
    fn a_send_says_nothing_after_it() {
        let mut attempted = due();
        attempted.knows(Fact::Claimed);
        let reference = attempted.fresh_reference();
        attempted.knows(Fact::AttemptStarted { fence: Fence(2), reference });
        for mut world in [sent_again("rm"), attempted] {
            let before = world.life().clone();
            for fact in [
                refused(Fence(2), Told::WhenAsked),
                refused(Fence(2), Told::InAnswer),
                Fact::NeverSent { fence: Fence(2) },
                Fact::Lost { fence: Fence(2), why: Doubt::TimedOut.into() },
            ] {
                let why = world.record(fact).unwrap_err().why;
                assert_eq!((why, world.life()), (Why::StaleFence, &before));
            }
            assert_eq!(before.fence, Fence(3));
        }
    }

    #[test]
    fn of_several_copies_a_refusal_is_proof_only_when_asked_for_and_only_where_it_is_remembered() {
        use StateName::{Failed, InDoubt};
        for (letters, told, state) in [
            ("r", Told::InAnswer, InDoubt),
            ("r", Told::WhenAsked, InDoubt),
            ("rm", Told::InAnswer, InDoubt),
            ("rm", Told::WhenAsked, Failed),
        ] {
            let mut world = sent_again(letters);
            world.knows(refused(Fence(3), told));
            assert_eq!(world.state(), state, "{letters} {told:?}");
        }
    }

    /// Late enough for "no record" to count, and counted once.
    fn not_found_once() -> World {
        let mut world = sent_again("rn");
        world.knows(Fact::Lost { fence: Fence(3), why: Doubt::TimedOut.into() });
        world.passes(605);
        world.knows(Fact::NoRecord { fence: Fence(3), asked_at: world.now });
        assert_eq!(sending(&world).no_record_since, Some(world.now));
        world
    }

    #[test]
    fn a_not_found_counts_no_more_when_the_provider_shows_that_it_knows_the_order() {
        let fence = Fence(4);
        let still_open = Fact::LetGo { fence, why: Doubt::StillOpen.into() };
        for known in [still_open, refused(fence, Told::WhenAsked)] {
            for in_review in [false, true] {
                let mut world = not_found_once();
                if in_review {
                    world.passes(1_200);
                    world.knows(Fact::WindowClosed { fence: Fence(3) });
                }
                world.passes(60);
                world.knows(Fact::Claimed);
                world.knows(known.clone());
                assert_eq!(sending(&world).no_record_since, None);
                world.knows(Fact::NoRecord { fence, asked_at: world.now });
                assert_eq!((sending(&world).no_record_since, world.released), (Some(world.now), 0));
            }
        }
    }

    #[test]
    fn what_shows_nothing_leaves_the_count_as_it_is() {
        let mut world = not_found_once();
        let counted = sending(&world).no_record_since;
        world.knows(Fact::Claimed);
        world.knows(Fact::LetGo { fence: Fence(4), why: Doubt::TimedOut.into() });
        assert_eq!(sending(&world).no_record_since, counted);
        world.passes(60);
        world.knows(Fact::NoRecord { fence: Fence(4), asked_at: world.now });
        world.ended_in_truth();
    }

    #[test]
    fn the_word_of_one_who_holds_nothing_any_more_still_undoes_a_not_found() {
        let mut world = not_found_once();
        assert_eq!(world.life().lease_until, None);
        world.knows(Fact::LetGo { fence: Fence(3), why: Doubt::StillOpen.into() });
        assert_eq!(sending(&world).no_record_since, None);
    }
}

mod due_meanwhile {
    use purchase::{Fact, Resolve, ResolveEvent};
    use vend::Doubt;

    use super::*;

    #[test]
    fn an_integrator_who_claims_what_has_become_due_leaves_the_next_attempt_to_the_worker() {
        let in_doubt = in_doubt(Handling::Managed, "r", Repeats::FromMemory);
        let due = due();
        for (asker, next) in [
            (
                Asker::Integrator,
                ResolveCommand::Record(Fact::LetGo { fence: Fence(3), why: Doubt::NeverReported.into() }),
            ),
            (Asker::Worker, ResolveCommand::RecordAttempt(Fence(3))),
        ] {
            let (mut resolve, first) = Resolve::begin(asker, in_doubt.life(), in_doubt.now, &in_doubt.rules);
            let claim = match asker {
                Asker::Integrator => resolve.on(ResolveEvent::MayAsk),
                Asker::Worker => Ok(first),
            };
            assert_eq!(claim, Ok(ResolveCommand::Claim));
            let life = purchase::Life { fence: Fence(3), ..due.life().clone() };
            assert_eq!(resolve.on(ResolveEvent::Claimed { life, at: due.now }), Ok(next));
        }
    }
}

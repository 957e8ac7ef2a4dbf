//! Confirm and Resolve run against the shipped `step` in a small in-memory world: the retry table row by row, every
//! acknowledgement lost, a crash at every command.

use std::sync::Arc;

use purchase::{
    Asker, ConfirmCommand, Event, Fence, Handling, Lifecycle, RefusalSource, ResolveAnswer, ResolveCommand,
    StateName, Timing,
};
use vend::{Refusal, RefusalReason};

use crate::world::World;
use crate::world::confirm_driver::ConfirmDriver;
use crate::world::driver::Luck;
use crate::world::memory::Repeats;
use crate::world::provider::Verdict;
use crate::world::resolve_driver::ResolveDriver;
use crate::world::values::{DECLARATIONS, OPENING, declared, seconds, vend};
use crate::world::walk::{comes_to_an_end, confirms, every_copy_meets, resolves};

const ASKERS: [Asker; 2] = [Asker::Integrator, Asker::Worker];
const BUSY: Verdict = Verdict::Refuses(RefusalReason::Busy);
const BLOCKED: Verdict = Verdict::Refuses(RefusalReason::Blocked);

/// An integrator takes a turn before it claims the purchase and makes an enquiry.
fn begins(asker: Asker) -> &'static str {
    match asker {
        Asker::Integrator => "take a turn, claim",
        Asker::Worker => "claim",
    }
}

/// Every handling with every asker.
fn handlings_and_askers() -> impl Iterator<Item = (Handling, Asker)> {
    Handling::ALL.into_iter().flat_map(|handling| ASKERS.map(|asker| (handling, asker)))
}

mod the_retry_table {
    use super::*;

    #[test]
    fn what_has_ended_is_answered_without_an_enquiry() {
        for (handling, asker) in handlings_and_askers() {
            for verdict in [Verdict::Vends, BLOCKED] {
                let mut world = World::open(handling, declared("rmn"), Repeats::FromMemory);
                confirms(&mut world, Some(verdict));
                let before = world.lifecycle().clone();
                let driver = resolves(&mut world, asker, Luck::Well, None);
                assert_eq!(driver.history(), "answer final");
                assert_eq!(world.lifecycle(), &before);
                world.ended_in_truth();
            }
        }
    }

    /// In flight, in doubt and in review, each held by another process.
    fn held(handling: Handling) -> [World; 3] {
        let in_flight = World::in_flight(handling, declared("rm"));
        let mut in_doubt = World::in_doubt(handling, declared("rm"));
        in_doubt.knows(Event::Claimed);
        let mut in_review = World::in_review(handling, declared("rm"));
        in_review.knows(Event::Claimed);
        [in_flight, in_doubt, in_review].map(|mut world| {
            world.passes(1);
            world
        })
    }

    #[test]
    fn a_live_lease_is_left_alone_by_the_worker() {
        for handling in Handling::ALL {
            for mut world in held(handling) {
                let before = world.lifecycle().clone();
                assert_eq!(resolves(&mut world, Asker::Worker, Luck::Well, None).history(), "answer pending");
                assert_eq!(world.lifecycle(), &before);
            }
        }
    }

    #[test]
    fn an_integrator_asks_under_a_live_lease_and_settles_what_was_vended() {
        for handling in Handling::ALL {
            for mut world in held(handling) {
                let mut holder = world.lifecycle().clone();
                every_copy_meets(&mut world, Some(Verdict::Vends));
                let driver = resolves(&mut world, Asker::Integrator, Luck::Well, None);
                assert_eq!(driver.history(), "take a turn, enquire, record the vend, answer final");
                holder.state = world.lifecycle().state.clone();
                assert_eq!(world.lifecycle().fence, holder.fence, "the holder was not replaced");
                world.ended_in_truth();
            }
        }
    }

    #[test]
    fn under_a_live_lease_nothing_but_a_success_is_recorded() {
        for (handling, verdict) in Handling::ALL
            .into_iter()
            .flat_map(|handling| [Some(BLOCKED), Some(BUSY), None].map(|verdict| (handling, verdict)))
        {
            for mut world in held(handling) {
                let before = world.lifecycle().clone();
                every_copy_meets(&mut world, verdict);
                for luck in [Luck::Well, Luck::Offline] {
                    world.passes(2);
                    world.stored = world
                        .stored
                        .map(|lifecycle| Lifecycle { lease_until: before.lease_until, ..lifecycle });
                    world.now = before.lease_until.expect("it is held") - seconds(1);
                    let driver = resolves(&mut world, Asker::Integrator, luck, None);
                    assert!(driver.history().ends_with("answer pending"), "{}", driver.history());
                }
                let asked_at = world.lifecycle().asked_at;
                assert_eq!(world.lifecycle(), &Lifecycle { asked_at, ..before });
            }
        }
    }

    #[test]
    fn however_many_integrators_ask_one_enquiry_is_made_in_each_gap() {
        for handling in Handling::ALL {
            let mut world = World::in_doubt(handling, declared("m"));
            every_copy_meets(&mut world, None);
            let asks = "take a turn, claim, enquire, record that there is no record, answer pending";
            for (pass, history) in [(0, asks), (0, "answer pending"), (1, asks)] {
                world.passes(pass);
                assert_eq!(resolves(&mut world, Asker::Integrator, Luck::Well, None).history(), history);
            }
            let found = world.lifecycle().clone();
            world.passes(2);
            let mut first = ResolveDriver::open(Asker::Integrator, &world);
            let mut second = ResolveDriver::open(Asker::Integrator, &world);
            assert_eq!(
                (first.command(), second.command()),
                (&ResolveCommand::TakeTurn(found.fence), first.command())
            );
            first.turn(&mut world, Luck::Well);
            second.turn(&mut world, Luck::Well);
            assert_eq!(
                (first.command(), second.history().as_str()),
                (&ResolveCommand::Claim, "take a turn, answer pending")
            );
        }
    }

    #[test]
    fn a_look_of_the_worker_takes_no_turn_from_a_client_that_asks_again_in_time() {
        let mut world = World::in_flight(Handling::SelfManaged, declared("rm"));
        world.passes(2);
        let driver = resolves(&mut world, Asker::Worker, Luck::Well, None);
        assert_eq!(driver.history(), "claim, enquire, record that there is no record, answer pending");
        let driver = resolves(&mut world, Asker::Integrator, Luck::Well, Some(Verdict::Vends));
        assert_eq!(
            driver.history(),
            "take a turn, claim, enquire, record the repeat, send, record the vend, answer final"
        );
        world.ended_in_truth();
    }

    #[test]
    fn a_due_attempt_is_left_to_the_worker() {
        let mut world = World::open(Handling::Managed, declared(""), Repeats::FromMemory);
        confirms(&mut world, Some(BUSY));
        assert_eq!(world.state(), StateName::RetryDue);
        let driver = resolves(&mut world, Asker::Integrator, Luck::Well, None);
        assert_eq!(driver.history(), "answer pending");

        let driver = resolves(&mut world, Asker::Worker, Luck::Well, Some(Verdict::Vends));
        assert_eq!(driver.history(), "claim, record a new attempt, send, record the vend, answer final");
        assert_eq!((world.lifecycle().attempt, world.lifecycle().requests), (2, 1));
        world.ended_in_truth();
    }

    #[test]
    fn a_due_attempt_whose_window_closed_is_given_back() {
        let mut world = World::open(Handling::Managed, declared(""), Repeats::FromMemory);
        confirms(&mut world, Some(BUSY));
        world.passes(1_800);
        let driver = resolves(&mut world, Asker::Worker, Luck::Well, None);
        assert_eq!(driver.history(), "claim, close the window, answer final");
        world.ended_in_truth();
    }

    #[test]
    fn a_vend_that_is_found_settles_doubt_and_a_dead_senders_flight_and_review() {
        for (handling, asker) in handlings_and_askers() {
            let mut dead_sender = World::in_flight(handling, declared(""));
            dead_sender.passes(185);
            let in_doubt = World::in_doubt(handling, declared(""));
            let in_review = World::in_review(handling, declared(""));
            for mut world in [dead_sender, in_doubt, in_review] {
                every_copy_meets(&mut world, Some(Verdict::Vends));
                let driver = resolves(&mut world, asker, Luck::Well, None);
                assert_eq!(
                    driver.history(),
                    format!("{}, enquire, record the vend, answer final", begins(asker))
                );
                world.ended_in_truth();
            }
        }
    }

    #[test]
    fn a_refusal_of_the_only_copy_that_is_found_gives_the_money_back() {
        for (handling, asker) in handlings_and_askers() {
            let mut dead_sender = World::in_flight(handling, declared(""));
            dead_sender.passes(185);
            let in_doubt = World::in_doubt(handling, declared(""));
            let in_review = World::in_review(handling, declared(""));
            for mut world in [dead_sender, in_doubt, in_review] {
                every_copy_meets(&mut world, Some(BLOCKED));
                let driver = resolves(&mut world, asker, Luck::Well, None);
                assert_eq!(
                    driver.history(),
                    format!("{}, enquire, record the refusal, answer final", begins(asker))
                );
                world.ended_in_truth();
            }
        }
    }

    #[test]
    fn a_transient_refusal_that_is_found_makes_another_attempt_due_where_managed() {
        for asker in ASKERS {
            let mut world = World::in_doubt(Handling::Managed, declared(""));
            every_copy_meets(&mut world, Some(BUSY));
            let driver = resolves(&mut world, asker, Luck::Well, None);
            assert_eq!(
                driver.history(),
                format!("{}, enquire, record the refusal, answer pending", begins(asker))
            );
            assert_eq!((world.state(), world.released), (StateName::RetryDue, 0));
        }
    }

    #[test]
    fn on_no_record_the_same_order_leaves_again_only_where_that_is_declared_safe() {
        let asks_only = "enquire, record that there is no record, answer pending";
        let repeats = "enquire, record the repeat, send, record the vend, answer final";
        for (handling, asker) in handlings_and_askers() {
            for letters in DECLARATIONS {
                let mut world = World::in_doubt(handling, declared(letters));
                every_copy_meets(&mut world, None);
                let driver = resolves(&mut world, asker, Luck::Well, Some(Verdict::Vends));
                let may_send = (handling, asker) != (Handling::SelfManaged, Asker::Worker);
                let expected = if may_send && letters.contains('r') { repeats } else { asks_only };
                let expected = format!("{}, {expected}", begins(asker));
                assert_eq!(driver.history(), expected, "{handling:?} {asker:?} {letters}");
                assert_eq!(world.lifecycle().lease_until, None);
            }
        }
    }

    #[test]
    fn in_review_nothing_is_sent() {
        for (handling, asker) in handlings_and_askers() {
            let mut world = World::in_review(handling, declared("rmn"));
            every_copy_meets(&mut world, None);
            let driver = resolves(&mut world, asker, Luck::Well, None);
            let asks = "enquire, record that there is no record, answer pending";
            assert_eq!(driver.history(), format!("{}, {asks}", begins(asker)));
            assert_eq!(world.state(), StateName::Review);
        }
    }

    #[test]
    fn a_provider_out_of_reach_changes_nothing_and_the_lease_is_given_up() {
        for (handling, asker) in handlings_and_askers() {
            let in_doubt = World::in_doubt(handling, declared("rmn"));
            let in_review = World::in_review(handling, declared("rmn"));
            for mut world in [in_doubt, in_review] {
                let before = world.lifecycle().clone();
                let driver = resolves(&mut world, asker, Luck::Offline, None);
                assert_eq!(
                    driver.history(),
                    format!("{}, enquire, release, answer unreachable", begins(asker))
                );
                assert_eq!(driver.answer(), Some(ResolveAnswer::Unreachable));
                assert_eq!((&world.lifecycle().state, world.lifecycle().lease_until), (&before.state, None));
            }
        }
    }

    #[test]
    fn when_the_window_closes_only_the_worker_moves_doubt_to_review() {
        for handling in Handling::ALL {
            let mut world = World::in_doubt(handling, declared("rm"));
            every_copy_meets(&mut world, None);
            world.passes(1_800);
            let driver = resolves(&mut world, Asker::Integrator, Luck::Well, None);
            let asks = "take a turn, claim, enquire, record that there is no record, answer pending";
            assert_eq!(driver.history(), asks);
            assert_eq!(world.state(), StateName::InDoubt);
            let driver = resolves(&mut world, Asker::Worker, Luck::Well, None);
            let end = "record that there is no record, close the window, answer pending";
            assert_eq!(driver.history(), format!("claim, enquire, {end}"));
            assert_eq!(world.state(), StateName::Review);
        }
    }

    #[test]
    fn two_not_founds_well_apart_after_quarantine_give_the_money_back_where_they_count() {
        for asker in ASKERS {
            let mut world = World::in_doubt(Handling::SelfManaged, declared("n"));
            every_copy_meets(&mut world, None);
            // Ten minutes after the last moment of the gate. This world is one second old.
            for (pass, expected) in [(599, None), (2, Some(602)), (58, Some(602))] {
                world.passes(pass);
                resolves(&mut world, asker, Luck::Well, None);
                let purchase::State::InDoubt(sending) = world.lifecycle().state else {
                    panic!("{:?}", world.lifecycle())
                };
                let counted = sending.no_record_since.map(|since| since.timestamp());
                assert_eq!(counted, expected);
            }
            world.passes(2);
            resolves(&mut world, asker, Luck::Well, None);
            world.ended_in_truth();
        }
    }
}

mod managed_purchases {
    use super::*;

    #[test]
    fn after_five_more_requests_that_were_all_refused_the_money_is_given_back() {
        let mut world = World::open(Handling::Managed, declared(""), Repeats::FromMemory);
        confirms(&mut world, Some(BUSY));
        for request in 1..=5 {
            assert_eq!(world.state(), StateName::RetryDue, "before request {request}");
            resolves(&mut world, Asker::Worker, Luck::Well, Some(BUSY));
        }
        assert_eq!((world.provider.copies(), world.released), (6, 1));
        world.ended_in_truth();
    }

    #[test]
    fn a_definite_refusal_of_a_later_attempt_ends_it_at_once() {
        let mut world = World::open(Handling::Managed, declared(""), Repeats::FromMemory);
        confirms(&mut world, Some(BUSY));
        let driver = resolves(&mut world, Asker::Worker, Luck::Well, Some(BLOCKED));
        assert_eq!(driver.history(), "claim, record a new attempt, send, record the refusal, answer final");
        world.ended_in_truth();
    }

    #[test]
    fn repeats_spend_the_same_five_requests() {
        let mut world = World::open(Handling::Managed, declared("r"), Repeats::FromMemory);
        confirms(&mut world, None);
        for _round in 0..8 {
            world.passes(200);
            resolves(&mut world, Asker::Worker, Luck::Well, None);
        }
        assert_eq!((world.provider.copies(), world.lifecycle().requests), (6, 5));
        for asker in ASKERS {
            world.passes(2);
            let driver = resolves(&mut world, asker, Luck::Well, None);
            let asks = "enquire, record that there is no record, answer pending";
            assert_eq!(driver.history(), format!("{}, {asks}", begins(asker)));
        }
        comes_to_an_end(&mut world, None);
    }
}

mod the_plan {
    use purchase::{Next, Resolve, RetryPlan};

    use super::*;

    fn on_plan(mut world: World) -> World {
        Arc::make_mut(&mut world.setup).rules.timing.plan = RetryPlan::default();
        world
    }

    #[test]
    fn the_worker_attempts_again_when_the_plan_has_it_due_and_not_before() {
        let mut world = on_plan(World::open(Handling::Managed, declared(""), Repeats::FromMemory));
        confirms(&mut world, Some(BUSY));
        for (request, wait) in (1..=5).zip([60, 120, 240, 420, 660]) {
            world.passes(wait - 1);
            let early = resolves(&mut world, Asker::Worker, Luck::Well, Some(BUSY));
            assert_eq!(early.history(), "claim, release, answer pending", "before request {request}");
            assert_eq!((world.state(), world.lifecycle().lease_until), (StateName::RetryDue, None));
            world.passes(1);
            resolves(&mut world, Asker::Worker, Luck::Well, Some(BUSY));
            assert_eq!(world.provider.copies(), 1 + request);
        }
        world.ended_in_truth();
    }

    #[test]
    fn the_same_order_is_repeated_when_the_plan_has_it_due_for_each_asker() {
        let asks = "enquire, record that there is no record, answer pending";
        let repeats = "enquire, record the repeat, send, record the doubt, answer pending";
        for asker in ASKERS {
            let mut world = on_plan(World::in_doubt(Handling::Managed, declared("r")));
            every_copy_meets(&mut world, None);
            for (at, history) in
                [(1, asks), (3, repeats), (18, asks), (20, repeats), (23, asks), (300, repeats)]
            {
                world.now = OPENING + seconds(at);
                let told = resolves(&mut world, asker, Luck::Well, None).history();
                assert_eq!(told, format!("{}, {history}", begins(asker)), "{asker:?} after {at} s");
            }
        }
    }

    /// How many copies are sent, and when the purchase ends, if its integrator asks every `pace` seconds.
    fn polled(letters: &str, pace: i64) -> (usize, Option<i64>) {
        let mut world = on_plan(World::in_doubt(Handling::SelfManaged, declared(letters)));
        every_copy_meets(&mut world, None);
        for at in (2..1_800).step_by(usize::try_from(pace).expect("positive")) {
            world.now = OPENING + seconds(at);
            resolves(&mut world, Asker::Integrator, Luck::Well, None);
            every_copy_meets(&mut world, None);
            if !world.state().is_open() {
                return (world.provider.copies(), Some(at));
            }
        }
        (world.provider.copies(), None)
    }

    #[test]
    fn polling_at_any_pace_sends_what_is_due_and_comes_to_the_same_end() {
        for pace in [1, 2, 3, 7, 10, 20] {
            let (copies, ended) = polled("rmn", pace);
            // A slow client misses a time of the plan. The last repeat is sent after 60 s. Then come the quarantine
            // and two answers.
            assert!((3..=4).contains(&copies), "every {pace} s: {copies}");
            assert!(ended.is_some_and(|at| (720..790).contains(&at)), "every {pace} s: {ended:?}");
            let (copies, ended) = polled("rm", pace);
            assert!((5..=6).contains(&copies) && ended.is_none(), "every {pace} s: {copies}, {ended:?}");
        }
    }

    #[test]
    fn a_claim_that_a_batch_has_made_goes_on_as_one_of_its_own() {
        for (handling, asker) in handlings_and_askers() {
            let in_doubt = World::in_doubt(handling, declared("rmn"));
            let in_review = World::in_review(handling, declared("rmn"));
            let mut due = World::open(Handling::Managed, declared(""), Repeats::FromMemory);
            confirms(&mut due, Some(BUSY));
            for mut world in [in_doubt, in_review, due] {
                let (mut alone, first) =
                    Resolve::begin(asker, world.lifecycle(), world.now, &world.setup.rules);
                if matches!(first, ResolveCommand::TakeTurn(_)) {
                    alone.on(purchase::ResolveInput::MayAsk).expect("it has asked for a turn");
                }
                let Ok(Next::Moved(lifecycle, _)) = world.record(Event::Claimed) else {
                    panic!("not claimed")
                };
                let (_together, command) = Resolve::claimed(asker, &lifecycle, world.now, &world.setup.rules);
                let claimed = purchase::ResolveInput::Claimed { lifecycle, at: world.now };
                match alone.on(claimed) {
                    Ok(expected) => assert_eq!(command, expected, "{handling:?} {asker:?}"),
                    // An integrator does not begin with a due attempt, and would release the lease.
                    Err(_out_of_turn) => {
                        assert!(matches!(command, ResolveCommand::Record(Event::LeaseReleased { .. })));
                    }
                }
            }
        }
    }
}

mod confirming {
    use super::*;

    #[test]
    fn every_answer_of_the_provider_has_its_end() {
        use StateName::{Failed, InDoubt, RetryDue, Successful};
        for (handling, verdict, state) in [
            (Handling::SelfManaged, Some(Verdict::Vends), Successful),
            (Handling::SelfManaged, Some(BUSY), Failed),
            (Handling::SelfManaged, Some(BLOCKED), Failed),
            (Handling::SelfManaged, None, InDoubt),
            (Handling::Managed, Some(Verdict::Vends), Successful),
            (Handling::Managed, Some(BUSY), RetryDue),
            (Handling::Managed, Some(BLOCKED), Failed),
            (Handling::Managed, None, InDoubt),
        ] {
            let mut world = World::open(handling, declared(""), Repeats::FromMemory);
            confirms(&mut world, verdict);
            assert_eq!(world.state(), state, "{handling:?} {verdict:?}");
            assert_eq!((world.lifecycle().lease_until, world.provider.copies()), (None, 1));
        }
    }

    #[test]
    fn after_a_slow_reserve_the_gate_is_closed() {
        let leave_within = Timing::default().gate;
        for (seconds, expected) in [
            (1, ConfirmCommand::Send { leave_within }),
            (2, ConfirmCommand::Record(Event::NeverSent { fence: Fence(1) })),
        ] {
            let mut world = World::open(Handling::SelfManaged, declared(""), Repeats::FromMemory);
            let mut driver = ConfirmDriver::open(&world);
            driver.turn(&mut world, Luck::Well);
            world.passes(seconds);
            driver.turn(&mut world, Luck::Well);
            assert_eq!(driver.command(), &expected);
        }
    }

    #[test]
    fn a_process_that_slept_after_the_reserve_sends_nothing() {
        for pause in [6, 3_600] {
            let mut world = World::open(Handling::SelfManaged, declared(""), Repeats::FromMemory);
            let mut driver = ConfirmDriver::open(&world);
            while !matches!(driver.command(), ConfirmCommand::Send { .. }) {
                driver.turn(&mut world, Luck::Well);
            }
            world.passes(pause);
            while !driver.is_done() {
                driver.turn(&mut world, Luck::Well);
            }
            assert_eq!(world.provider.copies(), 0);
            world.ended_in_truth();
        }
    }

    #[test]
    fn after_another_claim_a_late_success_settles_and_a_late_refusal_does_not() {
        for (verdict, captured) in [(Verdict::Vends, 1), (BLOCKED, 0)] {
            let mut world = World::open(Handling::SelfManaged, declared(""), Repeats::FromMemory);
            let mut driver = ConfirmDriver::open(&world);
            while world.provider.copies() == 0 {
                driver.turn(&mut world, Luck::Well);
            }
            every_copy_meets(&mut world, Some(verdict));
            world.passes(185);
            world.knows(Event::Claimed);
            while !driver.is_done() {
                driver.turn(&mut world, Luck::Well);
            }
            assert_eq!((world.captured, world.released), (captured, 0));
        }
    }

    #[test]
    fn a_vend_after_the_end_is_an_incident_and_changes_nothing() {
        let mut world = World::in_doubt(Handling::SelfManaged, declared(""));
        let refusal = Refusal::because(RefusalReason::Blocked);
        let refused = Event::Refused { fence: Fence(1), refusal, source: RefusalSource::Answer };
        every_copy_meets(&mut world, None);
        world.knows(refused);
        let before = world.lifecycle().clone();
        world.knows(Event::Vended { vend: vend("T9") });
        assert_eq!((world.lifecycle(), world.incidents, world.captured), (&before, 1, 0));
    }
}

mod lost_acknowledgements {
    use super::*;

    /// A write that is lost, and whether it was committed.
    const LOSSES: [Luck; 2] = [Luck::CommittedUnheard, Luck::NotCommitted];

    #[test]
    fn of_the_reserve_nothing_is_sent_and_the_hold_is_given_back() {
        for loss in LOSSES {
            let mut world = World::open(Handling::SelfManaged, declared("rmn"), Repeats::FromMemory);
            let mut driver = ConfirmDriver::open(&world);
            driver.turn(&mut world, loss);
            driver.turn(&mut world, loss);
            while !driver.is_done() {
                driver.turn(&mut world, Luck::Well);
            }
            assert_eq!((world.provider.copies(), world.released), (0, 1));
            world.ended_in_truth();
        }
    }

    #[test]
    fn of_an_outcome_the_same_record_runs_again_and_counts_once() {
        for loss in LOSSES {
            for verdict in [Some(Verdict::Vends), Some(BLOCKED), None] {
                let mut world = World::open(Handling::SelfManaged, declared(""), Repeats::FromMemory);
                let mut driver = ConfirmDriver::open(&world);
                while !matches!(driver.command(), ConfirmCommand::Record(_)) {
                    driver.turn(&mut world, Luck::Well);
                    every_copy_meets(&mut world, verdict);
                }
                driver.turn(&mut world, loss);
                driver.turn(&mut world, loss);
                driver.turn(&mut world, Luck::Well);
                assert!(driver.is_done());
                let mut unhurt = World::open(Handling::SelfManaged, declared(""), Repeats::FromMemory);
                confirms(&mut unhurt, verdict);
                assert_eq!(world.lifecycle(), unhurt.lifecycle());
                assert_eq!((world.captured, world.released), (unhurt.captured, unhurt.released));
            }
        }
    }

    #[test]
    fn anywhere_in_a_resolve_end_as_if_nothing_had_been_lost_or_leave_it_open_in_truth() {
        for (handling, asker) in handlings_and_askers() {
            for letters in DECLARATIONS {
                for (verdict, lost_turn) in situations() {
                    for loss in LOSSES {
                        let mut world = World::in_doubt(handling, declared(letters));
                        every_copy_meets(&mut world, if lost_turn % 2 == 0 { None } else { verdict });
                        let mut driver = ResolveDriver::open(asker, &world);
                        for turn in 0..20 {
                            driver.turn(&mut world, if turn == lost_turn { loss } else { Luck::Well });
                            every_copy_meets(&mut world, verdict);
                        }
                        assert!(driver.answer().is_some(), "{}", driver.history());
                        if driver.answer() == Some(ResolveAnswer::Final) {
                            world.ended_in_truth();
                        }
                        comes_to_an_end(&mut world, verdict);
                    }
                }
            }
        }
    }
}

mod crashes {
    use super::*;

    #[test]
    fn of_a_confirm_at_any_command_are_brought_to_an_end_by_the_worker() {
        for handling in Handling::ALL {
            for letters in DECLARATIONS {
                for (verdict, turns) in situations() {
                    for last in [Luck::Well, Luck::CommittedUnheard, Luck::Offline] {
                        let mut world = World::open(handling, declared(letters), Repeats::Rejected);
                        let mut driver = ConfirmDriver::open(&world);
                        for turn in 0..=turns {
                            driver.turn(&mut world, if turn == turns { last } else { Luck::Well });
                            if turn < turns {
                                every_copy_meets(&mut world, verdict);
                            }
                        }
                        drop(driver);
                        if world.stored.is_some() {
                            comes_to_an_end(&mut world, verdict);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn of_a_resolve_at_any_command_are_brought_to_an_end_by_the_next() {
        for (handling, asker) in handlings_and_askers() {
            for letters in DECLARATIONS {
                for (verdict, turns) in situations() {
                    for last in [Luck::Well, Luck::CommittedUnheard, Luck::Reticent] {
                        let mut world = World::in_doubt(handling, declared(letters));
                        let mut driver = ResolveDriver::open(asker, &world);
                        for turn in 0..=turns {
                            driver.turn(&mut world, if turn == turns { last } else { Luck::Well });
                        }
                        drop(driver);
                        comes_to_an_end(&mut world, verdict);
                    }
                }
            }
        }
    }
}

/// The verdict that copies meet, and the turn at which something happens.
fn situations() -> impl Iterator<Item = (Option<Verdict>, usize)> {
    [Some(Verdict::Vends), Some(BUSY), Some(BLOCKED), None]
        .into_iter()
        .flat_map(|verdict| (0..10).map(move |turn| (verdict, turn)))
}

//! The invariants of a purchase, over random histories. First the shape of any history, whatever event is offered to
//! the machine. Then the truth: no hold is released whose order was or may still be vended, checked against what
//! really happened at the provider.

use chrono::{DateTime, TimeDelta, Utc};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use purchase::{
    Effect, Event, EventKind, Fence, Handling, Illegal, Lifecycle, Next, RefusalSource, Rules, Sending,
    State, StateName, TimedEvent, Timing,
};
use vend::{CallId, Doubt, Enquiry, ProviderReference, Refusal, RefusalReason, Unclear};

use crate::world::World;
use crate::world::memory::Repeats;
use crate::world::provider::{Candour, Verdict};
use crate::world::values::{DECLARATIONS, OPENING, declared, seconds, vend};

/// An event that is offered to the machine, with its fence relative to the current one.
#[derive(Clone, Debug)]
struct Offer {
    after_seconds: i64,
    kind: EventKind,
    fences_behind: i64,
    asked_seconds_ago: i64,
    transient: bool,
    source: RefusalSource,
    doubt: Doubt,
    transaction: &'static str,
}

fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let kinds = prop_oneof![
        3 => select(vec![EventKind::Claimed, EventKind::Lost, EventKind::NoRecord]),
        2 => select(vec![EventKind::SentAgain, EventKind::AttemptStarted, EventKind::NeverSent]),
        2 => select(EventKind::ALL.to_vec()),
    ];
    let after_seconds = prop_oneof![4 => 0_i64..30, 2 => 60_i64..300, 1 => Just(1_000_i64)];
    let fences_behind = prop_oneof![9 => Just(0_i64), 1 => -1_i64..3];
    let offer = (
        after_seconds,
        kinds,
        fences_behind,
        prop_oneof![3 => Just(0_i64), 1 => 0_i64..900],
        prop::bool::weighted(0.7),
        select(vec![RefusalSource::Answer, RefusalSource::Enquiry]),
        select(vec![Doubt::TimedOut, Doubt::StillOpen]),
        select(vec!["T1", "T2"]),
    );
    let offer = offer.prop_map(
        |(after_seconds, kind, fences_behind, asked_seconds_ago, transient, source, doubt, transaction)| {
            Offer {
                after_seconds,
                kind,
                fences_behind,
                asked_seconds_ago,
                transient,
                source,
                doubt,
                transaction,
            }
        },
    );
    vec(offer, 1..60)
}

fn handlings() -> impl Strategy<Value = Handling> {
    select(Handling::ALL.to_vec())
}

fn rules() -> impl Strategy<Value = Rules> {
    select(DECLARATIONS.to_vec())
        .prop_map(|letters| Rules { declared: declared(letters), timing: Timing::default() })
}

fn made(offer: &Offer, lifecycle: &Lifecycle, at: chrono::DateTime<chrono::Utc>) -> Event {
    let fence = Fence(lifecycle.fence.0 - offer.fences_behind);
    let doubt = offer.doubt;
    match offer.kind {
        EventKind::Vended => Event::Vended { vend: vend(offer.transaction) },
        EventKind::Refused => {
            let reason = if offer.transient { RefusalReason::Busy } else { RefusalReason::Blocked };
            Event::Refused { fence, refusal: Refusal::because(reason), source: offer.source }
        }
        EventKind::NeverSent => Event::NeverSent { fence },
        EventKind::Lost => Event::Lost { fence, why: doubt.into() },
        EventKind::Claimed => Event::Claimed,
        EventKind::NoRecord => {
            Event::NoRecord { fence, asked_at: at - TimeDelta::seconds(offer.asked_seconds_ago) }
        }
        EventKind::LeaseReleased => Event::LeaseReleased { fence, why: doubt.into() },
        EventKind::SentAgain => Event::SentAgain { fence },
        EventKind::AttemptStarted => {
            let call = CallId::new(u32::from(lifecycle.attempt) + 1, at).expect("attempts are few");
            Event::AttemptStarted { fence, reference: ProviderReference::new(call) }
        }
        EventKind::WindowClosed => Event::WindowClosed { fence },
        EventKind::OperatorVended => Event::OperatorVended { fence, vend: vend(offer.transaction) },
        EventKind::OperatorNotVended => Event::OperatorNotVended { fence },
    }
}

const fn fence_of(event: &Event) -> Option<Fence> {
    match event {
        Event::Vended { .. } | Event::Claimed => None,
        Event::Refused { fence, .. }
        | Event::NeverSent { fence }
        | Event::Lost { fence, .. }
        | Event::NoRecord { fence, .. }
        | Event::LeaseReleased { fence, .. }
        | Event::SentAgain { fence }
        | Event::AttemptStarted { fence, .. }
        | Event::WindowClosed { fence }
        | Event::OperatorVended { fence, .. }
        | Event::OperatorNotVended { fence } => Some(*fence),
    }
}

/// One event with the lifecycle before it, and the result of the machine.
struct Moment {
    before: Lifecycle,
    event: TimedEvent,
    next: Result<Next, Illegal>,
}

impl Moment {
    fn moved(&self) -> Option<(&Lifecycle, &[Effect])> {
        match &self.next {
            Ok(Next::Moved(lifecycle, effects)) => Some((lifecycle, effects)),
            Ok(Next::AlreadyThere) | Err(_) => None,
        }
    }

    fn effects(&self) -> &[Effect] {
        self.moved().map_or(&[], |(_, effects)| effects)
    }

    fn sends(&self) -> bool {
        self.moved().is_some_and(|(lifecycle, _)| lifecycle.requests > self.before.requests)
    }

    fn becomes(&self, state: StateName) -> bool {
        self.before.state.name() != state
            && self.moved().is_some_and(|(lifecycle, _)| lifecycle.state.name() == state)
    }
}

fn history(handling: Handling, rules: &Rules, offers: &[Offer]) -> Vec<Moment> {
    let mut lifecycle = Lifecycle::reserved(handling, OPENING, &rules.timing);
    let mut at = OPENING;
    let mut moments = Vec::new();
    for offer in offers {
        at += seconds(offer.after_seconds);
        let event = TimedEvent { at, event: made(offer, &lifecycle, at) };
        let next = purchase::step(&lifecycle, &event, rules);
        let moment = Moment { before: lifecycle.clone(), event, next };
        lifecycle = moment.moved().map_or(lifecycle, |(lifecycle, _)| lifecycle.clone());
        moments.push(moment);
    }
    moments
}

/// `PROPTEST_CASES` makes the sweep longer.
fn times(factor: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.saturating_mul(factor), failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(times(1))]

    #[test]
    fn a_hold_is_captured_or_released_exactly_once_when_the_purchase_ends(
        handling in handlings(), rules in rules(), offers in offers()
    ) {
        let moments = history(handling, &rules, &offers);
        for moment in &moments {
            let captures = moment.effects().iter().filter(|effect| **effect == Effect::CaptureHold).count();
            let releases = moment.effects().iter().filter(|effect| **effect == Effect::ReleaseHold).count();
            prop_assert_eq!(captures, usize::from(moment.becomes(StateName::Successful)));
            prop_assert_eq!(releases, usize::from(moment.becomes(StateName::Failed)));
        }
        let ends = |moment: &&Moment| moment.becomes(StateName::Successful) || moment.becomes(StateName::Failed);
        prop_assert!(moments.iter().filter(ends).count() <= 1);
    }

    #[test]
    fn what_has_ended_never_changes(handling in handlings(), rules in rules(), offers in offers()) {
        for moment in history(handling, &rules, &offers) {
            if moment.before.state.name().is_open() {
                continue;
            }
            if let Some((after, effects)) = moment.moved() {
                prop_assert_eq!(after, &moment.before);
                prop_assert!(matches!(effects, [Effect::OpenIncident(_)]), "{:?}", effects);
            }
        }
    }

    #[test]
    fn success_takes_evidence_and_failure_takes_proof(
        handling in handlings(), rules in rules(), offers in offers()
    ) {
        for moment in history(handling, &rules, &offers) {
            let kind = moment.event.event.kind();
            if moment.becomes(StateName::Successful) {
                prop_assert!(matches!(kind, EventKind::Vended | EventKind::OperatorVended), "{:?}", kind);
            }
            if moment.becomes(StateName::Failed) || moment.becomes(StateName::RetryDue) {
                prop_assert!(is_proof(&moment, &rules), "{:?} of {:?}", moment.event, moment.before);
            }
        }
    }

    #[test]
    fn evidence_settles_an_open_purchase_under_any_fence(
        handling in handlings(), rules in rules(), offers in offers()
    ) {
        for moment in history(handling, &rules, &offers) {
            if moment.event.event.kind() == EventKind::Vended && moment.before.state.name().is_open() {
                prop_assert!(moment.becomes(StateName::Successful));
            }
        }
    }

    #[test]
    fn claims_and_further_sends_raise_the_fence_and_a_stale_fence_moves_nothing(
        handling in handlings(), rules in rules(), offers in offers()
    ) {
        for moment in history(handling, &rules, &offers) {
            let Some((after, _)) = moment.moved() else { continue };
            let is_claim = moment.event.event.kind() == EventKind::Claimed;
            let raise = i64::from(is_claim || moment.sends());
            prop_assert_eq!(after.fence.0, moment.before.fence.0 + raise);
            if let Some(fence) = fence_of(&moment.event.event) {
                prop_assert_eq!(fence, moment.before.fence);
            }
        }
    }

    #[test]
    fn sending_takes_a_lease_an_open_window_and_requests_left(
        handling in handlings(), rules in rules(), offers in offers()
    ) {
        for moment in history(handling, &rules, &offers) {
            let Some((after, _)) = moment.moved() else { continue };
            prop_assert_eq!(after.window_closes_at, OPENING + rules.timing.window);
            if handling == Handling::Managed {
                prop_assert!(after.requests <= 5);
            }
            if moment.sends() {
                let kind = moment.event.event.kind();
                prop_assert!(matches!(kind, EventKind::SentAgain | EventKind::AttemptStarted), "{:?}", kind);
                prop_assert!(moment.event.at < OPENING + rules.timing.window);
                prop_assert!(moment.before.lease_until.is_some());
                prop_assert!(kind == EventKind::AttemptStarted || rules.declared.repeat_is_safe);
                prop_assert_eq!(after.lease_until, Some(moment.event.at + rules.timing.lease));
                let State::InFlight(sending) = after.state else { return Err(TestCaseError::fail("not sent")) };
                prop_assert_eq!((sending.last_sent_at, sending.no_record_since), (moment.event.at, None));
            }
        }
    }

    #[test]
    fn a_new_reference_takes_proof_about_the_old_one_and_only_managed_purchases_get_one(
        handling in handlings(), rules in rules(), offers in offers()
    ) {
        for moment in history(handling, &rules, &offers) {
            let Some((after, _)) = moment.moved() else { continue };
            if after.attempt != moment.before.attempt {
                prop_assert_eq!(moment.before.state.name(), StateName::RetryDue);
                prop_assert_eq!(after.attempt, moment.before.attempt + 1);
            }
            if after.state == State::RetryDue {
                prop_assert_eq!(handling, Handling::Managed);
            }
        }
    }

    #[test]
    fn what_shows_that_the_provider_knows_the_order_undoes_every_not_found_before_it(
        handling in handlings(), rules in rules(), offers in offers()
    ) {
        for moment in history(handling, &rules, &offers) {
            let is_known = matches!(
                &moment.event.event,
                Event::LeaseReleased { fence, why: Unclear { doubt: Doubt::StillOpen, .. } } | Event::Refused { fence, .. }
                    if *fence == moment.before.fence
            );
            let after = moment.moved().map_or(&moment.before, |(after, _)| after);
            if let (true, State::InDoubt(sending) | State::Review(sending)) = (is_known, &after.state) {
                prop_assert_eq!(sending.no_record_since, None, "{:?} of {:?}", moment.event, moment.before);
            }
        }
    }

    #[test]
    fn a_live_lease_keeps_others_away(handling in handlings(), rules in rules(), offers in offers()) {
        for moment in history(handling, &rules, &offers) {
            if moment.event.event == Event::Claimed && moment.moved().is_some() {
                prop_assert!(moment.before.lease_until.is_none_or(|until| moment.event.at >= until));
            }
        }
    }

    #[test]
    fn an_event_recorded_twice_counts_once(handling in handlings(), rules in rules(), offers in offers()) {
        for moment in history(handling, &rules, &offers) {
            let Some((after, _)) = moment.moved() else { continue };
            if let Ok(Next::Moved(again, effects)) = purchase::step(after, &moment.event, &rules) {
                prop_assert_eq!(&again, after);
                let only_incidents = effects.iter().all(|effect| matches!(effect, Effect::OpenIncident(_)));
                prop_assert!(only_incidents, "{:?}", effects);
            }
        }
    }
}

/// Proof as rule R2 states it: written from the rule, not from the machine.
fn is_proof(moment: &Moment, rules: &Rules) -> bool {
    let before = &moment.before;
    let sending = match &before.state {
        State::InFlight(sending) | State::InDoubt(sending) | State::Review(sending) => Some(sending),
        State::RetryDue | State::Successful { .. } | State::Failed => None,
    };
    match (&moment.event.event, sending) {
        (Event::Refused { fence, source, .. }, Some(sending)) => {
            let of_all_copies = rules.declared.remembers_refusals && *source == RefusalSource::Enquiry;
            *fence == before.fence && (sending.copies == 1 || of_all_copies)
        }
        (Event::NeverSent { fence }, Some(sending)) => {
            *fence == before.fence && sending.copies == 1 && before.state.name() == StateName::InFlight
        }
        (Event::NoRecord { fence, asked_at }, Some(sending)) => {
            let quarantined_until = quarantined_until(sending, rules);
            *fence == before.fence
                && rules.declared.not_found_counts
                && sending.no_record_since.is_some_and(|first| {
                    first >= quarantined_until && *asked_at >= first + rules.timing.not_found_gap
                })
        }
        (Event::OperatorNotVended { fence }, Some(_)) => {
            *fence == before.fence && before.state.name() == StateName::Review
        }
        (Event::WindowClosed { fence }, None) => {
            *fence == before.fence
                && before.state == State::RetryDue
                && moment.event.at >= before.window_closes_at
        }
        _ => false,
    }
}

/// The provider has settled what was sent at the last moment of the gate, and every request is over.
fn quarantined_until(sending: &Sending, rules: &Rules) -> DateTime<Utc> {
    let timing = &rules.timing;
    let settled = sending.last_sent_at + timing.gate + rules.declared.settles_within;
    let deadline = sending.last_sent_at + timing.gate + timing.provider_timeout;
    let ended = sending.ended_at.unwrap_or(deadline);
    settled.max(ended).max(sending.earlier_ended_by.unwrap_or(ended))
}

/// What may happen in and around a provider that behaves as declared, in any order. Events are known before they are
/// recorded. They are recorded late, twice or never.
#[derive(Clone, Debug)]
enum Happening {
    Passes(i64),
    Claims,
    Repeats { leaves: bool },
    StartsAttempt { leaves: bool },
    Arrives(Index, Verdict),
    IsLost(Index),
    Hears(Index),
    GivesUp(Index),
    Asks(Candour),
    Records(Index),
    ClosesWindow,
    Decides,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    use Happening::{
        Arrives, Asks, Claims, ClosesWindow, Decides, GivesUp, Hears, IsLost, Passes, Records, Repeats,
        StartsAttempt,
    };
    let verdicts = select(vec![
        Verdict::Vends,
        Verdict::Vends,
        Verdict::Refuses(RefusalReason::Busy),
        Verdict::Refuses(RefusalReason::Blocked),
        Verdict::IsTurnedAway,
    ]);
    let candour = select(vec![Candour::Full, Candour::Least, Candour::StillOpen]);
    let leaves = || prop::bool::weighted(0.8);
    let happening = prop_oneof![
        3 => prop_oneof![0_i64..30, Just(60_i64), 61_i64..400, Just(600_i64)].prop_map(Passes),
        5 => Just(Claims),
        3 => leaves().prop_map(|leaves| Repeats { leaves }),
        3 => leaves().prop_map(|leaves| StartsAttempt { leaves }),
        3 => (any::<Index>(), verdicts).prop_map(|(copy, verdict)| Arrives(copy, verdict)),
        1 => any::<Index>().prop_map(IsLost),
        3 => any::<Index>().prop_map(Hears),
        2 => any::<Index>().prop_map(GivesUp),
        4 => candour.prop_map(Asks),
        8 => any::<Index>().prop_map(Records),
        2 => Just(ClosesWindow),
        1 => Just(Decides),
    ];
    vec(happening, 1..80)
}

/// A world, its senders, and the events that are known but not recorded, or that may be recorded again.
struct Trade {
    world: World,
    senders: Vec<(usize, Fence)>,
    known: Vec<Event>,
}

impl Trade {
    fn opens(handling: Handling, letters: &str, repeats: Repeats) -> Self {
        let mut world = World::open(handling, declared(letters), repeats);
        let fence = world.begin();
        Self { world, senders: vec![(0, fence)], known: Vec::new() }
    }

    fn sees(&mut self, happening: &Happening) {
        let now = self.world.now;
        let fence = self.world.lifecycle().fence;
        match happening {
            Happening::Passes(count) => self.world.passes(*count),
            Happening::Claims => self.tries(Event::Claimed),
            Happening::Repeats { leaves } => self.sends(Event::SentAgain { fence }, *leaves),
            Happening::StartsAttempt { leaves } => {
                let reference = self.world.fresh_reference();
                self.sends(Event::AttemptStarted { fence, reference }, *leaves);
            }
            Happening::Arrives(which, verdict) => {
                let may_arrive = self.world.provider.may_arrive(now);
                if !may_arrive.is_empty() {
                    self.world.provider.receive(*which.get(&may_arrive), now, *verdict);
                }
            }
            Happening::IsLost(which) => self.world.provider.lose(which.index(self.senders.len())),
            Happening::Hears(which) => {
                let (copy, fence) = *which.get(&self.senders);
                let heard = self.world.provider.answer_to(copy);
                self.known.extend(heard.map(|outcome| Event::reported(outcome, fence)));
            }
            Happening::GivesUp(which) => {
                let (_, fence) = *which.get(&self.senders);
                self.known.push(Event::Lost { fence, why: Doubt::ConnectionLost.into() });
            }
            Happening::Asks(candour) => self.asks(fence, *candour),
            Happening::Records(which) => {
                if !self.known.is_empty() {
                    self.tries(which.get(&self.known).clone());
                }
            }
            Happening::ClosesWindow => self.tries(Event::WindowClosed { fence }),
            Happening::Decides => {
                self.world.operator_decides();
            }
        }
    }

    fn tries(&mut self, event: Event) {
        // The world itself refuses a release that contradicts the truth, and a hold that ends twice.
        let _may_be_refused = self.world.record(event);
    }

    fn sends(&mut self, event: Event, leaves: bool) {
        if let Ok(Next::Moved(lifecycle, _)) = self.world.record(event) {
            if leaves {
                let copy = self.world.send(lifecycle.attempt);
                self.senders.push((copy, lifecycle.fence));
            } else {
                self.known.push(Event::NeverSent { fence: lifecycle.fence });
            }
        }
    }

    /// Asks at any time, also about an attempt that is proven to have ended. The next attempt has another fence.
    fn asks(&mut self, fence: Fence, candour: Candour) {
        let asked_at = self.world.now;
        let attempt = self.world.lifecycle().attempt;
        self.known.push(match self.world.provider.enquiry(attempt, asked_at, candour) {
            Enquiry::Vended(vend) => Event::Vended { vend },
            Enquiry::Refused(refusal) => Event::Refused { fence, refusal, source: RefusalSource::Enquiry },
            Enquiry::NoRecord => Event::NoRecord { fence, asked_at },
            Enquiry::StillOpen => Event::LeaseReleased { fence, why: Doubt::StillOpen.into() },
            Enquiry::Unanswered(why) => Event::LeaseReleased { fence, why },
        });
    }
}

fn trades() -> impl Strategy<Value = (Handling, &'static str, Repeats)> {
    (handlings(), select(DECLARATIONS.to_vec()), select(vec![Repeats::FromMemory, Repeats::Rejected]))
}

fn traded((handling, letters, repeats): (Handling, &str, Repeats), happenings: &[Happening]) -> World {
    let mut trade = Trade::opens(handling, letters, repeats);
    for happening in happenings {
        trade.sees(happening);
    }
    trade.world
}

proptest! {
    #![proptest_config(times(3))]

    #[test]
    fn nothing_is_given_back_that_was_or_may_still_be_vended(trade in trades(), happenings in happenings()) {
        let world = traded(trade, &happenings);
        prop_assert!(world.provider.vends() <= 1, "vended {} times", world.provider.vends());
        prop_assert_eq!(world.incidents, 0);
        prop_assert!(world.captured == 0 || world.provider.vends() == 1);
    }
}

/// Without this test the invariants could hold because nothing ever happens.
#[test]
fn the_random_histories_reach_every_state_in_both_kinds() {
    let mut runner = TestRunner::deterministic();
    let mut reached: Vec<(bool, StateName)> = Vec::new();
    let (offered, traded_in) = ((handlings(), rules(), offers()), (trades(), happenings()));
    for _case in 0..500 {
        let drawn = offered.new_tree(&mut runner).unwrap().current();
        for moment in history(drawn.0, &drawn.1, &drawn.2) {
            reached.extend(moment.moved().map(|(lifecycle, _)| (false, lifecycle.state.name())));
        }
        let (trade, happenings) = traded_in.new_tree(&mut runner).unwrap().current();
        reached.push((true, traded(trade, &happenings).state()));
    }
    for state in StateName::ALL {
        for truthful in [false, true] {
            let times = reached.iter().filter(|seen| **seen == (truthful, state)).count();
            assert!(times >= 5, "{state:?} was reached {times} times");
        }
    }
}

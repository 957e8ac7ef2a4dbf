//! Everything but the drivers: the stored purchase, its hold, the clock and the provider. Only the shipped `step`
//! changes the row, one event at a time.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use purchase::{
    Effect, Event, Fence, Handling, Illegal, Lifecycle, Next, RetryPlan, Rules, Sending, State, StateName,
    TimedEvent, Timing,
};
use vend::{CallId, ProviderReference};

use crate::flaw::{Flaw, flawed_step};
use crate::provider::{Nature, Provider};
use crate::values::{OPENING, vend};

/// A time chain of few ticks. A short pause is longer than the gate and a lease. A long pause is longer than a
/// request. Two long pauses are longer than the window.
pub const TIMING: Timing = Timing {
    gate: Duration::from_secs(1),
    intake: Duration::from_secs(2),
    provider_timeout: Duration::from_secs(5),
    lease: Duration::from_secs(2),
    enquiry_gap: Duration::from_secs(1),
    not_found_gap: Duration::from_secs(1),
    reference_rest: Duration::from_secs(4),
    window: Duration::from_secs(9),
    plan: RetryPlan {
        first_look: Duration::from_secs(1),
        longest_pause: Duration::from_secs(2),
        repeats: [
            Duration::ZERO,
            Duration::from_secs(1),
            Duration::from_secs(2),
            Duration::from_secs(3),
            Duration::from_secs(4),
        ],
        repeats_end: Duration::from_secs(8),
        attempts: [
            Duration::ZERO,
            Duration::from_secs(1),
            Duration::from_secs(2),
            Duration::from_secs(3),
            Duration::from_secs(4),
        ],
    },
};
pub const SHORT: u8 = 2;
pub const LONG: u8 = 5;

/// The rules of one model: what is declared for its connection, what the provider really does, and its flaw, if any.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub handling: Handling,
    pub rules: Rules,
    pub nature: Nature,
    pub flaw: Option<Flaw>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    pub now: u8,
    /// The stored purchase, once it is reserved.
    pub stored: Option<Lifecycle>,
    pub is_held: bool,
    pub captured: u8,
    pub released: u8,
    pub incidents: u8,
    /// Something changed after the end.
    pub end_was_undone: bool,
    /// A write that was given up as lost, and may still be committed.
    pub straggler: Option<Event>,
    /// A retry has answered "not found": no confirm that arrived before this time buys.
    pub reference_rests_until: Option<u8>,
    pub provider: Provider,
}

impl World {
    pub fn at(&self) -> DateTime<Utc> {
        OPENING + TimeDelta::seconds(i64::from(self.now))
    }

    pub fn state(&self) -> Option<StateName> {
        self.stored.as_ref().map(|lifecycle| lifecycle.state.name())
    }

    pub fn is_open(&self) -> bool {
        self.state().is_some_and(StateName::is_open)
    }

    /// Whether the plan has another look of the worker due.
    pub fn is_due_some_time(&self, setup: &Setup) -> bool {
        let due_at = |lifecycle| TIMING.plan.due_at(lifecycle, self.at(), &setup.rules);
        self.stored.as_ref().and_then(due_at).is_some()
    }

    /// The reserve of a request that arrived at this time. `None` if it is refused. If it runs again with the same
    /// keys, it finds the purchase and changes nothing.
    pub fn reserve(&mut self, arrived_at: u8, setup: &Setup) -> Option<Fence> {
        if self.stored.is_none() {
            let is_too_old = self.now - arrived_at > ticks(TIMING.intake);
            let is_resting = self.reference_rests_until.is_some_and(|until| arrived_at <= until);
            if is_too_old || is_resting {
                return None;
            }
            self.stored = Some(Lifecycle::reserved(setup.handling, self.at(), &setup.rules.timing));
            self.is_held = true;
        }
        Some(Fence::FIRST)
    }

    /// A retry finds no purchase. The reference rests from now on.
    pub fn finds_nothing(&mut self, setup: &Setup) {
        let rest = if setup.flaw == Some(Flaw::ForgetsTheRest) { 0 } else { ticks(TIMING.reference_rest) };
        self.reference_rests_until = Some(self.now + rest);
    }

    /// An enquiry begins without a claim, unless another one began a moment ago.
    pub fn takes_turn(&mut self, fence: Fence) -> bool {
        let asked =
            self.stored.as_ref().and_then(|lifecycle| lifecycle.asked_about(fence, self.at(), &TIMING));
        let may_ask = asked.is_some();
        self.stored = asked.or(self.stored.take());
        may_ask
    }

    /// The holder of this fence renews its lease. Returns whether that changes anything.
    pub fn renews(&mut self, fence: Fence) -> bool {
        let renewed = self.stored.as_ref().and_then(|lifecycle| lifecycle.renewed(fence, self.at(), &TIMING));
        let changes = renewed.is_some() && renewed != self.stored;
        self.stored = renewed.or(self.stored.take());
        changes
    }

    /// One transaction: read, decide, write. Returns whether the event moved the purchase.
    pub fn record(&mut self, event: Event, setup: &Setup) -> bool {
        let Some(lifecycle) = self.stored.clone() else { return false };
        self.write_over(&lifecycle, event, setup)
    }

    /// Decides and writes as if the row still were as it was `read`.
    pub fn write_over(&mut self, read: &Lifecycle, event: Event, setup: &Setup) -> bool {
        match self.decide(read, event, setup) {
            Ok(Next::Moved(lifecycle, effects)) => {
                self.keep(lifecycle, &effects);
                true
            }
            Ok(Next::AlreadyThere) | Err(_) => false,
        }
    }

    fn decide(&self, read: &Lifecycle, event: Event, setup: &Setup) -> Result<Next, Illegal> {
        flawed_step(setup.flaw, read, &TimedEvent { at: self.at(), event }, &setup.rules)
    }

    fn keep(&mut self, lifecycle: Lifecycle, effects: &[Effect]) {
        let had_ended = self.stored.as_ref().is_some_and(|before| !before.state.name().is_open());
        self.end_was_undone |= had_ended && self.stored.as_ref() != Some(&lifecycle);
        self.stored = Some(lifecycle);
        for effect in effects {
            match effect {
                Effect::CaptureHold => {
                    self.captured += 1;
                    self.is_held = false;
                }
                Effect::ReleaseHold => {
                    self.released += 1;
                    self.is_held = false;
                }
                Effect::OpenIncident(_) => self.incidents += 1,
            }
        }
    }

    /// An operator who has seen the provider's statement decides, under a claimed fence. The operator does not decide
    /// while a copy may still be vended.
    pub fn operator_decides(&mut self, setup: &Setup) -> bool {
        let knows = self.provider.vends > 0 || !self.provider.may_still_vend(self.now, setup.nature);
        if self.state() != Some(StateName::Review) || !knows || !self.record(Event::Claimed, setup) {
            return false;
        }
        let Some(fence) = self.stored.as_ref().map(|lifecycle| lifecycle.fence) else { return false };
        let word = match self.provider.latest_vend() {
            Some(transaction) => Event::OperatorVended { fence, vend: vend(&transaction) },
            None => Event::OperatorNotVended { fence },
        };
        self.record(word, setup)
    }

    /// A reference that no attempt had before.
    pub fn fresh_reference(&self) -> ProviderReference {
        let attempt = self.stored.as_ref().map_or(1, |lifecycle| lifecycle.attempt);
        let call = CallId::new(u32::from(attempt) + 1, OPENING).expect("attempts are few");
        ProviderReference::new(call)
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self {
            now,
            stored,
            is_held,
            captured,
            released,
            incidents,
            end_was_undone,
            straggler,
            reference_rests_until,
            provider,
        } = self;
        (now, is_held, captured, released, incidents, end_was_undone, reference_rests_until).hash(hasher);
        provider.hash(hasher);
        if let Some(lifecycle) = stored {
            hash_lifecycle(lifecycle, hasher);
        }
        if let Some(event) = straggler {
            crate::driver::key_of(event).hash(hasher);
        }
    }
}

/// A length of the model's time chain.
pub fn ticks(length: Duration) -> u8 {
    u8::try_from(length.as_secs()).expect("the chain is short")
}

/// Hashes all fields of a lifecycle. A new field does not compile until it is hashed too.
pub fn hash_lifecycle<H: Hasher>(lifecycle: &Lifecycle, hasher: &mut H) {
    let Lifecycle {
        handling,
        state,
        fence,
        lease_until,
        claimed_at,
        asked_at,
        attempt,
        requests,
        window_closes_at,
    } = lifecycle;
    let second = |at: &DateTime<Utc>| at.timestamp();
    (handling, state.name(), fence, attempt, requests, second(window_closes_at)).hash(hasher);
    // When to look and when to ask again depends on the last claim, and the model does both at any time.
    (lease_until.as_ref().map(second), claimed_at.is_some(), asked_at.as_ref().map(second)).hash(hasher);
    match state {
        State::InFlight(sending) | State::InDoubt(sending) | State::Review(sending) => {
            let Sending { copies, last_sent_at, ended_at, earlier_ended_by, no_record_since } = sending;
            (copies, second(last_sent_at), no_record_since.as_ref().map(second)).hash(hasher);
            (ended_at.as_ref().map(second), earlier_ended_by.as_ref().map(second)).hash(hasher);
        }
        State::Successful { provider_transaction } => provider_transaction.hash(hasher),
        State::RetryDue | State::Failed => {}
    }
}

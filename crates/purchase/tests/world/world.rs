//! A small world in memory: one stored purchase, the database's clock, the wallet's hold and a provider. Every event
//! goes through the shipped `step`. Directed tests and random histories run in it, and the exhaustive model searches
//! all that can happen in it.

pub mod confirm_driver;
pub mod driver;
pub mod flaw;
pub mod hash;
pub mod memory;
pub mod opening;
pub mod provider;
pub mod resolve_driver;
pub mod values;
pub mod walk;

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use purchase::{Effect, Event, Fence, Handling, Illegal, Lifecycle, Next, Rules, StateName, TimedEvent};
use vend::{CallId, ProviderReference};

use flaw::{Flaw, flawed_step};
use hash::{hash_lifecycle, hash_of_debug};
use provider::{Nature, Provider};
use values::{OPENING, seconds, vend};

/// What stays the same in a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    pub handling: Handling,
    pub rules: Rules,
    /// The flaw of the implementation, if any.
    pub flaw: Option<Flaw>,
    /// Panic at the first event that contradicts the truth. The model does not: it searches for what follows.
    pub asserts_truth: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// Shared: the model copies a world for every move.
    pub setup: Arc<Setup>,
    pub now: DateTime<Utc>,
    /// The stored purchase, once it is reserved.
    pub stored: Option<Lifecycle>,
    pub is_held: bool,
    pub captured: usize,
    pub released: usize,
    pub incidents: usize,
    /// Something changed after the end.
    pub end_was_undone: bool,
    /// A write that was given up as lost, and may still be committed.
    pub late_write: Option<Event>,
    /// A retry has answered "not found": no confirm that arrived before this time buys.
    pub reference_rests_until: Option<DateTime<Utc>>,
    pub provider: Provider,
}

impl World {
    /// Nothing reserved yet.
    pub const fn new(setup: Arc<Setup>, nature: Nature) -> Self {
        Self {
            setup,
            now: OPENING,
            stored: None,
            is_held: false,
            captured: 0,
            released: 0,
            incidents: 0,
            end_was_undone: false,
            late_write: None,
            reference_rests_until: None,
            provider: Provider::new(nature),
        }
    }

    pub fn passes(&mut self, count: i64) {
        self.now += seconds(count);
    }

    pub fn since(&self, earlier: DateTime<Utc>) -> Duration {
        (self.now - earlier).to_std().expect("time does not run backwards")
    }

    pub const fn lifecycle(&self) -> &Lifecycle {
        self.stored.as_ref().expect("the purchase is reserved")
    }

    pub const fn state(&self) -> StateName {
        self.lifecycle().state.name()
    }

    /// Whether a purchase is stored in this state.
    pub fn is_in(&self, state: StateName) -> bool {
        self.stored.as_ref().is_some_and(|lifecycle| lifecycle.state.name() == state)
    }

    /// Whether a purchase is stored and has not ended.
    pub fn is_open(&self) -> bool {
        self.stored.as_ref().is_some_and(|lifecycle| lifecycle.state.name().is_open())
    }

    /// Whether the plan has another look of the worker due.
    pub fn is_due_some_time(&self) -> bool {
        let rules = &self.setup.rules;
        let due_at = |lifecycle| rules.timing.plan.due_at(lifecycle, self.now, rules);
        self.stored.as_ref().and_then(due_at).is_some()
    }

    /// The reserve of a request that arrived at this time, and whether this run made the purchase. `None` if it is refused. If it
    /// runs again with the same keys, it finds the purchase and changes nothing.
    pub fn reserve(&mut self, arrived_at: DateTime<Utc>) -> Option<(Fence, bool)> {
        let is_new = self.stored.is_none();
        if is_new {
            let timing = &self.setup.rules.timing;
            let is_too_old = self.since(arrived_at) > timing.intake;
            let is_resting = self.reference_rests_until.is_some_and(|until| arrived_at <= until);
            if is_too_old || is_resting {
                return None;
            }
            self.stored = Some(Lifecycle::reserved(self.setup.handling, self.now, timing));
            self.is_held = true;
        }
        Some((Fence::FIRST, is_new))
    }

    /// A retry finds no purchase. The reference rests from now on.
    pub fn find_nothing(&mut self) {
        let forgets = self.setup.flaw == Some(Flaw::ForgetsTheRest);
        let rest = if forgets { Duration::ZERO } else { self.setup.rules.timing.reference_rest };
        self.reference_rests_until = Some(self.now + rest);
    }

    /// Sends a copy of this attempt's order. Returns the number of the copy.
    pub fn send(&mut self, attempt: u16) -> usize {
        if self.setup.asserts_truth {
            let recorded = 1 + usize::from(self.lifecycle().requests);
            assert!(self.provider.copies() < recorded, "sent without a record");
        }
        self.provider.send(attempt, self.now, self.setup.rules.timing.provider_timeout)
    }

    /// An enquiry begins without a claim, unless another one began a moment ago.
    pub fn take_turn(&mut self, fence: Fence) -> bool {
        let asked = self.lifecycle().asked_about(fence, self.now, &self.setup.rules.timing);
        let may_ask = asked.is_some();
        self.stored = asked.or(self.stored.take());
        may_ask
    }

    /// The holder of this fence renews its lease. Returns whether that changes anything.
    pub fn renew(&mut self, fence: Fence) -> bool {
        let timing = &self.setup.rules.timing;
        let renewed = self.stored.as_ref().and_then(|lifecycle| lifecycle.renewed(fence, self.now, timing));
        let changes = renewed.is_some() && renewed != self.stored;
        self.stored = renewed.or(self.stored.take());
        changes
    }

    /// One transaction: read, decide, write.
    pub fn record(&mut self, event: Event) -> Result<Next, Illegal> {
        let event = TimedEvent { at: self.now, event };
        let next = flawed_step(self.setup.flaw, self.lifecycle(), &event, &self.setup.rules)?;
        self.write(&next, &event);
        Ok(next)
    }

    /// Decides and writes as if the row still were as it was `read`.
    pub fn write_over(&mut self, read: &Lifecycle, event: Event) -> Result<Next, Illegal> {
        let event = TimedEvent { at: self.now, event };
        let next = flawed_step(self.setup.flaw, read, &event, &self.setup.rules)?;
        self.write(&next, &event);
        Ok(next)
    }

    /// Records an event. Returns whether it moved the purchase.
    pub fn moves(&mut self, event: Event) -> bool {
        matches!(self.record(event), Ok(Next::Moved(..)))
    }

    /// Records an event that is legal in the current state.
    pub fn knows(&mut self, event: Event) {
        let next = self.record(event);
        assert!(matches!(next, Ok(Next::Moved(..))), "{next:?}");
    }

    fn write(&mut self, next: &Next, event: &TimedEvent) {
        let Next::Moved(lifecycle, effects) = next else { return };
        let was_due = self.is_in(StateName::RetryDue);
        self.end_was_undone |=
            self.stored.is_some() && !self.is_open() && self.stored.as_ref() != Some(lifecycle);
        self.stored = Some(lifecycle.clone());
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
        if self.setup.asserts_truth {
            let becomes_due = !was_due && self.is_in(StateName::RetryDue);
            self.assert_truth(becomes_due || effects.contains(&Effect::ReleaseHold), event);
        }
    }

    /// For every event that counts as proof of "not vended": nothing was vended, and nothing can be vended any more.
    fn assert_truth(&self, counts_as_proof: bool, event: &TimedEvent) {
        assert!(self.captured + self.released <= 1, "a hold ends once, but then came {event:?}");
        assert!(!self.end_was_undone, "an end is final, but then came {event:?}");
        if counts_as_proof {
            assert_eq!(self.provider.vends(), 0, "vended in spite of {event:?}");
            assert!(!self.provider.may_still_vend(self.now), "may still be vended in spite of {event:?}");
        }
    }

    /// An operator who has seen the provider's statement decides in review, under a claimed fence. The operator does
    /// not decide while a copy may still be vended.
    pub fn operator_decides(&mut self) -> bool {
        let knows = self.provider.vends() > 0 || !self.provider.may_still_vend(self.now);
        if !self.is_in(StateName::Review) || !knows || !self.moves(Event::Claimed) {
            return false;
        }
        let fence = self.lifecycle().fence;
        let word = match self.provider.latest_vend() {
            Some(transaction) => Event::OperatorVended { fence, vend: vend(&transaction) },
            None => Event::OperatorNotVended { fence },
        };
        self.moves(word)
    }

    /// A reference that no attempt had before.
    pub fn fresh_reference(&self) -> ProviderReference {
        let number = u32::from(self.lifecycle().attempt) + 1;
        ProviderReference::new(CallId::new(number, OPENING).expect("attempts are few"))
    }
}

/// Leaves the setup out: it stays the same.
impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self {
            setup: _,
            now,
            stored,
            is_held,
            captured,
            released,
            incidents,
            end_was_undone,
            late_write,
            reference_rests_until,
            provider,
        } = self;
        (now, is_held, captured, released, incidents, end_was_undone, reference_rests_until).hash(hasher);
        provider.hash_at(*now, hasher);
        if let Some(lifecycle) = stored {
            hash_lifecycle(lifecycle, *now, hasher);
        }
        if let Some(event) = late_write {
            hash_of_debug(event).hash(hasher);
        }
    }
}

//! What there is besides the people: the purchase on file, its hold, the clock, the provider. The row is
//! changed by the shipped `step` alone, one fact at a time.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use purchase::{
    Effect, Event, Fact, Fence, Handling, Illegal, Life, Next, RetryPlan, Rules, Sending, State, StateName,
    Timing,
};
use vend::{CallId, ProviderReference};

use crate::flaw::{Flaw, mistaken_step};
use crate::provider::{Nature, Provider};
use crate::values::{OPENING, vend};

/// A time chain of few ticks. A short pause outlasts the gate and a lease, a long one a request; two outlast the window.
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

/// The rules of one town: what its connection is declared to do, what the provider really does, and the
/// mistake that is made in it, if any.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    pub handling: Handling,
    pub rules: Rules,
    pub nature: Nature,
    pub flaw: Option<Flaw>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    pub now: u8,
    /// The purchase as it is on file, once it is reserved.
    pub filed: Option<Life>,
    pub is_held: bool,
    pub captured: u8,
    pub released: u8,
    pub incidents: u8,
    /// Something changed after the end.
    pub end_was_undone: bool,
    /// A write that was given up for lost, and may be committed all the same.
    pub straggler: Option<Fact>,
    /// Since a retry has answered "not found": no confirm that arrived before this moment buys.
    pub reference_rests_until: Option<u8>,
    pub provider: Provider,
}

impl World {
    pub fn at(&self) -> DateTime<Utc> {
        OPENING + TimeDelta::seconds(i64::from(self.now))
    }

    pub fn state(&self) -> Option<StateName> {
        self.filed.as_ref().map(|life| life.state.name())
    }

    pub fn is_open(&self) -> bool {
        self.state().is_some_and(StateName::is_open)
    }

    /// Whether the plan has the worker look at it again.
    pub fn is_due_some_time(&self, law: &Law) -> bool {
        let due_at = |life| TIMING.plan.due_at(life, self.at(), &law.rules);
        self.filed.as_ref().and_then(due_at).is_some()
    }

    /// The reserve of a request that arrived at this moment; none if it is refused. Run again with the same keys it finds
    /// itself and changes nothing.
    pub fn reserve(&mut self, arrived_at: u8, law: &Law) -> Option<Fence> {
        if self.filed.is_none() {
            let is_too_old = self.now - arrived_at > ticks(TIMING.intake);
            let is_resting = self.reference_rests_until.is_some_and(|until| arrived_at <= until);
            if is_too_old || is_resting {
                return None;
            }
            self.filed = Some(Life::reserved(law.handling, self.at(), &law.rules.timing));
            self.is_held = true;
        }
        Some(Fence::FIRST)
    }

    /// A retry finds no purchase: the reference rests from now on.
    pub fn finds_nothing(&mut self, law: &Law) {
        let rest = if law.flaw == Some(Flaw::ForgetsTheRest) { 0 } else { ticks(TIMING.reference_rest) };
        self.reference_rests_until = Some(self.now + rest);
    }

    /// An enquiry begins without a claim, if none began a moment ago.
    pub fn takes_turn(&mut self, fence: Fence) -> bool {
        let asked = self.filed.as_ref().and_then(|life| life.asked_about(fence, self.at(), &TIMING));
        let may_ask = asked.is_some();
        self.filed = asked.or(self.filed.take());
        may_ask
    }

    /// The holder of this fence renews its lease. Whether that changes anything.
    pub fn renews(&mut self, fence: Fence) -> bool {
        let renewed = self.filed.as_ref().and_then(|life| life.renewed(fence, self.at(), &TIMING));
        let changes = renewed.is_some() && renewed != self.filed;
        self.filed = renewed.or(self.filed.take());
        changes
    }

    /// One transaction: read, decide, write. Whether the fact moved the purchase.
    pub fn record(&mut self, fact: Fact, law: &Law) -> bool {
        let Some(life) = self.filed.clone() else { return false };
        self.write_over(&life, fact, law)
    }

    /// As if the row still were as it was `read`.
    pub fn write_over(&mut self, read: &Life, fact: Fact, law: &Law) -> bool {
        match self.decide(read, fact, law) {
            Ok(Next::Moved(life, effects)) => {
                self.keep(life, &effects);
                true
            }
            Ok(Next::AlreadyThere) | Err(_) => false,
        }
    }

    fn decide(&self, read: &Life, fact: Fact, law: &Law) -> Result<Next, Illegal> {
        mistaken_step(law.flaw, read, &Event { at: self.at(), fact }, &law.rules)
    }

    fn keep(&mut self, life: Life, effects: &[Effect]) {
        let had_ended = self.filed.as_ref().is_some_and(|before| !before.state.name().is_open());
        self.end_was_undone |= had_ended && self.filed.as_ref() != Some(&life);
        self.filed = Some(life);
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

    /// An operator who has seen the provider's statement decides, under a claimed fence; keeps silent as
    /// long as a copy may still be vended for.
    pub fn operator_decides(&mut self, law: &Law) -> bool {
        let knows = self.provider.vends > 0 || !self.provider.may_still_vend(self.now, law.nature);
        if self.state() != Some(StateName::Review) || !knows || !self.record(Fact::Claimed, law) {
            return false;
        }
        let Some(fence) = self.filed.as_ref().map(|life| life.fence) else { return false };
        let word = match self.provider.latest_vend() {
            Some(transaction) => Fact::OperatorVended { fence, vend: vend(&transaction) },
            None => Fact::OperatorNotVended { fence },
        };
        self.record(word, law)
    }

    /// A name that no attempt had before.
    pub fn fresh_reference(&self) -> ProviderReference {
        let attempt = self.filed.as_ref().map_or(1, |life| life.attempt);
        let call = CallId::new(u32::from(attempt) + 1, OPENING).expect("attempts are few");
        ProviderReference::new(call)
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self {
            now,
            filed,
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
        if let Some(life) = filed {
            hash_life(life, hasher);
        }
        if let Some(fact) = straggler {
            crate::desk::key_of(fact).hash(hasher);
        }
    }
}

/// A length of the model's time chain.
pub fn ticks(length: Duration) -> u8 {
    u8::try_from(length.as_secs()).expect("the chain is short")
}

/// Everything that a life holds; a new field does not compile until it is hashed too.
pub fn hash_life<H: Hasher>(life: &Life, hasher: &mut H) {
    let Life {
        handling,
        state,
        fence,
        lease_until,
        claimed_at,
        asked_at,
        attempt,
        requests,
        window_closes_at,
    } = life;
    let second = |at: &DateTime<Utc>| at.timestamp();
    (handling, state.name(), fence, attempt, requests, second(window_closes_at)).hash(hasher);
    // When to look and to ask again depends on when it was last claimed, and the model has both done at any time.
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

//! A small world in memory: one stored purchase, the database's clock, the wallet's hold and a provider. Every event
//! goes through the shipped `step`, and every proof is checked against the truth.

pub mod driver;
pub mod provider;
pub mod values;
pub mod walk;

use std::time::Duration;

use chrono::{DateTime, Utc};
use purchase::{
    Effect, Event, Fence, Handling, Illegal, Lifecycle, Next, RetryPlan, Rules, StateName, TimedEvent, Timing,
};
use vend::{CallId, Capabilities, ProviderReference};

use provider::{Provider, Repeats};
use values::{OPENING, seconds, vend};

/// Other tests check that sends wait for the plan. Here each send is due as soon as possible, or one second after the
/// last one.
const AT_ONCE: RetryPlan = RetryPlan {
    first_look: Duration::from_secs(5),
    longest_pause: Duration::from_mins(15),
    repeats: [
        Duration::from_secs(1),
        Duration::from_secs(201),
        Duration::from_secs(401),
        Duration::from_secs(601),
        Duration::from_secs(801),
    ],
    repeats_end: Duration::from_millis(1_799_999),
    attempts: [Duration::ZERO; 5],
};

#[derive(Clone, Debug)]
pub struct World {
    pub now: DateTime<Utc>,
    pub rules: Rules,
    pub handling: Handling,
    /// The stored purchase, once it is reserved.
    pub stored: Option<Lifecycle>,
    pub provider: Provider,
    pub captured: u32,
    pub released: u32,
    pub incidents: u32,
}

impl World {
    /// Nothing reserved yet. The provider behaves as its connection is declared.
    pub fn open(handling: Handling, declared: Capabilities, repeats: Repeats) -> Self {
        let timing = Timing { plan: AT_ONCE, ..Timing::default() };
        Self {
            now: OPENING,
            rules: Rules { declared, timing },
            handling,
            stored: None,
            provider: Provider::new(declared, repeats, timing.provider_timeout),
            captured: 0,
            released: 0,
            incidents: 0,
        }
    }

    /// A purchase whose first copy was sent and whose sender is at work.
    pub fn in_flight(handling: Handling, declared: Capabilities) -> Self {
        let mut world = Self::open(handling, declared, Repeats::FromMemory);
        world.reserve();
        world.provider.takes_off(1, world.now);
        world
    }

    /// A purchase whose only copy was sent, whose sender gave up, and whose outcome is unknown; one second later.
    pub fn in_doubt(handling: Handling, declared: Capabilities) -> Self {
        let mut world = Self::in_flight(handling, declared);
        world.knows(Event::Lost { fence: Fence(1), why: vend::Doubt::TimedOut.into() });
        world.passes(1);
        world
    }

    /// Like in doubt, but after the window.
    pub fn in_review(handling: Handling, declared: Capabilities) -> Self {
        let mut world = Self::in_doubt(handling, declared);
        world.passes(1_800);
        world.knows(Event::WindowClosed { fence: Fence(1) });
        world
    }

    pub fn passes(&mut self, count: i64) {
        self.now += seconds(count);
    }

    pub fn lifecycle(&self) -> &Lifecycle {
        self.stored.as_ref().expect("the purchase of this test is reserved")
    }

    pub fn state(&self) -> StateName {
        self.lifecycle().state.name()
    }

    /// The reserve. If it runs again with the same keys, it finds the purchase and changes nothing.
    pub fn reserve(&mut self) -> Fence {
        if self.stored.is_none() {
            self.stored = Some(Lifecycle::reserved(self.handling, self.now, &self.rules.timing));
        }
        Fence(1)
    }

    /// Records an event that is legal in the current state.
    pub fn knows(&mut self, event: Event) {
        let next = self.record(event);
        assert!(matches!(next, Ok(Next::Moved(..))), "{next:?}");
    }

    /// An enquiry begins without a claim, unless another one began a moment ago.
    pub fn takes_turn(&mut self, fence: Fence) -> bool {
        let asked = self.lifecycle().asked_about(fence, self.now, &self.rules.timing);
        let may_ask = asked.is_some();
        self.stored = asked.or(self.stored.take());
        may_ask
    }

    /// One transaction.
    pub fn record(&mut self, event: Event) -> Result<Next, Illegal> {
        let event = TimedEvent { at: self.now, event };
        let next = purchase::step(self.lifecycle(), &event, &self.rules)?;
        if let Next::Moved(lifecycle, effects) = &next {
            let was_due = self.state() == StateName::RetryDue;
            if lifecycle.state.name() == StateName::RetryDue && !was_due {
                self.holds_against_the_truth(&event);
            }
            self.stored = Some(lifecycle.clone());
            for effect in effects {
                self.perform(*effect, &event);
            }
        }
        Ok(next)
    }

    fn perform(&mut self, effect: Effect, event: &TimedEvent) {
        match effect {
            Effect::CaptureHold => self.captured += 1,
            Effect::ReleaseHold => {
                self.released += 1;
                self.holds_against_the_truth(event);
            }
            Effect::OpenIncident(_) => self.incidents += 1,
        }
        assert!(self.captured + self.released <= 1, "a hold ends once, but then came {event:?}");
    }

    /// For every event that counts as proof of "not vended": nothing was vended, and nothing can be vended any more.
    fn holds_against_the_truth(&self, proof: &TimedEvent) {
        assert_eq!(self.provider.vends(), 0, "vended in spite of {proof:?}");
        assert!(!self.provider.may_still_vend(self.now), "may still be vended in spite of {proof:?}");
    }

    /// An operator who has seen the provider's statement decides, under a claimed fence. The operator does not decide
    /// while a copy may still be vended.
    pub fn operator_decides(&mut self) {
        if self.provider.vends() == 0 && self.provider.may_still_vend(self.now) {
            return;
        }
        let Ok(Next::Moved(claimed, _)) = self.record(Event::Claimed) else { return };
        let fence = claimed.fence;
        let word = match self.provider.latest_vend() {
            Some(transaction) => Event::OperatorVended { fence, vend: vend(transaction) },
            None => Event::OperatorNotVended { fence },
        };
        // Outside review the event is illegal, and the purchase is unchanged.
        let _no_place = self.record(word);
    }

    /// What must be true whenever a purchase has ended.
    pub fn ended_in_truth(&self) {
        assert!(!self.state().is_open(), "still open: {:?}", self.lifecycle());
        assert!(self.provider.vends() <= 1, "vended {} times", self.provider.vends());
        let vended = u32::from(self.provider.vends() == 1);
        assert_eq!((self.captured, self.released), (vended, 1 - vended), "captured, released");
        assert_eq!(self.incidents, 0);
    }

    /// A reference that no attempt had before.
    pub fn fresh_reference(&self) -> ProviderReference {
        let number = u32::from(self.lifecycle().attempt) + 1;
        ProviderReference::new(CallId::new(number, self.now).expect("attempts are few"))
    }
}

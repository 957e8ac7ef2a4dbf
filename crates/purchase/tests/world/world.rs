//! A little world in memory: one purchase on file, the database's clock, the wallet's hold, and a
//! provider. Every record goes through the shipped `step`, and every proof is held against the truth.

pub mod desk;
pub mod provider;
pub mod values;
pub mod walk;

use std::time::Duration;

use chrono::{DateTime, Utc};
use purchase::{
    Effect, Event, Fact, Fence, Handling, Illegal, Life, Next, RetryPlan, Rules, StateName, Timing,
};
use vend::{CallId, Capabilities, ProviderReference};

use provider::{Provider, Repeats};
use values::{OPENING, seconds, vend};

/// Whether sends wait for the plan is tested apart; here each is due as soon as it is possible, or a second after the
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
    /// The purchase as it is on file, once it is reserved.
    pub filed: Option<Life>,
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
            filed: None,
            provider: Provider::new(declared, repeats, timing.provider_timeout),
            captured: 0,
            released: 0,
            incidents: 0,
        }
    }

    /// A purchase whose first copy has left and whose sender is at work.
    pub fn in_flight(handling: Handling, declared: Capabilities) -> Self {
        let mut world = Self::open(handling, declared, Repeats::FromMemory);
        world.reserve();
        world.provider.takes_off(1, world.now);
        world
    }

    /// A purchase whose one copy has left, whose sender gave up, and of which nobody knows more; a second later.
    pub fn in_doubt(handling: Handling, declared: Capabilities) -> Self {
        let mut world = Self::in_flight(handling, declared);
        world.knows(Fact::Lost { fence: Fence(1), why: vend::Doubt::TimedOut.into() });
        world.passes(1);
        world
    }

    /// As in doubt, after the window.
    pub fn in_review(handling: Handling, declared: Capabilities) -> Self {
        let mut world = Self::in_doubt(handling, declared);
        world.passes(1_800);
        world.knows(Fact::WindowClosed { fence: Fence(1) });
        world
    }

    pub fn passes(&mut self, count: i64) {
        self.now += seconds(count);
    }

    pub fn life(&self) -> &Life {
        self.filed.as_ref().expect("the purchase of this test is reserved")
    }

    pub fn state(&self) -> StateName {
        self.life().state.name()
    }

    /// The reserve. Run again with the same keys it finds itself and changes nothing.
    pub fn reserve(&mut self) -> Fence {
        if self.filed.is_none() {
            self.filed = Some(Life::reserved(self.handling, self.now, &self.rules.timing));
        }
        Fence(1)
    }

    /// Puts a fact on record that this test knows to have a place there.
    pub fn knows(&mut self, fact: Fact) {
        let next = self.record(fact);
        assert!(matches!(next, Ok(Next::Moved(..))), "{next:?}");
    }

    /// An enquiry begins without a claim, if none began a moment ago.
    pub fn takes_turn(&mut self, fence: Fence) -> bool {
        let asked = self.life().asked_about(fence, self.now, &self.rules.timing);
        let may_ask = asked.is_some();
        self.filed = asked.or(self.filed.take());
        may_ask
    }

    /// One transaction.
    pub fn record(&mut self, fact: Fact) -> Result<Next, Illegal> {
        let event = Event { at: self.now, fact };
        let next = purchase::step(self.life(), &event, &self.rules)?;
        if let Next::Moved(life, effects) = &next {
            let was_due = self.state() == StateName::RetryDue;
            if life.state.name() == StateName::RetryDue && !was_due {
                self.holds_against_the_truth(&event);
            }
            self.filed = Some(life.clone());
            for effect in effects {
                self.perform(*effect, &event);
            }
        }
        Ok(next)
    }

    fn perform(&mut self, effect: Effect, event: &Event) {
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

    /// Whatever counts as proof that nothing was vended: nothing was, and nothing can be any more.
    fn holds_against_the_truth(&self, proof: &Event) {
        assert_eq!(self.provider.vends(), 0, "vended in spite of {proof:?}");
        assert!(!self.provider.may_still_vend(self.now), "may still be vended in spite of {proof:?}");
    }

    /// An operator who has seen the provider's statement decides, under a claimed fence; keeps silent as
    /// long as a copy may still be vended for.
    pub fn operator_decides(&mut self) {
        if self.provider.vends() == 0 && self.provider.may_still_vend(self.now) {
            return;
        }
        let Ok(Next::Moved(claimed, _)) = self.record(Fact::Claimed) else { return };
        let fence = claimed.fence;
        let word = match self.provider.latest_vend() {
            Some(transaction) => Fact::OperatorVended { fence, vend: vend(transaction) },
            None => Fact::OperatorNotVended { fence },
        };
        // Outside review there is no place for it, and the purchase stays as it was.
        let _no_place = self.record(word);
    }

    /// What must be true whenever a purchase has ended.
    pub fn ended_in_truth(&self) {
        assert!(!self.state().is_open(), "still open: {:?}", self.life());
        assert!(self.provider.vends() <= 1, "vended {} times", self.provider.vends());
        let vended = u32::from(self.provider.vends() == 1);
        assert_eq!((self.captured, self.released), (vended, 1 - vended), "captured, released");
        assert_eq!(self.incidents, 0);
    }

    /// A name that no attempt had before.
    pub fn fresh_reference(&self) -> ProviderReference {
        let number = u32::from(self.life().attempt) + 1;
        ProviderReference::new(CallId::new(number, self.now).expect("attempts are few"))
    }
}

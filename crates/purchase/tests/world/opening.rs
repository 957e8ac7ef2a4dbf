//! The worlds in which directed tests begin: their provider does what is declared for its connection, and what
//! contradicts the truth panics.

use std::sync::Arc;
use std::time::Duration;

use purchase::{Event, Fence, Handling, RetryPlan, Rules, Timing};
use vend::{Capabilities, Doubt};

use super::memory::Repeats;
use super::provider::{Habits, Nature};
use super::{Setup, World};

/// Other tests check that sends wait for the plan. Here each send is due as soon as possible, or one second after the
/// last one.
const AT_ONCE: RetryPlan = RetryPlan {
    first_look: Duration::from_secs(5),
    longest_pause: Duration::from_secs(15 * 60),
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

impl World {
    /// Nothing reserved yet.
    pub fn open(handling: Handling, declared: Capabilities, repeats: Repeats) -> Self {
        let timing = Timing { plan: AT_ONCE, ..Timing::default() };
        let rules = Rules { declared, timing };
        let setup = Arc::new(Setup { handling, rules, flaw: None, asserts_truth: true });
        let habits = Habits { repeats, turns_away: true, duplicates: false };
        Self::new(setup, Nature { does: declared, habits })
    }

    /// The confirm reserves the purchase and sends its first copy.
    pub fn begin(&mut self) -> Fence {
        let (fence, _is_new) =
            self.reserve(self.now).expect("a request that has just arrived is not too old");
        self.send(1);
        fence
    }

    /// A purchase whose first copy was sent and whose sender is at work.
    pub fn in_flight(handling: Handling, declared: Capabilities) -> Self {
        let mut world = Self::open(handling, declared, Repeats::FromMemory);
        world.begin();
        world
    }

    /// A purchase whose only copy was sent, whose sender gave up, and whose outcome is unknown; one second later.
    pub fn in_doubt(handling: Handling, declared: Capabilities) -> Self {
        let mut world = Self::in_flight(handling, declared);
        world.gives_up();
        world.passes(1);
        world
    }

    /// Like in doubt, but after the window.
    pub fn in_review(handling: Handling, declared: Capabilities) -> Self {
        let mut world = Self::in_doubt(handling, declared);
        world.passes(1_800);
        world.knows(Event::WindowClosed { fence: Fence::FIRST });
        world
    }

    /// The sender of the first copy reports that it has no proof either way.
    pub fn gives_up(&mut self) {
        self.provider.end_request(0, self.now);
        self.knows(Event::Lost { fence: Fence::FIRST, why: Doubt::TimedOut.into() });
    }

    /// What must be true whenever a purchase has ended.
    pub fn ended_in_truth(&self) {
        assert!(!self.state().is_open(), "still open: {:?}", self.lifecycle());
        assert!(self.provider.vends() <= 1, "vended {} times", self.provider.vends());
        let vended = usize::from(self.provider.vends() == 1);
        assert_eq!((self.captured, self.released), (vended, 1 - vended), "captured, released");
        assert_eq!(self.incidents, 0);
    }
}

//! The model itself: a town with one purchase, and the laws that must hold in every state of it.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use purchase::{Handling, Rules, StateName};
use stateright::{Checker, HasDiscoveries, Model, Property};
use vend::Capabilities;

use crate::desk::Final;
use crate::flaw::Flaw;
use crate::floor::{Bounds, Floor, Move, Request, has_a_way_out};
use crate::provider::{Habits, Nature};
use crate::world::{Law, TIMING};

#[derive(Clone, Debug)]
pub struct Town {
    pub law: Law,
    pub bounds: Bounds,
    /// Where the confirm is when the search begins.
    pub request: Request,
    /// The worlds that are known to have a way out.
    ways_out: Arc<Mutex<HashSet<u64>>>,
}

/// What a search came to.
#[derive(Debug)]
pub struct Findings {
    pub states: usize,
    /// The broken law, and the moves that broke it.
    pub broken: Vec<(&'static str, Vec<Move>)>,
    /// What was never seen, though it should be possible.
    pub never_seen: Vec<&'static str>,
}

impl Town {
    /// Nobody errs, and the provider does what it is declared to do and not a bit more.
    pub fn truthful(handling: Handling, declared: Capabilities, habits: Habits, bounds: Bounds) -> Self {
        let declared = Capabilities { settles_within: Duration::from_secs(5), ..declared };
        let nature = Nature { does: declared, habits, settles_within: 5 };
        let rules = Rules { declared, timing: TIMING };
        let law = Law { handling, rules, nature, flaw: None };
        Self { law, bounds, request: Request::Read, ways_out: Arc::default() }
    }

    pub fn with(mut self, flaw: Flaw) -> Self {
        self.law.flaw = Some(flaw);
        self
    }

    /// Its provider is declared to settle at once, and does.
    pub fn that_settles_at_once(mut self) -> Self {
        self.law.nature.settles_within = 1;
        self.law.rules.declared.settles_within = Duration::from_secs(1);
        self
    }

    pub fn within(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Its provider really does this, whatever is declared.
    pub fn though_it_does(mut self, does: Capabilities) -> Self {
        self.law.nature.does = does;
        self
    }

    /// The request of the confirm has been sent, and no server has read it.
    pub fn before_it_is_read(mut self) -> Self {
        self.request = Request::InTransit;
        self
    }

    pub fn on_a_road_that_doubles(mut self) -> Self {
        self.law.nature.habits.doubles = true;
        self
    }

    /// All of it, with as many threads.
    pub fn explore(self, threads: usize) -> Findings {
        Self::findings(&self.checker().threads(threads).spawn_bfs().join())
    }

    /// Until this law breaks; on one thread, so that the story is a short one.
    pub fn explore_until_it_breaks(self, law: &'static str) -> Findings {
        let search = self.checker().finish_when(HasDiscoveries::AnyOf([law].into())).spawn_bfs();
        Self::findings(&search.join())
    }

    fn findings(search: &impl Checker<Self>) -> Findings {
        let mut seen = search.discoveries();
        let properties = search.model().properties();
        let (laws, sights): (Vec<_>, Vec<_>) =
            properties.into_iter().partition(|property| property.expectation.discovery_is_failure());
        let broken =
            laws.iter().filter_map(|law| Some((law.name, seen.remove(law.name)?.into_actions()))).collect();
        let never_seen =
            sights.iter().map(|sight| sight.name).filter(|name| !seen.contains_key(name)).collect();
        Findings { states: search.unique_state_count(), broken, never_seen }
    }

    fn lets_out(&self, floor: &Floor) -> bool {
        let mut hasher = DefaultHasher::new();
        floor.world.hash(&mut hasher);
        let key = hasher.finish();
        let is_known = self.ways_out.lock().expect("nobody panics while holding it").contains(&key);
        if is_known {
            return true;
        }
        let has_one = has_a_way_out(&floor.world, &self.law);
        if has_one {
            self.ways_out.lock().expect("nobody panics while holding it").insert(key);
        }
        has_one
    }
}

impl Model for Town {
    type State = Floor;
    type Action = Move;

    fn init_states(&self) -> Vec<Floor> {
        vec![Floor::opens(self.bounds, self.request)]
    }

    fn actions(&self, floor: &Floor, moves: &mut Vec<Move>) {
        floor.moves(&self.law, moves);
    }

    fn next_state(&self, floor: &Floor, one_move: Move) -> Option<Floor> {
        floor.after(one_move, &self.law)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always("vended at most once", |_, floor: &Floor| floor.world.provider.vends <= 1),
            Property::always("the hold ends at most once", |_, floor: &Floor| {
                floor.world.captured + floor.world.released <= 1
            }),
            Property::always("what is released is never vended", |_, floor: &Floor| {
                floor.world.released == 0 || floor.world.provider.vends == 0
            }),
            Property::always("another attempt is due only if none was vended", |_, floor: &Floor| {
                floor.world.state() != Some(StateName::RetryDue) || floor.world.provider.vends == 0
            }),
            Property::always("paid for only if vended", |_, floor: &Floor| {
                floor.world.captured <= floor.world.provider.vends
            }),
            Property::always("the end is the end", |_, floor: &Floor| !floor.world.end_was_undone),
            Property::always("held exactly while open", |_, floor: &Floor| {
                floor.world.is_held == floor.world.is_open()
            }),
            Property::always("due exactly while open", |town: &Self, floor: &Floor| {
                floor.world.is_due_some_time(&town.law) == floor.world.is_open()
            }),
            Property::always("no two final answers differ", |_, floor: &Floor| !floor.contradicted),
            Property::always("what was told still stands", what_was_told_stands),
            Property::always("no incident", |_, floor: &Floor| floor.world.incidents == 0),
            Property::always("a worker finds a way out", Self::lets_out),
            Property::sometimes("successful", |_, floor: &Floor| is(floor, StateName::Successful)),
            Property::sometimes("failed", |_, floor: &Floor| is(floor, StateName::Failed)),
            Property::sometimes("in review", |_, floor: &Floor| is(floor, StateName::Review)),
            Property::sometimes("told of a success", |_, floor: &Floor| {
                floor.told == Some(Final::Successful)
            }),
            Property::sometimes("told of a failure", |_, floor: &Floor| floor.told == Some(Final::Failed)),
        ];
        if self.request == Request::InTransit {
            let nothing = Property::sometimes("told that nothing was bought", |_, floor: &Floor| {
                floor.told == Some(Final::NothingReserved)
            });
            properties.push(nothing);
        }
        if self.law.handling == Handling::Managed {
            let due = Property::sometimes("another attempt is due", |_, floor: &Floor| {
                is(floor, StateName::RetryDue)
            });
            properties.push(due);
        }
        if self.law.handling == Handling::Managed || self.law.rules.declared.repeat_is_safe {
            let twice =
                Property::sometimes("two copies left", |_, floor: &Floor| floor.world.provider.copies() > 1);
            properties.push(twice);
        }
        properties
    }
}

fn is(floor: &Floor, state: StateName) -> bool {
    floor.world.state() == Some(state)
}

fn what_was_told_stands(_: &Town, floor: &Floor) -> bool {
    match floor.told {
        None => true,
        Some(Final::NothingReserved) => floor.world.filed.is_none(),
        Some(Final::Successful) => is(floor, StateName::Successful),
        Some(Final::Failed) => is(floor, StateName::Failed),
    }
}

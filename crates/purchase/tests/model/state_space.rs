//! The model itself: one purchase, and the invariants that must hold in every state.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use purchase::{Handling, Rules, StateName};
use stateright::{Checker, HasDiscoveries, Model, Property};
use vend::Capabilities;

use crate::driver::Final;
use crate::system::{Bounds, Move, Request, System, has_a_way_out};
use crate::timing::TIMING;
use crate::world::flaw::Flaw;
use crate::world::hash::hash_of;
use crate::world::provider::{Habits, Nature};
use crate::world::{Setup, World};

#[derive(Clone, Debug)]
pub struct PurchaseModel {
    pub setup: Arc<Setup>,
    pub nature: Nature,
    pub bounds: Bounds,
    /// Where the confirm is when the search begins.
    pub request: Request,
    /// The only invariant that is checked, if one is named.
    sought: Option<&'static str>,
    /// The worlds from which a worker is known to reach an end.
    ways_out: Arc<Mutex<HashSet<u64>>>,
}

/// The result of a search.
#[derive(Debug)]
pub struct Findings {
    pub states: usize,
    /// The violated invariant, and the moves that violated it.
    pub broken: Option<(&'static str, Vec<Move>)>,
    /// What was never seen, although it should be possible.
    pub never_seen: Vec<&'static str>,
}

/// The checker looks up each property once for every state, so all invariants are one property.
const EVERY_INVARIANT: &str = "every invariant holds";

type Invariant = (&'static str, fn(&PurchaseModel, &System) -> bool);

const INVARIANTS: [Invariant; 12] = [
    ("vended at most once", |_, system| system.world.provider.vends() <= 1),
    ("the hold ends at most once", |_, system| system.world.captured + system.world.released <= 1),
    ("what is released is never vended", |_, system| {
        system.world.released == 0 || system.world.provider.vends() == 0
    }),
    ("another attempt is due only if none was vended", |_, system| {
        !system.world.is_in(StateName::RetryDue) || system.world.provider.vends() == 0
    }),
    ("paid for only if vended", |_, system| system.world.captured <= system.world.provider.vends()),
    ("an end is final", |_, system| !system.world.end_was_undone),
    ("held exactly while open", |_, system| system.world.is_held == system.world.is_open()),
    ("due exactly while open", |_, system| system.world.is_due_some_time() == system.world.is_open()),
    ("no two final answers differ", |_, system| !system.contradicted),
    ("a final answer stays true", final_answer_stays_true),
    ("no incident", |_, system| system.world.incidents == 0),
    ("a worker can always finish", PurchaseModel::lets_out),
];

impl PurchaseModel {
    /// No flaw, and the provider does what it is declared to do, and no more.
    pub fn truthful(handling: Handling, declared: Capabilities, habits: Habits, bounds: Bounds) -> Self {
        let declared = Capabilities { settles_within: Duration::from_secs(5), ..declared };
        let nature = Nature { does: declared, habits };
        let rules = Rules { declared, timing: TIMING };
        let setup = Arc::new(Setup { handling, rules, flaw: None, asserts_truth: false });
        Self { setup, nature, bounds, request: Request::Read, sought: None, ways_out: Arc::default() }
    }

    pub fn with(mut self, flaw: Flaw) -> Self {
        Arc::make_mut(&mut self.setup).flaw = Some(flaw);
        self
    }

    /// Its provider is declared to settle at once, and does so.
    pub fn that_settles_at_once(mut self) -> Self {
        let at_once = Duration::from_secs(1);
        self.nature.does.settles_within = at_once;
        Arc::make_mut(&mut self.setup).rules.declared.settles_within = at_once;
        self
    }

    pub fn within(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Its provider really does this, whatever is declared.
    pub fn though_it_does(mut self, does: Capabilities) -> Self {
        self.nature.does = does;
        self
    }

    /// The request of the confirm has been sent, and no server has read it.
    pub fn before_it_is_read(mut self) -> Self {
        self.request = Request::InTransit;
        self
    }

    pub fn over_a_network_that_duplicates(mut self) -> Self {
        self.nature.habits.duplicates = true;
        self
    }

    /// Explores all states, depth first: few states wait at a time, so memory stays in the processor's cache.
    pub fn explore(self) -> Findings {
        Self::findings(&self.checker().spawn_dfs().join())
    }

    /// Explores until this invariant is violated, breadth first, so that the trace is short.
    pub fn explore_until_it_breaks(mut self, invariant: &'static str) -> Findings {
        self.sought = Some(invariant);
        let search = self.checker().finish_when(HasDiscoveries::AnyOf([EVERY_INVARIANT].into())).spawn_bfs();
        Self::findings(&search.join())
    }

    fn findings(search: &impl Checker<Self>) -> Findings {
        let model = search.model();
        let mut seen = search.discoveries();
        let broken = seen.remove(EVERY_INVARIANT).and_then(|path| {
            let violated = model.violated(path.last_state())?;
            Some((violated, path.into_actions()))
        });
        let sights = model.properties().into_iter().filter(|property| property.name != EVERY_INVARIANT);
        let never_seen = sights.map(|sight| sight.name).filter(|name| !seen.contains_key(name)).collect();
        Findings { states: search.unique_state_count(), broken, never_seen }
    }

    /// The first checked invariant that does not hold in this state.
    fn violated(&self, system: &System) -> Option<&'static str> {
        let checked = INVARIANTS.iter().filter(|(name, _)| self.sought.is_none_or(|sought| sought == *name));
        checked.into_iter().find(|(_, holds)| !holds(self, system)).map(|(name, _)| *name)
    }

    fn lets_out(&self, system: &System) -> bool {
        if !system.world.is_open() {
            return true;
        }
        let key = hash_of(&system.world);
        let is_known = self.ways_out.lock().expect("no code panics while it holds the lock").contains(&key);
        if is_known {
            return true;
        }
        let has_one = has_a_way_out(&system.world);
        if has_one {
            self.ways_out.lock().expect("no code panics while it holds the lock").insert(key);
        }
        has_one
    }
}

impl Model for PurchaseModel {
    type State = System;
    type Action = Move;

    fn init_states(&self) -> Vec<System> {
        vec![System::new(World::new(self.setup.clone(), self.nature), self.bounds, self.request)]
    }

    fn actions(&self, system: &System, moves: &mut Vec<Move>) {
        system.moves(moves);
    }

    fn next_state(&self, system: &System, one_move: Move) -> Option<System> {
        system.after(one_move)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(EVERY_INVARIANT, |model: &Self, system: &System| {
                model.violated(system).is_none()
            }),
            Property::sometimes("successful", |_, system: &System| is(system, StateName::Successful)),
            Property::sometimes("failed", |_, system: &System| is(system, StateName::Failed)),
            Property::sometimes("in review", |_, system: &System| is(system, StateName::Review)),
            Property::sometimes("answered with success", |_, system: &System| {
                system.told == Some(Final::Successful)
            }),
            Property::sometimes("answered with failure", |_, system: &System| {
                system.told == Some(Final::Failed)
            }),
        ];
        if self.request == Request::InTransit {
            let nothing = Property::sometimes("answered that nothing was bought", |_, system: &System| {
                system.told == Some(Final::NothingReserved)
            });
            properties.push(nothing);
        }
        if self.setup.handling == Handling::Managed {
            let due = Property::sometimes("another attempt is due", |_, system: &System| {
                is(system, StateName::RetryDue)
            });
            properties.push(due);
        }
        if self.setup.handling == Handling::Managed || self.setup.rules.declared.repeat_is_safe {
            let twice = Property::sometimes("two copies left", |_, system: &System| {
                system.world.provider.copies() > 1
            });
            properties.push(twice);
        }
        properties
    }
}

fn is(system: &System, state: StateName) -> bool {
    system.world.is_in(state)
}

fn final_answer_stays_true(_: &PurchaseModel, system: &System) -> bool {
    match system.told {
        None => true,
        Some(Final::NothingReserved) => system.world.stored.is_none(),
        Some(Final::Successful) => is(system, StateName::Successful),
        Some(Final::Failed) => is(system, StateName::Failed),
    }
}

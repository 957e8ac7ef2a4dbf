//! A state of the model: the world, every driver that works on the purchase, the final answers given so far, and how
//! much may still go wrong.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use purchase::{Event, Handling, StateName};
use vend::RefusalReason;

use crate::driver::{Driver, Final};
use crate::timing::{LONG, SHORT};
use crate::world::World;
use crate::world::driver::Luck;
use crate::world::flaw::Flaw;
use crate::world::provider::Verdict;
use crate::world::values::OPENING;

/// How much may happen. The rest of it is a part of the state, so every search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Acknowledgements lost, writes that are late or lost, and a provider that cannot be reached.
    pub slips: u8,
    pub crashes: u8,
    /// How often a driver begins to resolve.
    pub resolves: u8,
    pub short_pauses: u8,
    pub long_pauses: u8,
    pub copies: usize,
}

/// What a driver works as. The workers are identical, so they are kept in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Confirm,
    Integrator,
    Worker(usize),
}

/// Where the request of the confirm is before a server has read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// At a proxy, or in the network.
    InTransit,
    /// In the buffer of its socket, since this time.
    Unread(DateTime<Utc>),
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The request of the confirm arrives at the machine.
    RequestArrives,
    /// The server reads it.
    RequestIsRead,
    /// The holder of the purchase renews the lease.
    Renews(Role),
    GoesOn(Role, Luck),
    Slips(Role, Luck),
    Crashes(Role),
    Retries,
    /// A batch claims it for a worker.
    IsClaimed,
    /// A batch claims it, and the acknowledgement is lost: no worker works on it.
    IsClaimedUnheard,
    Arrives(usize, Verdict),
    LateWriteIsCommitted,
    OperatorDecides,
    Passes(i64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct System {
    pub world: World,
    request: Request,
    confirm: Option<Arc<Driver>>,
    integrator: Option<Arc<Driver>>,
    workers: Vec<Arc<Driver>>,
    pub told: Option<Final>,
    pub contradicted: bool,
    left: Bounds,
}

impl Hash for System {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { world, request, confirm, integrator, workers, told, contradicted, left } = self;
        (world, request, confirm, integrator, workers, told, contradicted, left).hash(hasher);
    }
}

impl System {
    /// The confirm has just been sent, or has just been read.
    pub fn new(world: World, bounds: Bounds, request: Request) -> Self {
        let confirm = (request == Request::Read).then(|| Arc::new(Driver::confirms(&world, world.now)));
        Self {
            confirm,
            world,
            request,
            integrator: None,
            workers: Vec::new(),
            told: None,
            contradicted: false,
            left: bounds,
        }
    }

    pub fn moves(&self, moves: &mut Vec<Move>) {
        for (role, driver) in self.drivers() {
            let (lucks, slips) = driver.lucks(&self.world);
            moves.extend(lucks.into_iter().map(|luck| Move::GoesOn(role, luck)));
            if self.left.slips > 0 {
                moves.extend(slips.into_iter().map(|luck| Move::Slips(role, luck)));
            }
            if self.left.crashes > 0 {
                moves.push(Move::Crashes(role));
            }
            moves.extend(driver.holds().map(|_fence| Move::Renews(role)));
        }
        if self.world.stored.is_none() {
            self.moves_before_the_reserve(moves);
            return;
        }
        moves.extend(self.integrator.is_none().then_some(Move::Retries));
        moves.extend((self.workers.len() < 2).then_some(Move::IsClaimed));
        moves.extend((self.left.slips > 0).then_some(Move::IsClaimedUnheard));
        for copy in self.world.provider.may_arrive(self.world.now) {
            let verdicts = self.world.provider.verdicts(copy, reasons(self.world.setup.handling));
            moves.extend(verdicts.into_iter().map(|verdict| Move::Arrives(copy, verdict)));
        }
        moves.extend(self.world.late_write.is_some().then_some(Move::LateWriteIsCommitted));
        moves.push(Move::OperatorDecides);
        if self.world.is_open() || self.drivers().next().is_some() {
            moves.extend((self.left.short_pauses > 0).then_some(Move::Passes(SHORT)));
            moves.extend((self.left.long_pauses > 0).then_some(Move::Passes(LONG)));
        }
    }

    /// No request stays in transit for longer than the reference rests. Beyond that the promise does not hold.
    fn moves_before_the_reserve(&self, moves: &mut Vec<Move>) {
        let may_arrive = self.world.now <= OPENING + self.world.setup.rules.timing.reference_rest;
        match self.request {
            Request::InTransit => moves.extend(may_arrive.then_some(Move::RequestArrives)),
            Request::Unread(_) => moves.push(Move::RequestIsRead),
            Request::Read if self.world.reference_rests_until.is_none() => return,
            Request::Read => {}
        }
        moves.push(Move::Retries);
        moves.extend((self.left.short_pauses > 0).then_some(Move::Passes(SHORT)));
        moves.extend((self.left.long_pauses > 0).then_some(Move::Passes(LONG)));
    }

    /// The state after a move. `None` if the move changes nothing.
    pub fn after(&self, one_move: Move) -> Option<Self> {
        let mut system = self.clone();
        match one_move {
            Move::RequestArrives => system.request = Request::Unread(system.world.now),
            Move::RequestIsRead => system.read_request()?,
            Move::Renews(role) => {
                let fence =
                    system.drivers().find(|(at, _)| *at == role).and_then(|(_, driver)| driver.holds())?;
                system.world.renew(fence).then_some(())?;
            }
            Move::GoesOn(role, luck) => system.continue_driver(role, luck)?,
            Move::Slips(role, luck) => {
                system.left.slips -= 1;
                system.continue_driver(role, luck)?;
            }
            Move::Crashes(role) => {
                system.left.crashes -= 1;
                let driver = system.take(role)?;
                system.stop_waiting(&driver);
            }
            Move::Retries => system.retry()?,
            Move::IsClaimed => system.claim()?,
            Move::IsClaimedUnheard => {
                system.left.slips -= 1;
                system.world.moves(Event::Claimed).then_some(())?;
            }
            Move::Arrives(copy, verdict) => {
                let now = system.world.now;
                system.world.provider.receive(copy, now, verdict);
            }
            Move::LateWriteIsCommitted => {
                let event = system.world.late_write.take()?;
                system.world.moves(event);
            }
            Move::OperatorDecides => {
                system.world.operator_decides().then_some(())?;
            }
            Move::Passes(seconds) => {
                let left = if seconds == SHORT {
                    &mut system.left.short_pauses
                } else {
                    &mut system.left.long_pauses
                };
                *left -= 1;
                system.world.passes(seconds);
            }
        }
        (system.world.provider.copies() <= self.left.copies).then_some(system)
    }

    fn drivers(&self) -> impl Iterator<Item = (Role, &Arc<Driver>)> {
        let confirm = self.confirm.iter().map(|driver| (Role::Confirm, driver));
        let integrator = self.integrator.iter().map(|driver| (Role::Integrator, driver));
        let workers = self.workers.iter().enumerate().map(|(place, driver)| (Role::Worker(place), driver));
        confirm.chain(integrator).chain(workers)
    }

    fn take(&mut self, role: Role) -> Option<Arc<Driver>> {
        match role {
            Role::Confirm => self.confirm.take(),
            Role::Integrator => self.integrator.take(),
            Role::Worker(place) => (place < self.workers.len()).then(|| self.workers.remove(place)),
        }
    }

    fn continue_driver(&mut self, role: Role, luck: Luck) -> Option<()> {
        let mut driver = self.take(role)?;
        Arc::make_mut(&mut driver).turn(&mut self.world, luck);
        if driver.is_over() {
            self.take_answer(&driver);
            return Some(());
        }
        match role {
            Role::Confirm => self.confirm = Some(driver),
            Role::Integrator => self.integrator = Some(driver),
            Role::Worker(_) => self.put_to_work(driver),
        }
        Some(())
    }

    fn read_request(&mut self) -> Option<()> {
        let Request::Unread(arrived_at) = self.request else { return None };
        let ages_from_reading = self.world.setup.flaw == Some(Flaw::AgesFromReading);
        let counts_from = if ages_from_reading { self.world.now } else { arrived_at };
        self.confirm = Some(Arc::new(Driver::confirms(&self.world, counts_from)));
        self.request = Request::Read;
        Some(())
    }

    /// The integrator is answered that nothing was bought, and may buy under a new reference.
    fn find_nothing(&mut self) -> Option<()> {
        let before = (self.told, self.world.reference_rests_until);
        self.world.find_nothing();
        self.contradicted |= self.told.is_some_and(|told| told != Final::NothingReserved);
        self.told = Some(Final::NothingReserved);
        (before != (self.told, self.world.reference_rests_until)).then_some(())
    }

    fn retry(&mut self) -> Option<()> {
        if self.world.stored.is_none() {
            return self.find_nothing();
        }
        let driver = Driver::retries(&self.world);
        if driver.is_over() {
            let told_before = self.told;
            self.take_answer(&driver);
            return (self.told != told_before || self.contradicted).then_some(());
        }
        self.left.resolves = self.left.resolves.checked_sub(1)?;
        self.integrator = Some(Arc::new(driver));
        Some(())
    }

    fn claim(&mut self) -> Option<()> {
        self.left.resolves = self.left.resolves.checked_sub(1)?;
        let driver = Driver::claims(&mut self.world)?;
        self.put_to_work(Arc::new(driver));
        Some(())
    }

    fn put_to_work(&mut self, driver: Arc<Driver>) {
        self.workers.push(driver);
        self.workers.sort_by_key(|driver| driver.key());
    }

    fn take_answer(&mut self, driver: &Driver) {
        let Some(word) = driver.final_answer(&self.world) else { return };
        self.contradicted |= self.told.is_some_and(|before| before != word);
        self.told = Some(word);
    }

    fn stop_waiting(&mut self, driver: &Driver) {
        if let Some(copy) = driver.awaits() {
            self.world.provider.stop_waiting(copy);
        }
    }
}

/// Whether one worker without faults brings the purchase to its end or to review. Every copy in transit is lost, and
/// every copy that this worker sends is vended.
pub fn has_a_way_out(world: &World) -> bool {
    let mut world = World { late_write: None, ..world.clone() };
    let lost = world.provider.copies();
    for _resolve in 0..8 {
        if !world.is_open() || world.is_in(StateName::Review) {
            return true;
        }
        world.passes(LONG);
        let Some(mut worker) = Driver::claims(&mut world) else { return true };
        for _turn in 0..12 {
            let Some(luck) = worker.lucks(&world).0.first().copied() else { break };
            worker.turn(&mut world, luck);
            for copy in world.provider.may_arrive(world.now) {
                if copy >= lost {
                    world.provider.receive(copy, world.now, Verdict::Vends);
                }
            }
        }
    }
    !world.is_open() || world.is_in(StateName::Review)
}

/// Whether a refusal is transient matters only where new attempts are made.
const fn reasons(handling: Handling) -> &'static [RefusalReason] {
    match handling {
        Handling::SelfManaged => &[RefusalReason::Blocked],
        Handling::Managed => &[RefusalReason::Blocked, RefusalReason::Busy],
    }
}

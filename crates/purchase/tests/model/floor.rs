//! A state of the model: the world, every driver that works on the purchase, the final answers given so far, and how
//! much may still go wrong.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use purchase::{Event, StateName};
use vend::RefusalReason;

use crate::driver::{Driver, Final, Luck};
use crate::flaw::Flaw;
use crate::provider::Verdict;
use crate::world::{LONG, SHORT, Setup, TIMING, World, ticks};

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

/// The place of a driver. The workers are identical, so they are kept in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
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
    Unread(u8),
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The request of the confirm arrives at the machine.
    RequestArrives,
    /// The server reads it.
    RequestIsRead,
    /// The holder of the purchase renews the lease.
    Renews(Seat),
    GoesOn(Seat, Luck),
    Slips(Seat, Luck),
    Crashes(Seat),
    Retries,
    /// A batch claims it for a worker.
    IsClaimed,
    /// A batch claims it, and the acknowledgement is lost: no worker works on it.
    IsClaimedUnheard,
    Arrives(usize, Verdict),
    StragglerIsCommitted,
    OperatorDecides,
    Passes(u8),
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
    pub fn opens(bounds: Bounds, request: Request) -> Self {
        let world = World::default();
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

    pub fn moves(&self, setup: &Setup, moves: &mut Vec<Move>) {
        for (seat, driver) in self.seats() {
            let (fortunes, slips) = driver.fortunes(&self.world, setup);
            moves.extend(fortunes.into_iter().map(|luck| Move::GoesOn(seat, luck)));
            if self.left.slips > 0 {
                moves.extend(slips.into_iter().map(|luck| Move::Slips(seat, luck)));
            }
            if self.left.crashes > 0 {
                moves.push(Move::Crashes(seat));
            }
            moves.extend(driver.holds().map(|_fence| Move::Renews(seat)));
        }
        if self.world.stored.is_none() {
            self.moves_before_the_reserve(moves);
            return;
        }
        moves.extend(self.integrator.is_none().then_some(Move::Retries));
        moves.extend((self.workers.len() < 2).then_some(Move::IsClaimed));
        moves.extend((self.left.slips > 0).then_some(Move::IsClaimedUnheard));
        for copy in self.world.provider.may_arrive(self.world.now) {
            let verdicts = self.world.provider.verdicts(copy, setup.nature, reasons(setup));
            moves.extend(verdicts.into_iter().map(|verdict| Move::Arrives(copy, verdict)));
        }
        moves.extend(self.world.straggler.is_some().then_some(Move::StragglerIsCommitted));
        moves.push(Move::OperatorDecides);
        if self.world.is_open() || self.seats().next().is_some() {
            moves.extend((self.left.short_pauses > 0).then_some(Move::Passes(SHORT)));
            moves.extend((self.left.long_pauses > 0).then_some(Move::Passes(LONG)));
        }
    }

    /// No request stays in transit for longer than the reference rests. Beyond that the promise does not hold.
    fn moves_before_the_reserve(&self, moves: &mut Vec<Move>) {
        let may_arrive = self.world.now <= ticks(TIMING.reference_rest);
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
    pub fn after(&self, one_move: Move, setup: &Setup) -> Option<Self> {
        let mut system = self.clone();
        match one_move {
            Move::RequestArrives => system.request = Request::Unread(system.world.now),
            Move::RequestIsRead => system.is_read(setup)?,
            Move::Renews(seat) => {
                let fence =
                    system.seats().find(|(at, _)| *at == seat).and_then(|(_, driver)| driver.holds())?;
                system.world.renews(fence).then_some(())?;
            }
            Move::GoesOn(seat, luck) => system.goes_on(seat, luck, setup)?,
            Move::Slips(seat, luck) => {
                system.left.slips -= 1;
                system.goes_on(seat, luck, setup)?;
            }
            Move::Crashes(seat) => {
                system.left.crashes -= 1;
                let driver = system.rises(seat)?;
                system.forget_what_was_awaited(&driver);
            }
            Move::Retries => system.retries(setup)?,
            Move::IsClaimed => system.is_claimed(setup)?,
            Move::IsClaimedUnheard => {
                system.left.slips -= 1;
                system.world.record(Event::Claimed, setup).then_some(())?;
            }
            Move::Arrives(copy, verdict) => system.world.provider.receives(copy, verdict, setup.nature),
            Move::StragglerIsCommitted => {
                let event = system.world.straggler.take()?;
                system.world.record(event, setup);
            }
            Move::OperatorDecides => {
                if !system.world.operator_decides(setup) {
                    return None;
                }
            }
            Move::Passes(ticks) => {
                let left =
                    if ticks == SHORT { &mut system.left.short_pauses } else { &mut system.left.long_pauses };
                *left -= 1;
                system.world.now += ticks;
            }
        }
        (system.world.provider.copies() <= self.left.copies).then_some(system)
    }

    fn seats(&self) -> impl Iterator<Item = (Seat, &Arc<Driver>)> {
        let confirm = self.confirm.iter().map(|driver| (Seat::Confirm, driver));
        let integrator = self.integrator.iter().map(|driver| (Seat::Integrator, driver));
        let workers = self.workers.iter().enumerate().map(|(place, driver)| (Seat::Worker(place), driver));
        confirm.chain(integrator).chain(workers)
    }

    fn rises(&mut self, seat: Seat) -> Option<Arc<Driver>> {
        match seat {
            Seat::Confirm => self.confirm.take(),
            Seat::Integrator => self.integrator.take(),
            Seat::Worker(place) => (place < self.workers.len()).then(|| self.workers.remove(place)),
        }
    }

    fn goes_on(&mut self, seat: Seat, luck: Luck, setup: &Setup) -> Option<()> {
        let mut driver = self.rises(seat)?;
        Arc::make_mut(&mut driver).turn(&mut self.world, setup, luck);
        if driver.is_over() {
            self.hears_out(&driver);
            return Some(());
        }
        match seat {
            Seat::Confirm => self.confirm = Some(driver),
            Seat::Integrator => self.integrator = Some(driver),
            Seat::Worker(_) => self.works(driver),
        }
        Some(())
    }

    fn is_read(&mut self, setup: &Setup) -> Option<()> {
        let Request::Unread(arrived_at) = self.request else { return None };
        let counts_from = if setup.flaw == Some(Flaw::AgesFromReading) { self.world.now } else { arrived_at };
        self.confirm = Some(Arc::new(Driver::confirms(&self.world, counts_from)));
        self.request = Request::Read;
        Some(())
    }

    /// The integrator is answered that nothing was bought, and may buy under a new reference.
    fn finds_nothing(&mut self, setup: &Setup) -> Option<()> {
        let before = (self.told, self.world.reference_rests_until);
        self.world.finds_nothing(setup);
        self.contradicted |= self.told.is_some_and(|told| told != Final::NothingReserved);
        self.told = Some(Final::NothingReserved);
        (before != (self.told, self.world.reference_rests_until)).then_some(())
    }

    fn retries(&mut self, setup: &Setup) -> Option<()> {
        if self.world.stored.is_none() {
            return self.finds_nothing(setup);
        }
        let driver = Driver::retries(&self.world, setup)?;
        if driver.is_over() {
            let told_before = self.told;
            self.hears_out(&driver);
            return (self.told != told_before || self.contradicted).then_some(());
        }
        self.left.resolves = self.left.resolves.checked_sub(1)?;
        self.integrator = Some(Arc::new(driver));
        Some(())
    }

    fn is_claimed(&mut self, setup: &Setup) -> Option<()> {
        self.left.resolves = self.left.resolves.checked_sub(1)?;
        let driver = Driver::takes_up(&mut self.world, setup)?;
        self.works(Arc::new(driver));
        Some(())
    }

    fn works(&mut self, driver: Arc<Driver>) {
        self.workers.push(driver);
        self.workers.sort_by_key(|driver| driver.key());
    }

    fn hears_out(&mut self, driver: &Driver) {
        let Some(word) = driver.tells(&self.world) else { return };
        self.contradicted |= self.told.is_some_and(|before| before != word);
        self.told = Some(word);
    }

    fn forget_what_was_awaited(&mut self, driver: &Driver) {
        if let Some(copy) = driver.awaits() {
            self.world.provider.stops_listening(copy);
        }
    }
}

/// Whether one worker without faults brings the purchase to its end or to review. Every copy in transit is lost, and
/// every copy that this worker sends is vended.
pub fn has_a_way_out(world: &World, setup: &Setup) -> bool {
    let mut world = World { straggler: None, ..world.clone() };
    let lost = world.provider.copies();
    for _resolve in 0..8 {
        if !world.is_open() || world.state() == Some(StateName::Review) {
            return true;
        }
        world.now += LONG;
        let Some(mut worker) = Driver::takes_up(&mut world, setup) else { return true };
        for _turn in 0..12 {
            let Some(luck) = worker.fortunes(&world, setup).0.first().copied() else { break };
            worker.turn(&mut world, setup, luck);
            for copy in world.provider.may_arrive(world.now) {
                if copy >= lost {
                    world.provider.receives(copy, Verdict::Vends, setup.nature);
                }
            }
        }
    }
    !world.is_open() || world.state() == Some(StateName::Review)
}

/// Whether a refusal is transient matters only where new attempts are made.
fn reasons(setup: &Setup) -> &'static [RefusalReason] {
    match setup.handling {
        purchase::Handling::SelfManaged => &[RefusalReason::Blocked],
        purchase::Handling::Managed => &[RefusalReason::Blocked, RefusalReason::Busy],
    }
}

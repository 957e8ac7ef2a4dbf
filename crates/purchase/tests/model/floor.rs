//! A state of the model: the world, everybody who is at work on the purchase, what was said for ever, and
//! how much may still go wrong.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use purchase::{Fact, StateName};
use vend::RefusalReason;

use crate::desk::{Desk, Final, Luck};
use crate::flaw::Flaw;
use crate::provider::Verdict;
use crate::world::{LONG, Law, SHORT, TIMING, World, ticks};

/// How much may happen. What is left of it is a part of the state, so every search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Acknowledgements lost, writes that come late or not at all, a provider out of reach.
    pub slips: u8,
    pub crashes: u8,
    /// How often somebody sits down to resolve.
    pub visits: u8,
    pub short_pauses: u8,
    pub long_pauses: u8,
    pub copies: usize,
}

/// Who sits where. The workers are alike, so they are kept in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    Confirm,
    Integrator,
    Worker(usize),
}

/// Where the request of the confirm is before a server has read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// With a proxy, or in the network.
    InTransit,
    /// In the buffer of its socket, since this moment.
    Unread(u8),
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The request of the confirm arrives at the machine.
    RequestArrives,
    /// The server reads it.
    RequestIsRead,
    /// Whoever holds the purchase renews the lease.
    Renews(Seat),
    GoesOn(Seat, Luck),
    Slips(Seat, Luck),
    Crashes(Seat),
    Retries,
    /// A batch claims it for a worker.
    IsClaimed,
    /// A batch claims it, and its acknowledgement is lost: nobody works on it.
    IsClaimedUnheard,
    Arrives(usize, Verdict),
    StragglerIsCommitted,
    OperatorDecides,
    Passes(u8),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    pub world: World,
    request: Request,
    confirm: Option<Arc<Desk>>,
    integrator: Option<Arc<Desk>>,
    workers: Vec<Arc<Desk>>,
    pub told: Option<Final>,
    pub contradicted: bool,
    left: Bounds,
}

impl Hash for Floor {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { world, request, confirm, integrator, workers, told, contradicted, left } = self;
        (world, request, confirm, integrator, workers, told, contradicted, left).hash(hasher);
    }
}

impl Floor {
    /// The confirm has just been sent, or has just been read.
    pub fn opens(bounds: Bounds, request: Request) -> Self {
        let world = World::default();
        let confirm = (request == Request::Read).then(|| Arc::new(Desk::confirms(&world, world.now)));
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

    pub fn moves(&self, law: &Law, moves: &mut Vec<Move>) {
        for (seat, desk) in self.seats() {
            let (fortunes, slips) = desk.fortunes(&self.world, law);
            moves.extend(fortunes.into_iter().map(|luck| Move::GoesOn(seat, luck)));
            if self.left.slips > 0 {
                moves.extend(slips.into_iter().map(|luck| Move::Slips(seat, luck)));
            }
            if self.left.crashes > 0 {
                moves.push(Move::Crashes(seat));
            }
            moves.extend(desk.holds().map(|_fence| Move::Renews(seat)));
        }
        if self.world.filed.is_none() {
            self.moves_before_the_reserve(moves);
            return;
        }
        moves.extend(self.integrator.is_none().then_some(Move::Retries));
        moves.extend((self.workers.len() < 2).then_some(Move::IsClaimed));
        moves.extend((self.left.slips > 0).then_some(Move::IsClaimedUnheard));
        for copy in self.world.provider.may_arrive(self.world.now) {
            let verdicts = self.world.provider.verdicts(copy, law.nature, reasons(law));
            moves.extend(verdicts.into_iter().map(|verdict| Move::Arrives(copy, verdict)));
        }
        moves.extend(self.world.straggler.is_some().then_some(Move::StragglerIsCommitted));
        moves.push(Move::OperatorDecides);
        if self.world.is_open() || self.seats().next().is_some() {
            moves.extend((self.left.short_pauses > 0).then_some(Move::Passes(SHORT)));
            moves.extend((self.left.long_pauses > 0).then_some(Move::Passes(LONG)));
        }
    }

    /// No request stays in transit for longer than the reference rests: beyond that is the limit of the promise.
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

    /// What comes of a move; nothing, if it changes nothing.
    pub fn after(&self, one_move: Move, law: &Law) -> Option<Self> {
        let mut floor = self.clone();
        match one_move {
            Move::RequestArrives => floor.request = Request::Unread(floor.world.now),
            Move::RequestIsRead => floor.is_read(law)?,
            Move::Renews(seat) => {
                let fence = floor.seats().find(|(at, _)| *at == seat).and_then(|(_, desk)| desk.holds())?;
                floor.world.renews(fence).then_some(())?;
            }
            Move::GoesOn(seat, luck) => floor.goes_on(seat, luck, law)?,
            Move::Slips(seat, luck) => {
                floor.left.slips -= 1;
                floor.goes_on(seat, luck, law)?;
            }
            Move::Crashes(seat) => {
                floor.left.crashes -= 1;
                let desk = floor.rises(seat)?;
                floor.forget_what_was_awaited(&desk);
            }
            Move::Retries => floor.retries(law)?,
            Move::IsClaimed => floor.is_claimed(law)?,
            Move::IsClaimedUnheard => {
                floor.left.slips -= 1;
                floor.world.record(Fact::Claimed, law).then_some(())?;
            }
            Move::Arrives(copy, verdict) => floor.world.provider.receives(copy, verdict, law.nature),
            Move::StragglerIsCommitted => {
                let fact = floor.world.straggler.take()?;
                floor.world.record(fact, law);
            }
            Move::OperatorDecides => {
                if !floor.world.operator_decides(law) {
                    return None;
                }
            }
            Move::Passes(ticks) => {
                let left =
                    if ticks == SHORT { &mut floor.left.short_pauses } else { &mut floor.left.long_pauses };
                *left -= 1;
                floor.world.now += ticks;
            }
        }
        (floor.world.provider.copies() <= self.left.copies).then_some(floor)
    }

    fn seats(&self) -> impl Iterator<Item = (Seat, &Arc<Desk>)> {
        let confirm = self.confirm.iter().map(|desk| (Seat::Confirm, desk));
        let integrator = self.integrator.iter().map(|desk| (Seat::Integrator, desk));
        let workers = self.workers.iter().enumerate().map(|(place, desk)| (Seat::Worker(place), desk));
        confirm.chain(integrator).chain(workers)
    }

    fn rises(&mut self, seat: Seat) -> Option<Arc<Desk>> {
        match seat {
            Seat::Confirm => self.confirm.take(),
            Seat::Integrator => self.integrator.take(),
            Seat::Worker(place) => (place < self.workers.len()).then(|| self.workers.remove(place)),
        }
    }

    fn goes_on(&mut self, seat: Seat, luck: Luck, law: &Law) -> Option<()> {
        let mut desk = self.rises(seat)?;
        Arc::make_mut(&mut desk).turn(&mut self.world, law, luck);
        if desk.is_over() {
            self.hears_out(&desk);
            return Some(());
        }
        match seat {
            Seat::Confirm => self.confirm = Some(desk),
            Seat::Integrator => self.integrator = Some(desk),
            Seat::Worker(_) => self.works(desk),
        }
        Some(())
    }

    fn is_read(&mut self, law: &Law) -> Option<()> {
        let Request::Unread(arrived_at) = self.request else { return None };
        let counts_from = if law.flaw == Some(Flaw::AgesFromReading) { self.world.now } else { arrived_at };
        self.confirm = Some(Arc::new(Desk::confirms(&self.world, counts_from)));
        self.request = Request::Read;
        Some(())
    }

    /// The integrator is told that nothing was bought, and may buy under a new reference.
    fn finds_nothing(&mut self, law: &Law) -> Option<()> {
        let before = (self.told, self.world.reference_rests_until);
        self.world.finds_nothing(law);
        self.contradicted |= self.told.is_some_and(|told| told != Final::NothingReserved);
        self.told = Some(Final::NothingReserved);
        (before != (self.told, self.world.reference_rests_until)).then_some(())
    }

    fn retries(&mut self, law: &Law) -> Option<()> {
        if self.world.filed.is_none() {
            return self.finds_nothing(law);
        }
        let desk = Desk::retries(&self.world, law)?;
        if desk.is_over() {
            let told_before = self.told;
            self.hears_out(&desk);
            return (self.told != told_before || self.contradicted).then_some(());
        }
        self.left.visits = self.left.visits.checked_sub(1)?;
        self.integrator = Some(Arc::new(desk));
        Some(())
    }

    fn is_claimed(&mut self, law: &Law) -> Option<()> {
        self.left.visits = self.left.visits.checked_sub(1)?;
        let desk = Desk::takes_up(&mut self.world, law)?;
        self.works(Arc::new(desk));
        Some(())
    }

    fn works(&mut self, desk: Arc<Desk>) {
        self.workers.push(desk);
        self.workers.sort_by_key(|desk| desk.key());
    }

    fn hears_out(&mut self, desk: &Desk) {
        let Some(word) = desk.tells(&self.world) else { return };
        self.contradicted |= self.told.is_some_and(|before| before != word);
        self.told = Some(word);
    }

    fn forget_what_was_awaited(&mut self, desk: &Desk) {
        if let Some(copy) = desk.awaits() {
            self.world.provider.stops_listening(copy);
        }
    }
}

/// Whether a worker, alone and undisturbed, brings the purchase to its end or before a person. Whatever is
/// on the way is lost; what the worker itself sends is vended.
pub fn has_a_way_out(world: &World, law: &Law) -> bool {
    let mut world = World { straggler: None, ..world.clone() };
    let lost = world.provider.copies();
    for _visit in 0..8 {
        if !world.is_open() || world.state() == Some(StateName::Review) {
            return true;
        }
        world.now += LONG;
        let Some(mut worker) = Desk::takes_up(&mut world, law) else { return true };
        for _turn in 0..12 {
            let Some(luck) = worker.fortunes(&world, law).0.first().copied() else { break };
            worker.turn(&mut world, law, luck);
            for copy in world.provider.may_arrive(world.now) {
                if copy >= lost {
                    world.provider.receives(copy, Verdict::Vends, law.nature);
                }
            }
        }
    }
    !world.is_open() || world.state() == Some(StateName::Review)
}

/// Only where attempts are made anew does it matter whether a refusal is for now or for good.
fn reasons(law: &Law) -> &'static [RefusalReason] {
    match law.handling {
        purchase::Handling::SelfManaged => &[RefusalReason::Blocked],
        purchase::Handling::Managed => &[RefusalReason::Blocked, RefusalReason::Busy],
    }
}

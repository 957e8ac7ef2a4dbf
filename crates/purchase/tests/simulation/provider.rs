//! The true behaviour of the provider and of the network to it: the outcome of every copy of every order. It
//! misbehaves in other ways in each simulation, but it never does less than is declared for its connection.

use std::collections::BTreeMap;

use meter_token::{DescribedToken, MeterToken, TokenSet};
use vend::{Capabilities, Doubt, Enquiry, RawReply, Refusal, RefusalReason, Vend, VendOutcome};

use crate::chance::Chance;
use crate::memory::{Answer, Memory, Repeats};
use crate::options::{MINUTE, SECOND};

/// What a provider does, and how often in a hundred it misbehaves.
#[derive(Clone, Debug)]
pub struct Nature {
    pub does: Capabilities,
    pub repeats: Repeats,
    /// The network delivers an order twice.
    pub duplicates: u64,
    /// Turned away as busy: the provider does not check its memory and remembers nothing.
    pub turns_away: u64,
    pub is_busy: u64,
    pub refuses: u64,
    /// An order arrives minutes or hours after it was sent. It is minutes if not-found counts.
    pub is_late: u64,
    pub takes_95_seconds: u64,
    pub loses_requests: u64,
    pub loses_replies: u64,
    pub garbles_replies: u64,
    /// The replies to two orders are exchanged.
    pub swaps_replies: u64,
    /// An enquiry finds no record yet of what the provider has done.
    pub misses_its_own: u64,
    pub is_silent: u64,
    pub outages: Vec<Outage>,
}

#[derive(Clone, Copy, Debug)]
pub struct Outage {
    pub from: u64,
    pub until: u64,
    /// Otherwise it accepts connections, and never answers.
    pub refuses_connections: bool,
}

/// An order as it is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireOrder {
    pub purchase: usize,
    /// Our reference of the attempt.
    pub name: u32,
    pub subscriber: u64,
    pub amount: i64,
}

/// A copy of an order that was sent.
#[derive(Clone, Debug)]
struct OrderCopy {
    order: WireOrder,
    left_at: u64,
    /// How often it may still arrive.
    arrivals: u8,
}

/// One line of the provider's own log.
#[derive(Clone, Debug)]
pub struct LoggedVend {
    pub order: WireOrder,
    /// When the copy for which it vended was sent.
    pub left_at: u64,
    pub transaction: String,
    pub token: String,
}

/// A reply of the provider: the order that it names, and the outcome.
#[derive(Clone, Debug)]
pub struct Reply {
    pub name: u32,
    pub outcome: VendOutcome,
}

#[derive(Clone, Debug)]
pub struct Provider {
    pub nature: Nature,
    copies: Vec<OrderCopy>,
    /// By reference. The number of a vend is its place in the log.
    memory: BTreeMap<u32, Memory<u64>>,
    pub log: Vec<LoggedVend>,
    /// From then on an enquiry returns all that the provider knows.
    reformed: bool,
}

impl Provider {
    pub fn new(nature: Nature) -> Self {
        Self { nature, copies: Vec::new(), memory: BTreeMap::new(), log: Vec::new(), reformed: false }
    }

    /// Sends a copy. Returns its number and the times at which it arrives.
    pub fn send(&mut self, order: WireOrder, now: u64, chance: &mut Chance) -> (usize, Vec<u64>) {
        let mut arrivals = Vec::new();
        if !chance.happens(self.nature.loses_requests) && self.outage(now).is_none() {
            arrivals.push(self.transit(now, chance));
            if chance.happens(self.nature.duplicates) {
                arrivals.push(self.transit(now, chance));
            }
        }
        let count = u8::try_from(arrivals.len()).expect("at most two");
        self.copies.push(OrderCopy { order, left_at: now, arrivals: count });
        (self.copies.len() - 1, arrivals)
    }

    fn transit(&self, now: u64, chance: &mut Chance) -> u64 {
        let is_late = !self.reformed && chance.happens(self.nature.is_late);
        let takes = match (is_late, self.nature.does.not_found_counts) {
            (false, _) => chance.within(20..=2 * SECOND),
            (true, true) => chance.within(SECOND..=self.settles_within().max(2 * MINUTE)),
            (true, false) => chance.within(SECOND..=150 * MINUTE),
        };
        now + takes
    }

    /// If not-found counts, every copy has arrived and an enquiry finds it by then.
    fn settles_within(&self) -> u64 {
        u64::try_from(self.nature.does.settles_within.as_millis()).expect("a declaration is short")
    }

    pub fn outage(&self, now: u64) -> Option<Outage> {
        self.nature.outages.iter().find(|outage| (outage.from..outage.until).contains(&now)).copied()
    }

    /// If not-found counts, nothing of a request arrives after it is over, except what the provider may still act on.
    pub fn arrives_no_more(&self, number: usize, now: u64) -> bool {
        let copy = self.copies.get(number);
        self.nature.does.not_found_counts
            && copy.is_some_and(|copy| now > copy.left_at + self.settles_within())
    }

    /// A copy arrives. Returns the reply of the provider, or `None` if the copy was lost after all.
    pub fn receive(&mut self, number: usize, chance: &mut Chance) -> Option<(WireOrder, Reply)> {
        let copy = self.copies.get_mut(number).filter(|copy| copy.arrivals > 0)?;
        copy.arrivals -= 1;
        let (order, left_at) = (copy.order, copy.left_at);
        let outcome = self.decide(order, left_at, chance);
        Some((order, Reply { name: order.name, outcome }))
    }

    fn decide(&mut self, order: WireOrder, left_at: u64, chance: &mut Chance) -> VendOutcome {
        if chance.happens(self.nature.turns_away) {
            return VendOutcome::Refused(Refusal::because(RefusalReason::Busy));
        }
        if let Some(memory) = self.settled(order.name) {
            return match memory.answer_to_repeat(self.nature.repeats) {
                Answer::Vended(place) => self.vended(place),
                Answer::Refused(reason) => VendOutcome::Refused(Refusal::because(reason)),
                Answer::RepeatRejected => VendOutcome::Unknown(Doubt::RepeatedReference.into()),
            };
        }
        if let Some(reason) = self.refusal(chance) {
            self.memory.insert(order.name, Memory::Refused(reason));
            return VendOutcome::Refused(Refusal::because(reason));
        }
        self.vends(order, left_at, chance)
    }

    fn refusal(&self, chance: &mut Chance) -> Option<RefusalReason> {
        if chance.happens(self.nature.is_busy) {
            return Some(RefusalReason::Busy);
        }
        let reasons = [RefusalReason::Blocked, RefusalReason::FloatExhausted, RefusalReason::Other];
        chance.happens(self.nature.refuses).then(|| chance.one_of(&reasons))
    }

    fn vends(&mut self, order: WireOrder, left_at: u64, chance: &mut Chance) -> VendOutcome {
        let misses_it = chance.happens(self.nature.misses_its_own);
        let found_from = match (misses_it, self.nature.does.not_found_counts) {
            (false, _) => 0,
            (true, true) => left_at + self.settles_within(),
            (true, false) => left_at + chance.within(MINUTE..=120 * MINUTE),
        };
        let number = self.log.len();
        self.log.push(LoggedVend {
            order,
            left_at,
            transaction: format!("T{number}-{}", order.name),
            token: format!("{:020}", u64::from(order.name) * 1_000 + chance.within(0..=999)),
        });
        self.memory.insert(order.name, Memory::Vended { number, found_from });
        self.vended(number)
    }

    fn vended(&self, place: usize) -> VendOutcome {
        let logged = self.log.get(place);
        logged.map_or(VendOutcome::Unknown(Doubt::Unreadable.into()), |logged| {
            VendOutcome::Vended(logged.vend())
        })
    }

    /// The answer to an enquiry about an attempt.
    pub fn enquiry(&self, name: u32, now: u64, chance: &mut Chance) -> Enquiry {
        match self.memory.get(&name) {
            Some(Memory::Vended { number, found_from }) if self.reformed || now >= *found_from => {
                self.log.get(*number).map_or(Enquiry::NoRecord, |logged| Enquiry::Vended(logged.vend()))
            }
            Some(Memory::Refused(reason)) if self.nature.does.remembers_refusals || chance.happens(50) => {
                Enquiry::Refused(Refusal::because(*reason))
            }
            None if self.is_on_the_way(name) && chance.happens(30) => Enquiry::StillOpen,
            Some(Memory::Vended { .. } | Memory::Refused(_)) | None => Enquiry::NoRecord,
        }
    }

    /// Ends all faults. A copy that stays in transit for longer than that has been lost.
    pub fn reforms(&mut self) {
        self.reformed = true;
        let does = self.nature.does;
        let repeats = self.nature.repeats;
        self.nature = Nature {
            does,
            repeats,
            duplicates: 0,
            turns_away: 0,
            is_busy: 0,
            refuses: 0,
            is_late: 0,
            takes_95_seconds: 0,
            loses_requests: 0,
            loses_replies: 0,
            garbles_replies: 0,
            swaps_replies: 0,
            misses_its_own: 0,
            is_silent: 0,
            outages: Vec::new(),
        };
    }

    /// A copy that is still in transit never arrives.
    pub fn lose(&mut self, number: usize) {
        if let Some(copy) = self.copies.get_mut(number) {
            copy.arrivals = 0;
        }
    }

    /// What it has vended for a purchase.
    pub fn vends_for(&self, purchase: usize) -> impl Iterator<Item = &LoggedVend> {
        self.log.iter().filter(move |logged| logged.order.purchase == purchase)
    }

    /// How many copies were sent for a purchase.
    pub fn copies_for(&self, purchase: usize) -> usize {
        self.copies.iter().filter(|copy| copy.order.purchase == purchase).count()
    }

    /// Whether a copy may still arrive for which it would vend.
    pub fn may_still_vend_for(&self, purchase: usize) -> bool {
        let may_arrive = |copy: &&OrderCopy| copy.order.purchase == purchase && copy.arrivals > 0;
        self.copies.iter().filter(may_arrive).any(|copy| self.settled(copy.order.name).is_none())
    }

    fn is_on_the_way(&self, name: u32) -> bool {
        self.copies.iter().any(|copy| copy.order.name == name && copy.arrivals > 0)
    }

    /// Its memory of this attempt, if it would treat any further copy as a repeat.
    fn settled(&self, name: u32) -> Option<Memory<u64>> {
        self.memory.get(&name).copied().filter(|memory| memory.settles(&self.nature.does))
    }
}

impl LoggedVend {
    pub fn vend(&self) -> Box<Vend> {
        let token = MeterToken::parse(&self.token).expect("digits are a token");
        let token = DescribedToken::new("Credit Token", token).expect("a plain description");
        Box::new(Vend {
            tokens: Some(TokenSet::single(token)),
            units: None,
            provider_transaction: self.transaction.clone(),
            breakdown: None,
            subscriber_details: None,
            raw_reply: RawReply::default(),
        })
    }
}

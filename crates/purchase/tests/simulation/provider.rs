//! The provider as it really is, and the road to it: what became of every copy of every order. Town after
//! town it misbehaves in other ways, but it never does less than its connection is declared to do.

use std::collections::BTreeMap;

use meter_token::{DescribedToken, MeterToken, TokenSet};
use vend::{Capabilities, Doubt, Enquiry, RawReply, Refusal, RefusalReason, Vend, VendOutcome};

use crate::chance::Chance;
use crate::options::{MINUTE, SECOND};

/// How a provider that takes repeats safely answers one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    FromMemory,
    Rejected,
}

/// What a provider does, and how often in a hundred it misbehaves.
#[derive(Clone, Debug)]
pub struct Nature {
    pub does: Capabilities,
    pub repeats: Repeats,
    /// The road delivers an order twice.
    pub doubles: u64,
    /// Busy at the front door: nobody looks into the memory, and nothing is remembered.
    pub turns_away: u64,
    pub is_busy: u64,
    pub refuses: u64,
    /// An order arrives minutes or hours after it left; minutes, where not-found counts.
    pub is_late: u64,
    pub takes_95_seconds: u64,
    pub loses_requests: u64,
    pub loses_replies: u64,
    pub garbles_replies: u64,
    /// The replies to two orders change places.
    pub swaps_replies: u64,
    /// Asked, it has no record yet of what it has done.
    pub misses_its_own: u64,
    pub is_silent: u64,
    pub outages: Vec<Outage>,
}

#[derive(Clone, Copy, Debug)]
pub struct Outage {
    pub from: u64,
    pub until: u64,
    /// Else it takes connections, and never answers.
    pub refuses_connections: bool,
}

/// An order as it is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireOrder {
    pub purchase: usize,
    /// Our name for the attempt.
    pub name: u32,
    pub subscriber: u64,
    pub amount: i64,
}

/// A copy of an order that has left us.
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
    /// When the copy that it vended for left us.
    pub left_at: u64,
    pub transaction: String,
    pub token: String,
}

#[derive(Clone, Debug)]
enum Memory {
    Vended { place: usize, told_from: u64 },
    Refused(RefusalReason),
}

/// What the provider writes back: about which order, and what.
#[derive(Clone, Debug)]
pub struct Reply {
    pub name: u32,
    pub outcome: VendOutcome,
}

#[derive(Clone, Debug)]
pub struct Provider {
    pub nature: Nature,
    copies: Vec<OrderCopy>,
    memory: BTreeMap<u32, Memory>,
    pub log: Vec<LoggedVend>,
    /// From then on it tells all that it knows.
    reformed: bool,
}

impl Provider {
    pub fn new(nature: Nature) -> Self {
        Self { nature, copies: Vec::new(), memory: BTreeMap::new(), log: Vec::new(), reformed: false }
    }

    /// A copy leaves us; its number, and when it arrives, as often as it does.
    pub fn takes_off(&mut self, order: WireOrder, now: u64, chance: &mut Chance) -> (usize, Vec<u64>) {
        let mut arrivals = Vec::new();
        if !chance.happens(self.nature.loses_requests) && self.outage(now).is_none() {
            arrivals.push(self.road(now, chance));
            if chance.happens(self.nature.doubles) {
                arrivals.push(self.road(now, chance));
            }
        }
        let count = u8::try_from(arrivals.len()).expect("at most two");
        self.copies.push(OrderCopy { order, left_at: now, arrivals: count });
        (self.copies.len() - 1, arrivals)
    }

    fn road(&self, now: u64, chance: &mut Chance) -> u64 {
        let is_late = !self.reformed && chance.happens(self.nature.is_late);
        let takes = match (is_late, self.nature.does.not_found_counts) {
            (false, _) => chance.within(20..=2 * SECOND),
            (true, true) => chance.within(SECOND..=self.settles_within().max(2 * MINUTE)),
            (true, false) => chance.within(SECOND..=150 * MINUTE),
        };
        now + takes
    }

    /// Where not-found counts, every copy has arrived and is told of by then.
    fn settles_within(&self) -> u64 {
        u64::try_from(self.nature.does.settles_within.as_millis()).expect("a declaration is short")
    }

    pub fn outage(&self, now: u64) -> Option<Outage> {
        self.nature.outages.iter().find(|outage| (outage.from..outage.until).contains(&now)).copied()
    }

    /// Where not-found counts, nothing of a request arrives after it is over, but for what the provider may still act on.
    pub fn arrives_no_more(&self, number: usize, now: u64) -> bool {
        let copy = self.copies.get(number);
        self.nature.does.not_found_counts
            && copy.is_some_and(|copy| now > copy.left_at + self.settles_within())
    }

    /// A copy arrives, with whatever the provider makes of it. Nothing, if it was lost after all.
    pub fn receives(&mut self, number: usize, chance: &mut Chance) -> Option<(WireOrder, Reply)> {
        let copy = self.copies.get_mut(number).filter(|copy| copy.arrivals > 0)?;
        copy.arrivals -= 1;
        let (order, left_at) = (copy.order, copy.left_at);
        let outcome = self.decides(order, left_at, chance);
        Some((order, Reply { name: order.name, outcome }))
    }

    fn decides(&mut self, order: WireOrder, left_at: u64, chance: &mut Chance) -> VendOutcome {
        if chance.happens(self.nature.turns_away) {
            return VendOutcome::Refused(Refusal::because(RefusalReason::Busy));
        }
        if self.is_settled(order.name) {
            return match (self.nature.repeats, self.memory.get(&order.name)) {
                (Repeats::FromMemory, Some(Memory::Vended { place, .. })) => {
                    self.log.get(*place).map_or(VendOutcome::Unknown(Doubt::Unreadable.into()), |logged| {
                        VendOutcome::Vended(logged.vend())
                    })
                }
                (Repeats::FromMemory, Some(Memory::Refused(reason))) => {
                    VendOutcome::Refused(Refusal::because(*reason))
                }
                (Repeats::Rejected, _) | (Repeats::FromMemory, None) => {
                    VendOutcome::Unknown(Doubt::RepeatedReference.into())
                }
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
        let told_from = match (misses_it, self.nature.does.not_found_counts) {
            (false, _) => 0,
            (true, true) => left_at + self.settles_within(),
            (true, false) => left_at + chance.within(MINUTE..=120 * MINUTE),
        };
        let place = self.log.len();
        let logged = LoggedVend {
            order,
            left_at,
            transaction: format!("T{place}-{}", order.name),
            token: format!("{:020}", u64::from(order.name) * 1_000 + chance.within(0..=999)),
        };
        let vend = logged.vend();
        self.log.push(logged);
        self.memory.insert(order.name, Memory::Vended { place, told_from });
        VendOutcome::Vended(vend)
    }

    /// Its answer to the question what became of an attempt.
    pub fn is_asked(&self, name: u32, now: u64, chance: &mut Chance) -> Enquiry {
        match self.memory.get(&name) {
            Some(Memory::Vended { place, told_from }) if self.reformed || now >= *told_from => {
                self.log.get(*place).map_or(Enquiry::NoRecord, |logged| Enquiry::Vended(logged.vend()))
            }
            Some(Memory::Refused(reason)) if self.nature.does.remembers_refusals || chance.happens(50) => {
                Enquiry::Refused(Refusal::because(*reason))
            }
            None if self.is_on_the_way(name) && chance.happens(30) => Enquiry::StillOpen,
            Some(Memory::Vended { .. } | Memory::Refused(_)) | None => Enquiry::NoRecord,
        }
    }

    /// Nothing goes wrong any more. What is on the way for longer than that has been lost.
    pub fn reforms(&mut self) {
        self.reformed = true;
        let does = self.nature.does;
        let repeats = self.nature.repeats;
        self.nature = Nature {
            does,
            repeats,
            doubles: 0,
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

    /// A copy that is still on the way never arrives.
    pub fn never_receives(&mut self, number: usize) {
        if let Some(copy) = self.copies.get_mut(number) {
            copy.arrivals = 0;
        }
    }

    /// What it has vended for a purchase.
    pub fn vends_for(&self, purchase: usize) -> impl Iterator<Item = &LoggedVend> {
        self.log.iter().filter(move |logged| logged.order.purchase == purchase)
    }

    /// How many copies have left for a purchase.
    pub fn copies_for(&self, purchase: usize) -> usize {
        self.copies.iter().filter(|copy| copy.order.purchase == purchase).count()
    }

    /// Whether a copy may still arrive that it would vend for.
    pub fn may_still_vend_for(&self, purchase: usize) -> bool {
        let may_arrive = |copy: &&OrderCopy| copy.order.purchase == purchase && copy.arrivals > 0;
        self.copies.iter().filter(may_arrive).any(|copy| !self.is_settled(copy.order.name))
    }

    fn is_on_the_way(&self, name: u32) -> bool {
        self.copies.iter().any(|copy| copy.order.name == name && copy.arrivals > 0)
    }

    /// Whether it would take any further copy of this attempt for a repeat.
    fn is_settled(&self, name: u32) -> bool {
        self.nature.does.repeat_is_safe
            && match self.memory.get(&name) {
                Some(Memory::Vended { .. }) => true,
                Some(Memory::Refused(_)) => self.nature.does.remembers_refusals,
                None => false,
            }
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

//! The true behaviour of the provider: the outcome of every copy of every order. It does what it is declared to do,
//! and no more.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use vend::{Capabilities, Doubt, Enquiry, Refusal, RefusalReason, VendOutcome};

use crate::world::values::vend;

/// What happens to a copy that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Vends, unless the order is remembered.
    Vends,
    /// Refuses, unless the order is remembered.
    Refuses(RefusalReason),
    /// Turned away as busy: the provider does not check its memory and remembers nothing.
    IsTurnedAway,
}

/// How a provider that takes repeats safely answers a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    FromMemory,
    Rejected,
}

/// How much the provider answers to an enquiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candour {
    /// Everything that it knows.
    Full,
    /// Only what is declared: it does not find its own vend for a while, and does not report refusals.
    AsDeclared,
}

#[derive(Clone, Debug)]
enum Whereabouts {
    OnTheWay,
    Lost,
    Answered(VendOutcome),
}

#[derive(Clone, Debug)]
struct OrderCopy {
    attempt: u16,
    left_at: DateTime<Utc>,
    whereabouts: Whereabouts,
}

#[derive(Clone, Debug)]
enum Memory {
    Vended(String),
    Refused(RefusalReason),
}

#[derive(Clone, Debug)]
pub struct Provider {
    declared: Capabilities,
    repeats: Repeats,
    arrives_within: Duration,
    copies: Vec<OrderCopy>,
    memory: BTreeMap<u16, Memory>,
    vends: Vec<String>,
}

impl Provider {
    /// If not-found counts, every copy arrives within `arrives_within` or never.
    pub fn new(declared: Capabilities, repeats: Repeats, arrives_within: Duration) -> Self {
        Self {
            declared,
            repeats,
            arrives_within,
            copies: Vec::new(),
            memory: BTreeMap::new(),
            vends: Vec::new(),
        }
    }

    /// Sends a copy of an attempt's order. Returns the number of the copy.
    pub fn takes_off(&mut self, attempt: u16, left_at: DateTime<Utc>) -> usize {
        self.copies.push(OrderCopy { attempt, left_at, whereabouts: Whereabouts::OnTheWay });
        self.copies.len() - 1
    }

    /// How many copies have been sent.
    pub fn copies(&self) -> usize {
        self.copies.len()
    }

    /// The copies that may still arrive at `now`.
    pub fn on_the_way(&self, now: DateTime<Utc>) -> Vec<usize> {
        let may_arrive = |copy: &OrderCopy| {
            let in_time = !self.declared.not_found_counts || now <= copy.left_at + self.arrives_within;
            matches!(copy.whereabouts, Whereabouts::OnTheWay) && in_time
        };
        self.copies
            .iter()
            .enumerate()
            .filter(|(_, copy)| may_arrive(copy))
            .map(|(number, _)| number)
            .collect()
    }

    /// A copy arrives, if it still can.
    pub fn receives(&mut self, number: usize, now: DateTime<Utc>, verdict: Verdict) {
        if !self.on_the_way(now).contains(&number) {
            return;
        }
        let Some(attempt) = self.copies.get(number).map(|copy| copy.attempt) else { return };
        let answer = self.decides(attempt, verdict);
        if let Some(copy) = self.copies.get_mut(number) {
            copy.whereabouts = Whereabouts::Answered(answer);
        }
    }

    /// A copy never arrives.
    pub fn never_receives(&mut self, number: usize) {
        if let Some(copy) = self.copies.get_mut(number)
            && matches!(copy.whereabouts, Whereabouts::OnTheWay)
        {
            copy.whereabouts = Whereabouts::Lost;
        }
    }

    /// The reply to the sender of a copy.
    pub fn answer_to(&self, number: usize) -> Option<VendOutcome> {
        match &self.copies.get(number)?.whereabouts {
            Whereabouts::Answered(outcome) => Some(outcome.clone()),
            Whereabouts::OnTheWay | Whereabouts::Lost => None,
        }
    }

    /// The answer to an enquiry about an attempt.
    pub fn is_asked(&self, attempt: u16, candour: Candour) -> Enquiry {
        let tells_all = candour == Candour::Full;
        match self.memory.get(&attempt) {
            Some(Memory::Vended(transaction)) if tells_all || self.declared.not_found_counts => {
                Enquiry::Vended(vend(transaction))
            }
            Some(Memory::Refused(reason)) if tells_all || self.declared.remembers_refusals => {
                Enquiry::Refused(Refusal::because(*reason))
            }
            Some(Memory::Vended(_) | Memory::Refused(_)) | None => Enquiry::NoRecord,
        }
    }

    /// How often it has vended.
    pub fn vends(&self) -> usize {
        self.vends.len()
    }

    /// The identifier of its latest vend.
    pub fn latest_vend(&self) -> Option<&str> {
        self.vends.last().map(String::as_str)
    }

    /// Whether a copy may still arrive for which it would vend.
    pub fn may_still_vend(&self, now: DateTime<Utc>) -> bool {
        self.on_the_way(now)
            .into_iter()
            .filter_map(|number| self.copies.get(number))
            .any(|copy| !self.is_settled(copy.attempt))
    }

    /// Whether it would treat any further copy of this attempt as a repeat.
    fn is_settled(&self, attempt: u16) -> bool {
        self.declared.repeat_is_safe
            && match self.memory.get(&attempt) {
                Some(Memory::Vended(_)) => true,
                Some(Memory::Refused(_)) => self.declared.remembers_refusals,
                None => false,
            }
    }

    fn decides(&mut self, attempt: u16, verdict: Verdict) -> VendOutcome {
        if self.is_settled(attempt) && self.repeats == Repeats::Rejected && verdict != Verdict::IsTurnedAway {
            return VendOutcome::Unknown(Doubt::RepeatedReference.into());
        }
        match verdict {
            Verdict::IsTurnedAway => return VendOutcome::Refused(Refusal::because(RefusalReason::Busy)),
            Verdict::Vends | Verdict::Refuses(_) if self.is_settled(attempt) => {}
            Verdict::Vends => {
                let transaction = format!("T{}", self.vends.len() + 1);
                self.vends.push(transaction.clone());
                self.memory.insert(attempt, Memory::Vended(transaction));
            }
            Verdict::Refuses(reason) => {
                self.memory.insert(attempt, Memory::Refused(reason));
            }
        }
        match self.memory.get(&attempt) {
            Some(Memory::Vended(transaction)) => VendOutcome::Vended(vend(transaction)),
            Some(Memory::Refused(reason)) => VendOutcome::Refused(Refusal::because(*reason)),
            None => VendOutcome::Unknown(Doubt::Unreadable.into()),
        }
    }
}

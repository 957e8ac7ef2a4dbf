//! The true behaviour of the provider and of the network to it: the outcome of every copy of every order. It does
//! what its nature says, and no more.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use chrono::{DateTime, Utc};
use vend::{Capabilities, Doubt, Enquiry, Refusal, RefusalReason, VendOutcome};

use super::memory::{Answer, Memory, Repeats};
use super::values::vend;

/// What a provider really does, whatever is declared for its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nature {
    /// If not-found counts: a copy that arrives does so, and an enquiry finds it, while its request lasts or within
    /// `settles_within` after it was sent.
    pub does: Capabilities,
    pub habits: Habits,
}

/// Behaviour that is not declared, but differs between providers and networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    pub repeats: Repeats,
    /// When it is busy, it turns a copy away without a check of its memory.
    pub turns_away: bool,
    /// The network may deliver a copy twice.
    pub duplicates: bool,
}

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

/// How much the provider answers to an enquiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candour {
    /// Everything that it knows.
    Full,
    /// Only what it must: it may not find its own vend for a while, and may not report refusals.
    Least,
    /// That the order is still in progress, while a copy of it may still arrive.
    StillOpen,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OrderCopy {
    attempt: u16,
    sent_at: DateTime<Utc>,
    /// From then on it cannot arrive any more, if that is promised.
    arrives_before: Option<DateTime<Utc>>,
    /// How often it may still arrive.
    arrivals: u8,
    answer: Option<Answer>,
    is_awaited: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    nature: Nature,
    copies: Vec<OrderCopy>,
    /// The memory of every attempt, beginning with the first.
    memory: Vec<Option<Memory<DateTime<Utc>>>>,
    vends: usize,
}

impl Provider {
    pub const fn new(nature: Nature) -> Self {
        Self { nature, copies: Vec::new(), memory: Vec::new(), vends: 0 }
    }

    /// Sends a copy of an attempt's order in a request that lasts no longer than this. Returns the number of the copy.
    pub fn send(&mut self, attempt: u16, now: DateTime<Utc>, request_timeout: Duration) -> usize {
        let Capabilities { not_found_counts, settles_within, .. } = self.nature.does;
        let arrives_before = not_found_counts.then(|| now + request_timeout.max(settles_within));
        let arrivals = if self.nature.habits.duplicates { 2 } else { 1 };
        let copy =
            OrderCopy { attempt, sent_at: now, arrives_before, arrivals, answer: None, is_awaited: true };
        self.copies.push(copy);
        self.copies.len() - 1
    }

    /// How many copies have been sent.
    pub fn copies(&self) -> usize {
        self.copies.len()
    }

    /// The copies that may still arrive.
    pub fn may_arrive(&self, now: DateTime<Utc>) -> Vec<usize> {
        self.in_transit(now).map(|(number, _)| number).collect()
    }

    fn in_transit(&self, now: DateTime<Utc>) -> impl Iterator<Item = (usize, &OrderCopy)> {
        self.copies.iter().enumerate().filter(move |(_, copy)| copy.may_arrive(now))
    }

    /// What may happen to a copy that arrives. If the order is remembered, the verdict does not matter any more.
    pub fn verdicts(&self, number: usize, reasons: &[RefusalReason]) -> Vec<Verdict> {
        let Some(copy) = self.copies.get(number) else { return Vec::new() };
        let mut verdicts = vec![Verdict::Vends];
        if self.settled(copy.attempt).is_none() {
            verdicts.extend(reasons.iter().map(|reason| Verdict::Refuses(*reason)));
        }
        verdicts.extend(self.nature.habits.turns_away.then_some(Verdict::IsTurnedAway));
        verdicts
    }

    /// A copy arrives, if it still can.
    pub fn receive(&mut self, number: usize, now: DateTime<Utc>, verdict: Verdict) {
        let arrived = self.copies.get(number).filter(|copy| copy.may_arrive(now));
        let Some((attempt, found_from)) = arrived.map(|copy| (copy.attempt, copy.arrives_before)) else {
            return;
        };
        let answer = self.decide(attempt, found_from.unwrap_or_default(), verdict);
        if let Some(copy) = self.copies.get_mut(number) {
            copy.arrivals -= 1;
            copy.answer = copy.is_awaited.then_some(answer);
        }
    }

    /// A copy that is still in transit never arrives.
    pub fn lose(&mut self, number: usize) {
        if let Some(copy) = self.copies.get_mut(number) {
            copy.arrivals = 0;
        }
    }

    /// The answer that the sender of a copy would receive now.
    pub fn answer_to(&self, number: usize) -> Option<VendOutcome> {
        let answer = self.copies.get(number)?.answer?;
        Some(match answer {
            Answer::Vended(number) => VendOutcome::Vended(vend(&transaction(number))),
            Answer::Refused(reason) => VendOutcome::Refused(Refusal::because(reason)),
            Answer::RepeatRejected => VendOutcome::Unknown(Doubt::RepeatedReference.into()),
        })
    }

    /// Whether the sender of a copy would receive an answer now.
    pub fn has_answered(&self, number: usize) -> bool {
        self.copies.get(number).is_some_and(|copy| copy.answer.is_some())
    }

    /// The sender of a copy does not wait for an answer any more, and its request is over.
    pub fn end_request(&mut self, number: usize, now: DateTime<Utc>) {
        self.stop_waiting(number);
        if let Some(copy) = self.copies.get_mut(number) {
            let settled = (copy.sent_at + self.nature.does.settles_within).max(now);
            copy.arrives_before = copy.arrives_before.map(|before| before.min(settled));
        }
    }

    /// The sender of a copy has crashed. It waits no more, and no report says that its request is over.
    pub fn stop_waiting(&mut self, number: usize) {
        if let Some(copy) = self.copies.get_mut(number) {
            copy.is_awaited = false;
            copy.answer = None;
        }
    }

    /// Every way in which it may answer an enquiry about an attempt.
    pub fn candours(&self, attempt: u16, now: DateTime<Utc>) -> Vec<Candour> {
        let mut candours = vec![Candour::Full];
        candours.extend(self.may_find_no_record(attempt, now).then_some(Candour::Least));
        candours.extend(self.is_in_transit(attempt, now).then_some(Candour::StillOpen));
        candours
    }

    /// The answer to an enquiry about an attempt.
    pub fn enquiry(&self, attempt: u16, now: DateTime<Utc>, candour: Candour) -> Enquiry {
        match (candour, self.recall(attempt)) {
            (Candour::StillOpen, _) if self.is_in_transit(attempt, now) => Enquiry::StillOpen,
            (Candour::Least, _) if self.may_find_no_record(attempt, now) => Enquiry::NoRecord,
            (_, Some(Memory::Vended { number, .. })) => Enquiry::Vended(vend(&transaction(number))),
            (_, Some(Memory::Refused(reason))) => Enquiry::Refused(Refusal::because(reason)),
            (_, None) => Enquiry::NoRecord,
        }
    }

    /// How often it has vended.
    pub const fn vends(&self) -> usize {
        self.vends
    }

    /// The identifier of its latest vend.
    pub fn latest_vend(&self) -> Option<String> {
        (self.vends > 0).then(|| transaction(self.vends))
    }

    /// Whether a copy may still arrive for which it would vend.
    pub fn may_still_vend(&self, now: DateTime<Utc>) -> bool {
        self.in_transit(now).any(|(_, copy)| self.settled(copy.attempt).is_none())
    }

    /// Hashes what matters from now on. Leaves the nature out: it stays the same.
    pub fn hash_at<H: Hasher>(&self, now: DateTime<Utc>, hasher: &mut H) {
        let Self { nature: _, copies, memory, vends } = self;
        (copies.len(), vends).hash(hasher);
        for copy in copies {
            let OrderCopy { attempt, sent_at, arrives_before, arrivals, answer, is_awaited } = copy;
            (answer, is_awaited).hash(hasher);
            let in_transit = copy.may_arrive(now).then_some((attempt, sent_at, arrives_before, arrivals));
            in_transit.hash(hasher);
        }
        for remembered in memory {
            let found_by_now = |memory| match memory {
                Memory::Vended { number, found_from } => {
                    Memory::Vended { number, found_from: now.max(found_from) }
                }
                Memory::Refused(reason) => Memory::Refused(reason),
            };
            remembered.map(found_by_now).hash(hasher);
        }
    }

    fn is_in_transit(&self, attempt: u16, now: DateTime<Utc>) -> bool {
        self.in_transit(now).any(|(_, copy)| copy.attempt == attempt)
    }

    /// Whether an enquiry may miss what it knows.
    fn may_find_no_record(&self, attempt: u16, now: DateTime<Utc>) -> bool {
        match self.recall(attempt) {
            Some(Memory::Vended { found_from, .. }) => !self.nature.does.not_found_counts || now < found_from,
            Some(Memory::Refused(_)) => !self.nature.does.remembers_refusals,
            None => false,
        }
    }

    fn recall(&self, attempt: u16) -> Option<Memory<DateTime<Utc>>> {
        self.memory.get(place(attempt)).copied().flatten()
    }

    /// Its memory of this attempt, if it would treat any further copy as a repeat.
    fn settled(&self, attempt: u16) -> Option<Memory<DateTime<Utc>>> {
        self.recall(attempt).filter(|memory| memory.settles(&self.nature.does))
    }

    fn decide(&mut self, attempt: u16, found_from: DateTime<Utc>, verdict: Verdict) -> Answer {
        if verdict == Verdict::IsTurnedAway {
            return Answer::Refused(RefusalReason::Busy);
        }
        if let Some(memory) = self.settled(attempt) {
            return memory.answer_to_repeat(self.nature.habits.repeats);
        }
        if let Verdict::Refuses(reason) = verdict {
            self.remember(attempt, Memory::Refused(reason));
            return Answer::Refused(reason);
        }
        self.vends += 1;
        self.remember(attempt, Memory::Vended { number: self.vends, found_from });
        Answer::Vended(self.vends)
    }

    fn remember(&mut self, attempt: u16, memory: Memory<DateTime<Utc>>) {
        let place = place(attempt);
        if self.memory.len() <= place {
            self.memory.resize(place + 1, None);
        }
        if let Some(kept) = self.memory.get_mut(place) {
            *kept = Some(memory);
        }
    }
}

impl OrderCopy {
    fn may_arrive(&self, now: DateTime<Utc>) -> bool {
        self.arrivals > 0 && self.arrives_before.is_none_or(|before| now < before)
    }
}

fn place(attempt: u16) -> usize {
    usize::from(attempt.saturating_sub(1))
}

fn transaction(number: usize) -> String {
    format!("T{number}")
}

//! The provider of the model and the network to it: the outcome of every copy of every order. It is small and hashed
//! as a whole.

use vend::{Capabilities, Doubt, Enquiry, Refusal, RefusalReason, VendOutcome};

use crate::values::vend;
use crate::world::{TIMING, ticks};

/// How a provider that takes repeats safely answers a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    FromMemory,
    Rejected,
}

/// Behaviour that is not declared, but differs between providers and networks.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    pub repeats: Repeats,
    /// When it is busy, it turns a copy away without a check of its memory.
    pub turns_away: bool,
    /// The network may deliver a copy twice.
    pub duplicates: bool,
}

/// What a provider really does, whatever is declared for its connection.
#[derive(Clone, Copy, Debug)]
pub struct Nature {
    pub does: Capabilities,
    pub habits: Habits,
    /// If not-found counts: every copy arrives, and an enquiry finds it, within this time after it was sent. No copy
    /// arrives after its request is over.
    pub settles_within: u8,
}

/// What happens to a copy that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Vends, unless the order is remembered.
    Vends,
    /// Refuses, unless the order is remembered.
    Refuses(RefusalReason),
    /// The provider does not check its memory and remembers nothing.
    IsTurnedAway,
}

/// The answer to an enquiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    Vended,
    Refused,
    NoRecord,
    StillOpen,
    Silence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Answer {
    Vended(u8),
    Refused(RefusalReason),
    Repeated,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct OrderCopy {
    attempt: u16,
    left_at: u8,
    /// After this time it cannot arrive any more, if that is promised.
    arrives_by: Option<u8>,
    /// How often it may still arrive.
    arrivals: u8,
    answer: Option<Answer>,
    is_awaited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Memory {
    Nothing,
    Vended { number: u8, told_from: u8 },
    Refused(RefusalReason),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Provider {
    copies: Vec<OrderCopy>,
    /// The memory of every attempt, beginning with the first.
    memory: Vec<Memory>,
    pub vends: u8,
}

impl Provider {
    /// Sends a copy of an attempt's order. Returns the number of the copy.
    pub fn takes_off(&mut self, attempt: u16, now: u8, nature: Nature) -> usize {
        let under_way = ticks(TIMING.provider_timeout).max(nature.settles_within);
        let arrives_by = nature.does.not_found_counts.then(|| now + under_way);
        let arrivals = if nature.habits.duplicates { 2 } else { 1 };
        let left_at = now;
        let copy = OrderCopy { attempt, left_at, arrives_by, arrivals, answer: None, is_awaited: true };
        self.copies.push(copy);
        self.copies.len() - 1
    }

    pub fn copies(&self) -> usize {
        self.copies.len()
    }

    pub fn may_arrive(&self, now: u8) -> Vec<usize> {
        let in_time = |copy: &OrderCopy| copy.arrivals > 0 && copy.arrives_by.is_none_or(|by| now < by);
        (0..self.copies.len()).filter(|number| self.copies.get(*number).is_some_and(in_time)).collect()
    }

    /// What may happen to a copy. If the order is remembered, the verdict does not matter any more.
    pub fn verdicts(&self, number: usize, nature: Nature, reasons: &[RefusalReason]) -> Vec<Verdict> {
        let Some(copy) = self.copies.get(number) else { return Vec::new() };
        let mut verdicts = vec![Verdict::Vends];
        if !self.is_settled(copy.attempt, nature) {
            verdicts.extend(reasons.iter().map(|reason| Verdict::Refuses(*reason)));
        }
        verdicts.extend(nature.habits.turns_away.then_some(Verdict::IsTurnedAway));
        verdicts
    }

    pub fn receives(&mut self, number: usize, verdict: Verdict, nature: Nature) {
        let Some(copy) = self.copies.get(number).cloned() else { return };
        let answer = self.decides(&copy, verdict, nature);
        if let Some(copy) = self.copies.get_mut(number) {
            copy.arrivals -= 1;
            copy.answer = copy.is_awaited.then_some(answer);
        }
    }

    /// What the sender of a copy receives, once. After that it does not listen any more, and its request is over.
    pub fn is_heard(&mut self, number: usize, answered: bool, now: u8, nature: Nature) -> VendOutcome {
        let answer = self.copies.get_mut(number).and_then(|copy| {
            copy.is_awaited = false;
            let settled = (copy.left_at + nature.settles_within).max(now);
            copy.arrives_by = copy.arrives_by.map(|by| by.min(settled));
            copy.answer.take()
        });
        match answer.filter(|_| answered) {
            Some(Answer::Vended(number)) => VendOutcome::Vended(vend(&transaction(number))),
            Some(Answer::Refused(reason)) => VendOutcome::Refused(Refusal::because(reason)),
            Some(Answer::Repeated) => VendOutcome::Unknown(Doubt::RepeatedReference.into()),
            None => VendOutcome::Unknown(Doubt::ConnectionLost.into()),
        }
    }

    /// The sender has crashed. It does not listen any more, and no report says that its request is over.
    pub fn stops_listening(&mut self, number: usize) {
        if let Some(copy) = self.copies.get_mut(number) {
            copy.is_awaited = false;
            copy.answer = None;
        }
    }

    pub fn has_answered(&self, number: usize) -> bool {
        self.copies.get(number).is_some_and(|copy| copy.answer.is_some())
    }

    /// Every answer that it may give to an enquiry about an attempt.
    pub fn words(&self, attempt: u16, now: u8, nature: Nature) -> Vec<Word> {
        let mut words = match self.recalls(attempt) {
            Memory::Nothing => vec![Word::NoRecord],
            Memory::Vended { told_from, .. } if nature.does.not_found_counts && now >= told_from => {
                vec![Word::Vended]
            }
            Memory::Vended { .. } => vec![Word::Vended, Word::NoRecord],
            Memory::Refused(_) if nature.does.remembers_refusals => vec![Word::Refused],
            Memory::Refused(_) => vec![Word::Refused, Word::NoRecord],
        };
        let is_on_the_way =
            |number: &usize| self.copies.get(*number).is_some_and(|copy| copy.attempt == attempt);
        words.extend(self.may_arrive(now).iter().any(is_on_the_way).then_some(Word::StillOpen));
        words
    }

    pub fn says(&self, word: Word, attempt: u16) -> Enquiry {
        match (word, self.recalls(attempt)) {
            (Word::Vended, Memory::Vended { number, .. }) => Enquiry::Vended(vend(&transaction(number))),
            (Word::Refused, Memory::Refused(reason)) => Enquiry::Refused(Refusal::because(reason)),
            (Word::StillOpen, _) => Enquiry::StillOpen,
            (Word::Silence, _) => Enquiry::Unanswered(Doubt::TimedOut.into()),
            (Word::NoRecord | Word::Vended | Word::Refused, _) => Enquiry::NoRecord,
        }
    }

    /// The identifier of the latest vend.
    pub fn latest_vend(&self) -> Option<String> {
        (self.vends > 0).then(|| transaction(self.vends))
    }

    /// Whether a copy may still arrive for which it would vend.
    pub fn may_still_vend(&self, now: u8, nature: Nature) -> bool {
        let is_unsettled = |copy: &OrderCopy| !self.is_settled(copy.attempt, nature);
        self.may_arrive(now).into_iter().filter_map(|number| self.copies.get(number)).any(is_unsettled)
    }

    fn recalls(&self, attempt: u16) -> Memory {
        self.memory.get(place(attempt)).copied().unwrap_or(Memory::Nothing)
    }

    /// Whether it would treat any further copy of this attempt as a repeat.
    fn is_settled(&self, attempt: u16, nature: Nature) -> bool {
        nature.does.repeat_is_safe
            && match self.recalls(attempt) {
                Memory::Vended { .. } => true,
                Memory::Refused(_) => nature.does.remembers_refusals,
                Memory::Nothing => false,
            }
    }

    fn decides(&mut self, copy: &OrderCopy, verdict: Verdict, nature: Nature) -> Answer {
        let attempt = copy.attempt;
        if verdict == Verdict::IsTurnedAway {
            return Answer::Refused(RefusalReason::Busy);
        }
        if self.is_settled(attempt, nature) {
            return match (nature.habits.repeats, self.recalls(attempt)) {
                (Repeats::FromMemory, Memory::Vended { number, .. }) => Answer::Vended(number),
                (Repeats::FromMemory, Memory::Refused(reason)) => Answer::Refused(reason),
                (Repeats::Rejected, _) | (Repeats::FromMemory, Memory::Nothing) => Answer::Repeated,
            };
        }
        match verdict {
            Verdict::Refuses(reason) => {
                self.remembers(attempt, Memory::Refused(reason));
                Answer::Refused(reason)
            }
            Verdict::Vends | Verdict::IsTurnedAway => {
                self.vends += 1;
                let told_from = copy.arrives_by.unwrap_or_default();
                self.remembers(attempt, Memory::Vended { number: self.vends, told_from });
                Answer::Vended(self.vends)
            }
        }
    }

    fn remembers(&mut self, attempt: u16, memory: Memory) {
        let place = place(attempt);
        if self.memory.len() <= place {
            self.memory.resize(place + 1, Memory::Nothing);
        }
        if let Some(kept) = self.memory.get_mut(place) {
            *kept = memory;
        }
    }
}

fn place(attempt: u16) -> usize {
    usize::from(attempt.saturating_sub(1))
}

fn transaction(number: u8) -> String {
    format!("T{number}")
}

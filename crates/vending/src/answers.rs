//! How often each provider answers and stays silent, counted for the circuit breakers. Nothing is counted while no breaker is
//! declared. A call that ends adds to a few numbers in memory; every few seconds this process adds them to those of all others.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use catalogue::{AnswerKind, ProviderAnswers};
use clock::Monotonic;
use vend::{Doubt, RefusalReason, SubscriberIdentifier, Unanswered, VendOutcome};

/// Calls that began within the same step are counted together.
const STEP: Duration = Duration::from_secs(5);
/// For so long, a further silence about the same subscriber does not count: one meter that a provider cannot answer for, asked about
/// again and again, says nothing about the provider.
const SAME_SUBSCRIBER: Duration = Duration::from_mins(1);
/// The maximum number of subscribers that are remembered for that. Beyond it, silences do not count.
const REMEMBERED_MAX: usize = 1_000;

/// Whether a provider has answered a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It has, with whatever answer.
    Answer,
    /// It has not, or what came cannot be read.
    Silence,
    /// It was not asked, or the two cannot be told apart. It does not count.
    NotCounted,
}

/// The counts of one provider.
#[derive(Debug)]
pub(crate) struct AnswerCounts {
    is_wanted: Arc<AtomicBool>,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    steps: Vec<Step>,
    /// About whom the provider was silent, and when. Digests, because no program needs to know who it was.
    silent_about: Vec<(u64, Monotonic)>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    kind: AnswerKind,
    began: Monotonic,
    answered: u32,
    silent: u32,
}

impl Heard {
    /// From a question that moves no money.
    pub(crate) const fn of_question<T>(answer: &Result<T, Unanswered>) -> Self {
        match answer {
            Ok(_) => Self::Answer,
            Err(Unanswered::Refused(refusal)) => Self::of_refusal(refusal.reason),
            Err(Unanswered::Unreachable) => Self::Silence,
            Err(Unanswered::NoAnswer(doubt)) => Self::of_doubt(*doubt),
        }
    }

    /// From an order.
    pub(crate) fn of_vend(outcome: &VendOutcome) -> Self {
        match outcome {
            VendOutcome::Vended(_) => Self::Answer,
            VendOutcome::Refused(refusal) => Self::of_refusal(refusal.reason),
            VendOutcome::Unknown(unclear) => Self::of_doubt(unclear.doubt),
        }
    }

    /// An order that was never sent may have met our own gate. Wrong settings may have been found before anything was sent.
    const fn of_refusal(reason: RefusalReason) -> Self {
        match reason {
            RefusalReason::NeverSent | RefusalReason::Misconfigured => Self::NotCounted,
            RefusalReason::UnknownSubscriber
            | RefusalReason::Disconnected
            | RefusalReason::WrongCheckDigit
            | RefusalReason::Blocked
            | RefusalReason::Unsupported
            | RefusalReason::BelowMinimum
            | RefusalReason::AboveMaximum
            | RefusalReason::DuplicateSale
            | RefusalReason::FloatExhausted
            | RefusalReason::Busy
            | RefusalReason::Other
            | RefusalReason::OtherTransient => Self::Answer,
        }
    }

    const fn of_doubt(doubt: Doubt) -> Self {
        match doubt {
            Doubt::TimedOut | Doubt::ConnectionLost | Doubt::Unreadable => Self::Silence,
            Doubt::Mismatched | Doubt::UnlistedFault | Doubt::RepeatedReference | Doubt::StillOpen => {
                Self::Answer
            }
            Doubt::NeverReported => Self::NotCounted,
        }
    }
}

impl AnswerCounts {
    /// Counts as long as `is_wanted`.
    pub(crate) fn new(is_wanted: &Arc<AtomicBool>) -> Self {
        Self { is_wanted: Arc::clone(is_wanted), counts: Mutex::default() }
    }

    /// Counts a call that began then and ends now.
    pub(crate) fn note(
        &self,
        kind: AnswerKind,
        about: &SubscriberIdentifier,
        heard: Heard,
        [began, now]: [Monotonic; 2],
    ) {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return;
        }
        let mut counts = self.counts();
        let (answered, silent) = match heard {
            Heard::Answer => (1, 0),
            Heard::Silence if counts.is_new(about, now) => (0, 1),
            Heard::Silence | Heard::NotCounted => return,
        };
        let found = counts.steps.iter_mut().find(|step| {
            step.kind == kind
                && began.elapsed_since(step.began) < STEP
                && step.began.elapsed_since(began).is_zero()
        });
        if let Some(step) = found {
            step.answered = step.answered.saturating_add(answered);
            step.silent = step.silent.saturating_add(silent);
        } else {
            counts.steps.push(Step { kind, began, answered, silent });
        }
    }

    /// What was counted since the last time.
    pub(crate) fn take(&self, provider_code: &str, now: Monotonic) -> Vec<ProviderAnswers> {
        let taken = std::mem::take(&mut self.counts().steps);
        let told = taken.into_iter().map(|step| ProviderAnswers {
            provider_code: provider_code.to_owned(),
            kind: step.kind,
            age: now.elapsed_since(step.began),
            answered: step.answered,
            silent: step.silent,
        });
        told.collect()
    }

    /// Whether something was counted that was not reported yet.
    pub(crate) fn has_news(&self) -> bool {
        !self.counts().steps.is_empty()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// Whether no missing answer about this subscriber was counted within the last minute.
    fn is_new(&mut self, about: &SubscriberIdentifier, now: Monotonic) -> bool {
        self.silent_about.retain(|(_, at)| now.elapsed_since(*at) < SAME_SUBSCRIBER);
        let mut hasher = DefaultHasher::new();
        about.as_str().hash(&mut hasher);
        let digest = hasher.finish();
        if self.silent_about.len() >= REMEMBERED_MAX
            || self.silent_about.iter().any(|(one, _)| *one == digest)
        {
            return false;
        }
        self.silent_about.push((digest, now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Monotonic {
        Monotonic::from_origin(Duration::from_secs(seconds))
    }

    fn meter(number: u32) -> SubscriberIdentifier {
        SubscriberIdentifier::parse(&format!("0400000{number:04}")).unwrap()
    }

    fn counting() -> AnswerCounts {
        AnswerCounts::new(&Arc::new(AtomicBool::new(true)))
    }

    /// What was counted: kind, age in seconds, answers, silences.
    fn told(answers: &AnswerCounts, now: u64) -> Vec<(AnswerKind, u64, u32, u32)> {
        let taken = answers.take("BPC", at(now));
        taken.into_iter().map(|one| (one.kind, one.age.as_secs(), one.answered, one.silent)).collect()
    }

    #[test]
    fn answers_and_silences_are_counted_by_when_their_calls_began_and_told_once() {
        let answers = counting();
        answers.note(AnswerKind::Question, &meter(1), Heard::Answer, [at(10), at(11)]);
        answers.note(AnswerKind::Question, &meter(2), Heard::Silence, [at(14), at(24)]);
        answers.note(AnswerKind::Question, &meter(3), Heard::Silence, [at(15), at(25)]);
        answers.note(AnswerKind::Vend, &meter(4), Heard::Silence, [at(15), at(75)]);
        answers.note(AnswerKind::Vend, &meter(5), Heard::NotCounted, [at(15), at(75)]);
        let expected = [
            (AnswerKind::Question, 90, 1, 1),
            (AnswerKind::Question, 85, 0, 1),
            (AnswerKind::Vend, 85, 0, 1),
        ];
        assert_eq!(told(&answers, 100), expected);
        assert_eq!(told(&answers, 100), []);
    }

    #[test]
    fn one_meter_that_a_provider_cannot_answer_for_counts_once_in_a_minute() {
        let answers = counting();
        for second in 0..60 {
            answers.note(AnswerKind::Question, &meter(1), Heard::Silence, [at(second), at(second)]);
        }
        answers.note(AnswerKind::Question, &meter(2), Heard::Silence, [at(59), at(59)]);
        let silences = |answers: &AnswerCounts| told(answers, 60).iter().map(|told| told.3).sum::<u32>();
        assert_eq!(silences(&answers), 2);
        answers.note(AnswerKind::Question, &meter(1), Heard::Silence, [at(60), at(60)]);
        assert_eq!(silences(&answers), 1);
    }

    #[test]
    fn nothing_is_counted_while_no_breaker_is_declared() {
        let wanted = Arc::new(AtomicBool::new(false));
        let answers = AnswerCounts::new(&wanted);
        answers.note(AnswerKind::Vend, &meter(1), Heard::Silence, [at(0), at(1)]);
        assert_eq!(told(&answers, 2), []);
        wanted.store(true, Ordering::Relaxed);
        answers.note(AnswerKind::Vend, &meter(1), Heard::Silence, [at(0), at(1)]);
        assert_eq!(told(&answers, 2), [(AnswerKind::Vend, 2, 0, 1)]);
    }

    #[test]
    fn an_order_that_was_never_sent_is_neither_answer_nor_silence() {
        let refused = |reason| VendOutcome::Refused(vend::Refusal::because(reason));
        assert_eq!(Heard::of_vend(&refused(RefusalReason::NeverSent)), Heard::NotCounted);
        assert_eq!(Heard::of_vend(&refused(RefusalReason::Busy)), Heard::Answer);
        assert_eq!(Heard::of_vend(&VendOutcome::Unknown(Doubt::TimedOut.into())), Heard::Silence);
        assert_eq!(Heard::of_vend(&VendOutcome::Unknown(Doubt::StillOpen.into())), Heard::Answer);
    }
}

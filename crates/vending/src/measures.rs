//! The counters and histograms of this crate. All of them are named here, so that nothing is counted under two names.
//!
//! Labels are providers, products and fixed words of this program, so their number is bounded. They are never a
//! number of a purchase or a meter, and never a provider's text.

use std::{collections::BTreeMap, time::Duration};

use metrics::{Counter, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use vend::Unanswered;

const PURCHASES: &str = "vendgate_purchases_total";
const REVIEWS: &str = "vendgate_reviews_total";
const QUESTIONS: &str = "vendgate_provider_questions_total";
const VEND_REQUESTS: &str = "vendgate_vend_requests_total";
const VEND_ANSWERS: &str = "vendgate_vend_answers_total";
const ENQUIRIES: &str = "vendgate_enquiries_total";
const PROVIDER_SECONDS: &str = "vendgate_provider_seconds";
const CREDIT_EXHAUSTED: &str = "vendgate_merchant_credit_exhausted_total";
const CLAIMS: &str = "vendgate_worker_claims_total";
const SLOTS: &str = "vendgate_worker_slots";
const BREAKER_TRIALS: &str = "vendgate_breaker_trials_total";
const TRIAL_ANSWERED: &str = "answered";
const TRIAL_SILENT: &str = "silent";
const MISCONFIGURED: &str = "vendgate_provider_misconfigured_total";
const REFUSED_KEPT: &str = "vendgate_refused_confirms_kept_total";
const REFUSED_NOT_KEPT: &str = "vendgate_refused_confirms_dropped_total";

/// Why a refused confirm is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotKept {
    /// Its organisation had as many as are stored in a minute.
    TooMany,
    /// The queue is full.
    QueueFull,
    /// The database did not accept it.
    Unwritten,
}

impl NotKept {
    const fn as_str(self) -> &'static str {
        match self {
            Self::TooMany => "too_many",
            Self::QueueFull => "queue_full",
            Self::Unwritten => "unwritten",
        }
    }
}

/// Which request of a purchase is sent to its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// The first one, by the confirm.
    First,
    /// The same reference again.
    Repeat,
    /// A new reference, after proof that the one before it failed.
    Attempt,
}

impl Sending {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Repeat => "repeat",
            Self::Attempt => "attempt",
        }
    }
}

/// Describes the metrics of this crate to the metrics recorder.
pub fn describe_metrics() {
    feed::describe_metrics();
    describe_counter!(
        PURCHASES,
        "Purchases that this process has brought to their end: successful, or why they failed."
    );
    describe_counter!(REVIEWS, "Purchases that this process has moved to review.");
    describe_counter!(
        QUESTIONS,
        "What came of customer checks, quotes and trials: answered, refused, unreachable, or unanswered."
    );
    describe_counter!(
        VEND_REQUESTS,
        "Vend requests that were recorded and about to be sent, by kind: first, repeat, attempt."
    );
    describe_counter!(VEND_ANSWERS, "What came of vend requests: vended, refused, or unknown.");
    describe_counter!(ENQUIRIES, "What providers said when asked what became of a vend.");
    describe_histogram!(
        PROVIDER_SECONDS,
        "How long providers took, by the call: `check`, `quote`, `trial`, `vend`, `enquire`, `float`."
    );
    describe_counter!(CLAIMS, "Purchases that this process has claimed to look at them.");
    describe_gauge!(SLOTS, "This worker's share of the slots that a provider has for all workers together.");
    describe_counter!(CREDIT_EXHAUSTED, "Refusals because our float at the provider is exhausted.");
    describe_counter!(
        MISCONFIGURED,
        "Refusals because of our credentials, certificate or settings at the provider."
    );
    describe_counter!(
        BREAKER_TRIALS,
        "Questions to providers whose sales a breaker has paused, by what came of them: answered, silent."
    );
    describe_counter!(REFUSED_KEPT, "Refused confirms that were stored for the operator.");
    describe_counter!(
        REFUSED_NOT_KEPT,
        "Refused confirms that were not stored, by why: `too_many` of one organisation in a minute, `queue_full`, or `unwritten`."
    );
}

/// What a vend is called in [`VEND_ANSWERS`].
const VENDED: &str = "vended";

/// A provider is connected. A counter that must be noticed at its first increment starts at zero.
pub(crate) fn connected(provider: &str) {
    counter!(CREDIT_EXHAUSTED, "provider" => provider.to_owned()).absolute(0);
    counter!(MISCONFIGURED, "provider" => provider.to_owned()).absolute(0);
    counter!(VEND_ANSWERS, "provider" => provider.to_owned(), "answer" => VENDED).absolute(0);
    for answer in [TRIAL_ANSWERED, TRIAL_SILENT] {
        counter!(BREAKER_TRIALS, "provider" => provider.to_owned(), "answer" => answer).absolute(0);
    }
}

/// The counters of the questions to one provider. They are found once, because each confirm begins with a question.
#[derive(Clone)]
pub(crate) struct Questions {
    answered: Counter,
    refused: Counter,
    unreachable: Counter,
    unanswered: Counter,
}

impl Questions {
    /// All of them start at zero.
    pub(crate) fn of(provider: &str) -> Self {
        let counter_of = |answer| {
            let counter = counter!(QUESTIONS, "provider" => provider.to_owned(), "answer" => answer);
            counter.absolute(0);
            counter
        };
        Self {
            answered: counter_of("answered"),
            refused: counter_of("refused"),
            unreachable: counter_of("unreachable"),
            unanswered: counter_of("unanswered"),
        }
    }

    /// Counts the answer to a question.
    pub(crate) fn count<T>(&self, answer: &Result<T, Unanswered>) {
        let counter = match answer {
            Ok(_) => &self.answered,
            Err(Unanswered::Refused(_)) => &self.refused,
            Err(Unanswered::Unreachable) => &self.unreachable,
            Err(Unanswered::NoAnswer(_)) => &self.unanswered,
        };
        counter.increment(1);
    }
}

/// A purchase has ended.
pub(crate) fn ended(provider: &str, product: &'static str, outcome: &'static str) {
    counter!(PURCHASES, "provider" => provider.to_owned(), "product" => product, "outcome" => outcome)
        .increment(1);
}

/// A purchase has gone to review.
pub(crate) fn review(provider: &str) {
    counter!(REVIEWS, "provider" => provider.to_owned()).increment(1);
}

/// A vend request is about to be sent.
pub(crate) fn sends(provider: &str, sending: Sending) {
    counter!(VEND_REQUESTS, "provider" => provider.to_owned(), "kind" => sending.as_str()).increment(1);
}

/// The result of a vend request.
pub(crate) fn vend_answer(provider: &str, answer: &'static str) {
    counter!(VEND_ANSWERS, "provider" => provider.to_owned(), "answer" => answer).increment(1);
}

/// The result of an enquiry.
pub(crate) fn enquiry(provider: &str, answer: &'static str) {
    counter!(ENQUIRIES, "provider" => provider.to_owned(), "answer" => answer).increment(1);
}

/// How long a provider took.
pub(crate) fn provider_took(provider: &str, call: &'static str, took: Duration) {
    histogram!(PROVIDER_SECONDS, "provider" => provider.to_owned(), "call" => call).record(took);
}

/// A worker has claimed this number of purchases.
pub(crate) fn claimed(purchases: usize) {
    counter!(CLAIMS).increment(u64::try_from(purchases).unwrap_or(u64::MAX));
}

/// How many slots of each provider this worker has now.
pub(crate) fn slot_shares(shares: &BTreeMap<String, u16>) {
    for (provider, share) in shares {
        gauge!(SLOTS, "provider" => provider.clone()).set(*share);
    }
}

/// This number of refused confirms was stored.
pub(crate) fn refused_kept(number: usize) {
    counter!(REFUSED_KEPT).increment(u64::try_from(number).unwrap_or(u64::MAX));
}

/// This number of refused confirms was dropped.
pub(crate) fn refused_not_kept(why: NotKept, number: usize) {
    counter!(REFUSED_NOT_KEPT, "why" => why.as_str()).increment(u64::try_from(number).unwrap_or(u64::MAX));
}

/// Our float is exhausted.
pub(crate) fn credit_exhausted(provider: &str) {
    counter!(CREDIT_EXHAUSTED, "provider" => provider.to_owned()).increment(1);
}

/// A provider whose sales a breaker has paused was tried.
pub(crate) fn breaker_trial(provider: &str, is_there: bool) {
    let answer = if is_there { TRIAL_ANSWERED } else { TRIAL_SILENT };
    counter!(BREAKER_TRIALS, "provider" => provider.to_owned(), "answer" => answer).increment(1);
}

/// The provider does not accept our credentials or settings.
pub(crate) fn misconfigured(provider: &str) {
    counter!(MISCONFIGURED, "provider" => provider.to_owned()).increment(1);
}

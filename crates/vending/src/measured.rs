//! A provider that is measured: every call through the port is timed, counted and logged here, no matter which code
//! makes it.
//!
//! The log line says how the call ended, in this program's own words. It never has the subject of the call or the
//! reply.

use std::sync::Arc;

use async_trait::async_trait;
use catalogue::AnswerKind;
use clock::{Monotonic, SharedClock};
use money::Money;
use provider::{Gate, Provider};
use vend::{
    CallId, Customer, Enquiry, NoStatement, Product, Quotation, Refusal, RefusalReason, Sale, StatementPage,
    StatementRequest, SubscriberIdentifier, Unanswered, VendOrder, VendOutcome,
};

use crate::{
    Providers,
    answers::{AnswerCounts, Heard},
    breakers::Counted,
    floats::{MentionedFloat, MentionedFloats},
    measures,
};

/// The same providers, each of them measured.
pub(crate) fn measured(
    providers: Providers,
    counted: &mut Counted,
    floats: &mut MentionedFloats,
    clock: &SharedClock,
) -> Providers {
    let measured = providers.into_iter().map(|(code, provider)| {
        measures::connected(&code);
        let measured: Arc<dyn Provider> = Arc::new(Measured {
            answers: counted.add(&code),
            float: floats.add(&code),
            questions: measures::Questions::of(&code),
            code: code.clone(),
            provider,
            clock: Arc::clone(clock),
        });
        (code, measured)
    });
    measured.collect()
}

struct Measured {
    code: String,
    provider: Arc<dyn Provider>,
    /// For the circuit breakers.
    answers: Arc<AnswerCounts>,
    float: Arc<MentionedFloat>,
    questions: measures::Questions,
    clock: SharedClock,
}

impl Measured {
    /// Logs how a question ended: one word, and another one with more detail.
    fn note(&self, call: &'static str, began: Monotonic, (answer, detail): (&'static str, &'static str)) {
        let took_ms = self.measure(call, began);
        tracing::debug!(provider = self.code, call, answer, detail, took_ms, "a provider was called");
    }

    /// The same for a call about an order: a vend or an enquiry. Each is in the log of production, by the reference of the order.
    fn note_order(
        &self,
        call: &'static str,
        order: &VendOrder,
        began: Monotonic,
        (answer, detail): (&'static str, &'static str),
    ) {
        let (took_ms, reference) = (self.measure(call, began), order.reference);
        tracing::info!(provider = self.code, call, %reference, answer, detail, took_ms, "a provider was called");
    }

    /// Records how long the call took. Returns it in milliseconds.
    fn measure(&self, call: &'static str, began: Monotonic) -> u64 {
        let took = self.clock.monotonic().elapsed_since(began);
        measures::provider_took(&self.code, call, took);
        u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
    }

    /// Logs and counts the answer to a question that comes before a sale.
    fn heard<T>(
        &self,
        call: &'static str,
        about: &SubscriberIdentifier,
        began: Monotonic,
        answer: &Result<T, Unanswered>,
    ) {
        self.note_question(call, began, answer);
        self.questions.count(answer);
        self.count(AnswerKind::Question, about, Heard::of_question(answer), began);
    }

    /// Counts a call for the circuit breaker. Enquiries do not count: a provider that cannot say what became of a vend may sell.
    fn count(&self, kind: AnswerKind, about: &SubscriberIdentifier, heard: Heard, began: Monotonic) {
        self.answers.note(kind, about, heard, [began, self.clock.monotonic()]);
    }

    /// Reports a refusal that only a person can resolve, with the provider.
    fn note_refusal(&self, refusal: &Refusal) {
        match refusal.reason {
            RefusalReason::FloatExhausted => {
                measures::credit_exhausted(&self.code);
                tracing::error!(provider = self.code, "our credit at the provider is exhausted");
            }
            RefusalReason::Misconfigured => {
                measures::misconfigured(&self.code);
                tracing::error!(provider = self.code, "the provider refuses our credentials or settings");
            }
            RefusalReason::UnknownSubscriber
            | RefusalReason::Disconnected
            | RefusalReason::WrongCheckDigit
            | RefusalReason::Blocked
            | RefusalReason::Unsupported
            | RefusalReason::BelowMinimum
            | RefusalReason::AboveMaximum
            | RefusalReason::DuplicateSale
            | RefusalReason::Busy
            | RefusalReason::NeverSent
            | RefusalReason::Other
            | RefusalReason::OtherTransient => {}
        }
    }

    fn note_question<T>(&self, call: &'static str, began: Monotonic, answer: &Result<T, Unanswered>) {
        let words = match answer {
            Ok(_) => ("answered", ""),
            Err(Unanswered::Refused(refusal)) => {
                self.note_refusal(refusal);
                ("refused", refusal.reason.as_str())
            }
            Err(Unanswered::Unreachable) => ("unreachable", ""),
            Err(Unanswered::NoAnswer(doubt)) => ("unanswered", doubt.as_str()),
        };
        self.note(call, began, words);
    }
}

#[async_trait]
impl Provider for Measured {
    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        let began = self.clock.monotonic();
        let answer = self.provider.check(call, product, subscriber).await;
        self.heard("check", subscriber, began, &answer);
        if let Ok(Customer { barred: Some(refusal), .. }) = &answer {
            self.note_refusal(refusal);
        }
        answer
    }

    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        let began = self.clock.monotonic();
        let answer = self.provider.quote(call, sale).await;
        self.heard("quote", &sale.subscriber, began, &answer);
        answer
    }

    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        let began = self.clock.monotonic();
        let answer = self.provider.trial(call, sale).await;
        self.heard("trial", &sale.subscriber, began, &answer);
        answer
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        let began = self.clock.monotonic();
        let outcome = self.provider.vend(order, gate).await;
        let words = outcome.in_words();
        self.note_order("vend", order, began, words);
        self.count(AnswerKind::Vend, &order.sale.subscriber, Heard::of_vend(&outcome), began);
        measures::vend_answer(&self.code, words.0);
        self.float.hear(&*self.provider, &self.clock);
        if let VendOutcome::Refused(refusal) = &outcome {
            self.note_refusal(refusal);
        }
        outcome
    }

    async fn float(&self, call: CallId) -> Result<Option<Money>, Unanswered> {
        let began = self.clock.monotonic();
        let answer = self.provider.float(call).await;
        // Without a question there is no call.
        if !matches!(answer, Ok(None)) {
            self.note_question("float", began, &answer);
        }
        answer
    }

    async fn statement(&self, asked: &StatementRequest) -> Result<StatementPage, NoStatement> {
        self.provider.statement(asked).await
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        let began = self.clock.monotonic();
        let enquiry = self.provider.enquire(call, order).await;
        let words = enquiry.in_words();
        self.note_order("enquire", order, began, words);
        measures::enquiry(&self.code, words.0);
        enquiry
    }
}

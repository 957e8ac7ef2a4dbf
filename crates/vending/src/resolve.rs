//! Resolve: brings an open purchase to its end. It has two entry points. A retry has found a purchase and must still
//! claim it. A worker has already claimed it, together with others.

use std::time::Duration;

use chrono::{DateTime, Utc};
use clock::Monotonic;
use failpoint::{Point, hit};
use provider::Gate;
use purchase::{
    Asker, Event, EventKind, Fence, Lifecycle, Record, Recovery, Resolve, ResolveAnswer, ResolveCommand,
    ResolveInput, Rules,
};
use store::{ClaimedPurchase, ForRetry, RecordError, Recorded, Verdict};
use traces::{Name, PurchaseTrace};
use transcript::Transcribed;
use vend::{
    Capabilities, Doubt, Enquiry, ProviderReference, Refusal, RefusalReason, Sale, VendOrder, VendOutcome,
};

use crate::Service;
use crate::backoff::Backoff;
use crate::leases::Lease;
use crate::measures::{self, Sending};
use crate::outcome::{self, About};
use crate::spans;

/// The data of one resolve between the steps of its protocol.
struct ResolveContext<'a> {
    record: &'a Record,
    order: VendOrder,
    rules: Rules,
    /// The last state of the purchase that this process knows, and its time by the database's clock.
    last_known: (Lifecycle, DateTime<Utc>),
    /// The database's time of the claim: no enquiry of this resolve begins before it.
    claimed_at: DateTime<Utc>,
    /// When the latest send was recorded, by the monotonic clock.
    recorded: Monotonic,
    /// What the latest send was.
    sending: Sending,
    lease: Option<Lease>,
    backoff: Backoff,
    trace: PurchaseTrace,
}

/// The result of a resolve.
pub(crate) struct Resolved {
    pub(crate) answer: ResolveAnswer,
    /// What an integrator does next about a purchase that is still open.
    pub(crate) recovery: Option<Recovery>,
}

impl Service {
    /// Brings a purchase that an integrator asks about as far as evidence allows.
    pub(crate) async fn resolve_found(&self, found: &ForRetry) -> Resolved {
        let rules = self.rules(found.declared);
        let begun =
            Transcribed::found(found.record.id, Asker::Integrator, &found.record.lifecycle, found.at, &rules);
        self.bring_to_an_end(begun, self.context(&found.record, found.at, &rules)).await
    }

    /// Brings a purchase that a worker has claimed, after `since`, as far as evidence allows.
    pub(crate) async fn resolve_claimed(&self, claimed: ClaimedPurchase, since: Monotonic) -> ResolveAnswer {
        let ClaimedPurchase { record, declared, at, oldest_due: _ } = claimed;
        let rules = self.rules(declared);
        let begun = Transcribed::claimed(record.id, Asker::Worker, &record.lifecycle, at, &rules);
        let lease = Some(self.leases.hold(record.id, record.lifecycle.fence, since));
        let context = ResolveContext { lease, ..self.context(&record, at, &rules) };
        let span = context.trace.began(Name::Look, since);
        let answer = self.bring_to_an_end(begun, context).await.answer;
        span.end(|| spans::looked(record.lifecycle.fence, answer));
        answer
    }

    /// The trace that the confirm of this purchase has begun.
    pub(crate) fn trace_of(&self, record: &Record) -> PurchaseTrace {
        self.traces.of(record.id.0, record.reference.as_str())
    }

    fn rules(&self, declared: Capabilities) -> Rules {
        Rules { declared, timing: self.settings.timing() }
    }

    fn context<'a>(&self, record: &'a Record, at: DateTime<Utc>, rules: &Rules) -> ResolveContext<'a> {
        ResolveContext {
            record,
            order: VendOrder { reference: record.provider_reference, sale: sale_of(record) },
            rules: *rules,
            last_known: (record.lifecycle.clone(), at),
            claimed_at: at,
            recorded: self.clock.monotonic(),
            sending: Sending::Repeat,
            lease: None,
            backoff: Backoff::seeded(record.id.0.unsigned_abs()),
            trace: self.trace_of(record),
        }
    }

    /// Drives the protocol: runs each command and passes the result back.
    async fn bring_to_an_end(
        &self,
        (mut protocol, mut command): (Transcribed<Resolve>, ResolveCommand),
        mut context: ResolveContext<'_>,
    ) -> Resolved {
        loop {
            let input = match command {
                ResolveCommand::Claim => self.claim(&mut context).await,
                ResolveCommand::TakeTurn(fence) => self.take_turn(&mut context, fence).await,
                ResolveCommand::Enquire => self.enquire(&context).await,
                ResolveCommand::RecordRepeat(fence) => {
                    self.record_send(&mut context, Sending::Repeat, Event::SentAgain { fence }).await
                }
                ResolveCommand::RecordAttempt(fence) => self.record_attempt(&mut context, fence).await,
                ResolveCommand::Send { leave_within } => {
                    let answer = self.send_order(&context, leave_within).await;
                    hit(Point::ResolveAnswered);
                    ResolveInput::Answered(answer)
                }
                ResolveCommand::Record(event) => match self.record_event(&mut context, event).await {
                    Some(input) => input,
                    None => return context.resolved(ResolveAnswer::Pending),
                },
                ResolveCommand::Answer(answer) => return context.resolved(answer),
            };
            command = protocol.on(input).expect("each command above yields an input that is due");
        }
    }

    async fn claim(&self, context: &mut ResolveContext<'_>) -> ResolveInput {
        let since = self.clock.monotonic();
        let span = context.trace.began(Name::Claim, since);
        let claimed = self.store.record(context.record.id, context.record.organisation, Event::Claimed).await;
        span.end(|| spans::recorded(EventKind::Claimed, claimed.as_ref()));
        match claimed {
            Ok(Recorded { lifecycle, at, verdict: Verdict::Moved }) => {
                hit(Point::ResolveClaimed);
                context.claimed_at = at;
                context.last_known = (lifecycle.clone(), at);
                context.lease = Some(self.leases.hold(context.record.id, lifecycle.fence, since));
                let is_as_found = lifecycle.attempt == context.record.lifecycle.attempt;
                if is_as_found || self.learn_of_later_attempt(context).await {
                    ResolveInput::Claimed { lifecycle, at }
                } else {
                    ResolveInput::NotClaimed
                }
            }
            Ok(Recorded { verdict: Verdict::AlreadyThere | Verdict::Illegal(_), .. }) => {
                ResolveInput::NotClaimed
            }
            // If the claim was committed after all, its lease runs out.
            Err(error) => {
                log(&error, "a claim was not acknowledged", context);
                ResolveInput::NotClaimed
            }
        }
    }

    /// Only one integrator at a time causes an enquiry. If a turn is lost, a later question causes the enquiry.
    async fn take_turn(&self, context: &mut ResolveContext<'_>, fence: Fence) -> ResolveInput {
        match self.store.take_turn(context.record.id, fence).await {
            Ok(true) => {
                let (lifecycle, at) = &mut context.last_known;
                lifecycle.asked_at = Some(*at);
                ResolveInput::MayAsk
            }
            Ok(false) => ResolveInput::MayNotAsk,
            Err(error) => {
                log(&error, "a turn to ask was not acknowledged", context);
                ResolveInput::MayNotAsk
            }
        }
    }

    /// Between finding and claiming, another process has made another attempt. Only the reference of that attempt may
    /// be asked about.
    async fn learn_of_later_attempt(&self, context: &mut ResolveContext<'_>) -> bool {
        match self.store.get_record(context.record.id).await {
            Ok(record) => {
                context.order.reference = record.provider_reference;
                true
            }
            Err(error) => {
                log(&error, "a claimed purchase could not be read", context);
                false
            }
        }
    }

    async fn enquire(&self, context: &ResolveContext<'_>) -> ResolveInput {
        let asked_at = context.claimed_at;
        let code = &context.record.provider_code;
        let span = context.trace.begin(Name::Enquiry);
        let enquiry = match (self.call_id(code).await, self.provider(code)) {
            (Ok(call), Some(provider)) => provider.enquire(call, &context.order).await,
            (Err(_), _) | (_, None) => Enquiry::Unanswered(Doubt::ConnectionLost.into()),
        };
        span.end(|| spans::enquired(code, &enquiry));
        hit(Point::ResolveEnquired);
        ResolveInput::Enquired { enquiry, asked_at }
    }

    async fn record_send(
        &self,
        context: &mut ResolveContext<'_>,
        sending: Sending,
        event: Event,
    ) -> ResolveInput {
        context.recorded = self.clock.monotonic();
        context.sending = sending;
        let (span, kind) = (context.trace.began(Name::Record, context.recorded), event.kind());
        let recorded = self.store.record(context.record.id, context.record.organisation, event).await;
        span.end(|| spans::recorded(kind, recorded.as_ref()));
        match recorded {
            Ok(Recorded { lifecycle, verdict: Verdict::Moved, .. }) => {
                hit(Point::ResolveSendRecorded);
                measures::sends(&context.record.provider_code, sending);
                if let Some(lease) = &mut context.lease {
                    lease.moves_to(lifecycle.fence, context.recorded);
                }
                ResolveInput::SendRecorded {
                    fence: lifecycle.fence,
                    since_record: self.since(context.recorded),
                }
            }
            Ok(Recorded { verdict: Verdict::AlreadyThere | Verdict::Illegal(_), .. }) => {
                ResolveInput::SendRefused
            }
            Err(error) => {
                log(&error, "a send was not acknowledged, and so does not leave", context);
                ResolveInput::SendUnacknowledged
            }
        }
    }

    async fn record_attempt(&self, context: &mut ResolveContext<'_>, fence: Fence) -> ResolveInput {
        let Ok(call) = self.call_id(&context.record.provider_code).await else {
            return ResolveInput::SendRefused;
        };
        let reference = ProviderReference::new(call);
        context.order.reference = reference;
        self.record_send(context, Sending::Attempt, Event::AttemptStarted { fence, reference }).await
    }

    /// Sends one request. The gate counts from before the send was recorded.
    async fn send_order(&self, context: &ResolveContext<'_>, leave_within: Duration) -> VendOutcome {
        let (clock, recorded) = (self.clock.clone(), context.recorded);
        let gate = Gate::while_true(move || {
            let open = clock.monotonic().elapsed_since(recorded) <= leave_within;
            hit(Point::RepeatLeaves);
            open
        });
        let span = context.trace.begin(Name::Send);
        let outcome = match self.provider(&context.record.provider_code) {
            Some(provider) => provider.vend(&context.order, &gate).await,
            None => VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent)),
        };
        span.end(|| spans::sent(&context.record.provider_code, context.sending, &outcome));
        outcome
    }

    async fn record_event(&self, context: &mut ResolveContext<'_>, event: Event) -> Option<ResolveInput> {
        hit(Point::ResolveBeforeRecord);
        let (span, kind) = (context.trace.begin(Name::Record), event.kind());
        let recorded = self.store.record(context.record.id, context.record.organisation, event.clone()).await;
        span.end(|| spans::recorded(kind, recorded.as_ref()));
        match recorded {
            Ok(recorded) => {
                hit(Point::ResolveAfterRecord);
                outcome::report(&About::locked(context.record), &event, &recorded);
                context.last_known = (recorded.lifecycle.clone(), recorded.at);
                Some(ResolveInput::Recorded { lifecycle: recorded.lifecycle, at: recorded.at })
            }
            Err(error @ (RecordError::Unacknowledged(_) | RecordError::Sealing(_))) => {
                log(&error, "evidence was not acknowledged", context);
                context.backoff.pause().await;
                Some(ResolveInput::RecordUnacknowledged)
            }
            Err(error @ RecordError::NoSuchPurchase) => {
                log(&error, "a claimed purchase has vanished", context);
                None
            }
        }
    }
}

impl ResolveContext<'_> {
    fn resolved(&self, answer: ResolveAnswer) -> Resolved {
        let (lifecycle, at) = &self.last_known;
        Resolved { answer, recovery: Recovery::of(lifecycle, *at, &self.rules) }
    }
}

fn sale_of(record: &Record) -> Sale {
    Sale { product: record.product, subscriber: record.subscriber.clone(), amount: record.price.net }
}

fn log(error: &(dyn std::error::Error + 'static), what: &'static str, about: &ResolveContext<'_>) {
    tracing::error!(cause = error, purchase = about.record.id.0, "{what}");
}

//! Resolve: how an open purchase is brought to its end. One story with two ways in: a retry has found a purchase and has yet
//! to claim it; a worker has claimed it already, among others.

use std::time::Duration;

use chrono::{DateTime, Utc};
use failpoint::{Point, reach};
use provider::Gate;
use purchase::{Asker, Fact, Fence, Record, Resolve, ResolveAnswer, ResolveCommand, ResolveEvent, Rules};
use store::{ClaimedPurchase, ForRetry, RecordError, Recorded, Verdict};
use transcript::Transcribed;
use vend::{
    Capabilities, Doubt, Enquiry, ProviderReference, Refusal, RefusalReason, Sale, VendOrder, VendOutcome,
};

use crate::Desk;
use crate::backoff::Backoff;
use crate::measures::{self, Sending};
use crate::outcome::{self, About};

/// What one resolve remembers between the steps of its protocol.
struct Case<'a> {
    record: &'a Record,
    order: VendOrder,
    /// The database's time of the claim: no enquiry of this resolve begins before it.
    claimed_at: DateTime<Utc>,
    /// When the latest send was put on record, by the monotonic clock.
    recorded: clock::Monotonic,
    backoff: Backoff,
}

impl Desk {
    /// Brings what an integrator asks about as far as evidence allows, if nobody else is at it.
    pub(crate) async fn resolve_found(&self, found: &ForRetry) -> ResolveAnswer {
        let rules = self.rules(found.declared);
        let begun =
            Transcribed::found(found.record.id, Asker::Integrator, &found.record.life, found.at, &rules);
        self.bring_to_an_end(begun, self.case(&found.record, found.at)).await
    }

    /// Brings what a worker has claimed as far as evidence allows.
    pub(crate) async fn resolve_claimed(&self, claimed: ClaimedPurchase) -> ResolveAnswer {
        let ClaimedPurchase { record, declared, at } = claimed;
        let begun = Transcribed::claimed(record.id, Asker::Worker, &record.life, at, &self.rules(declared));
        self.bring_to_an_end(begun, self.case(&record, at)).await
    }

    fn rules(&self, declared: Capabilities) -> Rules {
        Rules { declared, timing: self.settings.timing() }
    }

    fn case<'a>(&self, record: &'a Record, claimed_at: DateTime<Utc>) -> Case<'a> {
        Case {
            record,
            order: VendOrder { reference: record.provider_reference, sale: sale_of(record) },
            claimed_at,
            recorded: self.clock.monotonic(),
            backoff: Backoff::default(),
        }
    }

    /// Drives the protocol: does what it says and tells it what came of it.
    async fn bring_to_an_end(
        &self,
        (mut protocol, mut command): (Transcribed<Resolve>, ResolveCommand),
        mut case: Case<'_>,
    ) -> ResolveAnswer {
        loop {
            let event = match command {
                ResolveCommand::Claim => self.claim(&mut case).await,
                ResolveCommand::Enquire => self.enquire(&case).await,
                ResolveCommand::RecordRepeat(fence) => {
                    self.record_send(&mut case, Sending::Repeat, Fact::SentAgain { fence }).await
                }
                ResolveCommand::RecordAttempt(fence) => self.record_attempt(&mut case, fence).await,
                ResolveCommand::Send => {
                    let answer = self.send_order(&case).await;
                    reach(Point::ResolveAnswered);
                    ResolveEvent::Answered(answer)
                }
                ResolveCommand::Record(fact) => match self.put_on_record(&mut case, fact).await {
                    Some(event) => event,
                    None => return ResolveAnswer::Pending,
                },
                ResolveCommand::Answer(answer) => return answer,
            };
            command = protocol.on(event).expect("each command above is answered with an event of its own");
        }
    }

    async fn claim(&self, case: &mut Case<'_>) -> ResolveEvent {
        match self.store.record(case.record.id, case.record.organisation, Fact::Claimed).await {
            Ok(Recorded { life, at, verdict: Verdict::Moved }) => {
                reach(Point::ResolveClaimed);
                case.claimed_at = at;
                let is_as_found = life.attempt == case.record.life.attempt;
                if is_as_found || self.learn_of_later_attempt(case).await {
                    ResolveEvent::Claimed { life, at }
                } else {
                    ResolveEvent::NotClaimed
                }
            }
            Ok(Recorded { verdict: Verdict::AlreadyThere | Verdict::Illegal(_), .. }) => {
                ResolveEvent::NotClaimed
            }
            // If it was kept after all, its lease runs out.
            Err(error) => {
                log(&error, "a claim was not acknowledged", case);
                ResolveEvent::NotClaimed
            }
        }
    }

    /// Between finding and claiming, somebody else has made another attempt: only its name may be asked about.
    async fn learn_of_later_attempt(&self, case: &mut Case<'_>) -> bool {
        match self.store.get_record(case.record.id).await {
            Ok(record) => {
                case.order.reference = record.provider_reference;
                true
            }
            Err(error) => {
                log(&error, "a claimed purchase could not be read", case);
                false
            }
        }
    }

    async fn enquire(&self, case: &Case<'_>) -> ResolveEvent {
        let asked_at = case.claimed_at;
        let code = &case.record.provider_code;
        let enquiry = match (self.call_id(code).await, self.provider(code)) {
            (Some(call), Some(provider)) => provider.enquire(call, &case.order).await,
            (None, _) | (_, None) => Enquiry::Unanswered(Doubt::ConnectionLost.into()),
        };
        reach(Point::ResolveEnquired);
        ResolveEvent::Enquired { enquiry, asked_at }
    }

    async fn record_send(&self, case: &mut Case<'_>, sending: Sending, fact: Fact) -> ResolveEvent {
        case.recorded = self.clock.monotonic();
        match self.store.record(case.record.id, case.record.organisation, fact).await {
            Ok(Recorded { life, verdict: Verdict::Moved, .. }) => {
                reach(Point::ResolveSendRecorded);
                measures::sends(&case.record.provider_code, sending);
                ResolveEvent::SendRecorded { fence: life.fence, since_record: self.since(case.recorded) }
            }
            Ok(Recorded { verdict: Verdict::AlreadyThere | Verdict::Illegal(_), .. }) => {
                ResolveEvent::SendRefused
            }
            Err(error) => {
                log(&error, "a send was not acknowledged, and so does not leave", case);
                ResolveEvent::SendUnacknowledged
            }
        }
    }

    async fn record_attempt(&self, case: &mut Case<'_>, fence: Fence) -> ResolveEvent {
        let Some(call) = self.call_id(&case.record.provider_code).await else {
            return ResolveEvent::SendRefused;
        };
        let reference = ProviderReference::new(call);
        case.order.reference = reference;
        self.record_send(case, Sending::Attempt, Fact::AttemptStarted { fence, reference }).await
    }

    /// One request, behind a gate that counts from before its record.
    async fn send_order(&self, case: &Case<'_>) -> VendOutcome {
        let gate_length: Duration = self.settings.timing().gate;
        let (clock, recorded) = (self.clock.clone(), case.recorded);
        let gate = Gate::while_true(move || {
            let open = clock.monotonic().elapsed_since(recorded) <= gate_length;
            reach(Point::RepeatLeaves);
            open
        });
        match self.provider(&case.record.provider_code) {
            Some(provider) => provider.vend(&case.order, &gate).await,
            None => VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent)),
        }
    }

    async fn put_on_record(&self, case: &mut Case<'_>, fact: Fact) -> Option<ResolveEvent> {
        reach(Point::ResolveBeforeRecord);
        match self.store.record(case.record.id, case.record.organisation, fact.clone()).await {
            Ok(recorded) => {
                reach(Point::ResolveAfterRecord);
                outcome::tell(&About::on_file(case.record), &fact, &recorded);
                Some(ResolveEvent::Recorded { life: recorded.life, at: recorded.at })
            }
            Err(error @ (RecordError::Unacknowledged(_) | RecordError::Sealing(_))) => {
                log(&error, "evidence was not acknowledged", case);
                case.backoff.pause().await;
                Some(ResolveEvent::RecordUnacknowledged)
            }
            Err(error @ RecordError::NoSuchPurchase) => {
                log(&error, "a claimed purchase has vanished", case);
                None
            }
        }
    }
}

fn sale_of(record: &Record) -> Sale {
    Sale { product: record.product, subscriber: record.subscriber.clone(), amount: record.price.net }
}

fn log(error: &(dyn std::error::Error + 'static), what: &'static str, about: &Case<'_>) {
    tracing::error!(cause = error, purchase = about.record.id.0, "{what}");
}

//! Resolve: how an open purchase is brought to its end. One story with two ways in: a retry has found a purchase and has yet
//! to claim it; a worker has claimed it already, among others.

use std::time::Duration;

use chrono::{DateTime, Utc};
use clock::Monotonic;
use failpoint::{Point, reach};
use provider::Gate;
use purchase::{
    Asker, Fact, Fence, Life, Record, Recovery, Resolve, ResolveAnswer, ResolveCommand, ResolveEvent, Rules,
};
use store::{ClaimedPurchase, ForRetry, RecordError, Recorded, Verdict};
use transcript::Transcribed;
use vend::{
    Capabilities, Doubt, Enquiry, ProviderReference, Refusal, RefusalReason, Sale, VendOrder, VendOutcome,
};

use crate::Desk;
use crate::backoff::Backoff;
use crate::leases::Lease;
use crate::measures::{self, Sending};
use crate::outcome::{self, About};

/// What one resolve remembers between the steps of its protocol.
struct Case<'a> {
    record: &'a Record,
    order: VendOrder,
    rules: Rules,
    /// How the purchase stood when this process last heard of it, by the database's clock.
    standing: (Life, DateTime<Utc>),
    /// The database's time of the claim: no enquiry of this resolve begins before it.
    claimed_at: DateTime<Utc>,
    /// When the latest send was put on record, by the monotonic clock.
    recorded: Monotonic,
    lease: Option<Lease>,
    backoff: Backoff,
}

/// What a resolve came to.
pub(crate) struct Resolved {
    pub(crate) answer: ResolveAnswer,
    /// What an integrator does next about a purchase that is still open.
    pub(crate) recovery: Option<Recovery>,
}

impl Desk {
    /// Brings what an integrator asks about as far as evidence allows.
    pub(crate) async fn resolve_found(&self, found: &ForRetry) -> Resolved {
        let rules = self.rules(found.declared);
        let begun =
            Transcribed::found(found.record.id, Asker::Integrator, &found.record.life, found.at, &rules);
        self.bring_to_an_end(begun, self.case(&found.record, found.at, &rules)).await
    }

    /// Brings what a worker has claimed, after `since`, as far as evidence allows.
    pub(crate) async fn resolve_claimed(&self, claimed: ClaimedPurchase, since: Monotonic) -> ResolveAnswer {
        let ClaimedPurchase { record, declared, at } = claimed;
        let rules = self.rules(declared);
        let begun = Transcribed::claimed(record.id, Asker::Worker, &record.life, at, &rules);
        let lease = Some(self.leases.hold(record.id, record.life.fence, since));
        let case = Case { lease, ..self.case(&record, at, &rules) };
        self.bring_to_an_end(begun, case).await.answer
    }

    fn rules(&self, declared: Capabilities) -> Rules {
        Rules { declared, timing: self.settings.timing() }
    }

    fn case<'a>(&self, record: &'a Record, at: DateTime<Utc>, rules: &Rules) -> Case<'a> {
        Case {
            record,
            order: VendOrder { reference: record.provider_reference, sale: sale_of(record) },
            rules: *rules,
            standing: (record.life.clone(), at),
            claimed_at: at,
            recorded: self.clock.monotonic(),
            lease: None,
            backoff: Backoff::default(),
        }
    }

    /// Drives the protocol: does what it says and tells it what came of it.
    async fn bring_to_an_end(
        &self,
        (mut protocol, mut command): (Transcribed<Resolve>, ResolveCommand),
        mut case: Case<'_>,
    ) -> Resolved {
        loop {
            let event = match command {
                ResolveCommand::Claim => self.claim(&mut case).await,
                ResolveCommand::TakeTurn(fence) => self.take_turn(&mut case, fence).await,
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
                    None => return case.resolved(ResolveAnswer::Pending),
                },
                ResolveCommand::Answer(answer) => return case.resolved(answer),
            };
            command = protocol.on(event).expect("each command above is answered with an event of its own");
        }
    }

    async fn claim(&self, case: &mut Case<'_>) -> ResolveEvent {
        let since = self.clock.monotonic();
        match self.store.record(case.record.id, case.record.organisation, Fact::Claimed).await {
            Ok(Recorded { life, at, verdict: Verdict::Moved }) => {
                reach(Point::ResolveClaimed);
                case.claimed_at = at;
                case.standing = (life.clone(), at);
                case.lease = Some(self.leases.hold(case.record.id, life.fence, since));
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

    /// One integrator at a time has an enquiry made. If the turn is lost, others ask.
    async fn take_turn(&self, case: &mut Case<'_>, fence: Fence) -> ResolveEvent {
        match self.store.take_turn(case.record.id, fence).await {
            Ok(true) => {
                let (life, at) = &mut case.standing;
                life.asked_at = Some(*at);
                ResolveEvent::MayAsk
            }
            Ok(false) => ResolveEvent::MayNotAsk,
            Err(error) => {
                log(&error, "a turn to ask was not acknowledged", case);
                ResolveEvent::MayNotAsk
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
            (Ok(call), Some(provider)) => provider.enquire(call, &case.order).await,
            (Err(_), _) | (_, None) => Enquiry::Unanswered(Doubt::ConnectionLost.into()),
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
                if let Some(lease) = &mut case.lease {
                    lease.moves_to(life.fence, case.recorded);
                }
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
        let Ok(call) = self.call_id(&case.record.provider_code).await else {
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
                case.standing = (recorded.life.clone(), recorded.at);
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

impl Case<'_> {
    fn resolved(&self, answer: ResolveAnswer) -> Resolved {
        let (life, at) = &self.standing;
        Resolved { answer, recovery: Recovery::of(life, *at, &self.rules) }
    }
}

fn sale_of(record: &Record) -> Sale {
    Sale { product: record.product, subscriber: record.subscriber.clone(), amount: record.price.net }
}

fn log(error: &(dyn std::error::Error + 'static), what: &'static str, about: &Case<'_>) {
    tracing::error!(cause = error, purchase = about.record.id.0, "{what}");
}

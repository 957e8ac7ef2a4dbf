//! The records of a group. Each event is proposed to its purchase, in the order of arrival, and the one transition
//! function decides. All effects are collected for one write.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use database::DatabaseError;
use purchase::{
    Effect, Event, Failure, Fence, Incident, Next, PurchaseId, Rules, StateName, TimedEvent, Timing, step,
};
use vend::{Refusal, RefusalReason, Vend};

use super::{
    locked_purchase::LockedPurchase,
    wallets::{ApplyError, Wallets},
};
use crate::{
    MessageId,
    outbox::Owed,
    purchases::{Recorded, SealedParts, SubmittedEvent, Verdict},
    seal::Sealed,
};

/// A purchase that moved.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) from: (StateName, Fence),
    pub(super) to: LockedPurchase,
    /// When the worker looks at it again.
    pub(super) due_at: Option<DateTime<Utc>>,
    pub(super) bought: Option<(&'a Vend, &'a SealedParts)>,
}

/// A line of a purchase's history.
#[derive(Debug)]
pub(super) struct HistoryLine<'a> {
    pub(super) submitted: &'a SubmittedEvent,
    pub(super) after: LockedPurchase,
}

/// An incident to be written: evidence of a vend that came after the end of its purchase.
#[derive(Debug)]
pub(super) struct OpenedIncident<'a> {
    pub(super) incident: Incident,
    pub(super) of: LockedPurchase,
    pub(super) vend: &'a Vend,
    pub(super) sealed: &'a SealedParts,
}

/// A provider's reply about an attempt of a purchase.
#[derive(Debug)]
pub(super) struct ProviderReply<'a> {
    pub(super) purchase: PurchaseId,
    pub(super) attempt: u16,
    pub(super) at: DateTime<Utc>,
    pub(super) sealed: &'a Sealed,
    /// Whether the reply proves nothing. Such replies may repeat for as long as the outcome is unknown.
    pub(super) proves_nothing: bool,
}

/// All effects of a group's events.
#[derive(Debug, Default)]
pub(super) struct Records<'a> {
    pub(super) changes: BTreeMap<PurchaseId, Change<'a>>,
    pub(super) history: Vec<HistoryLine<'a>>,
    pub(super) replies: Vec<ProviderReply<'a>>,
    pub(super) incidents: Vec<OpenedIncident<'a>>,
    pub(super) attempts: Vec<LockedPurchase>,
    pub(super) owed: Vec<Owed>,
}

impl<'a> Records<'a> {
    /// Proposes one event to its purchase. `locked` is the purchase as the earlier events of the group left it.
    pub(super) fn propose(
        &mut self,
        submitted: &'a SubmittedEvent,
        locked: &mut LockedPurchase,
        wallets: &mut Wallets,
        timing: &Timing,
    ) -> Result<Recorded, DatabaseError> {
        let event = TimedEvent { at: locked.at, event: submitted.event.clone() };
        let rules = Rules { declared: locked.declared, timing: *timing };
        let verdict = match step(&locked.lifecycle, &event, &rules) {
            Err(illegal) => {
                self.keep_reply(submitted, locked);
                Verdict::Illegal(illegal)
            }
            Ok(Next::AlreadyThere) => Verdict::AlreadyThere,
            Ok(Next::Moved(_, effects)) if is_known(submitted, &effects, locked) => Verdict::AlreadyThere,
            Ok(Next::Moved(lifecycle, effects)) => {
                for effect in effects {
                    self.perform(effect, submitted, locked, wallets)?;
                }
                self.move_on(submitted, locked, lifecycle, &rules);
                self.keep_reply(submitted, locked);
                Verdict::Moved
            }
        };
        Ok(Recorded { lifecycle: locked.lifecycle.clone(), at: locked.at, verdict })
    }

    /// Changes the wallets in memory as the database will change them, so that the reserves of the group see the result
    /// of its records. The journal entries follow from the purchase's row, and the database writes them.
    fn perform(
        &mut self,
        effect: Effect,
        submitted: &'a SubmittedEvent,
        locked: &mut LockedPurchase,
        wallets: &mut Wallets,
    ) -> Result<(), DatabaseError> {
        let refused = |error| contradiction(locked.id, error);
        match effect {
            Effect::ReleaseHold => {
                wallets.apply(locked.wallet, |wallet| wallet.release_hold(locked.total)).map_err(refused)
            }
            Effect::CaptureHold => {
                wallets.apply(locked.wallet, |wallet| wallet.capture_hold(locked.total)).map_err(refused)?;
                match locked.commission_account {
                    Some(account) if !locked.commission.is_zero() => {
                        wallets.apply(account, |wallet| wallet.credit(locked.commission)).map_err(refused)
                    }
                    Some(_) | None => Ok(()),
                }
            }
            Effect::OpenIncident(incident) => {
                let Some((vend, sealed)) = evidence(submitted) else { return Ok(()) };
                locked.incidents.push(vend.provider_transaction.clone());
                self.incidents.push(OpenedIncident { incident, of: locked.clone(), vend, sealed });
                Ok(())
            }
        }
    }

    /// Keeps the reply also for an event that comes too late to change anything. It may be the only evidence an
    /// operator has.
    fn keep_reply(&mut self, submitted: &'a SubmittedEvent, about: &LockedPurchase) {
        if let Some(sealed) = &submitted.sealed.reply {
            let proves_nothing = matches!(submitted.event, Event::LeaseReleased { .. });
            let (purchase, attempt, at) = (about.id, about.lifecycle.attempt, about.at);
            self.replies.push(ProviderReply { purchase, attempt, at, sealed, proves_nothing });
        }
    }

    fn move_on(
        &mut self,
        submitted: &'a SubmittedEvent,
        locked: &mut LockedPurchase,
        lifecycle: purchase::Lifecycle,
        rules: &Rules,
    ) {
        let timing = &rules.timing;
        let from = (locked.lifecycle.state.name(), locked.lifecycle.fence);
        for notice in
            purchase::notices(&locked.lifecycle, &lifecycle, locked.at, timing, &locked.notifications)
        {
            self.owed.push(Owed { id: MessageId { purchase: locked.id, notice, repeat: 0 }, at: locked.at });
        }
        locked.lifecycle = lifecycle;
        locked.failure = failure_after(&submitted.event, locked);
        if let Event::AttemptStarted { reference, .. } = &submitted.event {
            locked.provider_reference = *reference;
            self.attempts.push(locked.clone());
        }
        self.history.push(HistoryLine { submitted, after: locked.clone() });
        if !from.0.is_open() {
            return;
        }
        let is_bought = locked.lifecycle.state.name() == StateName::Successful;
        let bought = evidence(submitted).filter(|_| is_bought);
        let due_at = timing.plan.due_at(&locked.lifecycle, locked.at, rules);
        let change = Change { from, to: locked.clone(), due_at, bought };
        self.changes
            .entry(locked.id)
            .and_modify(|earlier| {
                earlier.to = change.to.clone();
                earlier.due_at = change.due_at;
                earlier.bought = change.bought;
            })
            .or_insert(change);
    }
}

/// Whether the event only opens an incident that exists already.
fn is_known(submitted: &SubmittedEvent, effects: &[Effect], locked: &LockedPurchase) -> bool {
    let opens_incident = effects.iter().any(|effect| matches!(effect, Effect::OpenIncident(_)));
    let on_record = |(vend, _): (&Vend, _)| locked.incidents.contains(&vend.provider_transaction);
    opens_incident && evidence(submitted).is_some_and(on_record)
}

fn evidence(submitted: &SubmittedEvent) -> Option<(&Vend, &SealedParts)> {
    submitted.event.vend().map(|vend| (vend, &submitted.sealed))
}

fn failure_after(event: &Event, after: &LockedPurchase) -> Option<Failure> {
    let failure = match event {
        Event::Refused { refusal, .. } => Some(Failure::Refused(refusal.clone())),
        Event::NeverSent { .. } => Some(Failure::Refused(Refusal::because(RefusalReason::NeverSent))),
        Event::NoRecord { .. } => Some(Failure::NoRecord),
        Event::OperatorNotVended { .. } => Some(Failure::Operator),
        Event::Vended { .. }
        | Event::Lost { .. }
        | Event::Claimed
        | Event::LeaseReleased { .. }
        | Event::SentAgain { .. }
        | Event::AttemptStarted { .. }
        | Event::WindowClosed { .. }
        | Event::OperatorVended { .. } => after.failure.clone(),
    };
    match after.lifecycle.state.name() {
        StateName::Failed | StateName::RetryDue => failure,
        StateName::Successful => None,
        StateName::InFlight | StateName::InDoubt | StateName::Review => after.failure.clone(),
    }
}

/// The error for a ledger that contradicts the purchase. This is a defect, and nothing is committed.
fn contradiction(id: PurchaseId, error: ApplyError) -> DatabaseError {
    let source: Box<dyn std::error::Error + Send + Sync> = match error {
        ApplyError::NotLocked(account) => format!("account {} is not locked", account.0).into(),
        ApplyError::Ledger(error) => error.into(),
    };
    DatabaseError::Corrupt {
        table: "purchases",
        column: "total",
        key: id.0.to_string(),
        source: Some(source),
    }
}

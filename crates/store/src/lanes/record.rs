//! The facts of a group: offered to their purchases by the one transition function, in order of
//! arrival, with every effect kept for one write.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use purchase::{
    Effect, Event, Fact, Failure, Fence, Incident, Next, PurchaseId, Rules, StateName, Timing, step,
};
use vend::{Refusal, RefusalReason, Vend};

use super::on_file::OnFile;
use super::wallets::{ApplyError, Wallets};
use crate::outbox::Owed;
use crate::purchases::{Entry, Recorded, SealedParts, Verdict};
use crate::seal::Sealed;
use crate::{MessageId, StoreError};

/// A purchase that moved.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) from: (StateName, Fence),
    pub(super) to: OnFile,
    /// When the worker looks at it again.
    pub(super) due_at: Option<DateTime<Utc>>,
    pub(super) bought: Option<(&'a Vend, &'a SealedParts)>,
}

/// A line of a purchase's history.
#[derive(Debug)]
pub(super) struct HistoryLine<'a> {
    pub(super) entry: &'a Entry,
    pub(super) after: OnFile,
}

/// Evidence that came too late.
#[derive(Debug)]
pub(super) struct OpenedIncident<'a> {
    pub(super) incident: Incident,
    pub(super) of: OnFile,
    pub(super) vend: &'a Vend,
    pub(super) sealed: &'a SealedParts,
}

/// What a provider said about a purchase's attempt.
#[derive(Debug)]
pub(super) struct KeptReply<'a> {
    pub(super) purchase: PurchaseId,
    pub(super) attempt: u16,
    pub(super) at: DateTime<Utc>,
    pub(super) sealed: &'a Sealed,
    /// Whether it is one of those that come again and again for as long as nobody knows.
    pub(super) proves_nothing: bool,
}

/// Everything that a group's facts do.
#[derive(Debug, Default)]
pub(super) struct Records<'a> {
    pub(super) changes: BTreeMap<PurchaseId, Change<'a>>,
    pub(super) history: Vec<HistoryLine<'a>>,
    pub(super) replies: Vec<KeptReply<'a>>,
    pub(super) incidents: Vec<OpenedIncident<'a>>,
    pub(super) attempts: Vec<OnFile>,
    pub(super) owed: Vec<Owed>,
}

impl<'a> Records<'a> {
    /// Offers one fact to its purchase, which is `on_file` as the facts before it left it.
    pub(super) fn offer(
        &mut self,
        entry: &'a Entry,
        on_file: &mut OnFile,
        wallets: &mut Wallets,
        timing: &Timing,
    ) -> Result<Recorded, StoreError> {
        let event = Event { at: on_file.at, fact: entry.fact.clone() };
        let rules = Rules { declared: on_file.declared, timing: *timing };
        let verdict = match step(&on_file.life, &event, &rules) {
            Err(illegal) => {
                self.keep_reply(entry, on_file);
                Verdict::Illegal(illegal)
            }
            Ok(Next::AlreadyThere) => Verdict::AlreadyThere,
            Ok(Next::Moved(_, effects)) if is_known(entry, &effects, on_file) => Verdict::AlreadyThere,
            Ok(Next::Moved(life, effects)) => {
                for effect in effects {
                    self.perform(effect, entry, on_file, wallets)?;
                }
                self.move_on(entry, on_file, life, &rules);
                self.keep_reply(entry, on_file);
                Verdict::Moved
            }
        };
        Ok(Recorded { life: on_file.life.clone(), at: on_file.at, verdict })
    }

    /// Changes the wallets in memory as the database is about to change them, so that the reserves of the group see what
    /// its records leave. The entries of the journal follow from the purchase's row, and the database writes them.
    fn perform(
        &mut self,
        effect: Effect,
        entry: &'a Entry,
        on_file: &mut OnFile,
        wallets: &mut Wallets,
    ) -> Result<(), StoreError> {
        let refused = |error| unkept(on_file.id, error);
        match effect {
            Effect::ReleaseHold => {
                wallets.apply(on_file.wallet, |wallet| wallet.release_hold(on_file.total)).map_err(refused)
            }
            Effect::CaptureHold => {
                wallets
                    .apply(on_file.wallet, |wallet| wallet.capture_hold(on_file.total))
                    .map_err(refused)?;
                match on_file.commission_account {
                    Some(account) if !on_file.commission.is_zero() => {
                        wallets.apply(account, |wallet| wallet.credit(on_file.commission)).map_err(refused)
                    }
                    Some(_) | None => Ok(()),
                }
            }
            Effect::OpenIncident(incident) => {
                let Some((vend, sealed)) = evidence(entry) else { return Ok(()) };
                on_file.incidents.push(vend.provider_transaction.clone());
                self.incidents.push(OpenedIncident { incident, of: on_file.clone(), vend, sealed });
                Ok(())
            }
        }
    }

    /// Also of a fact that comes too late to change anything: it may be all that a person has to go by.
    fn keep_reply(&mut self, entry: &'a Entry, about: &OnFile) {
        if let Some(sealed) = &entry.sealed.reply {
            let proves_nothing = matches!(entry.fact, Fact::LetGo { .. });
            let (purchase, attempt, at) = (about.id, about.life.attempt, about.at);
            self.replies.push(KeptReply { purchase, attempt, at, sealed, proves_nothing });
        }
    }

    fn move_on(&mut self, entry: &'a Entry, on_file: &mut OnFile, life: purchase::Life, rules: &Rules) {
        let timing = &rules.timing;
        let from = (on_file.life.state.name(), on_file.life.fence);
        for notice in purchase::notices(&on_file.life, &life, on_file.at, timing, &on_file.notifications) {
            self.owed.push(Owed { id: MessageId { purchase: on_file.id, notice }, at: on_file.at });
        }
        on_file.life = life;
        on_file.failure = failure_after(&entry.fact, on_file);
        if let Fact::AttemptStarted { reference, .. } = &entry.fact {
            on_file.provider_reference = *reference;
            self.attempts.push(on_file.clone());
        }
        self.history.push(HistoryLine { entry, after: on_file.clone() });
        if !from.0.is_open() {
            return;
        }
        let is_bought = on_file.life.state.name() == StateName::Successful;
        let bought = evidence(entry).filter(|_| is_bought);
        let due_at = timing.plan.due_at(&on_file.life, on_file.at, rules);
        let change = Change { from, to: on_file.clone(), due_at, bought };
        self.changes
            .entry(on_file.id)
            .and_modify(|earlier| {
                earlier.to = change.to.clone();
                earlier.due_at = change.due_at;
                earlier.bought = change.bought;
            })
            .or_insert(change);
    }
}

/// Whether all that follows is an incident that is open already.
fn is_known(entry: &Entry, effects: &[Effect], on_file: &OnFile) -> bool {
    let opens_incident = effects.iter().any(|effect| matches!(effect, Effect::OpenIncident(_)));
    let on_record = |(vend, _): (&Vend, _)| on_file.incidents.contains(&vend.provider_transaction);
    opens_incident && evidence(entry).is_some_and(on_record)
}

fn evidence(entry: &Entry) -> Option<(&Vend, &SealedParts)> {
    entry.fact.vend().map(|vend| (vend, &entry.sealed))
}

fn failure_after(fact: &Fact, after: &OnFile) -> Option<Failure> {
    let failure = match fact {
        Fact::Refused { refusal, .. } => Some(Failure::Refused(refusal.clone())),
        Fact::NeverSent { .. } => Some(Failure::Refused(Refusal::because(RefusalReason::NeverSent))),
        Fact::NoRecord { .. } => Some(Failure::NoRecord),
        Fact::OperatorNotVended { .. } => Some(Failure::Operator),
        Fact::Vended { .. }
        | Fact::Lost { .. }
        | Fact::Claimed
        | Fact::LetGo { .. }
        | Fact::SentAgain { .. }
        | Fact::AttemptStarted { .. }
        | Fact::WindowClosed { .. }
        | Fact::OperatorVended { .. } => after.failure.clone(),
    };
    match after.life.state.name() {
        StateName::Failed | StateName::RetryDue => failure,
        StateName::Successful => None,
        StateName::InFlight | StateName::InDoubt | StateName::Review => after.failure.clone(),
    }
}

/// The ledger and the purchase contradict each other: a defect, and nothing is kept.
fn unkept(id: PurchaseId, error: ApplyError) -> StoreError {
    let source: Box<dyn std::error::Error + Send + Sync> = match error {
        ApplyError::NotLocked(account) => format!("account {} is not locked", account.0).into(),
        ApplyError::Ledger(error) => error.into(),
    };
    StoreError::Corrupt { table: "purchases", column: "total", key: id.0.to_string(), source: Some(source) }
}

//! An operator's decision about a purchase in review: no provider can answer, but a person has found out.
//!
//! The decision is recorded like every other event, under a claim of its own. Its line in the audit log is written in
//! the same transaction.

use std::{error::Error, sync::Arc};

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bytea, Integer, Text},
};
use directory::AuditContext;
use purchase::{Event, Fence, Lifecycle, OrganisationId, PurchaseId, StateName, Why};
use serde_json::{Value, json};
use vend::{Doubt, Units, Vend};

use crate::{
    Aad, Approval, RecordError, Recorded, SealError, Sealed, Store, Verdict,
    lanes::vouched::{ONE_PURCHASE_PER_VEND, find_owner},
    purchases::{OperatorAction, TOKEN_COLUMN},
};

/// What an operator has found out.
#[derive(Clone, Debug)]
pub enum Decision {
    /// It was vended, with this result.
    Vended(Box<Vend>),
    /// Nothing was vended.
    NotVended,
}

/// A recorded decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The lifecycle of the purchase now.
    pub lifecycle: Lifecycle,
    /// When the decision was recorded.
    pub at: DateTime<Utc>,
}

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    /// No purchase has that number.
    #[error("there is no purchase {}", .0.0)]
    Absent(PurchaseId),
    /// The purchase is not in review. Only purchases in review wait for an operator.
    #[error("purchase {} is {}", id.0, state.as_str())]
    NotInReview { id: PurchaseId, state: StateName },
    /// The provider is being asked about it at this moment.
    #[error("purchase {} is held while the provider is asked about it", id.0)]
    Held { id: PurchaseId, until: Option<DateTime<Utc>> },
    /// The vend that is vouched for belongs to another purchase.
    #[error("vend {provider_transaction} is that of purchase {}{}", of.0, incident_in_words(*incident))]
    VendOfAnother { provider_transaction: String, of: PurchaseId, incident: Option<i64> },
    /// The token that is entered was issued for another purchase.
    #[error("this token is that of purchase {}", of.0)]
    TokenOfAnother { of: PurchaseId },
    /// The key in use is not the one that the servers seal with, so the token could not be read again.
    #[error("the sealing key is not the one that the servers seal with")]
    OtherKey(#[source] SealError),
    /// The database refuses it to this login, without the approval of another person, or while a request about the purchase waits.
    /// Nothing was decided.
    #[error("it was refused")]
    Refused(#[source] Arc<DatabaseError>),
    /// It is unknown whether the decision is recorded.
    #[error("the decision was not acknowledged")]
    Unacknowledged(#[source] RecordError),
    /// The database failed, and nothing was decided.
    #[error("it could not be recorded")]
    Database(#[from] DatabaseError),
}

/// How often a decision is offered until its commit is acknowledged. A repeated offer finds the recorded decision.
const OFFERS_MAX: u32 = 5;

struct FindStanding;

impl Statement for FindStanding {
    const SQL: &str = "-- find_standing\nSELECT organisation_id, state FROM purchases WHERE id = $1";
}

#[derive(QueryableByName)]
struct StandingRow {
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(sql_type = Text)]
    state: String,
}

struct NewestToken;

impl Statement for NewestToken {
    const SQL: &str = "-- newest_token
SELECT id, token_key_id, sealed_token FROM purchases
WHERE sealed_token IS NOT NULL AND id > (SELECT max(id) - 20000 FROM purchases)
ORDER BY id DESC LIMIT 1";
}

#[derive(QueryableByName)]
struct TokenRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Integer)]
    token_key_id: i32,
    #[diesel(sql_type = Bytea)]
    sealed_token: Vec<u8>,
}

impl Store {
    /// Records an operator's decision about a purchase in review. One transaction writes the decision, its effects on
    /// the hold, the journal and the outbox, and a line in the audit log.
    pub async fn decide(
        &self,
        id: PurchaseId,
        decision: Decision,
        act: AuditContext,
    ) -> Result<Decided, DecisionError> {
        self.decide_with(id, decision, act, None).await
    }

    /// The same for a decision that another person has requested. The approval of that request is part of the transaction. The
    /// database refuses a decision that is not exactly what was requested.
    pub async fn decide_approved(
        &self,
        id: PurchaseId,
        decision: Decision,
        act: AuditContext,
        approval: Approval,
    ) -> Result<Decided, DecisionError> {
        self.decide_with(id, decision, act, Some(approval)).await
    }

    /// Checks what can be checked about a decision before it is recorded, and records nothing.
    pub async fn rehearse_decision(&self, id: PurchaseId, decision: &Decision) -> Result<(), DecisionError> {
        self.in_review(id).await?;
        self.check_vend(id, decision).await
    }

    async fn check_vend(&self, id: PurchaseId, decision: &Decision) -> Result<(), DecisionError> {
        let Decision::Vended(vend) = decision else { return Ok(()) };
        self.refuse_vend_of_another(id, &vend.provider_transaction).await?;
        let Some(tokens) = &vend.tokens else { return Ok(()) };
        self.refuse_another_key().await?;
        match self.find_purchase_with_token(id, tokens).await? {
            Some(of) => Err(DecisionError::TokenOfAnother { of }),
            None => Ok(()),
        }
    }

    async fn decide_with(
        &self,
        id: PurchaseId,
        decision: Decision,
        act: AuditContext,
        approval: Option<Approval>,
    ) -> Result<Decided, DecisionError> {
        let of = self.in_review(id).await?;
        self.check_vend(id, &decision).await?;
        let vouched = decision.provider_transaction();
        let fence = self.claim_for_a_person(id, of).await?;
        let operator_action =
            OperatorAction { act, of, action: "purchase.resolved", details: decision.details(), approval };
        let outcome = self.offer(id, decision.event(fence), operator_action).await;
        match outcome {
            Ok(Recorded { lifecycle, at, verdict: Verdict::Moved | Verdict::AlreadyThere }) => {
                Ok(Decided { lifecycle, at })
            }
            // Proof arrived between the claim and the decision, and proof takes precedence.
            Ok(Recorded { lifecycle, verdict: Verdict::Illegal(_), .. }) => {
                self.release_lease(id, of, fence).await;
                Err(DecisionError::NotInReview { id, state: lifecycle.state.name() })
            }
            Err(error) => {
                self.release_lease(id, of, fence).await;
                // Another operator has entered the same vend for another purchase meanwhile.
                if let (true, Some(vend)) = (is_collision(&error), vouched) {
                    self.refuse_vend_of_another(id, &vend).await?;
                }
                Err(failed(error))
            }
        }
    }

    async fn in_review(&self, id: PurchaseId) -> Result<OrganisationId, DecisionError> {
        let found = self.database.read(move |connection| {
            Box::pin(async move {
                let rows = prepared::<FindStanding>().bind::<BigInt, _>(id.0);
                rows.load::<StandingRow>(connection).await
            })
        });
        let row = found.await?.into_iter().next().ok_or(DecisionError::Absent(id))?;
        match StateName::parse(&row.state)
            .ok_or_else(|| DatabaseError::corrupt("purchases", "state", id.0))?
        {
            StateName::Review => Ok(OrganisationId(row.organisation_id)),
            state @ (StateName::InFlight
            | StateName::InDoubt
            | StateName::RetryDue
            | StateName::Successful
            | StateName::Failed) => Err(DecisionError::NotInReview { id, state }),
        }
    }

    async fn refuse_vend_of_another(
        &self,
        id: PurchaseId,
        provider_transaction: &str,
    ) -> Result<(), DecisionError> {
        let vend = provider_transaction.to_owned();
        let found = self.database.read(move |connection| {
            Box::pin(async move { find_owner(connection, &[(id, vend.as_str())]).await })
        });
        let Some(owner) = found.await? else { return Ok(()) };
        Err(DecisionError::VendOfAnother {
            provider_transaction: provider_transaction.to_owned(),
            of: PurchaseId(owner.purchase_id),
            incident: owner.incident_id,
        })
    }

    /// Refuses unless the key in use opens the newest token that the servers have sealed.
    pub async fn refuse_another_key(&self) -> Result<(), DecisionError> {
        let newest = self.database.read(|connection| {
            Box::pin(async move { prepared::<NewestToken>().load::<TokenRow>(connection).await })
        });
        let Some(row) = newest.await?.into_iter().next() else { return Ok(()) };
        let sealed = Sealed { key_id: row.token_key_id, bytes: row.sealed_token };
        let place = Aad { row_id: row.id, column: TOKEN_COLUMN };
        self.sealing.open(&sealed, place).map_err(DecisionError::OtherKey).map(drop)
    }

    async fn claim_for_a_person(&self, id: PurchaseId, of: OrganisationId) -> Result<Fence, DecisionError> {
        let claimed = self.record(id, of, Event::Claimed).await.map_err(failed)?;
        match (claimed.verdict, claimed.lifecycle.state.name()) {
            (Verdict::Moved | Verdict::AlreadyThere, StateName::Review) => Ok(claimed.lifecycle.fence),
            (Verdict::Illegal(illegal), _) if illegal.why == Why::Leased => {
                Err(DecisionError::Held { id, until: claimed.lifecycle.lease_until })
            }
            (Verdict::Moved | Verdict::AlreadyThere | Verdict::Illegal(_), state) => {
                Err(DecisionError::NotInReview { id, state })
            }
        }
    }

    async fn offer(
        &self,
        id: PurchaseId,
        event: Event,
        operator_action: OperatorAction,
    ) -> Result<Recorded, RecordError> {
        let mut outcome = self.record_operator_action(id, event.clone(), operator_action.clone()).await;
        for _ in 1..OFFERS_MAX {
            if !matches!(&outcome, Err(error @ RecordError::Unacknowledged(_)) if !is_collision(error) && refusal(error).is_none())
            {
                break;
            }
            outcome = self.record_operator_action(id, event.clone(), operator_action.clone()).await;
        }
        outcome
    }

    /// Releases the lease now. Otherwise it would end by itself later.
    async fn release_lease(&self, id: PurchaseId, of: OrganisationId, fence: Fence) {
        let release_lease = Event::LeaseReleased { fence, why: Doubt::NeverReported.into() };
        if let Err(error) = self.record(id, of, release_lease).await {
            let cause: &dyn Error = &error;
            tracing::warn!(cause, purchase = id.0, "a purchase stays claimed until its lease ends");
        }
    }
}

impl Decision {
    fn event(self, fence: Fence) -> Event {
        match self {
            Self::Vended(vend) => Event::OperatorVended { fence, vend },
            Self::NotVended => Event::OperatorNotVended { fence },
        }
    }

    fn provider_transaction(&self) -> Option<String> {
        match self {
            Self::Vended(vend) => Some(vend.provider_transaction.clone()),
            Self::NotVended => None,
        }
    }

    /// The details for the audit log, in addition to the reason. Never a token.
    fn details(&self) -> Value {
        match self {
            Self::Vended(vend) => json!({
                "as": "vended",
                "provider_transaction": vend.provider_transaction,
                "units": vend.units.as_ref().map(Units::to_string),
                "token": vend.tokens.is_some(),
            }),
            Self::NotVended => json!({ "as": "not-vended" }),
        }
    }
}

fn failed(error: RecordError) -> DecisionError {
    match refusal(&error) {
        Some(cause) => DecisionError::Refused(Arc::clone(cause)),
        None => DecisionError::Unacknowledged(error),
    }
}

/// The rules of approvals.
const REFUSALS: [&str; 6] = [
    "acts_above_the_threshold_are_approved",
    "approvals_are_of_another_person",
    "approvals_are_in_time",
    "approvals_are_carried_out",
    "approval_decisions_pkey",
    "decisions_wait_for_open_requests",
];

/// The answer of the database, if it refused the whole transaction by such a rule, or because the login may not do it.
fn refusal(error: &RecordError) -> Option<&Arc<DatabaseError>> {
    let RecordError::Unacknowledged(cause) = error else { return None };
    let is_refused = if let DatabaseError::Rejected { constraint, .. }
    | DatabaseError::Duplicate { constraint } = &**cause
    {
        REFUSALS.contains(&constraint.as_str())
    } else {
        cause.is_forbidden()
    };
    is_refused.then_some(cause)
}

/// Whether the vend was found to belong to another purchase when the decision was recorded.
fn is_collision(error: &RecordError) -> bool {
    matches!(error, RecordError::Unacknowledged(cause)
        if matches!(&**cause, DatabaseError::Duplicate { constraint } if constraint == ONE_PURCHASE_PER_VEND))
}

fn incident_in_words(incident: Option<i64>) -> String {
    incident.map_or_else(String::new, |incident| format!(", as incident {incident}"))
}

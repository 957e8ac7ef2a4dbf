//! A person's decision about a purchase in review: what no provider can tell, somebody has found out.
//!
//! It goes the way of every other fact, under a claim of its own, and the line in the audit log is written in the
//! transaction of the decision.

use std::error::Error;

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bytea, Integer, Text};
use diesel_async::RunQueryDsl;
use purchase::{Fact, Fence, Life, OrganisationId, PurchaseId, StateName, Why};
use serde_json::{Value, json};
use vend::{Doubt, Units, Vend};

use crate::identity::Act;
use crate::lanes::vouched::{ONE_PURCHASE_PER_VEND, find_owner};
use crate::purchases::{Deed, TOKEN_COLUMN};
use crate::statement::{Statement, prepared};
use crate::{Aad, RecordError, Recorded, SealError, Sealed, Store, StoreError, Verdict};

/// What somebody has found out.
#[derive(Clone, Debug)]
pub enum Decision {
    /// It was vended, and this is what came of it.
    Vended(Box<Vend>),
    /// Nothing was vended.
    NotVended,
}

/// A decision that is on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// How the purchase stands now.
    pub life: Life,
    /// When that was put on record.
    pub at: DateTime<Utc>,
}

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    /// No purchase has that number.
    #[error("there is no purchase {}", .0.0)]
    Absent(PurchaseId),
    /// Only what is in review waits for a person.
    #[error("purchase {} is {}", id.0, state.as_str())]
    NotInReview { id: PurchaseId, state: StateName },
    /// Somebody is asking the provider about it at this moment.
    #[error("purchase {} is held by whoever asks the provider about it", id.0)]
    Held { id: PurchaseId, until: Option<DateTime<Utc>> },
    /// The vend that is vouched for is another purchase's.
    #[error("vend {provider_transaction} is that of purchase {}{}", of.0, incident_in_words(*incident))]
    VendOfAnother { provider_transaction: String, of: PurchaseId, incident: Option<i64> },
    /// The key at hand is not the one that the deployment seals with: nobody could read the token again.
    #[error("the sealing key is not the one that the servers seal with")]
    OtherKey(#[source] SealError),
    /// Nobody knows whether it is on record.
    #[error("the decision was not acknowledged")]
    Unacknowledged(#[source] RecordError),
    /// The database failed, and nothing was decided.
    #[error("it could not be recorded")]
    Store(#[from] StoreError),
}

/// How often a decision is offered until its commit is acknowledged. Offered again, it finds itself.
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
    /// Puts a person's decision about a purchase in review on record: with what it does to the hold, the journal and
    /// the outbox, and with a line in the audit log, in one transaction.
    pub async fn decide(
        &self,
        id: PurchaseId,
        decision: Decision,
        act: Act,
    ) -> Result<Decided, DecisionError> {
        let of = self.in_review(id).await?;
        if let Decision::Vended(vend) = &decision {
            self.refuse_vend_of_another(id, &vend.provider_transaction).await?;
            if vend.tokens.is_some() {
                self.refuse_another_key().await?;
            }
        }
        let vouched = decision.provider_transaction();
        let fence = self.claim_for_a_person(id, of).await?;
        let deed = Deed { act, of, action: "purchase.resolved", details: decision.details() };
        let outcome = self.offer(id, decision.fact(fence), deed).await;
        match outcome {
            Ok(Recorded { life, at, verdict: Verdict::Moved | Verdict::AlreadyThere }) => {
                Ok(Decided { life, at })
            }
            // Proof came in between the claim and the decision, and proof is better.
            Ok(Recorded { life, verdict: Verdict::Illegal(_), .. }) => {
                self.let_go(id, of, fence).await;
                Err(DecisionError::NotInReview { id, state: life.state.name() })
            }
            Err(error) => {
                self.let_go(id, of, fence).await;
                // Somebody has entered the same vend for another purchase meanwhile.
                if let (true, Some(vend)) = (is_collision(&error), vouched) {
                    self.refuse_vend_of_another(id, &vend).await?;
                }
                Err(DecisionError::Unacknowledged(error))
            }
        }
    }

    async fn in_review(&self, id: PurchaseId) -> Result<OrganisationId, DecisionError> {
        let found = self.read(move |connection| {
            Box::pin(async move {
                let rows = prepared::<FindStanding>().bind::<BigInt, _>(id.0);
                Ok(rows.load::<StandingRow>(connection).await?)
            })
        });
        let row = found.await?.into_iter().next().ok_or(DecisionError::Absent(id))?;
        match StateName::parse(&row.state).ok_or_else(|| StoreError::corrupt("purchases", "state", id.0))? {
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
        let found = self.read(move |connection| {
            Box::pin(async move { find_owner(connection, &[(id, vend.as_str())]).await })
        });
        let Some(owner) = found.await? else { return Ok(()) };
        Err(DecisionError::VendOfAnother {
            provider_transaction: provider_transaction.to_owned(),
            of: PurchaseId(owner.purchase_id),
            incident: owner.incident_id,
        })
    }

    async fn refuse_another_key(&self) -> Result<(), DecisionError> {
        let newest = self.read(|connection| {
            Box::pin(async move { Ok(prepared::<NewestToken>().load::<TokenRow>(connection).await?) })
        });
        let Some(row) = newest.await?.into_iter().next() else { return Ok(()) };
        let sealed = Sealed { key_id: row.token_key_id, bytes: row.sealed_token };
        let place = Aad { purchase_id: row.id, column: TOKEN_COLUMN };
        self.sealing.open(&sealed, place).map_err(DecisionError::OtherKey).map(drop)
    }

    async fn claim_for_a_person(&self, id: PurchaseId, of: OrganisationId) -> Result<Fence, DecisionError> {
        let claimed = self.record(id, of, Fact::Claimed).await.map_err(DecisionError::Unacknowledged)?;
        match (claimed.verdict, claimed.life.state.name()) {
            (Verdict::Moved | Verdict::AlreadyThere, StateName::Review) => Ok(claimed.life.fence),
            (Verdict::Illegal(illegal), _) if illegal.why == Why::Leased => {
                Err(DecisionError::Held { id, until: claimed.life.lease_until })
            }
            (Verdict::Moved | Verdict::AlreadyThere | Verdict::Illegal(_), state) => {
                Err(DecisionError::NotInReview { id, state })
            }
        }
    }

    async fn offer(&self, id: PurchaseId, fact: Fact, deed: Deed) -> Result<Recorded, RecordError> {
        let mut outcome = self.record_deed(id, fact.clone(), deed.clone()).await;
        for _ in 1..OFFERS_MAX {
            if !matches!(&outcome, Err(error @ RecordError::Unacknowledged(_)) if !is_collision(error)) {
                break;
            }
            outcome = self.record_deed(id, fact.clone(), deed.clone()).await;
        }
        outcome
    }

    /// The lease would end by itself; this ends it now.
    async fn let_go(&self, id: PurchaseId, of: OrganisationId, fence: Fence) {
        let let_go = Fact::LetGo { fence, why: Doubt::NeverReported.into() };
        if let Err(error) = self.record(id, of, let_go).await {
            let cause: &dyn Error = &error;
            tracing::warn!(cause, purchase = id.0, "a purchase stays claimed until its lease ends");
        }
    }
}

impl Decision {
    fn fact(self, fence: Fence) -> Fact {
        match self {
            Self::Vended(vend) => Fact::OperatorVended { fence, vend },
            Self::NotVended => Fact::OperatorNotVended { fence },
        }
    }

    fn provider_transaction(&self) -> Option<String> {
        match self {
            Self::Vended(vend) => Some(vend.provider_transaction.clone()),
            Self::NotVended => None,
        }
    }

    /// What the audit log says beside the reason. Never a token.
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

/// Whether the vend was found to be another purchase's as the decision was put on record.
fn is_collision(error: &RecordError) -> bool {
    matches!(error, RecordError::Unacknowledged(cause)
        if matches!(&**cause, StoreError::Duplicate { constraint } if constraint == ONE_PURCHASE_PER_VEND))
}

fn incident_in_words(incident: Option<i64>) -> String {
    incident.map_or_else(String::new, |incident| format!(", as incident {incident}"))
}

//! The complete story of one purchase, read in one snapshot: the request, every name under which it was sent, every
//! event, the replies, postings and messages, and the operators' decisions.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Transaction};
use directory::AuditLine;
use money::Money;
use purchase::{Failure, Handling, PurchaseId, SourceChannel, StateName};
use vend::{Capabilities, Product};

use crate::{
    incidents::{self, IncidentRecord},
    messages::{self, MessageRecord},
};

mod chapters;
mod heading;

/// Everything that is known about a purchase, except sealed values.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// The purchase in its current state.
    pub purchase: StoryPurchase,
    /// Every name under which it may have been sent, in order.
    pub attempts: Vec<StoryAttempt>,
    /// What happened, in order.
    pub events: Vec<StoryEvent>,
    /// The stored replies of the provider, in order.
    pub replies: Vec<StoryReply>,
    /// The journal entries about it, in order.
    pub entries: Vec<StoryEntry>,
    /// Vends that became known after its end.
    pub incidents: Vec<IncidentRecord>,
    /// The messages about it.
    pub messages: Vec<MessageRecord>,
    /// Operator actions on it, in order.
    pub operator_actions: Vec<AuditLine>,
}

/// The purchase in its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryPurchase {
    /// Its number.
    pub id: PurchaseId,
    /// The request to decide it that waits for the approval of another person.
    pub open_request: Option<i64>,
    /// Whether that request decides that nothing was vended. Otherwise it vouches for a vend.
    pub would_release: bool,
    /// Its reference for people.
    pub reference: String,
    /// Code and name of its organisation.
    pub organisation: (String, String),
    /// The client id that requested it.
    pub client_id: String,
    /// The user in whose name it was requested.
    pub username: String,
    /// The wallet that pays.
    pub account: i64,
    /// The channel that it came from.
    pub source_channel: SourceChannel,
    /// The source in the integrator's own words. Current surface only.
    pub source_tag: Option<String>,
    /// The locale tag of the request.
    pub language: String,
    /// The product.
    pub product: Product,
    /// The code of the provider.
    pub provider_code: String,
    /// What that provider's connection is currently declared to do in doubt.
    pub declared: Capabilities,
    /// The subscriber identifier.
    pub subscriber: String,
    /// The consumer's name as the vend returned it, otherwise as the check before it returned it.
    pub subscriber_details: Option<String>,
    /// The phone number that gets the message.
    pub beneficiary_phone_number: String,
    /// The amount asked, the charge, the amount vended, the total paid, and the commission earned.
    pub amounts: StoryAmounts,
    /// The integrator's own reference for it.
    pub external_reference: Option<String>,
    /// The `X-Request-Id` of its confirm.
    pub request_id: Option<String>,
    /// Free text.
    pub comment: Option<String>,
    /// When it was reserved.
    pub created_at: DateTime<Utc>,
    /// Its state.
    pub state: StateName,
    /// Which side settles doubt about it.
    pub handling: Handling,
    /// The fence of the latest claim.
    pub fence: i64,
    /// When the lease of its holder ends.
    pub lease_until: Option<DateTime<Utc>>,
    /// When the worker looks at it next.
    pub due_at: Option<DateTime<Utc>>,
    /// The number of its current attempt.
    pub attempt: u16,
    /// How many copies of it may have been sent, while that matters.
    pub copies: Option<u16>,
    /// When the latest copy was sent.
    pub last_sent_at: Option<DateTime<Utc>>,
    /// When the window closes. Nothing is sent after that.
    pub window_closes_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Whether a sealed token is stored. This module cannot read it.
    pub has_token: bool,
    /// The units that the token is worth.
    pub units: Option<String>,
    /// The provider's name for the vend.
    pub provider_transaction: Option<String>,
    /// Why it failed, or why its last attempt did.
    pub failure: Option<Failure>,
    /// The file of the archive that has its events and replies, if they are no longer in the database.
    pub archive: Option<String>,
    /// The database's time of this read.
    pub seen_at: DateTime<Utc>,
}

/// The five amounts of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoryAmounts {
    /// The amount as asked.
    pub entry: Money,
    /// What the organisation is charged for it.
    pub charge: Money,
    /// The amount that the provider is asked to vend.
    pub net: Money,
    /// The amount that the wallet pays.
    pub total: Money,
    /// The commission that the organisation earns.
    pub commission: Money,
}

/// A name under which the purchase may have been sent to the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryAttempt {
    /// The number of the attempt, from 1.
    pub number: u16,
    /// The name as the provider knows it.
    pub provider_reference: String,
    /// When it was recorded, before it was sent.
    pub started_at: DateTime<Utc>,
}

/// A line of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryEvent {
    /// When it was recorded.
    pub at: DateTime<Utc>,
    /// The stable name of the event. `RESERVED` is the first.
    pub fact: String,
    /// What the event carried: a reason, a doubt, a provider's name for a transaction.
    pub detail: Option<String>,
    /// The state of the purchase afterwards.
    pub state: StateName,
    /// The fence of the purchase afterwards.
    pub fence: i64,
    /// The number of the attempt that it is about.
    pub attempt: u16,
}

/// A stored reply of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryReply {
    /// When it was stored.
    pub at: DateTime<Utc>,
    /// The number of the attempt during which it arrived.
    pub attempt: u16,
    /// Its sealed length, in bytes.
    pub sealed_bytes: u32,
    /// The number of the key that opens it.
    pub key_id: i32,
}

/// A journal entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryEntry {
    /// Its number.
    pub id: i64,
    /// `SETTLE` or `INCIDENT`.
    pub kind: String,
    /// When it was posted.
    pub posted_at: DateTime<Utc>,
    /// Its postings.
    pub moves: Vec<StoryMove>,
}

/// One posting. Each side is the role of a system account, or the number of a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryMove {
    /// The debited account.
    pub debit: String,
    /// The credited account.
    pub credit: String,
    /// The amount.
    pub amount: Money,
}

/// The story of the purchase with this number.
pub async fn oversee_purchase(database: &Database, id: PurchaseId) -> Result<Option<Story>, DatabaseError> {
    database.operate(move |transaction| Box::pin(read_story(transaction, id))).await
}

/// The subjects under which the audit log has lines about this purchase, each as `noun:key`.
pub async fn audit_subjects_of_purchase(
    database: &Database,
    id: PurchaseId,
) -> Result<Vec<String>, DatabaseError> {
    database.operate(move |transaction| Box::pin(chapters::subjects(transaction, id))).await
}

async fn read_story(transaction: &Transaction, id: PurchaseId) -> Result<Option<Story>, DatabaseError> {
    transaction.batch_execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?;
    let Some(purchase) = heading::find(transaction, id).await? else { return Ok(None) };
    Ok(Some(Story {
        purchase,
        attempts: chapters::attempts(transaction, id).await?,
        events: chapters::events(transaction, id).await?,
        replies: chapters::replies(transaction, id).await?,
        entries: chapters::entries(transaction, id).await?,
        incidents: incidents::of_purchase(transaction, id).await?,
        messages: messages::of_purchase(transaction, id).await?,
        operator_actions: chapters::operator_actions(transaction, id).await?,
    }))
}

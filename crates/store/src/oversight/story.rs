//! The whole story of one purchase, read in one snapshot: what was asked, every name under which it left us, every
//! fact, what was said, moved and written, and who decided.

use chrono::{DateTime, Utc};
use diesel_async::SimpleAsyncConnection;
use money::Money;
use purchase::{Handling, PurchaseId, SourceChannel, StateName};
use vend::{Capabilities, Product};

use super::incidents::{self, IncidentRecord};
use super::messages::{self, MessageRecord};
use crate::identity::AuditLine;
use crate::transaction::Transaction;
use crate::{Store, StoreError};

mod chapters;
mod heading;

/// Everything that is known of a purchase, but for what is sealed.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// As it stands.
    pub purchase: StoryPurchase,
    /// Every name under which its order may have left us, in order.
    pub attempts: Vec<StoryAttempt>,
    /// What happened, in order.
    pub events: Vec<StoryEvent>,
    /// What the provider said and was kept, in order.
    pub replies: Vec<StoryReply>,
    /// What was posted about it, in order.
    pub entries: Vec<StoryEntry>,
    /// What came to light after its end.
    pub incidents: Vec<IncidentRecord>,
    /// What people were to be told.
    pub messages: Vec<MessageRecord>,
    /// What people did about it, in order.
    pub deeds: Vec<AuditLine>,
}

/// The purchase as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryPurchase {
    /// Its number.
    pub id: PurchaseId,
    /// Its name for people.
    pub reference: String,
    /// Code and name of whose it is.
    pub organisation: (String, String),
    /// The client id that it came through.
    pub client_id: String,
    /// The user in whose name.
    pub username: String,
    /// Out of which wallet.
    pub account: i64,
    /// Where from.
    pub source_channel: SourceChannel,
    /// Where from, in the integrator's own words; Current surface only.
    pub source_tag: Option<String>,
    /// The locale tag of the request.
    pub language: String,
    /// What.
    pub product: Product,
    /// From whom.
    pub provider_code: String,
    /// What that provider's connection is declared to do in doubt, now.
    pub declared: Capabilities,
    /// For whom.
    pub subscriber: String,
    /// The consumer's name as the vend gave it, else as the check before it did.
    pub subscriber_details: Option<String>,
    /// Who gets the message.
    pub beneficiary_phone_number: String,
    /// What was asked, what is added, what is vended, what is paid, and what the organisation earns.
    pub amounts: StoryAmounts,
    /// The integrator's own name for it.
    pub external_reference: Option<String>,
    /// The `X-Request-Id` of its confirm.
    pub request_id: Option<String>,
    /// Free text.
    pub comment: Option<String>,
    /// When it was reserved.
    pub created_at: DateTime<Utc>,
    /// Where it stands.
    pub state: StateName,
    /// Who settles doubt.
    pub handling: Handling,
    /// The latest claim.
    pub fence: i64,
    /// Until when its holder is left alone.
    pub lease_until: Option<DateTime<Utc>>,
    /// When the worker looks at it next.
    pub due_at: Option<DateTime<Utc>>,
    /// The number of its current attempt.
    pub attempt: u16,
    /// How many copies of it may have left us, while that matters.
    pub copies: Option<u16>,
    /// When the latest did.
    pub last_sent_at: Option<DateTime<Utc>>,
    /// When nothing is sent any more.
    pub window_closes_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Whether a token is sealed in it. What that says, nobody here can read.
    pub has_token: bool,
    /// What the token is worth.
    pub units: Option<String>,
    /// The provider's name for the vend.
    pub provider_transaction: Option<String>,
    /// Why it failed, or why its last attempt did.
    pub failure: Option<StoryFailure>,
    /// The database's time of the look.
    pub seen_at: DateTime<Utc>,
}

/// The five amounts of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoryAmounts {
    /// As asked.
    pub entry: Money,
    /// What the organisation is charged for it.
    pub charge: Money,
    /// What the provider is asked to vend.
    pub net: Money,
    /// What the wallet pays.
    pub total: Money,
    /// What the organisation earns.
    pub commission: Money,
}

/// Why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryFailure {
    /// `REFUSED`, `NO_RECORD` or `OPERATOR`.
    pub kind: String,
    /// The reason of a refusal, by its stable name.
    pub reason: Option<String>,
    /// In the provider's words.
    pub wording: Option<String>,
}

/// A name under which the order may have left us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryAttempt {
    /// From 1.
    pub number: u16,
    /// As the provider knows it.
    pub provider_reference: String,
    /// When it was put on record, before it left.
    pub started_at: DateTime<Utc>,
}

/// A line of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryEvent {
    /// When it was put on record.
    pub at: DateTime<Utc>,
    /// What happened, by its stable name; `RESERVED` is the first.
    pub fact: String,
    /// What the fact carried: a reason, a doubt, a provider's name for a transaction.
    pub detail: Option<String>,
    /// Where the purchase stood afterwards.
    pub state: StateName,
    /// Under which claim it stood afterwards.
    pub fence: i64,
    /// About which attempt.
    pub attempt: u16,
}

/// Something that the provider said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryReply {
    /// When it was kept.
    pub at: DateTime<Utc>,
    /// During which attempt.
    pub attempt: u16,
    /// Its length, sealed, in bytes.
    pub sealed_bytes: u32,
    /// The number of the key that opens it.
    pub key_id: i32,
}

/// An entry of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryEntry {
    /// Its number.
    pub id: i64,
    /// `SETTLE` or `INCIDENT`.
    pub kind: String,
    /// When it was posted.
    pub posted_at: DateTime<Utc>,
    /// What it moves.
    pub moves: Vec<StoryMove>,
}

/// One posting. Each side is a role of the house, or the number of a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryMove {
    /// Out of.
    pub debit: String,
    /// Into.
    pub credit: String,
    /// How much.
    pub amount: Money,
}

impl Store {
    /// The story of the purchase of this number.
    pub async fn oversee_purchase(&self, id: PurchaseId) -> Result<Option<Story>, StoreError> {
        self.operate(move |transaction| Box::pin(tell(transaction, id))).await
    }
}

async fn tell(transaction: &mut Transaction, id: PurchaseId) -> Result<Option<Story>, StoreError> {
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
        deeds: chapters::deeds(transaction, id).await?,
    }))
}

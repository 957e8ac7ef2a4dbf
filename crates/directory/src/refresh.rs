//! Exchanges a refresh token for its successors: once, or again while the successor refresh token is unused.

use chrono::{DateTime, TimeDelta, Utc};
use database::{Database, DatabaseError, Run, Transaction};
use diesel::{ExpressionMethods, QueryDsl};

use self::row::Presented;
use super::{
    CredentialHash, Role,
    schema::{access_tokens, refresh_tokens, token_families},
};

mod row;

/// A refresh token that a client presents for its successors.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub proof: Proof,
    pub presented: CredentialHash,
    /// Derived from the presented token, so it is the same at every repetition.
    pub access_hash: CredentialHash,
    /// Derived from the presented token, so it is the same at every repetition.
    pub refresh_hash: CredentialHash,
    pub at: DateTime<Utc>,
    pub access_lifetime: TimeDelta,
    pub idle_lifetime: TimeDelta,
    /// How long after an exchange a client that missed the answer may repeat it.
    pub grace: TimeDelta,
}

/// Proof that the session's own client presents the token.
#[derive(Debug, Clone)]
pub enum Proof {
    /// A live secret of the client.
    Secret { client_id: String, secret_hash: CredentialHash },
    /// A live access token of the same session, and of this client where one is named.
    AccessToken { client_id: Option<String>, access_hash: CredentialHash },
}

/// The outcome of presenting a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchanged {
    /// The successors are valid, the access token until `access_expires_at`.
    Pair { access_expires_at: DateTime<Utc>, role: Role },
    /// Everything is correct, but the organisation is suspended.
    OrganisationSuspended,
    /// The token was used before, so two parties have it. Its whole family has been revoked.
    Reused { family_id: i64 },
    /// Unknown, expired, revoked, or not this client's.
    Refused,
}

/// Exchanges a refresh token.
pub async fn exchange(database: &Database, exchange: Exchange) -> Result<Exchanged, DatabaseError> {
    database.operate(move |transaction| Box::pin(async move { run(transaction, &exchange).await })).await
}

async fn run(transaction: &Transaction, exchange: &Exchange) -> Result<Exchanged, DatabaseError> {
    if !row::lock_family(transaction, exchange.presented).await? {
        return Ok(Exchanged::Refused);
    }
    let Some(presented) = row::find(transaction, exchange).await? else { return Ok(Exchanged::Refused) };
    match presented.decide(exchange) {
        Decision::Issue => issue(transaction, exchange, &presented).await,
        Decision::Answer(exchanged) => Ok(exchanged),
        Decision::Revoke => revoke(transaction, exchange, &presented).await,
    }
}

enum Decision {
    Issue,
    Revoke,
    Answer(Exchanged),
}

impl Presented {
    fn decide(&self, exchange: &Exchange) -> Decision {
        let alive = self.revoked_at.is_none() && self.family_expires_at > exchange.at;
        if !alive || !self.client_and_user_are_active {
            return Decision::Answer(Exchanged::Refused);
        }
        let Some(exchanged_at) = self.exchanged_at else {
            return if self.expires_at <= exchange.at {
                Decision::Answer(Exchanged::Refused)
            } else if self.organisation_is_active {
                Decision::Issue
            } else {
                Decision::Answer(Exchanged::OrganisationSuspended)
            };
        };
        match self.successor {
            Some(successor) if !successor.exchanged && exchange.at - exchanged_at <= exchange.grace => {
                self.repeat(exchange, successor.refresh_hash, successor.access_expires_at)
            }
            _ => Decision::Revoke,
        }
    }

    fn repeat(
        &self,
        exchange: &Exchange,
        successor: CredentialHash,
        access_expires_at: DateTime<Utc>,
    ) -> Decision {
        if successor != exchange.refresh_hash {
            // The key that successors are derived with was changed meanwhile. No client is at fault.
            return Decision::Answer(Exchanged::Refused);
        }
        if !self.organisation_is_active {
            return Decision::Answer(Exchanged::OrganisationSuspended);
        }
        Decision::Answer(Exchanged::Pair { access_expires_at, role: self.role })
    }
}

async fn issue(
    transaction: &Transaction,
    exchange: &Exchange,
    presented: &Presented,
) -> Result<Exchanged, DatabaseError> {
    let access_expires_at = (exchange.at + exchange.access_lifetime).min(presented.family_expires_at);
    let refresh_expires_at = (exchange.at + exchange.idle_lifetime).min(presented.family_expires_at);
    diesel::update(refresh_tokens::table)
        .filter(refresh_tokens::token_hash.eq(exchange.presented.0.as_slice()))
        .set(refresh_tokens::exchanged_at.eq(exchange.at))
        .execute(transaction)
        .await?;
    diesel::insert_into(refresh_tokens::table)
        .values((
            refresh_tokens::family_id.eq(presented.family_id),
            refresh_tokens::generation.eq(presented.next_generation),
            refresh_tokens::token_hash.eq(exchange.refresh_hash.0.as_slice()),
            refresh_tokens::created_at.eq(exchange.at),
            refresh_tokens::expires_at.eq(refresh_expires_at),
        ))
        .execute(transaction)
        .await?;
    diesel::insert_into(access_tokens::table)
        .values((
            access_tokens::family_id.eq(presented.family_id),
            access_tokens::generation.eq(presented.next_generation),
            access_tokens::token_hash.eq(exchange.access_hash.0.as_slice()),
            access_tokens::created_at.eq(exchange.at),
            access_tokens::expires_at.eq(access_expires_at),
        ))
        .execute(transaction)
        .await?;
    Ok(Exchanged::Pair { access_expires_at, role: presented.role })
}

/// The database writes the audit line for this, because servers cannot write to the audit log.
async fn revoke(
    transaction: &Transaction,
    exchange: &Exchange,
    presented: &Presented,
) -> Result<Exchanged, DatabaseError> {
    let family_id = presented.family_id;
    diesel::update(token_families::table.find(family_id))
        .set((
            token_families::revoked_at.eq(exchange.at),
            token_families::revoked_because.eq("REFRESH_TOKEN_REUSED"),
        ))
        .execute(transaction)
        .await?;
    Ok(Exchanged::Reused { family_id })
}

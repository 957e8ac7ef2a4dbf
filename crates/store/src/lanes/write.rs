//! Everything that a group's facts do, written with one statement per table.

use diesel::sql_types::{Array, BigInt, Bool, Bytea, Integer, Nullable, SmallInt, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use money::Money;
use purchase::{Fact, Sending};
use vend::Breakdown;

use super::on_file::OnFile;
use super::record::{Change, HistoryLine, Records};
use crate::row::{failure_columns, minor};
use crate::statement::{Statement, prepared};
use crate::{StoreError, outbox};

macro_rules! statements {
    ($($name:ident = $file:literal;)+) => {$(
        struct $name;

        impl Statement for $name {
            const SQL: &str = include_str!(concat!("../sql/", $file));
        }
    )+};
}

statements! {
    UpdatePurchases = "update_purchases.sql";
    InsertEvents = "insert_events.sql";
    InsertReplies = "insert_replies.sql";
    InsertAttempts = "insert_attempts.sql";
    InsertIncidents = "insert_incidents.sql";
}

impl Records<'_> {
    /// Writes it all. The statements are sent together and run one after the other. The one that ends a purchase has the
    /// database move its money; an incident must find the end of its purchase there, so it comes after them. The audit
    /// log comes last: from there to the commit nobody else can add to it.
    pub(super) async fn write(&self, connection: &AsyncPgConnection) -> Result<(), StoreError> {
        tokio::try_join!(
            biased;
            self.update_purchases(connection),
            self.insert_attempts(connection),
            self.insert_events(connection),
            self.insert_replies(connection),
            outbox::insert(connection, &self.owed),
        )?;
        self.insert_incidents(connection).await?;
        self.refuse_vends_of_others(connection).await?;
        self.insert_deeds(connection).await
    }

    async fn update_purchases(&self, mut connection: &AsyncPgConnection) -> Result<(), StoreError> {
        let changes: Vec<&Change<'_>> = self.changes.values().collect();
        if changes.is_empty() {
            return Ok(());
        }
        let c = &changes;
        let rows = prepared::<UpdatePurchases>()
            .bind::<Array<BigInt>, _>(each(c, |c| c.to.id.0))
            .bind::<Array<Text>, _>(each(c, |c| c.from.0.as_str()))
            .bind::<Array<BigInt>, _>(each(c, |c| c.from.1.0))
            .bind::<Array<Text>, _>(each(c, |c| c.to.life.state.name().as_str()))
            .bind::<Array<BigInt>, _>(each(c, |c| c.to.life.fence.0))
            .bind::<Array<Nullable<Timestamptz>>, _>(each(c, |c| c.to.life.lease_until))
            .bind::<Array<SmallInt>, _>(each(c, |c| small(c.to.life.attempt)))
            .bind::<Array<SmallInt>, _>(each(c, |c| i16::from(c.to.life.requests)))
            .bind::<Array<Nullable<SmallInt>>, _>(each(c, |c| sending(c).map(|s| small(s.copies))))
            .bind::<Array<Nullable<Timestamptz>>, _>(each(c, |c| sending(c).map(|s| s.last_sent_at)))
            .bind::<Array<Nullable<Timestamptz>>, _>(each(c, |c| sending(c)?.no_record_since))
            .bind::<Array<Text>, _>(each(c, |c| c.to.provider_reference.to_string()))
            .bind::<Array<Nullable<Timestamptz>>, _>(each(c, |c| {
                (!c.to.life.state.name().is_open()).then_some(c.to.at)
            }))
            .bind::<Array<Nullable<Integer>>, _>(each(c, |c| sealed_tokens(c).map(|sealed| sealed.key_id)))
            .bind::<Array<Nullable<Bytea>>, _>(each(c, |c| {
                sealed_tokens(c).map(|sealed| sealed.bytes.as_slice())
            }))
            .bind::<Array<Nullable<Text>>, _>(each(c, |c| {
                c.bought.and_then(|(vend, _)| vend.units.as_ref().map(|units| units.quantity.to_string()))
            }))
            .bind::<Array<Nullable<Text>>, _>(each(c, |c| {
                c.bought.and_then(|(vend, _)| vend.units.as_ref().map(|units| units.unit.as_str()))
            }))
            .bind::<Array<Nullable<Text>>, _>(each(c, |c| {
                c.bought.map(|(vend, _)| vend.provider_transaction.as_str())
            }))
            .bind::<Array<Nullable<Text>>, _>(each(c, |c| {
                c.bought.and_then(|(vend, _)| vend.subscriber_details.as_deref())
            }))
            .bind::<Array<Nullable<BigInt>>, _>(each(c, |c| minor(breakdown(c).map(|parts| parts.cost))))
            .bind::<Array<Nullable<BigInt>>, _>(each(c, |c| minor(breakdown(c).map(|parts| parts.vat))))
            .bind::<Array<Nullable<BigInt>>, _>(each(c, |c| minor(breakdown(c).map(|parts| parts.levy))))
            .bind::<Array<Nullable<BigInt>>, _>(each(c, |c| {
                minor(breakdown(c).map(|parts| parts.regulatory_fee))
            }))
            .bind::<Array<Nullable<BigInt>>, _>(each(c, |c| minor(breakdown(c).map(|parts| parts.charge))))
            .bind::<Array<Nullable<Text>>, _>(each(c, |c| failure_columns(c.to.failure.as_ref()).0))
            .bind::<Array<Nullable<Text>>, _>(each(c, |c| failure_columns(c.to.failure.as_ref()).1))
            .bind::<Array<Nullable<Text>>, _>(each(c, |c| failure_columns(c.to.failure.as_ref()).2))
            .bind::<Array<Nullable<Timestamptz>>, _>(each(c, |c| c.due_at))
            .bind::<Array<Nullable<Timestamptz>>, _>(each(c, |c| c.to.life.claimed_at))
            .bind::<Array<Nullable<Timestamptz>>, _>(each(c, |c| c.to.life.asked_at))
            .bind::<Array<Nullable<Timestamptz>>, _>(each(c, |c| sending(c)?.ended_at))
            .bind::<Array<Nullable<Timestamptz>>, _>(each(c, |c| sending(c)?.earlier_ended_by))
            .execute(&mut connection)
            .await?;
        if rows == changes.len() { Ok(()) } else { Err(StoreError::Stale { what: "a locked purchase" }) }
    }

    async fn insert_attempts(&self, mut connection: &AsyncPgConnection) -> Result<(), StoreError> {
        if self.attempts.is_empty() {
            return Ok(());
        }
        let attempts: Vec<&OnFile> = self.attempts.iter().collect();
        prepared::<InsertAttempts>()
            .bind::<Array<BigInt>, _>(each(&attempts, |a| a.id.0))
            .bind::<Array<SmallInt>, _>(each(&attempts, |a| small(a.life.attempt)))
            .bind::<Array<Text>, _>(each(&attempts, |a| a.provider_code.as_str()))
            .bind::<Array<Text>, _>(each(&attempts, |a| a.provider_reference.to_string()))
            .bind::<Array<Timestamptz>, _>(each(&attempts, |a| a.at))
            .execute(&mut connection)
            .await?;
        Ok(())
    }

    async fn insert_events(&self, mut connection: &AsyncPgConnection) -> Result<(), StoreError> {
        if self.history.is_empty() {
            return Ok(());
        }
        let lines: Vec<&HistoryLine<'_>> = self.history.iter().collect();
        prepared::<InsertEvents>()
            .bind::<Array<BigInt>, _>(each(&lines, |line| line.after.id.0))
            .bind::<Array<Timestamptz>, _>(each(&lines, |line| line.after.at))
            .bind::<Array<Text>, _>(each(&lines, |line| line.entry.fact.kind().as_str()))
            .bind::<Array<Nullable<Text>>, _>(each(&lines, |line| detail(&line.entry.fact)))
            .bind::<Array<Text>, _>(each(&lines, |line| line.after.life.state.name().as_str()))
            .bind::<Array<BigInt>, _>(each(&lines, |line| line.after.life.fence.0))
            .bind::<Array<SmallInt>, _>(each(&lines, |line| small(line.after.life.attempt)))
            .execute(&mut connection)
            .await?;
        Ok(())
    }

    async fn insert_replies(&self, mut connection: &AsyncPgConnection) -> Result<(), StoreError> {
        if self.replies.is_empty() {
            return Ok(());
        }
        let r = &self.replies;
        prepared::<InsertReplies>()
            .bind::<Array<BigInt>, _>(each(r, |r| r.purchase.0))
            .bind::<Array<SmallInt>, _>(each(r, |r| small(r.attempt)))
            .bind::<Array<Timestamptz>, _>(each(r, |r| r.at))
            .bind::<Array<Integer>, _>(each(r, |r| r.sealed.key_id))
            .bind::<Array<Bytea>, _>(each(r, |r| r.sealed.bytes.as_slice()))
            .bind::<Array<Bool>, _>(each(r, |r| r.proves_nothing))
            .execute(&mut connection)
            .await?;
        Ok(())
    }

    async fn insert_incidents(&self, mut connection: &AsyncPgConnection) -> Result<(), StoreError> {
        if self.incidents.is_empty() {
            return Ok(());
        }
        let i = &self.incidents;
        prepared::<InsertIncidents>()
            .bind::<Array<BigInt>, _>(each(i, |i| i.of.id.0))
            .bind::<Array<Text>, _>(each(i, |i| i.incident.as_str()))
            .bind::<Array<Timestamptz>, _>(each(i, |i| i.of.at))
            .bind::<Array<Text>, _>(each(i, |i| i.vend.provider_transaction.as_str()))
            .bind::<Array<Nullable<Integer>>, _>(each(i, |i| {
                i.sealed.tokens.as_ref().map(|sealed| sealed.key_id)
            }))
            .bind::<Array<Nullable<Bytea>>, _>(each(i, |i| {
                i.sealed.tokens.as_ref().map(|sealed| sealed.bytes.as_slice())
            }))
            .execute(&mut connection)
            .await?;
        Ok(())
    }
}

fn each<'a, Item, Value>(items: &'a [Item], value: impl Fn(&'a Item) -> Value) -> Vec<Value> {
    items.iter().map(value).collect()
}

/// Counters that cannot come near the column's end within a window.
fn small(count: u16) -> i16 {
    i16::try_from(count).unwrap_or(i16::MAX)
}

const fn sending<'a>(change: &'a Change<'_>) -> Option<&'a Sending> {
    change.to.life.state.sending()
}

fn sealed_tokens<'a>(change: &Change<'a>) -> Option<&'a crate::Sealed> {
    change.bought.and_then(|(_, sealed)| sealed.tokens.as_ref())
}

/// A split that does not add up to what was vended is left out: it must not stop a vend from being kept.
fn breakdown<'a>(change: &Change<'a>) -> Option<&'a Breakdown> {
    let net = change.to.net;
    let parts = change.bought.and_then(|(vend, _)| vend.breakdown.as_ref())?;
    let sum = parts.parts().into_iter().try_fold(Money::zero(net.currency()), Money::plus);
    (sum == Ok(net)).then_some(parts)
}

/// What a history line says beside the kind of fact. Never a token.
fn detail(fact: &Fact) -> Option<String> {
    match fact {
        Fact::Vended { vend } | Fact::OperatorVended { vend, .. } => Some(vend.provider_transaction.clone()),
        Fact::Refused { refusal, .. } => Some(refusal.reason.as_str().to_owned()),
        Fact::Lost { why, .. } | Fact::LetGo { why, .. } => Some(why.doubt.as_str().to_owned()),
        Fact::AttemptStarted { reference, .. } => Some(reference.to_string()),
        Fact::NeverSent { .. }
        | Fact::Claimed
        | Fact::NoRecord { .. }
        | Fact::SentAgain { .. }
        | Fact::WindowClosed { .. }
        | Fact::OperatorNotVended { .. } => None,
    }
}

//! Writes everything that a group's events do, with one statement per table.

use database::{DatabaseError, Statement, Writes, column, prepared};
use diesel::sql_types::{Array, BigInt, Bool, Bytea, Integer, Nullable, SmallInt, Text, Timestamptz};
use purchase::{Event, Sending};
use vend::Breakdown;

use super::{
    locked_purchase::LockedPurchase,
    record::{Change, HistoryLine, Records},
};
use crate::{
    outbox,
    purchases::breakdown_of,
    row::{failure_columns, minor},
};

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
    /// Sends all changes. The server runs the statements one after the other. The statement that ends a purchase makes the
    /// database move its money. An incident must find the end of its purchase, so incidents are written after it.
    pub(super) async fn write(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        self.update_purchases(writes).await?;
        self.insert_attempts(writes).await?;
        self.insert_events(writes).await?;
        self.insert_replies(writes).await?;
        outbox::insert(writes, &self.owed).await?;
        self.insert_incidents(writes).await
    }

    async fn update_purchases(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        let changes: Vec<&Change<'_>> = self.changes.values().collect();
        if changes.is_empty() {
            return Ok(());
        }
        let c = &changes;
        let update = prepared::<UpdatePurchases>()
            .bind::<Array<BigInt>, _>(column(c, |c| c.to.id.0))
            .bind::<Array<Text>, _>(column(c, |c| c.from.0.as_str()))
            .bind::<Array<BigInt>, _>(column(c, |c| c.from.1.0))
            .bind::<Array<Text>, _>(column(c, |c| c.to.lifecycle.state.name().as_str()))
            .bind::<Array<BigInt>, _>(column(c, |c| c.to.lifecycle.fence.0))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(c, |c| c.to.lifecycle.lease_until))
            .bind::<Array<SmallInt>, _>(column(c, |c| small(c.to.lifecycle.attempt)))
            .bind::<Array<SmallInt>, _>(column(c, |c| i16::from(c.to.lifecycle.requests)))
            .bind::<Array<Nullable<SmallInt>>, _>(column(c, |c| sending(c).map(|s| small(s.copies))))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(c, |c| sending(c).map(|s| s.last_sent_at)))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(c, |c| sending(c)?.no_record_since))
            .bind::<Array<Text>, _>(column(c, |c| c.to.provider_reference.to_string()))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(c, |c| {
                (!c.to.lifecycle.state.name().is_open()).then_some(c.to.at)
            }))
            .bind::<Array<Nullable<Integer>>, _>(column(c, |c| sealed_tokens(c).map(|sealed| sealed.key_id)))
            .bind::<Array<Nullable<Bytea>>, _>(column(c, |c| {
                sealed_tokens(c).map(|sealed| sealed.bytes.as_slice())
            }))
            .bind::<Array<Nullable<Text>>, _>(column(c, |c| {
                c.bought.and_then(|(vend, _)| vend.units.as_ref().map(|units| units.quantity.to_string()))
            }))
            .bind::<Array<Nullable<Text>>, _>(column(c, |c| {
                c.bought.and_then(|(vend, _)| vend.units.as_ref().map(|units| units.unit.as_str()))
            }))
            .bind::<Array<Nullable<Text>>, _>(column(c, |c| {
                c.bought.map(|(vend, _)| vend.provider_transaction.as_str())
            }))
            .bind::<Array<Nullable<Text>>, _>(column(c, |c| {
                c.bought.and_then(|(vend, _)| vend.subscriber_details.as_deref())
            }))
            .bind::<Array<Nullable<BigInt>>, _>(column(c, |c| minor(breakdown(c).map(|parts| parts.cost))))
            .bind::<Array<Nullable<BigInt>>, _>(column(c, |c| minor(breakdown(c).map(|parts| parts.vat))))
            .bind::<Array<Nullable<BigInt>>, _>(column(c, |c| minor(breakdown(c).map(|parts| parts.levy))))
            .bind::<Array<Nullable<BigInt>>, _>(column(c, |c| {
                minor(breakdown(c).map(|parts| parts.regulatory_fee))
            }))
            .bind::<Array<Nullable<BigInt>>, _>(column(c, |c| minor(breakdown(c).map(|parts| parts.charge))))
            .bind::<Array<Nullable<Text>>, _>(column(c, |c| failure_columns(c.to.failure.as_ref()).0))
            .bind::<Array<Nullable<Text>>, _>(column(c, |c| failure_columns(c.to.failure.as_ref()).1))
            .bind::<Array<Nullable<Text>>, _>(column(c, |c| failure_columns(c.to.failure.as_ref()).2))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(c, |c| c.due_at))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(c, |c| c.to.lifecycle.claimed_at))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(c, |c| c.to.lifecycle.asked_at))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(c, |c| sending(c)?.ended_at))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(c, |c| sending(c)?.earlier_ended_by));
        writes.send(update).await
    }

    async fn insert_attempts(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        if self.attempts.is_empty() {
            return Ok(());
        }
        let attempts: Vec<&LockedPurchase> = self.attempts.iter().collect();
        let insert = prepared::<InsertAttempts>()
            .bind::<Array<BigInt>, _>(column(&attempts, |a| a.id.0))
            .bind::<Array<SmallInt>, _>(column(&attempts, |a| small(a.lifecycle.attempt)))
            .bind::<Array<Text>, _>(column(&attempts, |a| a.provider_code.as_str()))
            .bind::<Array<Text>, _>(column(&attempts, |a| a.provider_reference.to_string()))
            .bind::<Array<Timestamptz>, _>(column(&attempts, |a| a.at));
        writes.send(insert).await
    }

    async fn insert_events(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        if self.history.is_empty() {
            return Ok(());
        }
        let lines: Vec<&HistoryLine<'_>> = self.history.iter().collect();
        let insert = prepared::<InsertEvents>()
            .bind::<Array<BigInt>, _>(column(&lines, |line| line.after.id.0))
            .bind::<Array<Timestamptz>, _>(column(&lines, |line| line.after.at))
            .bind::<Array<Text>, _>(column(&lines, |line| line.submitted.event.kind().as_str()))
            .bind::<Array<Nullable<Text>>, _>(column(&lines, |line| detail(&line.submitted.event)))
            .bind::<Array<Text>, _>(column(&lines, |line| line.after.lifecycle.state.name().as_str()))
            .bind::<Array<BigInt>, _>(column(&lines, |line| line.after.lifecycle.fence.0))
            .bind::<Array<SmallInt>, _>(column(&lines, |line| small(line.after.lifecycle.attempt)));
        writes.send(insert).await
    }

    async fn insert_replies(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        if self.replies.is_empty() {
            return Ok(());
        }
        let r = &self.replies;
        let insert = prepared::<InsertReplies>()
            .bind::<Array<BigInt>, _>(column(r, |r| r.purchase.0))
            .bind::<Array<SmallInt>, _>(column(r, |r| small(r.attempt)))
            .bind::<Array<Timestamptz>, _>(column(r, |r| r.at))
            .bind::<Array<Integer>, _>(column(r, |r| r.sealed.key_id))
            .bind::<Array<Bytea>, _>(column(r, |r| r.sealed.bytes.as_slice()))
            .bind::<Array<Bool>, _>(column(r, |r| r.proves_nothing));
        writes.send(insert).await
    }

    async fn insert_incidents(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        if self.incidents.is_empty() {
            return Ok(());
        }
        let i = &self.incidents;
        let insert = prepared::<InsertIncidents>()
            .bind::<Array<BigInt>, _>(column(i, |i| i.of.id.0))
            .bind::<Array<Text>, _>(column(i, |i| i.incident.as_str()))
            .bind::<Array<Timestamptz>, _>(column(i, |i| i.of.at))
            .bind::<Array<Text>, _>(column(i, |i| i.vend.provider_transaction.as_str()))
            .bind::<Array<Nullable<Integer>>, _>(column(i, |i| {
                i.sealed.tokens.as_ref().map(|sealed| sealed.key_id)
            }))
            .bind::<Array<Nullable<Bytea>>, _>(column(i, |i| {
                i.sealed.tokens.as_ref().map(|sealed| sealed.bytes.as_slice())
            }));
        writes.send(insert).await
    }
}

/// Converts a counter that cannot reach the column's limit within a window.
fn small(count: u16) -> i16 {
    i16::try_from(count).unwrap_or(i16::MAX)
}

const fn sending<'a>(change: &'a Change<'_>) -> Option<&'a Sending> {
    change.to.lifecycle.state.sending()
}

fn sealed_tokens<'a>(change: &Change<'a>) -> Option<&'a crate::Sealed> {
    change.bought.and_then(|(_, sealed)| sealed.tokens.as_ref())
}

fn breakdown<'a>(change: &Change<'a>) -> Option<&'a Breakdown> {
    change.bought.and_then(|(vend, _)| breakdown_of(vend, change.to.net))
}

/// The detail of a history line, in addition to the kind of event. Never a token.
fn detail(event: &Event) -> Option<String> {
    match event {
        Event::Vended { vend } | Event::OperatorVended { vend, .. } => {
            Some(vend.provider_transaction.clone())
        }
        Event::Refused { refusal, .. } => Some(refusal.reason.as_str().to_owned()),
        Event::Lost { why, .. } | Event::LeaseReleased { why, .. } => Some(why.doubt.as_str().to_owned()),
        Event::AttemptStarted { reference, .. } => Some(reference.to_string()),
        Event::NeverSent { .. }
        | Event::Claimed
        | Event::NoRecord { .. }
        | Event::SentAgain { .. }
        | Event::WindowClosed { .. }
        | Event::OperatorNotVended { .. } => None,
    }
}

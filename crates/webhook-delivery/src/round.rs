//! One round with one endpoint: what is due again, and then the feed, until its time is over.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use database::DatabaseError;
use failpoint::{Point, hit};
use feed::{EventType, FeedEvent, FeedPage, Position, Subject};
use futures_util::{StreamExt, stream};
use purchase::PurchaseId;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use webhook::{Destination, Message, signature_header};
use webhook_store::{Attempt, Lane, Round, Taken};

use crate::deliverer::Parts;
use crate::tally::{Before, Tally, judge};
use crate::{Outcome, Signed, Unanswered};

/// How many events that are due again are read for a round.
const RETRIES_MAX: u16 = 50;

/// How many events of the feed are read for a round.
const EVENTS_MAX: u16 = 100;

/// How many events are under way at once to an endpoint that failed or was slow.
const AT_ONCE_IF_SLOW: usize = 2;

/// The type of a test.
const TEST: &str = "webhook.test";

/// What an attempt is recorded with if the event is no longer kept.
const EXPIRED: &str = "EVENT_EXPIRED";

/// An event on its way to an endpoint.
struct Item {
    event: Position,
    kind: String,
    attempt: u16,
    /// `None` if the event is no longer kept.
    body: Option<Vec<u8>>,
    is_of_feed: bool,
}

/// Sends what is due to an endpoint. Every event that was begun is among the attempts.
pub(crate) async fn round(parts: &Parts, taken: Taken) -> Result<Round, DatabaseError> {
    let began = parts.clock.monotonic();
    let (items, end) = items(parts, &taken).await?;
    let (count, tally) = (items.len(), Mutex::new(Tally::default()));
    let goes_on = || {
        let ends = tally.lock().unwrap_or_else(PoisonError::into_inner).ends_the_round();
        !ends && parts.clock.monotonic().elapsed_since(began) < parts.settings.round()
    };
    let at_once =
        if taken.failed_rounds > 0 { AT_ONCE_IF_SLOW } else { parts.settings.at_once_per_endpoint.into() };
    let items = if taken.keys.is_empty() { Vec::new() } else { items };
    let in_time = items.into_iter().map_while(|item| goes_on().then_some(item));
    let sent = stream::iter(in_time).map(|item| attempt(parts, &taken, item, &tally)).buffered(at_once);
    let sent: Vec<(bool, Attempt)> = sent.collect().await;
    let mut of_feed = sent.iter().filter(|(is_of_feed, _)| *is_of_feed).map(|(_, attempt)| attempt.event);
    let position = if sent.len() == count { end } else { of_feed.next_back().unwrap_or(taken.position) };
    let Taken { failing_since, failed_rounds, lane, .. } = taken;
    let before = Before { failing_since, failed_rounds, lane };
    let verdict = tally.into_inner().unwrap_or_else(PoisonError::into_inner).verdict(
        before,
        parts.clock.now(),
        random(),
        &parts.settings,
    );
    // Without keys nothing can be sent. A worker that has them may come later.
    let rest = if taken.keys.is_empty() { parts.settings.longest_rest() } else { verdict.rest };
    Ok(Round {
        endpoint: taken.endpoint,
        fence: taken.fence,
        position,
        attempts: sent.into_iter().map(|(_, attempt)| attempt).collect(),
        failing_since: verdict.failing_since,
        failed_rounds: verdict.failed_rounds,
        lane: if taken.keys.is_empty() { Lane::Slow } else { verdict.lane },
        rest,
        switched_off: verdict.switched_off,
    })
}

/// What is to be sent, in this order, and the position after all of it.
async fn items(parts: &Parts, taken: &Taken) -> Result<(Vec<Item>, Position), DatabaseError> {
    let retries = parts.webhooks.retries(taken.endpoint, RETRIES_MAX).await?;
    let again: Vec<Position> =
        retries.iter().map(|retry| retry.event).filter(|event| !event.is_test()).collect();
    let again = parts.feed.events_at(taken.organisation, &again).await?;
    let page = page(parts, taken).await?;
    let new: Vec<FeedEvent> = page.events.into_iter().filter(|event| is_wanted(taken, &event.kind)).collect();
    let tokens = tokens(parts, taken, again.iter().chain(&new)).await?;
    let again: HashMap<Position, &FeedEvent> = again.iter().map(|event| (event.position, event)).collect();
    let due_again = retries.iter().map(|retry| {
        let (event, attempt) = (retry.event, retry.attempts.saturating_add(1));
        let kept = again.get(&event).copied();
        let (kind, body) = match kept {
            Some(kept) => (kept.kind.clone(), Some(body(kept, &tokens))),
            None if event.is_test() => (TEST.to_owned(), Some(body(&test(parts, taken, event), &tokens))),
            None => (String::new(), None),
        };
        Item { event, kind, attempt, body, is_of_feed: false }
    });
    let new = new.iter().map(|event| Item {
        event: event.position,
        kind: event.kind.clone(),
        attempt: 1,
        body: Some(body(event, &tokens)),
        is_of_feed: true,
    });
    Ok((in_turn(new.collect(), due_again.collect()), page.next))
}

/// One of each by turns, so that neither many new events nor many that fail again and again keep the others waiting.
fn in_turn(new: Vec<Item>, due_again: Vec<Item>) -> Vec<Item> {
    let mut all = Vec::with_capacity(new.len().saturating_add(due_again.len()));
    let (mut new, mut due_again) = (new.into_iter(), due_again.into_iter());
    loop {
        let turn = (new.next(), due_again.next());
        if let (None, None) = turn {
            return all;
        }
        all.extend(turn.0.into_iter().chain(turn.1));
    }
}

/// The next events of the feed. If some were deleted before they were delivered, it goes on with the oldest that is kept.
async fn page(parts: &Parts, taken: &Taken) -> Result<FeedPage, DatabaseError> {
    let known: Vec<EventType> = taken.event_types.iter().filter_map(|name| EventType::parse(name)).collect();
    // A type that only a newer program knows cannot be asked for. Then all types are read, and chosen by their names.
    let types = if known.len() == taken.event_types.len() { known } else { Vec::new() };
    let after = |position| parts.feed.events_after(taken.organisation, position, &types, EVENTS_MAX);
    if let Some(page) = after(Some(taken.position)).await? {
        return Ok(page);
    }
    tracing::warn!(endpoint = taken.endpoint.0, "events were deleted before a webhook endpoint had them");
    let oldest = after(None).await?;
    Ok(oldest.unwrap_or(FeedPage { events: Vec::new(), next: taken.position, has_more: false }))
}

fn is_wanted(taken: &Taken, kind: &str) -> bool {
    taken.event_types.is_empty() || taken.event_types.iter().any(|wanted| wanted == kind)
}

/// The tokens of the successful purchases among these events, if the endpoint asked for them.
async fn tokens(
    parts: &Parts,
    taken: &Taken,
    events: impl Iterator<Item = &FeedEvent>,
) -> Result<HashMap<PurchaseId, SecretString>, DatabaseError> {
    if !taken.include_tokens {
        return Ok(HashMap::new());
    }
    let purchases =
        events.filter(|event| event.kind == EventType::PurchaseSucceeded.as_str()).filter_map(purchase_of);
    parts.webhooks.tokens(purchases.collect()).await
}

fn purchase_of(event: &FeedEvent) -> Option<PurchaseId> {
    match &event.subject {
        Subject::Purchase(facts) => Some(facts.id),
        Subject::Other(_) => None,
    }
}

fn body(event: &FeedEvent, tokens: &HashMap<PurchaseId, SecretString>) -> Vec<u8> {
    let succeeded = event.kind == EventType::PurchaseSucceeded.as_str();
    let token = purchase_of(event).filter(|_| succeeded).and_then(|purchase| tokens.get(&purchase));
    let body = event.body_with_token(token.map(ExposeSecret::expose_secret));
    serde_json::to_vec(&body).expect("an event has texts as keys only")
}

fn test(parts: &Parts, taken: &Taken, position: Position) -> FeedEvent {
    FeedEvent {
        position,
        organisation: taken.organisation,
        kind: TEST.to_owned(),
        occurred_at: parts.clock.now(),
        subject: Subject::Other(json!({ "webhook_endpoint": { "id": taken.endpoint.0 } })),
    }
}

async fn attempt(parts: &Parts, taken: &Taken, item: Item, tally: &Mutex<Tally>) -> (bool, Attempt) {
    let (at, began) = (parts.clock.now(), parts.clock.monotonic());
    let Item { event, kind, attempt, body, is_of_feed } = item;
    let Some(body) = body else {
        let took = Duration::ZERO;
        return (false, Attempt { event, kind, attempt, at, took, answer: Err(EXPIRED), next: None });
    };
    let outcome = send(parts, taken, event, at.timestamp(), body).await;
    hit(Point::WebhookAnswered);
    let mut judged = judge(outcome, attempt, random());
    if event.is_test() {
        judged.next = None;
    }
    let took = parts.clock.monotonic().elapsed_since(began);
    let made = Attempt { event, kind, attempt, at, took, answer: judged.answer, next: judged.next };
    tally.lock().unwrap_or_else(PoisonError::into_inner).count(&made, &judged);
    (is_of_feed, made)
}

async fn send(parts: &Parts, taken: &Taken, event: Position, timestamp: i64, body: Vec<u8>) -> Outcome {
    // The operator may have changed the rules since the endpoint was created.
    let Ok(destination) = Destination::parse(&taken.url, parts.sender.rules()) else {
        return Outcome::Unanswered(Unanswered::NotAllowed);
    };
    let id = event.to_string();
    let signature = signature_header(&Message { id: &id, timestamp, body: &body }, &taken.keys);
    parts.sender.send(&destination, Signed { id, timestamp, signature, body }).await
}

/// Only spreads the pauses of retries. If there is no random number, the pauses are not spread.
fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}

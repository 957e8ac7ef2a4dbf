//! Deliveries to a webhook endpoint on the wire.

use serde::Serialize;
use utoipa::ToSchema;

use feed::Position;
use vending::{Again, AttemptRecord};
use web::SharedState;

use super::moment::Moment;
use crate::schema::values::AttemptOutcome;

/// A test that is on its way.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookTest {
    /// The `webhook-id` of the test.
    event_id: String,
}

/// Events that are sent once more.
#[derive(Debug, Serialize, ToSchema)]
pub struct Redelivery {
    /// How many. Zero if the endpoint had none of them, does not want them, or they are no longer kept.
    events: u16,
    /// If there are more in the range: the last one that is sent. Ask again with it as `from_event_id`.
    #[schema(required)]
    continue_from_event_id: Option<String>,
}

/// One attempt to deliver an event.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookAttempt {
    id: i64,
    event_id: String,
    /// The event's type. Empty if the event was no longer kept.
    event_type: String,
    /// How often this event was tried, with this attempt.
    attempt: u16,
    #[schema(value_type = String, format = DateTime)]
    at: Moment,
    duration_ms: u32,
    #[schema(value_type = AttemptOutcome)]
    outcome: &'static str,
    /// What the endpoint answered.
    #[schema(required)]
    http_status: Option<u16>,
    /// Why there was no answer, such as `TIMED_OUT` or `NO_CONNECTION`.
    #[schema(required)]
    no_answer: Option<String>,
    /// When the event is tried again, if `outcome` is `RETRY`.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    next_attempt_at: Option<Moment>,
}

/// One page of the log of attempts, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookAttemptPage {
    data: Vec<WebhookAttempt>,
    /// What to send as `cursor` for the next page; null on the last one.
    #[schema(required)]
    next_cursor: Option<String>,
}

impl WebhookTest {
    /// The test with this event.
    pub fn new(event: Position) -> Self {
        Self { event_id: event.to_string() }
    }
}

impl Redelivery {
    /// What is sent again.
    pub fn new(again: Again) -> Self {
        Self {
            events: again.events,
            continue_from_event_id: again.goes_on_after.map(|event| event.to_string()),
        }
    }
}

impl WebhookAttemptPage {
    /// A page of at most `limit` attempts.
    pub fn new(attempts: Vec<AttemptRecord>, limit: u16, shared: &SharedState) -> Self {
        let last =
            attempts.last().filter(|_| attempts.len() >= usize::from(limit)).map(|last| last.id.to_string());
        let data = attempts.into_iter().map(|attempt| WebhookAttempt::new(attempt, shared));
        Self { data: data.collect(), next_cursor: last }
    }
}

impl WebhookAttempt {
    fn new(attempt: AttemptRecord, shared: &SharedState) -> Self {
        let moment = |at: chrono::DateTime<chrono::Utc>| Moment(at.with_timezone(&shared.zone()));
        let outcome = match (&attempt.answer, attempt.next_at) {
            (_, Some(_later)) => "RETRY",
            (Ok(status), None) if webhook::is_accepted(*status) => "ACCEPTED",
            (_, None) => "GIVEN_UP",
        };
        Self {
            id: attempt.id,
            event_id: attempt.event.to_string(),
            event_type: attempt.kind,
            attempt: attempt.attempt,
            at: moment(attempt.at),
            duration_ms: attempt.took_ms,
            outcome,
            http_status: attempt.answer.as_ref().ok().copied(),
            no_answer: attempt.answer.err(),
            next_attempt_at: attempt.next_at.map(moment),
        }
    }
}

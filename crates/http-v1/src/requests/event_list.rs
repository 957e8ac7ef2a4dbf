//! The query of the feed.

use std::time::Duration;

use feed::{EventType, Position};
use serde_json::{Map, Value};
use web::{ApiError, Detail, Fields};

use super::cursor::{decoded, encoded};
use super::limits::{CURSOR_MAX, EVENT_WAIT_MAX_S, EVENTS_DEFAULT, EVENTS_MAX};
use super::query::{fields_of, page_length, whole_number};
use crate::Endpoint;

/// A requested page of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventList {
    /// The wanted types. If empty, all are wanted.
    pub types: Vec<EventType>,
    /// The position after which the page begins. If absent, it begins with the oldest event that is kept.
    pub after: Option<Position>,
    /// The maximum number of events.
    pub limit: u16,
    /// How long to wait if there is no event.
    pub wait: Duration,
}

impl EventList {
    /// The cursor to what comes after a position. It carries no filters: a reader may go on with other types.
    pub fn cursor_after(position: Position) -> String {
        let content = [("transaction", position.transaction), ("number", position.number)];
        let content: Map<String, Value> =
            content.into_iter().map(|(name, number)| (name.to_owned(), number.into())).collect();
        encoded(content)
    }
}

/// Reads a query.
pub fn event_list(query: &str) -> Result<EventList, ApiError> {
    let fields = fields_of(query, Endpoint::Events)?;
    Ok(EventList {
        types: types(&fields)?,
        after: position(&fields)?,
        limit: page_length(&fields, EVENTS_MAX)?.unwrap_or(EVENTS_DEFAULT),
        wait: Duration::from_secs(
            whole_number(&fields, "wait", EVENT_WAIT_MAX_S)?.unwrap_or_default().into(),
        ),
    })
}

fn types(fields: &Fields) -> Result<Vec<EventType>, ApiError> {
    let Some(listed) = fields.optional_text("types", CURSOR_MAX)? else { return Ok(Vec::new()) };
    let unknown = || {
        let allowed = EventType::ALL.map(EventType::as_str).join(", ");
        ApiError::new(Detail::UnknownValue).about("types").with("allowed", allowed)
    };
    listed.split(',').map(|name| EventType::parse(name).ok_or_else(unknown)).collect()
}

fn position(fields: &Fields) -> Result<Option<Position>, ApiError> {
    let Some(text) = fields.optional_text("cursor", CURSOR_MAX)? else { return Ok(None) };
    let read = |content: &Fields| {
        let number = |name| content.required_integer(name).ok().filter(|number| *number >= 0);
        Some(Position { transaction: number("transaction")?, number: number("number")? })
    };
    let position = decoded(&text).as_ref().and_then(read);
    position.map(Some).ok_or_else(|| ApiError::new(Detail::BadCursor).about("cursor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(query: &str) -> Option<String> {
        event_list(query).unwrap_err().param().map(str::to_owned)
    }

    #[test]
    fn a_cursor_leads_on_with_other_types_and_another_limit() {
        let position = Position { transaction: 1_795_564_568_432_326, number: 42 };
        let cursor = EventList::cursor_after(position);
        let read =
            event_list(&format!("cursor={cursor}&types=wallet.low,purchase.failed&limit=7&wait=30")).unwrap();
        let expected = EventList {
            types: vec![EventType::WalletLow, EventType::PurchaseFailed],
            after: Some(position),
            limit: 7,
            wait: Duration::from_secs(30),
        };
        assert_eq!(read, expected);
        let bare = EventList { types: Vec::new(), after: None, limit: EVENTS_DEFAULT, wait: Duration::ZERO };
        assert_eq!(event_list("").unwrap(), bare);
        let begin = EventList::cursor_after(Position::default());
        assert_eq!(event_list(&format!("cursor={begin}")).unwrap().after, Some(Position::default()));
    }

    #[test]
    fn what_is_wrong_with_a_query_is_named() {
        for (query, name) in [
            ("types=purchase.lost", "types"),
            ("types=wallet.low,", "types"),
            ("types=wallet.low,%20purchase.failed", "types"),
            ("types=", "types"),
            ("cursor=nonsense", "cursor"),
            ("cursor=42", "cursor"),
            ("limit=0", "limit"),
            ("limit=1001", "limit"),
            ("wait=0", "wait"),
            ("wait=31", "wait"),
            ("wait=1.5", "wait"),
        ] {
            assert_eq!(refused(query).as_deref(), Some(name), "{query}");
        }
        let forged = encoded(Map::from_iter([
            ("transaction".to_owned(), Value::from(-1)),
            ("number".to_owned(), Value::from(1)),
        ]));
        assert_eq!(refused(&format!("cursor={forged}")).as_deref(), Some("cursor"));
    }
}

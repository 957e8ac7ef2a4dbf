//! The cursor that leads from one page to the next: a position, and its filters, in a text that is opaque to
//! integrators. It grants no access, because it never says whose purchases are read.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, Datelike, TimeZone};
use purchase::{Position, PurchaseId, Selection};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use web::Fields;

use super::limits::{PAGE_MAX, YEARS};
use super::selection::{selection, spelled};

/// Enough to detect a cursor that was cut or mistyped. Any caller can compute it, so the content is validated as
/// strictly as a query.
const SUM_BYTES: usize = 8;

/// A page that can be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) selection: Selection,
    /// The position at which the previous page ended.
    pub(super) position: Position,
    pub(super) limit: u16,
}

impl Cursor {
    /// Encodes the cursor as a text.
    pub(super) fn encode(&self, zone: &impl TimeZone) -> String {
        let filters = spelled(&self.selection, zone).into_iter();
        let mut content: Map<String, Value> =
            filters.map(|(name, value)| (name.to_owned(), value.into())).collect();
        content.insert("at_us".to_owned(), self.position.at.timestamp_micros().into());
        content.insert("id".to_owned(), self.position.id.0.into());
        content.insert("limit".to_owned(), self.limit.into());
        encoded(content)
    }

    /// Decodes a text. `None` unless it can be a cursor that was given out.
    pub(super) fn decode(text: &str, zone: &impl TimeZone) -> Option<Self> {
        let content = decoded(text)?;
        let number = |name| content.required_integer(name).ok();
        let at = DateTime::from_timestamp_micros(number("at_us")?)?;
        Some(Self {
            selection: selection(&content, zone).ok()?,
            position: Position {
                at: Some(at).filter(|at| YEARS.contains(&at.year()))?,
                id: PurchaseId(number("id")?),
            },
            limit: u16::try_from(number("limit")?).ok().filter(|limit| (1..=PAGE_MAX).contains(limit))?,
        })
    }
}

/// The text of a cursor with this content.
pub(super) fn encoded(content: Map<String, Value>) -> String {
    let content = Value::from(content).to_string();
    let encoded = [sum_of(content.as_bytes()).as_slice(), content.as_bytes()].concat();
    BASE64_URL_SAFE_NO_PAD.encode(encoded)
}

/// The content of a cursor's text. `None` if it was cut or mistyped.
pub(super) fn decoded(text: &str) -> Option<Fields> {
    let decoded = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
    let (sum, content) = decoded.split_first_chunk::<SUM_BYTES>()?;
    if *sum != sum_of(content) {
        return None;
    }
    Fields::parse(content).ok()
}

fn sum_of(content: &[u8]) -> [u8; SUM_BYTES] {
    let digest: [u8; 32] = Sha256::digest(content).into();
    let (sum, _rest) = digest.split_first_chunk().expect("a digest is longer than its sum");
    *sum
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use purchase::PurchaseStatus;
    use vend::SubscriberIdentifier;

    use super::*;

    /// The largest offsets from UTC to both sides.
    fn zones() -> [FixedOffset; 2] {
        [FixedOffset::east_opt(14 * 3_600).unwrap(), FixedOffset::west_opt(12 * 3_600).unwrap()]
    }

    /// A cursor text with this content and the right sum.
    fn forged(content: &str) -> String {
        BASE64_URL_SAFE_NO_PAD.encode([&sum_of(content.as_bytes()), content.as_bytes()].concat())
    }

    fn cursor() -> Cursor {
        let noon = DateTime::from_timestamp_micros(1_795_172_400_123_456).unwrap();
        let selection = Selection {
            external_reference: Some("INV-\"1\"".to_owned()),
            subscriber: SubscriberIdentifier::parse("04257670465").ok(),
            status: Some(PurchaseStatus::Failed),
            from: DateTime::from_timestamp_micros(1_795_172_400_000_001),
            to: None,
        };
        Cursor { selection, position: Position { at: noon, id: PurchaseId(42) }, limit: 7 }
    }

    #[test]
    fn a_cursor_comes_back_as_it_was_given_out() {
        let bare = Cursor { selection: Selection::default(), ..cursor() };
        for zone in zones() {
            let first = zone.with_ymd_and_hms(1970, 1, 1, 0, 0, 0).unwrap().to_utc();
            let last = zone.with_ymd_and_hms(9999, 12, 31, 23, 59, 59).unwrap().to_utc();
            let always = Selection { from: Some(first), to: Some(last), ..Selection::default() };
            for cursor in [cursor(), bare.clone(), Cursor { selection: always, ..cursor() }] {
                assert_eq!(Cursor::decode(&cursor.encode(&zone), &zone), Some(cursor));
            }
        }
    }

    #[test]
    fn a_cursor_that_was_changed_anywhere_is_none() {
        let [zone, _] = zones();
        let text = cursor().encode(&zone);
        for place in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            assert_eq!(Cursor::decode(std::str::from_utf8(&changed).unwrap(), &zone), None, "{place}");
            assert_eq!(Cursor::decode(&text[..place], &zone), None, "{place}");
        }
        assert_eq!(Cursor::decode("nonsense!", &zone), None);
    }

    #[test]
    fn a_cursor_that_was_made_by_hand_is_read_as_warily_as_a_query() {
        let [zone, _] = zones();
        let right = r#"{"at_us":1795172400000000,"id":42,"limit":7,"external_reference":"a","from":"2026-11-20 10:00:00"}"#;
        assert!(Cursor::decode(&forged(right), &zone).is_some());
        for (what, otherwise) in [
            (r#""at_us":1795172400000000"#, r#""at_us":-1"#),
            (r#""at_us":1795172400000000"#, r#""at_us":253402300800000000"#),
            (r#""at_us":1795172400000000"#, r#""at_us":9223372036854775807"#),
            (r#""id":42"#, r#""id":99999999999999999999"#),
            (r#""limit":7"#, r#""limit":0"#),
            (r#""limit":7"#, r#""limit":101"#),
            (r#""limit":7"#, r#""limit":7,"limit":7"#),
            (r#""a""#, r#""a\u0000b""#),
            (r#""a""#, r#""a\ud800""#),
            (r#""2026-11-20 10:00:00""#, r#""-9999-01-01 00:00:00""#),
            (r#""2026-11-20 10:00:00""#, r#""1969-12-31 23:59:59""#),
            (r#""2026-11-20 10:00:00""#, r#""1969-12-30T23:59:59Z""#),
            (r#""2026-11-20 10:00:00""#, "1795172400"),
        ] {
            let changed = right.replace(what, otherwise);
            assert_ne!(changed, right);
            assert_eq!(Cursor::decode(&forged(&changed), &zone), None, "{changed}");
        }
    }

    #[test]
    fn the_longest_cursor_is_not_too_long_to_come_back() {
        let selection = Selection {
            external_reference: Some("\u{10FFFF}".repeat(super::super::limits::EXTERNAL_REFERENCE_MAX)),
            subscriber: SubscriberIdentifier::parse(&"1".repeat(SubscriberIdentifier::LENGTH_MAX)).ok(),
            status: Some(PurchaseStatus::Successful),
            from: DateTime::from_timestamp(253_402_300_799, 0),
            to: DateTime::from_timestamp(253_402_300_799, 0),
        };
        let longest = Cursor { selection, ..cursor() }.encode(&zones()[0]);
        assert!(longest.len() <= super::super::limits::CURSOR_MAX, "{}", longest.len());
    }
}

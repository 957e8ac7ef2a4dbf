//! What leads from one page to the next: a place, and the filters that belong to it, in a text that means nothing to
//! anybody else. It opens no door: whose purchases are read is never in it.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use purchase::{Place, PurchaseId, PurchaseStatus, Selection};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use vend::SubscriberIdentifier;

use super::limits::PAGE_MAX;

/// Enough to tell a cursor that was cut or mistyped.
const SUM_BYTES: usize = 8;

/// A page that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) selection: Selection,
    /// Where the page before ended.
    pub(super) place: Place,
    pub(super) limit: u16,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    at_us: i64,
    id: i64,
    limit: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    external_reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subscriber: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from_s: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to_s: Option<i64>,
}

impl Cursor {
    /// The text.
    pub(super) fn seal(&self) -> String {
        let Selection { external_reference, subscriber, status, from, to } = &self.selection;
        let content = Content {
            at_us: self.place.at.timestamp_micros(),
            id: self.place.id.0,
            limit: self.limit,
            external_reference: external_reference.clone(),
            subscriber: subscriber.as_ref().map(ToString::to_string),
            status: status.map(|status| status.as_str().to_owned()),
            from_s: from.map(|from| from.timestamp()),
            to_s: to.map(|to| to.timestamp()),
        };
        let content = serde_json::to_vec(&content).expect("texts and numbers always serialise");
        let mut sealed = sum_of(&content).to_vec();
        sealed.extend(content);
        BASE64_URL_SAFE_NO_PAD.encode(sealed)
    }

    /// The cursor of this text, if it is one that was given out.
    pub(super) fn open(text: &str) -> Option<Self> {
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let (sum, content) = sealed.split_first_chunk::<SUM_BYTES>()?;
        if *sum != sum_of(content) {
            return None;
        }
        let content: Content = serde_json::from_slice(content).ok()?;
        Some(Self {
            place: Place { at: DateTime::from_timestamp_micros(content.at_us)?, id: PurchaseId(content.id) },
            limit: Some(content.limit).filter(|limit| (1..=PAGE_MAX).contains(limit))?,
            selection: content.selection()?,
        })
    }
}

impl Content {
    /// The filters; what is there must be readable.
    fn selection(self) -> Option<Selection> {
        let moment = |seconds| DateTime::<Utc>::from_timestamp(seconds, 0);
        let status = |name: String| PurchaseStatus::ALL.into_iter().find(|status| status.as_str() == name);
        Some(Selection {
            external_reference: self.external_reference,
            subscriber: match self.subscriber {
                Some(text) => Some(SubscriberIdentifier::parse(&text).ok()?),
                None => None,
            },
            status: match self.status {
                Some(name) => Some(status(name)?),
                None => None,
            },
            from: match self.from_s {
                Some(seconds) => Some(moment(seconds)?),
                None => None,
            },
            to: match self.to_s {
                Some(seconds) => Some(moment(seconds)?),
                None => None,
            },
        })
    }
}

fn sum_of(content: &[u8]) -> [u8; SUM_BYTES] {
    let digest: [u8; 32] = Sha256::digest(content).into();
    let (sum, _rest) = digest.split_first_chunk().expect("a digest is longer than its sum");
    *sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor() -> Cursor {
        let noon = DateTime::from_timestamp_micros(1_795_172_400_123_456).unwrap();
        let selection = Selection {
            external_reference: Some("INV-\"1\"".to_owned()),
            subscriber: SubscriberIdentifier::parse("04257670465").ok(),
            status: Some(PurchaseStatus::Failed),
            from: DateTime::from_timestamp(1_795_172_400, 0),
            to: None,
        };
        Cursor { selection, place: Place { at: noon, id: PurchaseId(42) }, limit: 7 }
    }

    #[test]
    fn a_cursor_comes_back_as_it_was_given_out() {
        let bare = Cursor { selection: Selection::default(), ..cursor() };
        for cursor in [cursor(), bare] {
            assert_eq!(Cursor::open(&cursor.seal()), Some(cursor));
        }
    }

    #[test]
    fn a_cursor_that_was_changed_anywhere_is_none() {
        let text = cursor().seal();
        for place in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            assert_eq!(Cursor::open(std::str::from_utf8(&changed).unwrap()), None, "{place}");
            assert_eq!(Cursor::open(&text[..place]), None, "{place}");
        }
        assert_eq!(Cursor::open("nonsense!"), None);
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
        let longest = Cursor { selection, ..cursor() }.seal();
        assert!(longest.len() <= super::super::limits::CURSOR_MAX, "{}", longest.len());
    }
}

//! The query of the list of purchases. It is read as strictly as a body: a repeated parameter or an empty value is
//! refused, because it could widen the search unnoticed. Unknown parameters were refused before.

use chrono::TimeZone;
use purchase::{Position, Selection};
use web::{ApiError, Detail, Fields};

use super::cursor::Cursor;
use super::known::pairs;
use super::limits::{CURSOR_MAX, PAGE_DEFAULT, PAGE_MAX, SHORT_TEXT_MAX};
use super::selection::selection;
use crate::Endpoint;

/// A requested page of purchases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurchaseList {
    /// The filters.
    pub selection: Selection,
    /// The position after which the page begins. If absent, it begins with the newest purchase.
    pub after: Option<Position>,
    /// The maximum number of purchases.
    pub limit: u16,
}

impl PurchaseList {
    /// The cursor to the next page, for a page that ends at `position`. It includes the filters.
    pub fn cursor_after(&self, position: Position, zone: &impl TimeZone) -> String {
        Cursor { selection: self.selection.clone(), position, limit: self.limit }.encode(zone)
    }
}

/// Reads a query. Times without an offset are in the service's own zone.
pub fn purchase_list(query: &str, zone: &impl TimeZone) -> Result<PurchaseList, ApiError> {
    let fields = fields_of(query)?;
    let asked = selection(&fields, zone)?;
    let limit = fields.optional_text("limit", SHORT_TEXT_MAX)?.map(|text| page_length(&text)).transpose()?;
    let Some(cursor) = fields.optional_text("cursor", CURSOR_MAX)? else {
        return Ok(PurchaseList { selection: asked, after: None, limit: limit.unwrap_or(PAGE_DEFAULT) });
    };
    let cursor =
        Cursor::decode(&cursor, zone).ok_or_else(|| ApiError::new(Detail::BadCursor).about("cursor"))?;
    if !repeats(&asked, &cursor.selection) {
        return Err(ApiError::new(Detail::CursorOfOtherFilters).about("cursor"));
    }
    let limit = limit.unwrap_or(cursor.limit);
    Ok(PurchaseList { selection: cursor.selection, after: Some(cursor.position), limit })
}

/// A query as the members of an object, so that one reader serves queries and bodies.
fn fields_of(query: &str) -> Result<Fields, ApiError> {
    let known = Endpoint::Purchases.query_parameters();
    let mut members = Vec::new();
    for (name, value) in pairs(query)? {
        let Some(known) = known.iter().copied().find(|known| *known == name) else { continue };
        if value.is_empty() {
            return Err(ApiError::new(Detail::Empty).about(known));
        }
        members.push(format!("\"{known}\":{}", serde_json::Value::from(value.as_str())));
    }
    Fields::parse(format!("{{{}}}", members.join(",")).as_bytes())
}

fn page_length(text: &str) -> Result<u16, ApiError> {
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let length =
        digits.and_then(|digits| digits.parse().ok()).filter(|length| (1..=PAGE_MAX).contains(length));
    length.ok_or_else(|| ApiError::new(Detail::OutOfRange).about("limit").with("limit", PAGE_MAX))
}

/// Whether every requested filter is the same as in the cursor.
fn repeats(asked: &Selection, carried: &Selection) -> bool {
    fn same<T: PartialEq>(asked: Option<&T>, carried: Option<&T>) -> bool {
        asked.is_none() || asked == carried
    }
    let Selection { external_reference, subscriber, status, from, to } = asked;
    same(external_reference.as_ref(), carried.external_reference.as_ref())
        && same(subscriber.as_ref(), carried.subscriber.as_ref())
        && same(status.as_ref(), carried.status.as_ref())
        && same(from.as_ref(), carried.from.as_ref())
        && same(to.as_ref(), carried.to.as_ref())
}

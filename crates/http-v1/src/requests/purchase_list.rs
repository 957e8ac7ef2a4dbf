//! The query of the list of purchases.

use chrono::TimeZone;
use purchase::{Position, Selection};
use web::{ApiError, Detail};

use super::cursor::Cursor;
use super::limits::{CURSOR_MAX, PAGE_DEFAULT, PAGE_MAX};
use super::query::{fields_of, page_length};
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
    let fields = fields_of(query, Endpoint::Purchases)?;
    let asked = selection(&fields, zone)?;
    let limit = page_length(&fields, PAGE_MAX)?;
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

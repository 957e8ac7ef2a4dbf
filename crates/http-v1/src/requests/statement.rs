//! The query of a statement, and the cursor that leads to its next page.
//!
//! The cursor carries what the statement covers, so that all its pages have the same balances, and the balance after
//! the last line, so that no page adds up the lines before it. A changed cursor can only
//! make the balances in its own answer wrong: it grants no access, and the lines are always read from the account in the
//! path.

use actix_web::HttpRequest;
use chrono::{DateTime, TimeZone, Utc};
use ledger::AccountId;
use purchase::{AfterLine, Extent};
use serde_json::{Map, Value};
use web::{ApiError, Detail, Fields};

use super::{
    cursor,
    days::Days,
    format::Format,
    limits::{CURSOR_MAX, LINES_DEFAULT, LINES_MAX, STATEMENT_DAYS_MAX},
    query::{fields_of, page_length},
};
use crate::Endpoint;

/// The greatest balance of a cursor that is believed, in minor units. It is beyond every wallet, and no sum of a page can
/// overflow from there.
const BALANCE_MAX: i64 = 1_000_000_000_000_000_000;

/// A requested page of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementQuery {
    /// The days.
    pub days: Days,
    /// What the statement covers and where its next page begins, if this is not its first page.
    pub after: Option<(Extent, AfterLine)>,
    /// The number of the page, from 1.
    pub page: u32,
    /// The maximum number of lines.
    pub limit: u16,
    /// The format of the answer.
    pub format: Format,
}

/// Reads the query of a request for a statement of this account.
pub fn statement_query(
    request: &HttpRequest,
    account: AccountId,
    zone: &impl TimeZone,
    now: DateTime<Utc>,
) -> Result<StatementQuery, ApiError> {
    let fields = fields_of(request.query_string(), Endpoint::Statement)?;
    let format = Format::read(request, &fields, &Format::OF_STATEMENT)?;
    let limit = page_length(&fields, LINES_MAX)?;
    let days = |fields| Days::read(fields, zone, now, STATEMENT_DAYS_MAX);
    let Some(text) = fields.optional_text("cursor", CURSOR_MAX)? else {
        let (after, limit) = (None, limit.unwrap_or(LINES_DEFAULT));
        return Ok(StatementQuery { days: days(&fields)?, after, page: 1, limit, format });
    };
    let bad = || ApiError::new(Detail::BadCursor).about("cursor");
    let carried = cursor::decoded(&text).ok_or_else(bad)?;
    let (of, page, length, after) = position(&carried).ok_or_else(bad)?;
    let carried = days(&carried).map_err(|_unlike| bad())?;
    let is_repeated = fields.optional_day("from")?.is_none_or(|from| from == carried.first)
        && fields.optional_day("to")?.is_none_or(|to| to == carried.last);
    if of != account || !is_repeated {
        return Err(ApiError::new(Detail::CursorOfOtherFilters).about("cursor"));
    }
    Ok(StatementQuery { days: carried, after: Some(after), page, limit: limit.unwrap_or(length), format })
}

impl StatementQuery {
    /// The cursor to the next page, for a page that ends at `line`.
    pub fn cursor_after(&self, account: AccountId, extent: &Extent, line: AfterLine) -> String {
        let numbers = [
            ("account", account.0),
            ("after", extent.after_entry),
            ("opening", extent.opening),
            ("until", extent.until_entry),
            ("closing", extent.closing),
            ("as_of_us", extent.as_of.timestamp_micros()),
            ("complete", i64::from(extent.is_complete)),
            ("entry", line.entry),
            ("other", line.other.0),
            ("balance", line.balance),
            ("page", i64::from(self.page.saturating_add(1))),
            ("limit", i64::from(self.limit)),
        ];
        let mut content: Map<String, Value> =
            numbers.into_iter().map(|(name, number)| (name.to_owned(), number.into())).collect();
        content.insert("from".to_owned(), self.days.first.to_string().into());
        content.insert("to".to_owned(), self.days.last.to_string().into());
        cursor::encoded(content)
    }
}

/// The account, the number and the length of the page, and where it begins. `None` unless it can have been given out.
fn position(content: &Fields) -> Option<(AccountId, u32, u16, (Extent, AfterLine))> {
    let number = |name| content.required_integer(name).ok();
    let entry = |name| number(name).filter(|entry| *entry >= 0);
    let balance =
        |name| number(name).filter(|balance: &i64| balance.unsigned_abs() <= BALANCE_MAX.unsigned_abs());
    let extent = Extent {
        after_entry: entry("after")?,
        opening: balance("opening")?,
        until_entry: entry("until")?,
        closing: balance("closing")?,
        as_of: DateTime::from_timestamp_micros(number("as_of_us")?)
            .filter(|at| super::limits::YEARS.contains(&chrono::Datelike::year(at)))?,
        is_complete: number("complete")? == 1,
    };
    let line = AfterLine {
        entry: entry("entry")?,
        other: AccountId(number("other")?),
        balance: balance("balance")?,
    };
    let page = u32::try_from(number("page")?).ok().filter(|page| *page > 1)?;
    let limit = u16::try_from(number("limit")?).ok().filter(|limit| (1..=LINES_MAX).contains(limit))?;
    Some((AccountId(number("account")?), page, limit, (extent, line)))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use chrono_tz::Tz;

    use super::*;

    const ACCOUNT: AccountId = AccountId(17);

    fn read(query: &str) -> Result<StatementQuery, Option<String>> {
        let request = TestRequest::get().uri(&format!("/?{query}")).to_http_request();
        let now = "2026-11-20T12:00:00Z".parse().unwrap();
        statement_query(&request, ACCOUNT, &Tz::UTC, now)
            .map_err(|error| error.param().map(ToOwned::to_owned))
    }

    fn extent() -> Extent {
        Extent {
            after_entry: 7,
            opening: 10_000,
            until_entry: 99,
            closing: -5,
            as_of: DateTime::from_timestamp_micros(1_795_172_400_123_456).unwrap(),
            is_complete: true,
        }
    }

    #[test]
    fn a_cursor_carries_the_statement_and_may_be_sent_with_the_same_days_only() {
        let first = read("from=2026-11-01&to=2026-11-02&limit=3&format=csv").unwrap();
        let line = AfterLine { entry: 12, other: AccountId(4), balance: 9_900 };
        let cursor = first.cursor_after(ACCOUNT, &extent(), line);
        let next = StatementQuery { after: Some((extent(), line)), page: 2, ..first };
        assert_eq!(read(&format!("cursor={cursor}&format=csv")), Ok(next));
        assert_eq!(read(&format!("cursor={cursor}&format=csv&from=2026-11-01")), Ok(next));
        let refused = Err(Some("cursor".to_owned()));
        assert_eq!(read(&format!("cursor={cursor}&from=2026-11-02")), refused);
        let theirs = first.cursor_after(AccountId(18), &extent(), line);
        assert_eq!(read(&format!("cursor={theirs}")), refused);
        for (name, value) in [("balance", i64::MAX), ("opening", i64::MIN)] {
            let line = AfterLine { balance: if name == "balance" { value } else { 0 }, ..line };
            let extent = Extent { opening: if name == "opening" { value } else { 0 }, ..extent() };
            assert_eq!(
                read(&format!("cursor={}", first.cursor_after(ACCOUNT, &extent, line))),
                refused,
                "{name}"
            );
        }
        assert_eq!(read("cursor=nonsense"), refused);
    }

    #[test]
    fn a_page_has_a_bounded_number_of_lines() {
        assert_eq!(read("").unwrap().limit, LINES_DEFAULT);
        for limit in ["0", "5001", "-1", "+1", "1.0", "many"] {
            assert_eq!(read(&format!("limit={limit}")), Err(Some("limit".to_owned())), "{limit}");
        }
    }
}

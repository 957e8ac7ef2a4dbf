//! Finds the field in which a body that is not valid JSON breaks off.

use error_codes::ErrorCode;
use messages::Detail;

use crate::ApiError;

/// `NaN`, `01` or `+1` in place of an amount is reported as an invalid amount, not as an error in the whole body. Any
/// other syntax error is reported by its line and column.
pub(super) fn not_json(body: &[u8], cause: &serde_json::Error) -> ApiError {
    let error = if unreadable_value_of(body, cause) == Some("amount") {
        ApiError::new(ErrorCode::InvalidAmount)
    } else {
        ApiError::new(Detail::NotJson).with("line", cause.line()).with("column", cause.column())
    };
    error.because(cause.to_string())
}

/// The key whose value, a bare word or number, is where the parser stopped.
fn unreadable_value_of<'body>(body: &'body [u8], cause: &serde_json::Error) -> Option<&'body str> {
    let read = read_so_far(body, cause.line(), cause.column())?;
    let (before, value) = read.rsplit_once(':')?;
    let mut value = value.trim_start().chars();
    // The last character may be the one after the value.
    value.next_back();
    let is_bare = |character: char| character.is_ascii_alphanumeric() || "+-._".contains(character);
    if !value.all(is_bare) {
        return None;
    }
    before.trim_end().strip_suffix('"')?.rsplit_once('"').map(|(_, key)| key)
}

fn read_so_far(body: &[u8], line: usize, column: usize) -> Option<&str> {
    let body = std::str::from_utf8(body).ok()?;
    let lines_before: usize = body.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    body.get(..lines_before.checked_add(column)?.min(body.len()))
}

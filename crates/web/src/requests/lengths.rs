//! The maximum lengths of the texts of a request, for the code that reads them and the code that documents them.

/// Limit of short values, in characters. A longer one is refused before its form is checked; the form allows fewer.
pub const SHORT_TEXT_MAX: usize = 100;
/// Longest credential of any kind, in characters.
pub const CREDENTIAL_MAX: usize = 256;
/// Longest comment, in characters.
pub const COMMENT_MAX: usize = 500;
/// Longest external reference, in characters.
pub const EXTERNAL_REFERENCE_MAX: usize = 100;
/// Longest language tag, in characters. RFC 5646, section 4.4.1, sets no limit and requires support of at least 35.
pub const LANGUAGE_MAX: usize = 100;

//! How long the texts of a request may be, for those who read it and for those who document it.

/// Beyond this a short value is not even looked at; its form, which is checked then, is shorter.
pub const SHORT_TEXT_MAX: usize = 100;
/// Longest credential of any kind, in characters.
pub const CREDENTIAL_MAX: usize = 256;
/// Longest comment, in characters.
pub const COMMENT_MAX: usize = 500;
/// Longest external reference, in characters.
pub const EXTERNAL_REFERENCE_MAX: usize = 100;
/// Longest language tag, in characters. RFC 5646, section 4.4.1, knows no limit, and wants at least 35.
pub const LANGUAGE_MAX: usize = 100;

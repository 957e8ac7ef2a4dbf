//! How long the texts of a request may be, for those who read it and for those who document it.

use std::ops::RangeInclusive;

use purchase::SourceChannel;

/// The channels of this surface (specification, section 4.1).
pub const CHANNELS: [SourceChannel; 5] = [
    SourceChannel::Web,
    SourceChannel::SmartApp,
    SourceChannel::Ussd,
    SourceChannel::Batch,
    SourceChannel::Pos,
];

/// Beyond this a short value is not even looked at; its form, which is checked then, is shorter.
pub const SHORT_TEXT_MAX: usize = 100;
/// Longest credential of any kind, in characters.
pub const CREDENTIAL_MAX: usize = 256;
/// Longest provider code, in characters.
pub const PROVIDER_CODE_MAX: usize = 64;
/// Longest comment, in characters.
pub const COMMENT_MAX: usize = 500;
/// Longest external reference, in characters.
pub const EXTERNAL_REFERENCE_MAX: usize = 100;
/// Longest language tag, in characters; the reader of locales has the same.
pub const LANGUAGE_MAX: usize = 35;
/// Years in which a purchase can be looked for.
pub const YEARS: RangeInclusive<i32> = 1970..=9999;
/// Most purchases of one page.
pub const PAGE_MAX: u16 = 100;
/// Purchases of a page, where the request does not say.
pub const PAGE_DEFAULT: u16 = 20;
/// Longest cursor, in characters: a little more than the longest that is given out.
pub const CURSOR_MAX: usize = 2_000;

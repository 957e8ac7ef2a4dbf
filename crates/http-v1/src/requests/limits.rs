//! The limits of this surface's requests, in addition to those of both surfaces, for the code that reads requests and
//! the code that documents them.

use std::ops::RangeInclusive;

use purchase::SourceChannel;

pub use web::requests::lengths::*;

/// The channels of this surface (specification, section 4.1).
pub const CHANNELS: [SourceChannel; 5] = [
    SourceChannel::Web,
    SourceChannel::SmartApp,
    SourceChannel::Ussd,
    SourceChannel::Batch,
    SourceChannel::Pos,
];

/// Longest provider code, in characters.
pub const PROVIDER_CODE_MAX: usize = 64;
/// The years in which purchases can be searched.
pub const YEARS: RangeInclusive<i32> = 1970..=9999;
/// The maximum number of purchases in a page.
pub const PAGE_MAX: u16 = 100;
/// The number of purchases in a page, if the request does not state it.
pub const PAGE_DEFAULT: u16 = 20;
/// Longest cursor, in characters: slightly longer than the longest that is given out.
pub const CURSOR_MAX: usize = 2_000;

//! What the requests of this surface may hold, beside what both surfaces share, for those who read it and for those who
//! document it.

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
/// Years in which a purchase can be looked for.
pub const YEARS: RangeInclusive<i32> = 1970..=9999;
/// Most purchases of one page.
pub const PAGE_MAX: u16 = 100;
/// Purchases of a page, where the request does not say.
pub const PAGE_DEFAULT: u16 = 20;
/// Longest cursor, in characters: a little more than the longest that is given out.
pub const CURSOR_MAX: usize = 2_000;

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
/// The maximum number of lines in a page of a statement, in every format.
pub const LINES_MAX: u16 = 5_000;
/// The number of lines in a page of a statement, if the request does not state it.
pub const LINES_DEFAULT: u16 = 500;
/// The maximum number of purchases in a look at a subscriber.
pub const LOOK_UP_MAX: u16 = 10;
/// Their number, if the request does not state it.
pub const LOOK_UP_DEFAULT: u16 = 3;
/// How many days a look at a subscriber reaches back.
pub const LOOK_UP_DAYS: u16 = 90;
/// The maximum number of days of a statement. Its pages bound the cost, so this is only a leap year.
pub const STATEMENT_DAYS_MAX: u16 = 366;
/// The maximum number of events in a page.
pub const EVENTS_MAX: u16 = 1_000;
/// The number of events in a page, if the request does not state it.
pub const EVENTS_DEFAULT: u16 = 100;
/// How long a request may wait for an event, in seconds at most.
pub const EVENT_WAIT_MAX_S: u16 = 30;
/// The maximum number of attempts in a page of the log.
pub const ATTEMPTS_MAX: u16 = 200;
/// The same, if the request does not state it.
pub const ATTEMPTS_DEFAULT: u16 = 50;
/// Longest description of a webhook endpoint, in characters.
pub const ENDPOINT_DESCRIPTION_MAX: usize = 200;
/// How many hours the keys before a rotation may sign, too.
pub const OVERLAP_HOURS: RangeInclusive<u16> = 0..=168;
/// The same, if the request does not state it.
pub const OVERLAP_HOURS_DEFAULT: u16 = 24;
/// The maximum number of lines of a batch.
pub const BATCH_LINES_MAX: usize = 5_000;
/// The maximum size of the body of a batch, in bytes: some 800 for each line.
pub const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The maximum number of batches in a page.
pub const BATCHES_MAX: u16 = 50;
/// The same, if the request does not state it.
pub const BATCHES_DEFAULT: u16 = 20;
/// The maximum number of days of a report, which has no pages.
pub const REPORT_DAYS_MAX: u16 = 31;

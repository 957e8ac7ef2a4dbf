//! Bodies of requests, read field by field in the order of the specification.

mod purchase;
mod session;

pub use purchase::{RetryRequest, account_in_path, purchase_request, retry_request};
pub use session::{login_request, refresh_request};

use ::purchase::SourceChannel;

/// The channels of this surface (specification, section 4.1).
const CHANNELS: [SourceChannel; 5] = [
    SourceChannel::Web,
    SourceChannel::SmartApp,
    SourceChannel::Ussd,
    SourceChannel::Batch,
    SourceChannel::Pos,
];

//! Acts that need two people: the requests, the thresholds above which one is needed, and what became of each. The database carries
//! out what was requested.

mod approve;
mod decide;
mod request;
mod subject;
mod threshold;

pub use approve::{ApproveError, approve_request, rehearse_approval};
pub use decide::reject_request;
pub use request::{
    ActKind, ApprovalRequest, NewRequest, RequestDecision, SECRET_COLUMN, SealedRequest, find_request,
    find_token_of_request, list_requests, needs_approval, request_approval,
};
pub use subject::{RequestSubject, find_request_about, list_requests_of_wallet};
pub use threshold::{Threshold, list_thresholds, set_threshold};

//! Bodies and queries of requests, read field by field in the order of the specification.

mod cursor;
pub(crate) mod limits;
mod purchase;
mod purchase_list;
mod selection;
mod session;

pub use purchase::{account_in_path, purchase_request, retry_question};
pub use purchase_list::{PurchaseList, purchase_in_path, purchase_list};
pub use session::{login_request, refresh_request};

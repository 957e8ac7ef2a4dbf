//! Bodies and queries of requests, read field by field in the order of the specification.

mod cursor;
mod known;
pub(crate) mod limits;
mod path_id;
mod purchase;
mod purchase_list;
mod selection;
mod session;

pub use known::known_parameters;
pub use path_id::{account_in_path, purchase_in_path};
pub use purchase::{SUBSCRIBER, purchase_request, retry_question};
pub use purchase_list::{PurchaseList, purchase_list};
pub use session::{login_request, refresh_request};

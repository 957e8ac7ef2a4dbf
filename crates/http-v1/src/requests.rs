//! Bodies and queries of requests, read field by field in the order of the specification.

mod batch;
mod batch_table;
mod cursor;
mod days;
mod deliveries;
mod event_list;
mod format;
pub mod limits;
mod look_up;
mod message;
mod path_id;
mod purchase;
mod purchase_list;
mod query;
mod receipt;
mod sales;
mod selection;
mod session;
mod statement;
mod webhooks;

pub use batch::{
    BatchLinesQuery, SentBatch, batch_in_path, batch_lines_query, batch_list_query, batch_of_json,
    batch_of_table, batch_query,
};
pub use days::Days;
pub use deliveries::{attempts_query, events_again};
pub use event_list::{EventList, event_list};
pub use format::Format;
pub use look_up::look_up;
pub use message::{PHONE_NUMBER, corrected_number};
pub use path_id::{account_in_path, purchase_in_path};
pub use purchase::{SUBSCRIBER, purchase_request, retry_question};
pub use purchase_list::{PurchaseList, purchase_list};
pub use query::known_parameters;
pub use receipt::{ReceiptFormat, ReceiptQuery, receipt_query};
pub use sales::{SalesQuery, sales_query};
pub use session::{login_request, refresh_request};
pub use statement::{StatementQuery, statement_query};
pub use webhooks::{key_overlap, new_webhook_endpoint, webhook_endpoint_change, webhook_endpoint_in_path};

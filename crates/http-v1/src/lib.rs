//! The versioned surface, `/public/v1` (specification, sections 2, 4.1 and 5).
//!
//! Handlers parse, call one use case, and render. All decisions are made elsewhere.

mod decisions;
mod endpoint;
pub mod requests;
mod routes;
pub mod schema;
pub mod wire;

pub use endpoint::{Access, BatchCall, Endpoint, WebhookCall, failures};
pub use routes::routes;

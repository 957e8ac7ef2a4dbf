//! The Current surface, `/auth` and `/api/topup` (specification, sections 2.5, 4.2, 5 and 7.5). It is deprecated for
//! new integrations, stays online permanently, and sells electricity only.
//!
//! It is frozen: names, types and order of fields never change. So it has its own wire types, even where the versioned
//! surface has the same today, because that surface may grow. Handlers parse, call one use case, and render.

mod endpoint;
pub mod requests;
mod routes;
mod surface;
pub mod wire;

pub use endpoint::Endpoint;
pub use routes::routes;
pub use surface::{Current, DEPRECATED_AT};

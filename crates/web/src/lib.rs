//! What both HTTP surfaces share: request ids, the error envelope, strict bodies, authentication, and the error code of
//! each refusal.
//!
//! ```
//! use std::sync::Arc;
//!
//! use actix_web::{App, middleware::from_fn, web::Data};
//! use clock::SystemClock;
//! use web::{SharedState, WebSettings};
//!
//! let shared = Data::new(SharedState::new(&WebSettings::default(), Arc::new(SystemClock))?);
//! let app = App::new().app_data(shared).wrap(from_fn(web::intake));
//! # drop(app);
//! # Ok::<(), web::WebSettingsError>(())
//! ```
#![warn(missing_docs)]

mod body;
mod caller;
mod client_header;
mod connection;
mod dates;
mod document;
mod endpoint;
mod envelope;
mod error;
mod fields;
mod idempotency_key;
mod intake;
mod limits;
mod measures;
mod next_step;
mod outcomes;
mod phone;
mod refusals;
mod refused_confirms;
mod request_context;
mod request_id;
pub mod requests;
mod settings;
mod shared_state;
mod surface;
mod unauthenticated;

/// Used by [`ApiError::new`], [`RequestContext::language`] and [`Surface::sentence`].
pub use messages::{Detail, Language, Sentence};

pub use body::{LargeBody, fields_of, read_fields, read_large_body, set_language_of};
pub use caller::{authenticated, authorised, authority};
pub use client_header::ClientHeader;
pub use connection::{AnsweredRequests, CallerSocket, CallerSockets, CheckedStream, HeadChecks, HeadLimits};
pub use dates::date_time;
pub use document::Document;
pub use endpoint::{checked, get, post};
pub use envelope::whole_seconds;
pub use error::ApiError;
pub use fields::{Fields, printable};
pub use idempotency_key::{REPLAYED, idempotency_key};
pub use intake::intake;
pub use limits::{LimitSettings, RateSettings};
pub use measures::describe_metrics;
pub use next_step::NextStep;
pub use outcomes::{found, not_confirmed, not_read, not_resolved, rejected, why_failed};
pub use refusals::{Asked, Requested, failed, failed_before, impossible_subscriber, refused, unanswered};
pub use refused_confirms::Confirming;
pub use request_context::RequestContext;
pub use request_id::RequestId;
pub use settings::{WebSettings, WebSettingsError};
pub use shared_state::SharedState;
pub use surface::{ErrorDetails, LineMistake, Surface};
pub use unauthenticated::UnauthenticatedCaller;

/// How long a caller should wait while the server is overloaded.
const OVERLOAD_PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

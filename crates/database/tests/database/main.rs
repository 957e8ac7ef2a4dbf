//! The schema, and connections to a real server.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

mod languages;
mod migration_log;
mod schema;
mod tls;

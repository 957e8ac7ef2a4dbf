//! Connections to Postgres: opened with TLS, kept in pools, used in transactions that know what a commit proves.
//!
//! Nothing here knows what the service sells. The crates above write their statements, and run them with [`Run`].

mod address;
mod column;
mod connection;
mod credentials;
mod error;
mod handle;
mod measures;
mod migrate;
mod pool;
mod primary;
mod purpose;
mod query;
mod role;
mod row;
mod schema;
mod session;
mod settings;
mod statement;
#[cfg(test)]
mod test_database;
mod timeline;
mod transaction;
mod writes;

pub use address::AddressError;
pub use column::{Column, Element, column};
pub use connection::Connection;
pub use credentials::Credentials;
pub use error::DatabaseError;
pub use handle::{Database, Work};
pub use measures::describe_metrics;
pub use migrate::{MIGRATIONS_DIGEST, migrate};
pub use pool::{Pool, PooledConnection};
pub use purpose::Purpose;
pub use query::{Reads, Run};
pub use schema::schema_version;
pub use settings::DatabaseSettings;
pub use statement::{Bound, Prepared, Statement, prepared};
pub use transaction::Transaction;
pub use writes::Writes;

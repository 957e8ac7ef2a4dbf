//! A private Postgres on loopback for the sandbox and the tests.
//!
//! [`LocalPostgres::start`] finds an installed Postgres. On a Debian-family system, root can also have it
//! installed. It creates a new cluster in its own directory and serves it on a free port of 127.0.0.1 with a
//! random password. Servers of tests may share that password. Clusters may be copies of one that is kept in the build
//! directory. The server and its directory are removed when the value is dropped. They are also removed
//! when the process that owns it ends in any other way, `kill -9` included.
//!
//! A server that was killed alone can be started again on the same data, by [`LocalPostgres::start_again`].
//!
//! It must never be part of a server that handles money: nothing here survives its owner.
//!
//! ```no_run
//! use local_postgres::{Durability, LocalPostgres};
//!
//! let postgres = LocalPostgres::start(Durability::Durable)?;
//! let database = postgres.create_database("example")?;
//! println!("{}", database.url());
//! # Ok::<(), local_postgres::LocalPostgresError>(())
//! ```

mod account;
pub mod apt;
mod cluster;
mod database;
mod directory;
mod error;
mod installation;
mod kept;
mod plan;
mod prepared;
mod server;
mod session;
mod shared;
mod superuser;
mod watcher;

pub use cluster::Cluster;
pub use database::LocalDatabase;
pub use error::LocalPostgresError;
pub use installation::programs;
pub use plan::{CUSTOM_PLANS, GENERIC_PLANS, executed_plan, pages_touched};
pub use server::{Durability, LocalPostgres, ServerState};

//! A private Postgres on loopback for the sandbox and the tests.
//!
//! [`LocalPostgres::start`] finds an installed Postgres (on a Debian-family system root may also have it
//! installed), makes a fresh cluster in a directory of its own and serves it on a free port of
//! 127.0.0.1 behind a random password. The server and its directory go when the value is dropped, and
//! also when the process that owns it ends in any other way, `kill -9` included.
//!
//! A server that was killed alone can be started again on the same data, by [`LocalPostgres::start_again`].
//!
//! Never part of a server that handles money: nothing here survives its owner.
//!
//! ```no_run
//! use local_postgres::{Durability, LocalPostgres};
//!
//! let postgres = LocalPostgres::start(Durability::Durable)?;
//! let shop = postgres.create_database("shop")?;
//! println!("{}", shop.url());
//! # Ok::<(), local_postgres::LocalPostgresError>(())
//! ```

mod account;
pub mod apt;
mod database;
mod directory;
mod error;
mod installation;
mod psql;
mod server;
mod watcher;
mod wire;

pub use database::Database;
pub use error::LocalPostgresError;
pub use server::{Durability, LocalPostgres, ServerState};
pub use wire::{Cut, Wire};

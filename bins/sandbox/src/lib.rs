//! The whole system on a laptop in one command: a private Postgres, the schema, two organisations with loaded
//! wallets, the simulated utility, the API server, the worker.
//!
//! `cargo sandbox` and the acceptance tests bring everything up through [`Sandbox::start`], so that there is one
//! seeding and one way to start. Nothing outlives the [`Sandbox`], however its process ends.

mod facts;
mod http;
mod launch;
mod office;
mod options;
pub mod parts;
mod process;
mod programs;
mod running;
mod seed;
mod settings;
mod start;
mod supervision;
mod tour;

pub use facts::{Credentials, Facts, Subscribers};
pub use http::http_client;
pub use launch::Door;
pub use office::{Office, OfficeError, Shop, ShopPlan, WalletPlan};
pub use options::{Options, Pace};
pub use process::{Process, ProcessError, Signal};
pub use programs::{Program, Programs};
pub use running::{Ended, Sandbox};
pub use start::{StartError, free_port};
pub use supervision::{Happening, Pauses, Report};
pub use tour::{Surprise, tour};

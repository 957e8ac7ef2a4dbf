//! The whole system on one machine in one command: a private Postgres, the schema, two organisations with loaded
//! wallets, the simulated utility, the API server, the worker.
//!
//! `cargo sandbox` and the acceptance tests both start it through [`Sandbox::start`], so there is only one way to seed
//! and to start it. All processes end with the [`Sandbox`], however its own process ends.

mod controls;
mod http;
mod info;
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

pub use http::http_client;
pub use info::{Credentials, SandboxInfo, Subscribers};
pub use launch::Listener;
pub use office::{Merchant, MerchantPlan, Office, OfficeError, WalletPlan};
pub use options::{Options, Pace};
pub use process::{Process, ProcessError, Signal};
pub use programs::{Program, Programs};
pub use running::{Ended, Sandbox};
pub use start::{COLLEAGUE_SETTINGS, SUPPORT_SETTINGS, StartError, free_port};
pub use supervision::{Happening, Pauses, Report};
pub use tour::{Surprise, tour};

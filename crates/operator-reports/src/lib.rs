//! What an operator of Vendgate enters and sees: the session with the database, the values of arguments, files, reports and errors,
//! and the commands that only read.
//!
//! Nothing here changes the database. The crate `operator-commands` has the commands that do, and the command line.

pub mod archive_file;
pub mod audit;
mod books;
mod days;
pub mod error;
pub mod found;
pub mod moment;
pub mod operators;
pub mod outside;
pub mod parse;
pub mod part_file;
pub mod purchases;
pub mod reason;
pub mod reconciliations;
pub mod refusals;
pub mod report;
pub mod requests;
pub mod said;
pub mod sales;
pub mod session;
pub mod settings;
pub mod statement;
pub mod still_open;
mod subject;
pub mod wallet_statement;
pub mod webhooks;
pub mod words;

//! Where a transaction may be open: only in the crates that hold statements, each within one function.
//!
//! No caller of theirs can then wait for a provider while it holds a row lock.

use crate::source::{assert_none, rust_files};

/// The crates that hold statements.
const WITH_STATEMENTS: &[&str] = &[
    "crates/database/",
    "crates/directory/",
    "crates/feed/",
    "crates/catalogue/",
    "crates/store/",
    "crates/webhook-store/",
    "crates/batch-store/",
    "crates/oversight/",
    "crates/reconciliation/",
    "crates/back-office/",
];

/// What opens a connection or a transaction, or takes one.
const OPENS: &[&str] = &[
    "Transaction",
    "Connection",
    "database::Run",
    ".another_pool(",
    ".begin()",
    ".transaction()",
    "database.get()",
    "database().get()",
    ".operate(",
    ".write_alone(",
    ".batch_execute(",
    "database.read(",
    "database().read(",
    ".on_engine(",
];

#[test]
fn no_other_crate_opens_a_transaction() {
    let shipped = rust_files().into_iter().filter(|file| is_shipped(&file.path));
    let elsewhere =
        shipped.filter(|file| !WITH_STATEMENTS.iter().any(|crate_| file.path.starts_with(crate_)));
    let opened = elsewhere.flat_map(|file| {
        let uses_it = file.text.contains("database::") || file.text.contains(".database()");
        let uses = if uses_it { opens(&file.text) } else { Vec::new() };
        uses.into_iter().map(move |what| format!("{}: {what}", file.path)).collect::<Vec<_>>()
    });
    assert_none(&opened.collect::<Vec<_>>(), "Connections stay in the crates that hold statements:");
}

#[test]
fn a_transaction_in_another_crate_is_reported() {
    assert_eq!(opens("use database::Transaction;"), ["Transaction"]);
    assert_eq!(opens("store.database().operate(|transaction| work)"), [".operate("]);
    assert_eq!(opens("use database::{Database, DatabaseError};"), [""; 0]);
}

/// Tests and the local Postgres of the tests may do as they like.
fn is_shipped(path: &str) -> bool {
    let is_source = path.starts_with("crates/") || path.starts_with("bins/");
    is_source && path.contains("/src/") && !path.starts_with("crates/local-postgres/")
}

fn opens(text: &str) -> Vec<&'static str> {
    OPENS.iter().copied().filter(|word| text.contains(word)).collect()
}

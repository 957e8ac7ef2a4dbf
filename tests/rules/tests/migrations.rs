//! A migration says what it does to programs of the release before, which run while it is applied.

use crate::source::{assert_none, files_named};

/// The migrations before this one were applied while all programs were stopped.
const SINCE: &str = "migrations/2026-11-23-000016";

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Expand,
    Contract,
}

/// The kind that the file of a migration declares, if what it does agrees.
fn kind(text: &str) -> Option<Kind> {
    let ends_programs = text.lines().any(|line| line.starts_with("SELECT end_programs_before('"));
    let is_marked = |mark: &str| text.starts_with(mark);
    match (is_marked("-- Expand. "), is_marked("-- Contract. "), ends_programs) {
        (true, false, false) => Some(Kind::Expand),
        (false, true, true) => Some(Kind::Contract),
        _ => None,
    }
}

/// Whether a migration that may hold a table for long, or fail halfway, is one statement outside of a transaction.
fn is_apart(up: &str, metadata: Option<&str>) -> bool {
    let needs = up.contains(" CONCURRENTLY ") || up.contains("COMMIT;");
    let has = metadata.is_some_and(|metadata| metadata.contains("run_in_transaction = false"));
    needs == has
}

#[test]
fn every_migration_says_whether_programs_of_the_release_before_work_with_it() {
    let later = files_named("/up.sql").into_iter().filter(|file| file.path.as_str() >= SINCE);
    let broken: Vec<String> = later.filter(|file| kind(&file.text).is_none()).map(|file| file.path).collect();
    assert_none(
        &broken,
        "Begin these migrations with `-- Expand. <why>`, or with `-- Contract. <why>` and `SELECT end_programs_before(…)`:",
    );
}

#[test]
fn a_migration_that_takes_long_runs_outside_of_a_transaction() {
    let metadata = files_named("/metadata.toml");
    let of = |up: &str| {
        let path = up.replace("up.sql", "metadata.toml");
        metadata.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    };
    let migrations = files_named("/up.sql").into_iter().filter(|file| file.path.starts_with("migrations/"));
    let broken: Vec<String> =
        migrations.filter(|file| !is_apart(&file.text, of(&file.path))).map(|file| file.path).collect();
    assert_none(
        &broken,
        "`run_in_transaction = false` belongs to what is built CONCURRENTLY or commits in batches, and to nothing else:",
    );
}

#[test]
fn the_kind_of_a_migration_is_recognised() {
    let ends = "SELECT end_programs_before('20261123000016');\n";
    assert_eq!(kind("-- Expand. A table.\nCREATE TABLE t ();"), Some(Kind::Expand));
    assert_eq!(kind(&format!("-- Contract. The column is not used.\n{ends}")), Some(Kind::Contract));
    for broken in
        ["-- A table.".to_owned(), format!("-- Expand. A column.\n{ends}"), "-- Contract. It.".to_owned()]
    {
        assert_eq!(kind(&broken), None, "{broken}");
    }
    assert!(!is_apart("CREATE INDEX CONCURRENTLY i ON t (c)", None));
    assert!(!is_apart("ALTER TABLE t ADD c int", Some("run_in_transaction = false")));
}

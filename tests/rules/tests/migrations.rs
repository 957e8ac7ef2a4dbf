//! A migration says what it does to programs of the release before, which run while it is applied. It never changes afterwards.

use std::{collections::BTreeMap, fs};

use sha2::{Digest, Sha256};

use crate::source::{SourceFile, assert_none, files_named, root};

/// The hash of each migration, in the format of `sha256sum`. It grows at its end only.
const TABLE: &str = "docs/migrations.table";

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
    let broken: Vec<String> =
        migrations().filter(|file| !is_apart(&file.text, of(&file.path))).map(|file| file.path).collect();
    assert_none(
        &broken,
        "`run_in_transaction = false` belongs to what is built CONCURRENTLY or commits in batches, and to nothing else:",
    );
}

#[test]
fn no_migration_changes_after_it_is_written_down() {
    let broken = changed(&table(), &hashes());
    assert_none(
        &broken,
        "A database that has applied a migration never applies it again, so mend it by a new one. Write a new migration down with
  `cargo test -p workspace-rules -- --ignored write_new_migrations_down`:",
    );
}

#[test]
#[ignore = "it writes docs/migrations.table"]
fn write_new_migrations_down() {
    let (table, mut now) = (table(), hashes());
    let written = lines(&table);
    now.retain(|path, _| !written.contains_key(path.as_str()));
    let new: Vec<String> = now.iter().map(|(path, hash)| format!("{hash}  {path}\n")).collect();
    fs::write(root().join(TABLE), table.clone() + &new.concat())
        .expect("the table of migrations can be written");
}

#[test]
fn a_migration_that_has_changed_or_is_not_written_down_or_is_gone_is_found() {
    let hashes = |hashes: &[(&str, &str)]| -> BTreeMap<String, String> {
        hashes.iter().map(|(path, hash)| ((*path).to_owned(), (*hash).to_owned())).collect()
    };
    let table = "# A comment.\naa  migrations/1/up.sql\nbb  migrations/2/up.sql\n";
    let as_written = hashes(&[("migrations/1/up.sql", "aa"), ("migrations/2/up.sql", "bb")]);
    assert_eq!(changed(table, &as_written), Vec::<String>::new());
    let now = hashes(&[("migrations/1/up.sql", "cc"), ("migrations/3/up.sql", "dd")]);
    let found = [
        "migrations/1/up.sql has changed",
        "migrations/3/up.sql is not written down",
        "migrations/2/up.sql is gone",
    ];
    assert_eq!(changed(table, &now), found);
}

/// What differs from the table.
fn changed(table: &str, now: &BTreeMap<String, String>) -> Vec<String> {
    let written = lines(table);
    let differ = now.iter().filter_map(|(path, hash)| match written.get(path.as_str()) {
        None => Some(format!("{path} is not written down")),
        Some(before) => (before != hash).then(|| format!("{path} has changed")),
    });
    let gone = written.keys().filter(|path| !now.contains_key(**path)).map(|path| format!("{path} is gone"));
    differ.chain(gone).collect()
}

/// The paths of the table, with their hashes.
fn lines(table: &str) -> BTreeMap<&str, &str> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once("  ")).map(|(hash, path)| (path, hash)).collect()
}

fn table() -> String {
    fs::read_to_string(root().join(TABLE)).expect("the table of migrations can be read")
}

/// The files that are applied.
pub fn migrations() -> impl Iterator<Item = SourceFile> {
    files_named("/up.sql").into_iter().filter(|file| file.path.starts_with("migrations/"))
}

/// The hash of each migration as it is now.
fn hashes() -> BTreeMap<String, String> {
    migrations().map(|file| (file.path, hex::encode(Sha256::digest(&file.text)))).collect()
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

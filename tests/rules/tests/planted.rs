//! The bugs that are planted on demand to check the tests: each still fits the code that it breaks, and the test that finds
//! it exists. `just planted` plants them.

use std::{collections::BTreeMap, fs};

use workspace_rules::planted::PlantedBug;

use crate::{
    migrations::migrations,
    source::{assert_none, root, rust_files},
};

const PAGE: &str = "docs/PLANTED-BUGS.md";
const FEWEST: usize = 70;

#[test]
fn every_planted_bug_still_fits_the_code_and_names_a_test() {
    let bugs = bugs();
    assert!(bugs.len() >= FEWEST, "only {} bugs are planted", bugs.len());
    let code = rust_files();
    let mut broken = Vec::new();
    for bug in &bugs {
        if let Err(error) = bug.broken_files(&root()) {
            broken.push(format!("{}: {error}", bug.name));
        }
        let is_test = format!("fn {}(", bug.caught_by);
        if !code.iter().any(|file| file.text.contains(&is_test)) {
            broken.push(format!("{} names `{}`, which is no test", bug.name, bug.caught_by));
        }
        if !bug.command.starts_with("cargo test -p ") {
            broken.push(format!("{} names `{}`, which runs no tests of one package", bug.name, bug.command));
        }
    }
    assert_none(&broken, "Describe these bugs anew, in scripts/planted:");
}

#[test]
fn every_planted_bug_changes_the_code() {
    let is_idle = |bug: &PlantedBug| bug.edits.iter().any(|edit| edit.find.trim() == edit.replace.trim());
    let broken: Vec<String> = bugs().into_iter().filter(is_idle).map(|bug| bug.name).collect();
    assert_none(&broken, "These edits change nothing:");
}

/// Otherwise the bug is gone again once all migrations have run, and whatever the test finds is something else.
#[test]
fn no_planted_bug_is_in_a_function_that_a_later_migration_replaces() {
    let migrations: BTreeMap<String, String> = migrations().map(|file| (file.path, file.text)).collect();
    let replaced_after = |file: &str, function: &str| {
        let replaces = ["CREATE OR REPLACE", "DROP"].map(|what| format!("{what} FUNCTION {function}("));
        let is_replaced = |text: &String| replaces.iter().any(|replaces| text.contains(replaces));
        migrations.iter().find(|(later, text)| later.as_str() > file && is_replaced(text))
    };
    let mut broken = Vec::new();
    for bug in bugs() {
        for edit in bug.edits.iter().filter(|edit| edit.file.starts_with("migrations/")) {
            let function = edit.function(&migrations[&edit.file]);
            if let Some((later, _)) = function.as_deref().and_then(|name| replaced_after(&edit.file, name)) {
                broken.push(format!("{}: {later} replaces {function:?} of {}", bug.name, edit.file));
            }
        }
    }
    assert_none(&broken, "Describe these bugs anew, in the migration that has the last word:");
}

#[test]
fn the_page_of_planted_bugs_lists_every_one_of_them() {
    let page = fs::read_to_string(root().join(PAGE)).expect("the page is there");
    let expected: Vec<String> = bugs().iter().map(PlantedBug::row).collect();
    let printed: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    let missing = expected.iter().filter(|row| !printed.contains(&row.as_str()));
    assert_none(&missing.cloned().collect::<Vec<_>>(), "docs/PLANTED-BUGS.md lacks these rows:");
    assert_eq!(printed.len(), expected.len(), "{PAGE} has rows of bugs that are not planted");
}

fn bugs() -> Vec<PlantedBug> {
    PlantedBug::all(&root().join("scripts/planted")).expect("every bug is described")
}

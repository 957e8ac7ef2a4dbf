//! The table of what can go wrong, against the tests that it names: a row without a test promises nothing.

use std::collections::BTreeSet;

use crate::source::{assert_none, files_named, rust_files};

const PAGE: &str = "docs/FAILURES.md";

/// Every list of the page, by its letter, and how many rows it has.
const LISTS: [(char, u32); 5] = [('F', 12), ('P', 21), ('V', 16), ('D', 19), ('X', 6)];

/// How a row begins that needs no test, because its failure cannot happen or is not ours to prevent.
const WITHOUT_TEST: [&str; 2] = ["Impossible: ", "Assumed: "];

#[test]
fn every_failure_is_in_the_table_once() {
    let rows: Vec<String> = rows().into_iter().map(|row| row.name).collect();
    let expected = LISTS.iter().flat_map(|(letter, last)| (1..=*last).map(move |n| format!("{letter}{n}")));
    assert_eq!(rows, expected.collect::<Vec<_>>());
}

#[test]
fn every_row_names_a_test_that_exists() {
    let tests = tests();
    let mut broken = Vec::new();
    for row in rows() {
        let named = row.named_tests();
        let needs_none = WITHOUT_TEST.iter().any(|beginning| row.shown_by.starts_with(beginning));
        if named.is_empty() && !needs_none {
            broken.push(format!("{} names no test", row.name));
        }
        let absent = named.iter().filter(|test| !tests.contains(**test));
        broken.extend(absent.map(|test| format!("{} names `{test}`, which is no test", row.name)));
    }
    assert_none(&broken, "Fix docs/FAILURES.md, or write the test:");
}

struct Row {
    name: String,
    shown_by: String,
}

impl Row {
    fn named_tests(&self) -> Vec<&str> {
        self.shown_by.split('`').skip(1).step_by(2).collect()
    }
}

fn rows() -> Vec<Row> {
    let pages = files_named(PAGE);
    let page = pages.first().expect("the page is there");
    let cells = page.text.lines().map(|line| line.trim_matches('|').split('|').map(str::trim));
    let rows = cells.filter_map(|mut cells| {
        let name = cells.next()?.to_owned();
        let is_row = LISTS.iter().any(|(letter, _)| name.starts_with(*letter)) && name.len() <= 3;
        is_row.then(|| Row { name, shown_by: cells.next_back().unwrap_or_default().to_owned() })
    });
    rows.collect()
}

/// The names of all functions that are marked as tests.
fn tests() -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for file in rust_files() {
        let mut is_marked = false;
        for line in file.text.lines().map(str::trim) {
            if line.starts_with("#[test]") || line.contains("::test(") || line.contains("::test]") {
                is_marked = true;
            } else if let Some((_, after)) = line.split_once("fn ").filter(|_| is_marked) {
                tests.extend(after.split('(').next().map(str::to_owned));
                is_marked = false;
            }
        }
    }
    tests
}

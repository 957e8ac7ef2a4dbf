//! The bugs that are planted on demand, so that the checkers are checked: each still fits the code that it would break,
//! and the test that finds it is still there. Planting them all takes a while: `scripts/planted/run`.

use std::process::Command;

use crate::house::{assert_none, files_named, root, rust_files};

const PAGE: &str = "docs/PLANTED-BUGS.md";
const FEWEST: usize = 20;

struct PlantedBug {
    patch: String,
    /// What goes wrong, where, and the test that finds it, as a row of the page.
    row: String,
    test: String,
}

#[test]
fn every_planted_bug_still_fits_the_code_and_names_a_test() {
    let bugs = planted_bugs();
    assert!(bugs.len() >= FEWEST, "only {} bugs are planted", bugs.len());
    let code = rust_files();
    let mut broken = Vec::new();
    for bug in &bugs {
        let fits = Command::new("git").args(["apply", "--check", &bug.patch]).current_dir(root()).status();
        if !fits.expect("git is there: it brought this tree").success() {
            broken.push(format!("{} does not fit any more: plant the bug again", bug.patch));
        }
        let is_test = format!("fn {}(", bug.test);
        if !code.iter().any(|file| file.text.contains(&is_test)) {
            broken.push(format!("{} names `{}`, which is no test", bug.patch, bug.test));
        }
    }
    assert_none(&broken, "Mend these patches:");
}

#[test]
fn the_page_of_planted_bugs_lists_every_one_of_them() {
    let pages = files_named(PAGE);
    let page = pages.first().map_or("", |page| page.text.as_str());
    let expected: Vec<String> = planted_bugs().into_iter().map(|bug| bug.row).collect();
    let printed: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    let missing = expected.iter().filter(|row| !printed.contains(&row.as_str()));
    assert_none(&missing.cloned().collect::<Vec<_>>(), "docs/PLANTED-BUGS.md lacks these rows:");
    assert_eq!(printed.len(), expected.len(), "{PAGE} has rows of bugs that are not planted");
}

fn planted_bugs() -> Vec<PlantedBug> {
    let patches = files_named(".patch").into_iter().filter(|file| file.path.starts_with("scripts/planted/"));
    let bugs = patches.map(|file| {
        let line = |key: &str| {
            let found = file.text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            found.unwrap_or_default().to_owned()
        };
        let mut places: Vec<String> = file
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("+++ b/"))
            .map(|path| format!("`{path}`"))
            .collect();
        places.sort();
        let (bug, test) = (line("Bug"), line("Caught by"));
        PlantedBug { row: format!("| {bug} | {} | `{test}` |", places.join(" ")), test, patch: file.path }
    });
    bugs.collect()
}

//! Commands that a person copies: a filter that matches no test would run none, and pass.

use crate::source::{SourceFile, assert_none, files_named, rust_files};

#[test]
fn every_filter_of_a_test_command_matches_a_test() {
    let has_test = |file: &SourceFile| ["#[test]", "::test]"].iter().any(|mark| file.text.contains(mark));
    let code: Vec<SourceFile> = rust_files().into_iter().filter(has_test).collect();
    let mut broken = Vec::new();
    let mut found = 0_usize;
    for document in ["justfile", ".md"].into_iter().flat_map(files_named) {
        for filter in document.text.lines().flat_map(filters) {
            found += 1;
            let is_there = code.iter().any(|file| matches(filter, file));
            broken.extend((!is_there).then(|| format!("{}: {filter}", document.path)));
        }
    }
    assert!(found > 5, "this test sees only {found} filters");
    assert_none(&broken, "These filters match no test:");
}

#[test]
fn a_filter_is_a_part_of_the_path_or_of_the_name_of_a_test() {
    let filtered = |command: &'static str| filters(command).collect::<Vec<_>>();
    assert_eq!(
        filtered(
            "VENDGATE_SWEEP=9 cargo test --locked -p acceptance --test attacks -- --nocapture crashes::held:: races::"
        ),
        ["crashes::held::", "races::"]
    );
    assert_eq!(filtered("`cargo test -p acceptance --test attacks clocks` | more words |"), ["clocks"]);
    assert_eq!(filtered("`cargo test -p store` runs, and `cargo test -p web --test web`, too"), [""; 0]);
    let held = SourceFile {
        path: "tests/attacks/crashes/held.rs".to_owned(),
        text: "fn a_held_confirm() {}".to_owned(),
    };
    assert!(["crashes::held::", "held", "a_held_confirm"].iter().all(|filter| matches(filter, &held)));
    assert!(!matches("crash::", &held) && !matches("concurrency", &held));
}

/// The filters of each `cargo test` of a line that names its test program.
fn filters(line: &str) -> impl Iterator<Item = &str> {
    let commands = line.split("cargo test ").skip(1).filter_map(|rest| rest.split('`').next());
    commands
        .filter_map(|command| command.rsplit_once("--test "))
        .flat_map(|(_, arguments)| arguments.split_whitespace().skip(1).filter(|word| !word.starts_with('-')))
}

/// Whether `file` is in a module of this path, or has a function with this in its name.
fn matches(filter: &str, file: &SourceFile) -> bool {
    let module = format!("/{}", filter.replace("::", "/"));
    let path = format!("/{}/", file.path.trim_end_matches(".rs"));
    let mut functions = file.text.split("fn ").skip(1).filter_map(|rest| rest.split('(').next());
    path.contains(&module) || functions.any(|name| name.contains(filter))
}

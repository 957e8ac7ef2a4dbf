//! What every file must have, and what none may have.

use crate::source::{assert_none, files, files_named, rust_files};

/// Words that no file may contain, and why. Each is split, so that this file does not hold it.
const BANNED: &[(&str, &str)] = &[
    (concat!("../", "shared"), "a path outside the project"),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/ho", "me/"), "a path of one machine"),
    (concat!("/Us", "ers/"), "a path of one machine"),
    (concat!("to", "do!"), "unfinished work"),
    (concat!("design", ".md"), "a document that is not part of the project"),
    (concat!("house-style", ".md"), "a document that is not part of the project"),
    (concat!("failure-model", ".md"), "a document that is not part of the project"),
];

#[test]
fn every_rust_file_begins_by_saying_what_it_holds() {
    let silent =
        |text: &str| !text.lines().next().is_some_and(|line| line.starts_with("//! ") && line.len() > 12);
    let broken: Vec<String> =
        rust_files().into_iter().filter(|file| silent(&file.text)).map(|file| file.path).collect();
    assert_none(&broken, "Begin these files with a `//!` line that says what they hold, and why:");
}

#[test]
fn a_module_is_named_by_its_file() {
    let broken: Vec<String> = files_named("/mod.rs").into_iter().map(|file| file.path).collect();
    assert_none(&broken, "Write `foo.rs` beside `foo/` instead:");
}

#[test]
fn no_file_has_section_banners() {
    let mut broken = Vec::new();
    for file in rust_files() {
        for (number, line) in file.text.lines().enumerate().filter(|(_, line)| is_banner(line)) {
            broken.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
        }
    }
    assert_none(&broken, "Split these files instead of dividing them into sections:");
}

#[test]
fn a_banner_is_recognised() {
    for banner in ["// ----", "  // ==== Wallets ====", "//====", "/// ---- Wallets", "//// ****", "// ####"]
    {
        assert!(is_banner(banner), "{banner}");
    }
    for line in
        ["// -1 is no amount", "/// |---|---|", "//! # Wallets", "let line = \"// ----\";", "// --> here"]
    {
        assert!(!is_banner(line), "{line}");
    }
}

#[test]
fn every_package_uses_the_lints_of_the_workspace() {
    let is_member = |text: &str| !text.lines().any(|line| line == "[workspace]");
    let broken: Vec<String> = files_named("Cargo.toml")
        .into_iter()
        .filter(|file| is_member(&file.text) && file.path != "Cargo.toml")
        .filter(|file| !file.text.contains("\n[lints]\nworkspace = true\n"))
        .map(|file| file.path)
        .collect();
    assert_none(&broken, "Write `[lints]` and `workspace = true` into these:");
}

#[test]
fn no_file_names_what_only_its_authors_know() {
    let mut broken = Vec::new();
    for file in files() {
        for (number, line) in file.text.lines().enumerate() {
            let words = BANNED.iter().filter(|(word, _)| line.contains(word));
            broken.extend(words.map(|(word, why)| format!("{}:{}: `{word}`, {why}", file.path, number + 1)));
        }
    }
    assert_none(&broken, "Remove these words:");
}

fn is_banner(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
    let comment = comment.trim_start_matches(['/', '!', ' ']);
    ["----", "====", "****", "####", "~~~~"].iter().any(|rule| comment.starts_with(rule))
}

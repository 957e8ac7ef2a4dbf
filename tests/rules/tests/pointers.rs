//! Pointers from documents into the code, `file.rs::function`: a reader who follows one finds the function.

use std::path::Path;

use crate::source::{SourceFile, assert_none, files_named, rust_files};

#[test]
fn every_pointer_of_a_document_leads_to_a_function() {
    let code = rust_files();
    let mut broken = Vec::new();
    let mut found = 0_usize;
    for document in files_named(".md") {
        for (path, function) in pointers(&document.text) {
            found += 1;
            let is_there = code.iter().any(|file| is_at(file, path) && defines(file, function));
            broken.extend((!is_there).then(|| format!("{}: {path}::{function}", document.path)));
        }
    }
    assert!(found > 100, "this test sees only {found} pointers");
    assert_none(&broken, "These pointers lead to no function:");
}

#[test]
fn a_pointer_has_a_path_and_a_function() {
    let text = "`a/src/b.rs::confirm`, and `a/src/b.rs`, `Type::new` and `c.rs::d::e`";
    assert_eq!(pointers(text).collect::<Vec<_>>(), [("a/src/b.rs", "confirm")]);
    let file = SourceFile { path: "crates/a/src/b.rs".to_owned(), text: "async fn confirm<T>(".to_owned() };
    assert!(
        is_at(&file, "a/src/b.rs") && is_at(&file, "crates/a/src/b.rs") && !is_at(&file, "rates/a/src/b.rs")
    );
    assert!(defines(&file, "confirm") && !defines(&file, "conf") && !defines(&file, "firm"));
}

/// What stands in backticks and is a path, two colons and a name.
fn pointers(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted
        .filter_map(|code| code.split_once("::"))
        .filter(|(path, _)| Path::new(path).extension().is_some_and(|extension| extension == "rs"))
        .filter(|(_, function)| function.chars().all(|letter| letter.is_alphanumeric() || letter == '_'))
}

/// Whether `path` is the path of `file`, or its end from a directory on.
fn is_at(file: &SourceFile, path: &str) -> bool {
    Path::new(&file.path).ends_with(path)
}

fn defines(file: &SourceFile, function: &str) -> bool {
    ["(", "<"].iter().any(|after| file.text.contains(&format!("fn {function}{after}")))
}

//! Cargo builds a test program for the targets that have tests, and only for those: the others would be built for nothing.

use crate::{
    cargo::{Package, Target, packages},
    source::{SourceFile, assert_none, rust_files},
};

#[test]
fn cargo_looks_for_tests_and_examples_where_there_are_some() {
    let files = rust_files();
    let mut broken = Vec::new();
    for package in packages().values() {
        for target in &package.targets {
            let own = code_of(target, package, &files);
            let has_test = own.iter().any(|file| has_test(&file.text));
            let has_example = target.is_library && own.iter().any(|file| has_example(&file.text));
            let mistakes = [
                mistake("test", target.is_tested, has_test),
                mistake("doctest", target.has_examples_run, has_example),
            ];
            broken
                .extend(mistakes.into_iter().flatten().map(|mistake| format!("{}: {mistake}", target.file)));
        }
    }
    assert_none(&broken, "Correct the [lib] or [[bin]] of these packages:");
}

#[test]
fn a_test_and_an_example_are_recognised() {
    assert!(has_test("#[cfg(test)]\nmod tests {") && !has_test("pub fn test() {}"));
    assert!(has_example("    /// ```\n    /// let one = 1;") && !has_example("// ``` within a comment"));
    assert!(has_example("#![doc = include_str!(\"../README.md\")]"));
    assert_eq!(mistake("test", true, true), None);
    assert!(mistake("test", true, false).is_some() && mistake("test", false, true).is_some());
}

/// The files of a target. Beside a library, a program is its one file.
fn code_of<'a>(target: &Target, package: &Package, files: &'a [SourceFile]) -> Vec<&'a SourceFile> {
    let is_all = target.is_library || !package.targets.iter().any(|other| other.is_library);
    let source = format!("{}/src/", package.path);
    let is_of_it = |path: &str| if is_all { path.starts_with(&source) } else { path == target.file };
    files.iter().filter(|file| is_of_it(&file.path)).collect()
}

fn has_test(text: &str) -> bool {
    ["#[cfg(test)]", "#[test]"].iter().any(|mark| text.contains(mark))
}

fn has_example(text: &str) -> bool {
    // The README is the front page of some crates, and always has an example.
    let marks = ["/// ```", "//! ```", "#![doc = include_str!("];
    text.lines().map(str::trim_start).any(|line| marks.iter().any(|mark| line.starts_with(mark)))
}

fn mistake(setting: &str, is_set: bool, has_some: bool) -> Option<String> {
    match (is_set, has_some) {
        (true, false) => Some(format!("set `{setting} = false`, there is none")),
        (false, true) => Some(format!("remove `{setting} = false`, there is one")),
        (true, true) | (false, false) => None,
    }
}

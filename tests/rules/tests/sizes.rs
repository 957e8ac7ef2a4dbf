//! A file that cannot be read in one sitting is two files, and a crate that cannot be known is two crates.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{SourceFile, assert_none, rust_files};

const SOURCE_LINES_MAX: usize = 400;
const TEST_LINES_MAX: usize = 700;

/// Files that are longer than they may be, and how long they are. A number here may only get
/// smaller, and an entry that is no longer needed must go.
const EXCEPTIONS: &[(&str, usize)] = &[];

/// Lines of code of a package that ships, without tests, comments and empty lines.
const PACKAGE_LINES_MAX: usize = 6_000;

/// Packages that are larger, and how large. `vendctl` is the text of a hundred commands, one file for each noun; they share no state.
/// A number here may only get smaller.
const LARGER_PACKAGES: &[(&str, usize)] = &[("bins/vendctl", 9_300)];

/// What begins a module of tests.
const TEST_MODULE: &str = "#[cfg(test)]\nmod ";

#[test]
fn no_package_is_larger_than_one_person_can_know() {
    let files = rust_files();
    let modules: BTreeSet<String> = files.iter().flat_map(test_modules).collect();
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| !modules.contains(&file.path) && !is_test(&file.path)) {
        if let [top @ ("crates" | "bins"), name, "src", ..] = file.path.split('/').collect::<Vec<_>>()[..] {
            *sizes.entry(format!("{top}/{name}")).or_default() += lines_of_code(&file.text);
        }
    }
    assert!(sizes.len() > 40, "these are all packages that ship: {sizes:?}");
    let allowed = |package: &str| {
        let larger = LARGER_PACKAGES.iter().find(|(name, _)| *name == package);
        larger.map_or(PACKAGE_LINES_MAX, |(_, lines)| *lines)
    };
    let large = sizes.into_iter().filter(|(package, lines)| *lines > allowed(package));
    let large =
        large.map(|(package, lines)| format!("{package}: {lines} lines, at most {}", allowed(&package)));
    assert_none(&large.collect::<Vec<_>>(), "Split these packages, one purpose each:");
}

#[test]
fn tests_and_comments_are_no_lines_of_code() {
    let text = "//! About it.\n\n#[cfg(test)]\nmod plans;\nfn one() {}\n    // Why.\n\n#[cfg(test)]\nmod tests {\n    fn two() {}\n}\n";
    assert_eq!(lines_of_code(text), 3);
    let file =
        SourceFile { path: "a/src/b.rs".to_owned(), text: "#[cfg(test)]\nmod plans;\nmod c;\n".to_owned() };
    assert_eq!(test_modules(&file), ["a/src/b/plans.rs"]);
}

/// A module of tests within a file is its end.
fn lines_of_code(text: &str) -> usize {
    let within = text.match_indices(TEST_MODULE).find(|(at, _)| {
        let rest = text.get(*at..).unwrap_or_default();
        rest.lines().nth(1).is_some_and(|line| line.ends_with('{'))
    });
    let code = within.and_then(|(at, _)| text.get(..at)).unwrap_or(text);
    code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// The files of the modules of tests that a file declares.
fn test_modules(file: &SourceFile) -> Vec<String> {
    let stem = file.path.trim_end_matches(".rs");
    let directory = match stem.rsplit_once('/') {
        Some((parent, "lib" | "main" | "mod")) => parent,
        _ => stem,
    };
    let declared = file.text.split(TEST_MODULE).skip(1).filter_map(|rest| rest.split_once(';'));
    let names = declared.map(|(name, _)| name).filter(|name| !name.contains(['{', '\n']));
    names.map(|name| format!("{directory}/{name}.rs")).collect()
}

#[test]
fn no_file_is_longer_than_one_can_read() {
    let mut broken = Vec::new();
    for file in rust_files() {
        let excepted = EXCEPTIONS.iter().find(|(path, _)| *path == file.path).map(|(_, lines)| *lines);
        broken.extend(complaint(&file.path, file.text.lines().count(), excepted));
    }
    assert_none(&broken, "Split these files, one noun each:");
}

#[test]
fn every_exception_names_a_file_that_exists() {
    let files = rust_files();
    let gone =
        EXCEPTIONS.iter().map(|(path, _)| *path).filter(|path| !files.iter().any(|file| file.path == *path));
    let gone: Vec<String> = gone.map(str::to_owned).collect();
    assert_none(&gone, "Remove these from the list, they do not exist:");
}

#[test]
fn an_exception_may_neither_grow_nor_outlive_its_need_nor_lag_behind() {
    assert_eq!(complaint("a/src/lib.rs", 400, None), None);
    assert!(complaint("a/src/lib.rs", 401, None).is_some());
    assert_eq!(complaint("a/src/lib.rs", 450, Some(450)), None);
    for lines in [451, 449, 400] {
        assert!(complaint("a/src/lib.rs", lines, Some(450)).is_some(), "{lines}");
    }
    assert_eq!(complaint("a/tests/till.rs", 700, None), None);
    assert!(complaint("a/tests/till.rs", 701, None).is_some());
    assert_eq!(complaint("a/src/till/tests.rs", 700, None), None);
    assert!(complaint("tests/src/bin/bench.rs", 401, None).is_some());
}

fn complaint(path: &str, lines: usize, excepted: Option<usize>) -> Option<String> {
    let max = if is_test(path) { TEST_LINES_MAX } else { SOURCE_LINES_MAX };
    match excepted {
        None if lines > max => Some(format!("{path}: {lines} lines, at most {max}")),
        Some(_) if lines <= max => Some(format!("{path}: no exception is needed any more, remove it")),
        Some(allowed) if lines > allowed => Some(format!("{path}: {lines} lines, it had {allowed}")),
        Some(allowed) if lines < allowed => Some(format!("{path}: write {lines} instead of {allowed}")),
        None | Some(_) => None,
    }
}

/// Tests are in `tests/` of a package or in a `tests.rs`. Everything else in `src/` is source, even in a package of tests.
fn is_test(path: &str) -> bool {
    let in_directory = |name: &str| path.split('/').rev().skip(1).any(|part| part == name);
    path.ends_with("/tests.rs") || in_directory("tests") && !in_directory("src")
}

//! A file that cannot be read in one sitting is two files.

use crate::source::{assert_none, rust_files};

const SOURCE_LINES_MAX: usize = 400;
const TEST_LINES_MAX: usize = 700;

/// Files that are longer than they may be, and how long they are. A number here may only get
/// smaller, and an entry that is no longer needed must go.
const EXCEPTIONS: &[(&str, usize)] = &[];

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

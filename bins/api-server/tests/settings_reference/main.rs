//! docs/operations/SETTINGS.md says what the code says: every setting, its default, its bounds and its meaning.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "settings have few of the forms of Rust, and others fail the test"
)]

mod allowed;
mod keys;
mod page;
mod programs;
mod shown;
mod source;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// Written once for both tests, because the questions to the programs share a file.
static FOUND: LazyLock<String> = LazyLock::new(|| page::page(programs::listed()));

const WRITE: &str =
    "cargo test -p api-server --test settings_reference -- --ignored write_the_reference_of_the_settings";

#[test]
fn the_reference_of_the_settings_says_what_the_programs_do() {
    let committed = fs::read_to_string(file()).unwrap_or_default();
    let differs = committed.lines().zip(FOUND.lines()).find(|(committed, found)| committed != found);
    assert!(
        committed == *FOUND,
        "docs/operations/SETTINGS.md differs from the code, first in {differs:?}. If the code is right: {WRITE}"
    );
}

#[test]
#[ignore = "writes docs/operations/SETTINGS.md: run it by name, and read the diff"]
fn write_the_reference_of_the_settings() {
    fs::write(file(), &*FOUND).unwrap();
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations/SETTINGS.md")
}

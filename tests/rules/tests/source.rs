//! What every rule reads: the files of the workspace, and how a broken rule is reported.

pub use workspace_rules::workspace::{SourceFile, root};

/// Every text file of the project, ordered by path.
pub fn files() -> Vec<SourceFile> {
    let files = workspace_rules::workspace::files().expect("the workspace can be listed");
    assert!(files.len() > 20, "these tests do not see the workspace: {files:?}");
    files
}

/// Every Rust file of the project.
pub fn rust_files() -> Vec<SourceFile> {
    files_named(".rs")
}

/// Every file whose name ends in `ending`.
pub fn files_named(ending: &str) -> Vec<SourceFile> {
    files().into_iter().filter(|file| file.path.ends_with(ending)).collect()
}

/// Fails with every violation at once, so that one run shows all of them.
#[track_caller]
pub fn assert_none(violations: &[String], rule: &str) {
    assert!(violations.is_empty(), "{rule}\n  {}\n", violations.join("\n  "));
}

//! The house as these tests walk through it: every file that belongs to the project.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// One text file of the project.
#[derive(Debug)]
pub struct SourceFile {
    /// Its path from the root, with `/` between the parts.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// The directory that holds the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned()
}

/// Every text file of the project, in the order of their paths: all but what is built, bundled or hidden.
pub fn files() -> Vec<SourceFile> {
    let mut files = Vec::new();
    collect(&root(), &mut files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(files.len() > 20, "these tests do not see the house: {files:?}");
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

/// Fails with every broken rule at once, so that one run shows all of them.
#[track_caller]
pub fn assert_none(broken: &[String], rule: &str) {
    assert!(broken.is_empty(), "{rule}\n  {}\n", broken.join("\n  "));
}

fn collect(directory: &Path, files: &mut Vec<SourceFile>) {
    let entries = fs::read_dir(directory).expect("a directory of the project can be listed");
    for entry in entries {
        let path = entry.expect("a directory of the project can be listed").path();
        if path.is_dir() {
            if is_ours(&path) {
                collect(&path, files);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            let from_root = path.strip_prefix(root()).expect("the walk began at the root");
            files.push(SourceFile { path: from_root.to_string_lossy().replace('\\', "/"), text });
        }
    }
}

fn is_ours(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let hidden = name.starts_with('.') && !matches!(&*name, ".ci" | ".cargo" | ".github");
    !hidden && !matches!(&*name, "target" | "node_modules")
}

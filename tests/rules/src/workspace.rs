//! The text files of the workspace, as the rules read them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// One text file of the project.
#[derive(Debug)]
pub struct SourceFile {
    /// Its path from the root, with `/` between the parts.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// The root directory of the workspace.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap_or(package).to_owned()
}

/// Every text file of the project, ordered by path. Build output, bundles and hidden directories are left out.
///
/// # Errors
/// If a directory cannot be listed.
pub fn files() -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    collect(&root(), &mut files)?;
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn collect(directory: &Path, files: &mut Vec<SourceFile>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            if is_ours(&path) {
                collect(&path, files)?;
            }
        } else if path.ends_with(".git") {
            // In a worktree it is a file.
        } else if let Ok(text) = fs::read_to_string(&path) {
            let from_root = path.strip_prefix(root()).unwrap_or(&path);
            files.push(SourceFile { path: from_root.to_string_lossy().replace('\\', "/"), text });
        }
    }
    Ok(())
}

fn is_ours(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let hidden = name.starts_with('.') && !matches!(&*name, ".ci" | ".cargo" | ".github");
    !hidden && !matches!(&*name, "target" | "node_modules")
}

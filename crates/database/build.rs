//! Migrations are embedded by a macro, which cargo cannot see through: a new one must rebuild this crate.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

const MIGRATIONS: &str = "../../migrations";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={MIGRATIONS}");
    let mut hasher = DefaultHasher::new();
    for file in files(Path::new(MIGRATIONS))? {
        (&file, fs::read(&file)?).hash(&mut hasher);
    }
    println!("cargo::rustc-env=MIGRATIONS_DIGEST={:016x}", hasher.finish());
    Ok(())
}

fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.append(&mut files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

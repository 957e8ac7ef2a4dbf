//! The directory of a sandbox: one sandbox at a time, and nothing of another program.

use std::{
    ffi::OsStr,
    fs::{self, File, Permissions, TryLockError},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use super::{MIGRATE_SETTINGS, StartError};

/// The file that marks the directory of a sandbox. A directory of an older version is recognised by two of its other
/// files.
const MARK: &str = ".vendgate-sandbox";

/// Takes the directory, which is created if there is none. It is this sandbox's until the file is closed, which the end of the
/// process does, too. Nothing of an earlier sandbox is changed yet.
pub(super) fn take(path: &Path) -> Result<File, StartError> {
    let failed = |source| StartError::File { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(failed)?;
    let holds = |file: &str| path.join(file).exists();
    let is_ours = holds(MARK) || (holds(MIGRATE_SETTINGS) && holds("utility-sim.toml"));
    if !is_ours && fs::read_dir(path).map_err(failed)?.next().is_some() {
        return Err(StartError::NotOurs { path: path.to_owned() });
    }
    let mark = File::create(path.join(MARK)).map_err(failed)?;
    match mark.try_lock() {
        Ok(()) => Ok(mark),
        Err(TryLockError::WouldBlock) => Err(StartError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Removes the files of an earlier sandbox. Only this user may read the directory, because the logs contain tokens.
pub(super) fn clear(path: &Path) -> Result<(), StartError> {
    let failed = |source| StartError::File { path: path.to_owned(), source };
    fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed)?;
    for entry in fs::read_dir(path).map_err(failed)?.flatten() {
        let name = entry.file_name();
        let ours = ["log", "toml", "json", "events"].map(OsStr::new);
        if Path::new(&name).extension().is_some_and(|extension| ours.contains(&extension)) {
            fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    #[test]
    fn a_directory_with_foreign_files_is_not_changed() {
        let directory = env::temp_dir().join(format!("vendgate-not-ours-{}", std::process::id()));
        let file = directory.join("Cargo.toml");
        fs::create_dir_all(&directory).unwrap();
        fs::write(&file, "precious").unwrap();
        assert!(matches!(take(&directory), Err(StartError::NotOurs { .. })));
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
        fs::remove_file(&file).unwrap();
        let first = take(&directory).unwrap();
        assert!(matches!(take(&directory), Err(StartError::InUse { .. })));
        drop(first);
        fs::write(directory.join("api-server.log"), "of the last time").unwrap();
        let _second = take(&directory).unwrap();
        clear(&directory).unwrap();
        assert!(!directory.join("api-server.log").exists());
        fs::remove_dir_all(&directory).unwrap();
    }
}

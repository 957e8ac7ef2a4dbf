//! A file that gets its name when it is whole.

use std::{
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io::{self, ErrorKind, Write},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// Only the person who runs the program may read the file, whatever the umask: what operators write has data of customers.
const OWNER_ONLY: u32 = 0o600;

/// A new file, of which the name ends in `.part` until it is whole. It is locked until then, so that two programs never write the same.
#[derive(Debug)]
pub struct PartFile {
    file: File,
    path: PathBuf,
    part: PathBuf,
}

impl PartFile {
    /// Creates the file. A part that an interrupted program has left is written anew.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) if the file exists, [`ResourceBusy`](ErrorKind::ResourceBusy) while another program
    /// writes it, and those of the file system.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).mode(OWNER_ONLY).open(&part)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => ErrorKind::ResourceBusy.into(),
            TryLockError::Error(error) => error,
        })?;
        // The program that had the lock may have given this very file its name.
        if fs::metadata(&part).map(|named| named.ino()).ok() != Some(file.metadata()?.ino()) {
            return Err(ErrorKind::ResourceBusy.into());
        }
        if path.exists() {
            fs::remove_file(&part)?;
            return Err(ErrorKind::AlreadyExists.into());
        }
        file.set_permissions(Permissions::from_mode(OWNER_ONLY))?;
        file.set_len(0)?;
        Ok(Self { file, path: path.to_owned(), part })
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) if there is such a file meanwhile, and those of the file system.
    pub fn finish(self) -> io::Result<()> {
        self.file.sync_all()?;
        if self.path.exists() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        fs::rename(&self.part, &self.path)?;
        let directory = self.path.parent().filter(|path| !path.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
    }

    /// Removes what was written.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(self.part)
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_path(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("vendgate-{}-{name}", std::process::id()));
        let _absent = fs::remove_file(&path);
        path
    }

    fn part_of(path: &Path) -> PathBuf {
        PathBuf::from(format!("{}.part", path.display()))
    }

    #[test]
    fn a_file_has_its_name_only_when_it_is_whole_and_only_its_owner_reads_it() {
        let path = new_path("whole");
        // What an interrupted program has left, readable by all.
        fs::write(part_of(&path), "half of a longer text").unwrap();
        let mut file = PartFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!part_of(&path).exists());
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_exists_is_not_replaced_and_two_programs_do_not_write_the_same() {
        let path = new_path("once");
        let kind = |outcome: io::Result<PartFile>| outcome.map(drop).unwrap_err().kind();
        let first = PartFile::create(&path).unwrap();
        assert_eq!(kind(PartFile::create(&path)), ErrorKind::ResourceBusy);
        fs::write(&path, "evidence").unwrap();
        assert_eq!(first.finish().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(kind(PartFile::create(&path)), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "evidence");
        assert!(!part_of(&path).exists());
        fs::remove_file(path).unwrap();
    }
}

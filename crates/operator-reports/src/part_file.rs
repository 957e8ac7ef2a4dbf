//! A file that gets its name when it is whole.

use std::{
    fs::File,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

/// A new file with a random name that ends in `.part` until it is whole. Only its owner may read it, whatever the umask, because what
/// operators write has data of customers. It is removed if it does not get its name.
#[derive(Debug)]
pub struct PartFile {
    part: NamedTempFile,
    directory: PathBuf,
    path: PathBuf,
}

impl PartFile {
    /// Creates the part, beside the file.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) if there is something of that name, and those of the file system.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let named = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        let directory = named.unwrap_or(Path::new(".")).to_owned();
        let mut prefix = path.file_name().unwrap_or_default().to_owned();
        prefix.push(".");
        let part = Builder::new().prefix(&prefix).suffix(".part").tempfile_in(&directory)?;
        Ok(Self { part, directory, path: path.to_owned() })
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) if another program has made such a file meanwhile, and those of the file system.
    pub fn finish(self) -> io::Result<()> {
        self.part.as_file().sync_all()?;
        self.part.persist_noclobber(&self.path)?;
        File::open(self.directory)?.sync_all()
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.part.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    fn kind<T>(outcome: io::Result<T>) -> Option<ErrorKind> {
        outcome.err().map(|error| error.kind())
    }

    fn names_in(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_has_its_name_only_when_it_is_whole_and_only_its_owner_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("airtime.csv");
        let mut file = PartFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names_in(directory.path()), ["airtime.csv"]);
    }

    #[test]
    fn a_file_that_exists_is_not_replaced_and_no_part_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("airtime.csv");
        let (first, second) = (PartFile::create(&path).unwrap(), PartFile::create(&path).unwrap());
        fs::write(&path, "evidence").unwrap();
        assert_eq!(kind(first.finish()), Some(ErrorKind::AlreadyExists));
        assert_eq!(kind(PartFile::create(&path)), Some(ErrorKind::AlreadyExists));
        drop(second);
        assert_eq!(fs::read_to_string(&path).unwrap(), "evidence");
        assert_eq!(names_in(directory.path()), ["airtime.csv"]);

        let dangling = directory.path().join("dangling.csv");
        std::os::unix::fs::symlink(directory.path().join("nowhere"), &dangling).unwrap();
        assert_eq!(kind(PartFile::create(&dangling)), Some(ErrorKind::AlreadyExists));
    }
}

//! A file that gets its name when it is whole.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A new file, of which the name ends in `.part` until it is whole.
#[derive(Debug)]
pub(crate) struct PartFile {
    file: File,
    path: PathBuf,
    part: PathBuf,
}

impl PartFile {
    /// Creates the file. Neither it nor its part may exist.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        if path.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = OpenOptions::new().write(true).create_new(true).open(&part)?;
        Ok(Self { file, path: path.to_owned(), part })
    }

    /// Makes the file durable and gives it its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.part, &self.path)?;
        let directory = self.path.parent().filter(|path| !path.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
    }

    /// Removes what was written.
    pub(crate) fn remove(self) -> io::Result<()> {
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

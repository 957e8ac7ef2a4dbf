//! A file of lines that is only appended to, and is read once at start-up.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Opens the file for appending and returns its lines. A last line without a line end was being written when the
/// process was killed. No answer was sent for it, so it is removed.
pub(crate) fn open(path: &Path) -> io::Result<(File, Vec<String>)> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let text = std::fs::read_to_string(path)?;
    let whole = text.rsplit_once('\n').map_or("", |(whole, _torn)| whole);
    let length = if whole.is_empty() { 0 } else { whole.len().saturating_add(1) };
    if length < text.len() {
        file.set_len(u64::try_from(length).map_err(io::Error::other)?)?;
    }
    Ok((file, whole.lines().map(str::to_owned).collect()))
}

/// Appends a line in one write.
pub(crate) fn append(file: &mut File, line: &str) -> io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())
}

/// The error for a line that cannot be parsed.
pub(crate) fn unreadable(what: &'static str, index: usize) -> io::Error {
    let number = index.saturating_add(1);
    io::Error::new(io::ErrorKind::InvalidData, format!("line {number} of the {what} cannot be understood"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_torn_off_is_taken_out_before_the_next_is_written() {
        let path = std::env::temp_dir().join(format!("lines-{}", std::process::id()));
        for (before, lines) in [("", 0), ("torn", 0), ("one\n", 1), ("one\ntwo\nto", 2)] {
            std::fs::write(&path, before).unwrap();
            let (mut file, read) = open(&path).unwrap();
            assert_eq!(read.len(), lines, "{before:?}");
            append(&mut file, "next").unwrap();
            let after = std::fs::read_to_string(&path).unwrap();
            assert_eq!((after.lines().count(), after.ends_with("next\n")), (lines + 1, true), "{after:?}");
        }
        std::fs::remove_file(path).unwrap();
    }
}

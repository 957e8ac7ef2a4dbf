//! The file of an archive: JSON lines, compressed with gzip.
//!
//! The first line is the header, the last line the trailer, and each line between them is one purchase, in the order of
//! their numbers. The trailer has the counts, and the SHA-256 of all lines before it, each with its line feed.
//! docs/operations/RETENTION.md describes every field.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, bufread::MultiGzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use sha2::{Digest, Sha256};

use crate::part_file::PartFile;

const FORMAT: &str = "vendgate-archive";
const VERSION: u32 = 1;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    format: String,
    version: u32,
    /// The schema of the database that it was written from.
    pub(crate) schema: String,
    /// RFC 3339. Its purchases ended before this time.
    pub ended_before: String,
    /// RFC 3339.
    pub written_at: String,
}

/// The last line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trailer {
    pub purchases: u64,
    pub attempts: u64,
    pub purchase_events: u64,
    pub provider_replies: u64,
    pub first_purchase: Option<i64>,
    pub last_purchase: Option<i64>,
    /// In hexadecimal digits.
    pub sha256: String,
}

/// What is counted of a line. The rest is for its reader.
#[derive(Deserialize)]
struct Line {
    purchase: Numbered,
    attempts: Vec<IgnoredAny>,
    purchase_events: Vec<IgnoredAny>,
    provider_replies: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct Numbered {
    id: i64,
}

/// Why a file is not an archive, or not a whole one.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveFault {
    #[error("the archive {file} cannot be written; name a file that does not exist in a directory that does")]
    Unwritten { file: String, source: io::Error },
    #[error("the archive {file} cannot be read: it is damaged, or it is no archive")]
    Unreadable { file: String, source: io::Error },
    #[error("line {line} of the archive {file} is not what it must be: {what}")]
    Line { file: String, line: u64, what: &'static str },
    #[error("the archive {file} is not whole: {what}")]
    NotWhole { file: String, what: &'static str },
}

/// An archive that is being written. Until it is whole its name ends in `.part`.
pub struct Writer {
    out: GzEncoder<BufWriter<PartFile>>,
    path: PathBuf,
    hash: Sha256,
    trailer: Trailer,
}

impl Header {
    pub fn new(schema: String, ended_before: String, written_at: String) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, schema, ended_before, written_at }
    }
}

impl Writer {
    /// Creates the file. A file of that name must not exist.
    pub fn create(path: &Path, header: &Header) -> Result<Self, ArchiveFault> {
        let part = PartFile::create(path).map_err(|source| unwritten(path, source))?;
        let out = GzEncoder::new(BufWriter::new(part), Compression::default());
        let mut writer =
            Self { out, path: path.to_owned(), hash: Sha256::new(), trailer: Trailer::default() };
        writer.write(&json(header))?;
        Ok(writer)
    }

    /// Adds the line of a purchase.
    pub fn add(&mut self, line: &str) -> Result<(), ArchiveFault> {
        let file = || shown(&self.path);
        let what = "the database gave no history";
        let read: Line = serde_json::from_str(line).map_err(|_malformed| ArchiveFault::Line {
            file: file(),
            line: 0,
            what,
        })?;
        self.trailer.count(&read).map_err(|what| ArchiveFault::Line { file: file(), line: 0, what })?;
        self.write(line)
    }

    /// Writes the trailer, makes the file durable and gives it its name.
    pub fn finish(mut self) -> Result<Trailer, ArchiveFault> {
        self.trailer.sha256 = hex::encode(self.hash.clone().finalize());
        let trailer = json(&self.trailer);
        let path = self.path.clone();
        self.write(&trailer)?;
        let whole =
            self.out.finish().and_then(|out| out.into_inner().map_err(io::IntoInnerError::into_error));
        whole.and_then(PartFile::finish).map_err(|source| unwritten(&path, source))?;
        Ok(self.trailer)
    }

    fn write(&mut self, line: &str) -> Result<(), ArchiveFault> {
        self.hash.update(line.as_bytes());
        self.hash.update(b"\n");
        let written = self.out.write_all(line.as_bytes()).and_then(|()| self.out.write_all(b"\n"));
        written.map_err(|source| unwritten(&self.path, source))
    }
}

impl Trailer {
    /// Counts a line. Numbers must ascend.
    fn count(&mut self, line: &Line) -> Result<(), &'static str> {
        let id = line.purchase.id;
        if self.last_purchase.is_some_and(|last| last >= id) {
            return Err("the numbers of the purchases do not ascend");
        }
        let many = |rows: &[IgnoredAny]| u64::try_from(rows.len()).unwrap_or(u64::MAX);
        self.first_purchase.get_or_insert(id);
        self.last_purchase = Some(id);
        self.purchases = self.purchases.saturating_add(1);
        self.attempts = self.attempts.saturating_add(many(&line.attempts));
        self.purchase_events = self.purchase_events.saturating_add(many(&line.purchase_events));
        self.provider_replies = self.provider_replies.saturating_add(many(&line.provider_replies));
        Ok(())
    }
}

/// Reads a whole archive and verifies it: the checksums of gzip, the form and the order of its lines, the counts, and the
/// SHA-256. Each purchase's number and line are given to `purchase` before the end is verified.
pub fn read(path: &Path, mut purchase: impl FnMut(i64, &str)) -> Result<(Header, Trailer), ArchiveFault> {
    let file = || shown(path);
    let unreadable = |source| ArchiveFault::Unreadable { file: file(), source };
    let not_whole = |what| ArchiveFault::NotWhole { file: file(), what };
    let opened = File::open(path).map_err(unreadable)?;
    let mut lines = BufReader::new(MultiGzDecoder::new(BufReader::new(opened))).lines();
    let first = lines.next().ok_or_else(|| not_whole("it is empty"))?.map_err(unreadable)?;
    let header: Option<Header> = serde_json::from_str(&first).ok();
    let header = header.filter(|header| header.format == FORMAT && header.version == VERSION);
    let what = "it is no archive, or one of another version";
    let header = header.ok_or_else(|| ArchiveFault::Line { file: file(), line: 1, what })?;

    let (mut hash, mut counted) = (Sha256::new(), Trailer::default());
    let (mut before, mut number) = (first, 1_u64);
    // The last line is the trailer, so each line waits for the next one.
    for line in lines {
        let line = line.map_err(unreadable)?;
        hash.update(before.as_bytes());
        hash.update(b"\n");
        if number > 1 {
            let fault = |what| ArchiveFault::Line { file: file(), line: number, what };
            let read: Line =
                serde_json::from_str(&before).map_err(|_malformed| fault("it is no purchase"))?;
            counted.count(&read).map_err(fault)?;
            purchase(read.purchase.id, &before);
        }
        (before, number) = (line, number.saturating_add(1));
    }
    if number == 1 {
        return Err(not_whole("its trailer is missing"));
    }
    let trailer: Trailer =
        serde_json::from_str(&before).map_err(|_malformed| not_whole("its trailer is missing"))?;
    counted.sha256 = hex::encode(hash.finalize());
    if counted.sha256 != trailer.sha256 {
        return Err(not_whole("its lines do not have the SHA-256 of its trailer"));
    }
    if counted != trailer {
        return Err(not_whole("its lines are not those that its trailer counts"));
    }
    Ok((header, trailer))
}

/// The name of a file without its directory.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| shown(path), |name| name.to_string_lossy().chars().take(200).collect())
}

fn unwritten(path: &Path, source: io::Error) -> ArchiveFault {
    ArchiveFault::Unwritten { file: shown(path), source }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers can be serialised")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn line(id: i64) -> String {
        format!(
            r#"{{"purchase": {{"id": {id}}}, "attempts": [{{}}], "purchase_events": [{{}}, {{}}], "provider_replies": []}}"#
        )
    }

    /// An archive in a directory that is removed when it is dropped.
    fn written(ids: &[i64]) -> (TempDir, PathBuf) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("archive.jsonl.gz");
        let header = Header::new("20261124000033".into(), "2024-11-24T00:00:00Z".into(), "now".into());
        let mut writer = Writer::create(&path, &header).unwrap();
        for id in ids {
            writer.add(&line(*id)).unwrap();
        }
        writer.finish().unwrap();
        (directory, path)
    }

    /// The lines of an archive, changed, in a file of the same form.
    fn changed(path: &Path, change: impl Fn(&str) -> String) {
        let mut text = String::new();
        io::Read::read_to_string(
            &mut MultiGzDecoder::new(BufReader::new(File::open(path).unwrap())),
            &mut text,
        )
        .unwrap();
        let mut out = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
        out.write_all(change(&text).as_bytes()).unwrap();
        out.finish().unwrap();
    }

    #[test]
    fn an_archive_is_read_as_it_was_written() {
        let (_directory, path) = written(&[3, 7]);
        let mut seen = Vec::new();
        let (header, trailer) = read(&path, |id, text| seen.push((id, text.to_owned()))).unwrap();
        assert_eq!(header.ended_before, "2024-11-24T00:00:00Z");
        assert_eq!((trailer.purchases, trailer.attempts, trailer.purchase_events), (2, 2, 4));
        assert_eq!((trailer.first_purchase, trailer.last_purchase), (Some(3), Some(7)));
        assert_eq!(seen, [(3, line(3)), (7, line(7))]);
        assert!(
            matches!(Writer::create(&path, &header).map(drop), Err(ArchiveFault::Unwritten { .. })),
            "it is not overwritten"
        );
    }

    #[test]
    fn an_archive_without_purchases_is_whole() {
        let (_directory, path) = written(&[]);
        assert_eq!(read(&path, |_, _| {}).unwrap().1.purchases, 0);
    }

    #[test]
    fn every_change_to_an_archive_is_found() {
        type Change = fn(&str) -> String;
        let changes: [(&str, Change); 6] = [
            ("a changed value", |text| text.replacen("[{}]", "[{ }]", 1)),
            ("a line less", |text| {
                text.split_inclusive('\n').filter(|line| !line.contains("\"id\": 7")).collect()
            }),
            ("no trailer", |text| text.split_inclusive('\n').take(3).collect()),
            ("another count", |text| text.replace("\"purchases\":2", "\"purchases\":3")),
            ("another version", |text| text.replacen("\"version\":1", "\"version\":2", 1)),
            ("another order", |text| {
                let lines: Vec<&str> = text.lines().collect();
                [lines[0], lines[2], lines[1], lines[3]].map(|line| format!("{line}\n")).concat()
            }),
        ];
        for (what, change) in changes {
            let (_directory, path) = written(&[3, 7]);
            changed(&path, change);
            assert!(read(&path, |_, _| {}).is_err(), "{what}");
        }
        let (_directory, path) = written(&[3, 7]);
        let bytes = fs::read(&path).unwrap();
        for length in [0, 5, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..length]).unwrap();
            assert!(read(&path, |_, _| {}).is_err(), "the first {length} bytes");
        }
    }
}

//! `vendctl archive`: the history of purchases that ended long ago, in files.

use std::path::{Path, PathBuf};

use back_office::{ArchiveName, ArchiveRecord};
use chrono::Months;
use clap::Subcommand;
use clock::{Clock as _, SystemClock};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use operator_reports::archive_file::{self as file, Header, Trailer, Writer};

use crate::{
    arguments::Why,
    error::VendctlError,
    report::{Report, Row, instant, or_dash},
    session::Session,
};

/// How many purchases one transaction removes the history of.
const BATCH: usize = 500;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Write the history of purchases that ended long ago into a new file
    #[command(
        after_help = "Nothing is removed from the database. The file holds no phone number, no name and no comment; provider \
                      replies in it stay sealed.\n\nExample:\n  vendctl archive write 2024.jsonl.gz --older-than-months 24 \
                      --reason \"yearly archive\""
    )]
    Write {
        /// The file. It must not exist
        file: PathBuf,
        /// How many months ago the purchases ended
        #[arg(long, value_name = "MONTHS", value_parser = clap::value_parser!(u16).range(1..=1200))]
        older_than_months: u16,
        #[command(flatten)]
        why: Why,
    },
    /// Verify that a file is a whole archive. Needs no database
    #[command(after_help = "Example:\n  vendctl archive verify 2024.jsonl.gz")]
    Verify {
        /// The file
        file: PathBuf,
    },
    /// Show what is in an archive, or the history of one purchase. Needs no database
    #[command(after_help = "Example:\n  vendctl archive show 2024.jsonl.gz --purchase 4217")]
    Show {
        /// The file
        file: PathBuf,
        /// The number of a purchase
        #[arg(long, value_name = "NUMBER")]
        purchase: Option<i64>,
    },
    /// Remove from the database the history that an archive holds
    #[command(
        after_help = "The file is verified, and each purchase in it is compared with the database. Keep the file, and a copy \
                      elsewhere: it is the only place of this history from then on. The command may be repeated after an \
                      interruption.\n\nExample:\n  vendctl archive remove 2024.jsonl.gz --reason \"it is in both vaults\""
    )]
    Remove {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        why: Why,
    },
    /// List the archives whose history was removed from the database
    #[command(after_help = "Example:\n  vendctl archive list")]
    List,
}

#[derive(Serialize)]
struct FileView {
    file: String,
    ended_before: String,
    written_at: String,
    #[serde(flatten)]
    trailer: Trailer,
    /// By `remove` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<u64>,
}

#[derive(Serialize)]
struct RecordView {
    id: i64,
    file: String,
    sha256: String,
    purchases: i64,
    removed_at: String,
}

/// Runs the commands that need no database. `None`: this one does.
pub(crate) fn run_offline(verb: &Verb) -> Option<Result<Report, VendctlError>> {
    match verb {
        Verb::Verify { file } | Verb::Show { file, purchase: None } => Some(verify(file)),
        Verb::Show { file, purchase: Some(id) } => Some(show(file, *id)),
        Verb::Write { .. } | Verb::Remove { .. } | Verb::List => None,
    }
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Write { file, older_than_months, why } => write(session, file, *older_than_months, why).await,
        Verb::Remove { file, why } => remove(session, file, why).await,
        Verb::List => {
            let found = back_office::list_archives(session.database()).await?;
            Ok(Report::list(&found.into_iter().map(RecordView::from).collect::<Vec<_>>()))
        }
        Verb::Verify { file } | Verb::Show { file, purchase: None } => verify(file),
        Verb::Show { file, purchase: Some(id) } => show(file, *id),
    }
}

async fn write(session: &Session, path: &Path, months: u16, why: &Why) -> Result<Report, VendctlError> {
    let now = SystemClock.now();
    let ended_before = now.checked_sub_months(Months::new(u32::from(months))).unwrap_or_default();
    let header = Header::new(database::schema_version(), instant(ended_before), instant(now));
    let mut writer = Writer::create(path, &header)?;
    let mut after = 0;
    loop {
        let page = back_office::read_for_archive(session.database(), after, ended_before).await?;
        for line in &page.lines {
            writer.add(line)?;
        }
        match page.until {
            Some(until) => after = until,
            None => break,
        }
    }
    let trailer = writer.finish()?;
    let details = json!({ "file": file::file_name(path), "purchases": trailer.purchases,
        "first_purchase": trailer.first_purchase, "last_purchase": trailer.last_purchase });
    let subject = format!("archive:{}", trailer.sha256);
    back_office::note_archive(session.database(), subject, details, session.act(why)).await?;
    Ok(Report::one(&FileView::of(path, header, trailer)))
}

fn verify(path: &Path) -> Result<Report, VendctlError> {
    let (header, trailer) = file::read(path, |_, _| {})?;
    Ok(Report::one(&FileView::of(path, header, trailer)))
}

fn show(path: &Path, id: i64) -> Result<Report, VendctlError> {
    let mut found = None;
    file::read(path, |number, line| {
        if number == id {
            found = serde_json::from_str::<Value>(line).ok();
        }
    })?;
    let found = found.ok_or(VendctlError::NotInArchive(id))?;
    let text = format!("{found:#}\n");
    Ok(Report::text_and_data(&found, text))
}

async fn remove(session: &Session, path: &Path, why: &Why) -> Result<Report, VendctlError> {
    let mut digests: Vec<(i64, [u8; 32])> = Vec::new();
    let (header, trailer) =
        file::read(path, |id, line| digests.push((id, Sha256::digest(line.as_bytes()).into())))?;
    let mut sha256 = [0; 32];
    hex::decode_to_slice(&trailer.sha256, &mut sha256).map_err(|_digits| VendctlError::NotInArchive(0))?;
    let archive = ArchiveName { sha256, file_name: file::file_name(path) };
    let mut removed = 0_u64;
    for batch in digests.chunks(BATCH) {
        let (archive, act) = (archive.clone(), session.act(why));
        let of_batch = back_office::remove_archived(session.database(), archive, batch.to_vec(), act);
        removed = removed.saturating_add(of_batch.await?);
    }
    Ok(Report::one(&FileView { removed: Some(removed), ..FileView::of(path, header, trailer) }))
}

impl FileView {
    fn of(path: &Path, header: Header, trailer: Trailer) -> Self {
        let Header { ended_before, written_at, .. } = header;
        Self { file: path.display().to_string(), ended_before, written_at, trailer, removed: None }
    }
}

impl From<ArchiveRecord> for RecordView {
    fn from(record: ArchiveRecord) -> Self {
        Self {
            id: record.id,
            file: record.name.file_name,
            sha256: hex::encode(record.name.sha256),
            purchases: record.purchases,
            removed_at: instant(record.removed_at),
        }
    }
}

impl Row for FileView {
    const COLUMNS: &'static [&'static str] = &[
        "file",
        "ended before",
        "written at",
        "purchases",
        "first purchase",
        "last purchase",
        "events",
        "sealed replies",
        "sha256",
        "removed from the database",
    ];
    const MOMENTS: &'static [&'static str] = &["ended before", "written at"];

    fn cells(&self) -> Vec<String> {
        let number = |value: Option<i64>| or_dash(value.map(|value| value.to_string()).as_deref());
        vec![
            self.file.clone(),
            self.ended_before.clone(),
            self.written_at.clone(),
            self.trailer.purchases.to_string(),
            number(self.trailer.first_purchase),
            number(self.trailer.last_purchase),
            self.trailer.purchase_events.to_string(),
            self.trailer.provider_replies.to_string(),
            self.trailer.sha256.clone(),
            or_dash(self.removed.map(|removed| removed.to_string()).as_deref()),
        ]
    }
}

impl Row for RecordView {
    const COLUMNS: &'static [&'static str] = &["id", "file", "purchases", "removed at", "sha256"];
    const MOMENTS: &'static [&'static str] = &["removed at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.file.clone(),
            self.purchases.to_string(),
            self.removed_at.clone(),
            self.sha256.clone(),
        ]
    }
}

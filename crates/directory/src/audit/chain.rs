//! The chain of the audit log: each line carries the hash of its own content and that of the line before it.
//!
//! The database calculates the hashes when a line is written (`audit_hash` of the schema). This module calculates them
//! again, so that a change to the database's functions does not change the verification of the log.

use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};

/// A line of the log by its number and its hash, as `number:hexadecimal`. A mark that is stored elsewhere shows later
/// whether the log still contains that line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditMark {
    pub id: i64,
    pub hash: [u8; 32],
}

/// What is wrong with the log. It names the first line that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuditFault {
    /// A line does not have the hash that it carries.
    #[error("line {line} was changed after it was written: its content does not have its hash")]
    Changed { line: i64 },
    /// A line does not follow the line after which it was written.
    #[error(
        "a line before line {line} was removed, added or replaced: line {line} was written after another one"
    )]
    Unlinked { line: i64 },
    /// A marked line is missing, or another line is in its place.
    #[error(
        "line {line} is not there with the hash that was kept: lines were removed from the end, or replaced"
    )]
    NotAsKept { line: i64 },
}

/// A text that is not a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a mark is the number of a line, a colon, and 64 hexadecimal digits")]
pub struct AuditMarkError;

/// A line in the form in which it is hashed: every field as text, in the order of the hash.
#[derive(Debug, Clone)]
pub struct Link {
    pub id: i64,
    /// The fields after the number: time in microseconds, login, actor, action, organisation, subject, reason, details.
    pub fields: [Option<String>; 8],
    pub previous_hash: Option<Vec<u8>>,
    pub hash: Vec<u8>,
}

/// A walk along the log from its first line. Its memory does not grow with the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Walk {
    last: Option<AuditMark>,
    lines: u64,
}

impl Walk {
    /// The last line that was passed.
    pub const fn last(&self) -> Option<AuditMark> {
        self.last
    }

    /// How many lines were passed.
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Passes the next line. Each mark of `kept` must match its line.
    pub fn pass(&mut self, link: &Link, kept: &[AuditMark]) -> Result<(), AuditFault> {
        let number = link.id;
        let before = self.last.map(|mark| mark.hash);
        if link.previous_hash.as_deref() != before.as_ref().map(<[u8; 32]>::as_slice) {
            return Err(AuditFault::Unlinked { line: number });
        }
        let hash = link.content_hash();
        if link.hash != hash {
            return Err(AuditFault::Changed { line: number });
        }
        let here = AuditMark { id: number, hash };
        let passed_over =
            |mark: &AuditMark| self.last.is_none_or(|last| mark.id > last.id) && mark.id <= number;
        if let Some(missed) = kept.iter().find(|mark| passed_over(mark) && **mark != here) {
            return Err(AuditFault::NotAsKept { line: missed.id });
        }
        *self = Self { last: Some(here), lines: self.lines.saturating_add(1) };
        Ok(())
    }

    /// Ends the walk. No mark of `kept` may be after the end of the log.
    pub fn end(&self, kept: &[AuditMark]) -> Result<(), AuditFault> {
        let beyond = kept.iter().find(|mark| self.last.is_none_or(|last| mark.id > last.id));
        beyond.map_or(Ok(()), |mark| Err(AuditFault::NotAsKept { line: mark.id }))
    }
}

impl Link {
    /// Each field follows its length in bytes, so that no two lines are hashed alike.
    fn content_hash(&self) -> [u8; 32] {
        let (id, previous) = (self.id.to_string(), self.previous_hash.as_deref().map(hex::encode));
        let fields = std::iter::once(Some(id.as_str()))
            .chain(self.fields.iter().map(Option::as_deref))
            .chain([previous.as_deref()]);
        let encoded =
            fields.map(|field| field.map_or_else(|| "-".to_owned(), |text| format!("{}:{text}", text.len())));
        Sha256::digest(encoded.collect::<Vec<_>>().join(",")).into()
    }
}

impl fmt::Display for AuditMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.id, hex::encode(self.hash))
    }
}

impl FromStr for AuditMark {
    type Err = AuditMarkError;

    fn from_str(text: &str) -> Result<Self, AuditMarkError> {
        let (id, digits) = text.split_once(':').ok_or(AuditMarkError)?;
        let mut hash = [0; 32];
        hex::decode_to_slice(digits, &mut hash).map_err(|_malformed| AuditMarkError)?;
        let id = id.parse().map_err(|_malformed| AuditMarkError)?;
        Ok(Self { id, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of three lines, as written.
    fn log() -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for id in 1..=3 {
            let mut fields = [const { None }; 8];
            fields[0] = Some(format!("at {id}"));
            let previous_hash = links.last().map(|link| link.hash.clone());
            let mut link = Link { id, fields, previous_hash, hash: Vec::new() };
            link.hash = link.content_hash().to_vec();
            links.push(link);
        }
        links
    }

    fn verify(log: &[Link], kept: &[AuditMark]) -> Result<Walk, AuditFault> {
        let mut walk = Walk::default();
        log.iter().try_for_each(|link| walk.pass(link, kept))?;
        walk.end(kept).map(|()| walk)
    }

    fn mark(link: &Link) -> AuditMark {
        AuditMark { id: link.id, hash: link.hash.clone().try_into().unwrap() }
    }

    #[test]
    fn a_log_as_it_was_written_is_whole_up_to_its_end() {
        let log = log();
        let kept = [mark(&log[1]), mark(&log[2])];
        let walk = verify(&log, &kept).unwrap();
        assert_eq!((walk.last(), walk.lines()), (Some(mark(&log[2])), 3));
        assert_eq!(verify(&[], &[]), Ok(Walk::default()));
    }

    #[test]
    fn the_first_line_that_does_not_fit_is_named() {
        let original = log();
        let mut changed = log();
        changed[1].fields[0] = Some("another".to_owned());
        assert_eq!(verify(&changed, &[]), Err(AuditFault::Changed { line: 2 }));
        // The changed line is hashed again. The next line shows the change.
        changed[1].hash = changed[1].content_hash().to_vec();
        assert_eq!(verify(&changed, &[]), Err(AuditFault::Unlinked { line: 3 }));
        assert_eq!(verify(&changed[..2], &[mark(&original[1])]), Err(AuditFault::NotAsKept { line: 2 }));

        let without = |index: usize| {
            let mut log = log();
            log.remove(index);
            log
        };
        assert_eq!(verify(&without(0), &[]), Err(AuditFault::Unlinked { line: 2 }));
        assert_eq!(verify(&without(1), &[]), Err(AuditFault::Unlinked { line: 3 }));
        assert_eq!(verify(&without(2), &[]).unwrap().lines(), 2, "only a stored mark shows a removed end");
        assert_eq!(verify(&without(2), &[mark(&original[2])]), Err(AuditFault::NotAsKept { line: 3 }));
    }

    #[test]
    fn a_mark_is_read_as_it_is_written() {
        let mark = mark(&log()[0]);
        assert_eq!(mark.to_string().parse(), Ok(mark));
        for text in ["", "1", "1:", "x:00", "1:00", &format!("{mark}0"), &format!(":{}", "0".repeat(64))] {
            assert_eq!(text.parse::<AuditMark>(), Err(AuditMarkError), "{text}");
        }
    }

    #[test]
    fn no_text_can_pass_for_two_fields() {
        let mut one = log().remove(0);
        let mut other = one.clone();
        one.fields[1] = Some("a,1:b".to_owned());
        (other.fields[1], other.fields[2]) = (Some("a".to_owned()), Some("b".to_owned()));
        assert_ne!(one.content_hash(), other.content_hash());
        (one.fields[1], other.fields[1], other.fields[2]) = (None, Some(String::new()), None);
        assert_ne!(one.content_hash(), other.content_hash());
    }
}
